"""The driver's side of a run: which jobs a cell becomes, and what its row holds when they have ended."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from recassay.core.specs.study import Budget
from recassay.runner.jobs import CHECKED, NOT_WRITTEN, PROPOSED, TRIAL, Outcome
from recassay.runner.recording import Run
from recassay.runner.running import RunningCells
from recassay.runner.work import Choice, Rounds, Work, WorkCell
from recassay.store.records import PlannedRow, TrialRecord

DONE = {"seconds_tune": 1.0, "peak_memory": 15, "energy": {"joules": 2.0, "joules_fit": 1.0, "how": "measured"}}


class Kept:
    """Stands for the store."""

    def __init__(self, folder: Path, *earlier: TrialRecord):
        self.folder, self.rows = folder, []
        self.trials = {trial.number: trial for trial in earlier}

    def kept_trials(self, tuning):
        assert tuning == "t"
        return dict(self.trials)

    def trial_records(self, tuning):
        return [self.trials[number] for number in sorted(self.trials)]

    def record_trial(self, tuning, trial):
        self.trials[trial.number] = trial

    def seconds(self):
        return {}

    def record(self, row):
        self.rows.append(row)


class Script:
    """Stands for an executor: jobs tell and end as they are told to, by id."""

    def __init__(self, **ends: Any):
        self.ends, self.jobs = {name.replace("_", "."): end for name, end in ends.items()}, []

    def run(self, queue, watcher):
        while (job := queue.take()) is not None:
            watcher.started(job)
            self.jobs.append((job, deepcopy(job.payload())))
            *events, outcome = self.ends[job.id]
            for event in events:
                watcher.event(job, event)
            watcher.finished(job, outcome)


def trial(number, value, state="complete"):
    return {TRIAL: TrialRecord(number, state, {"reg": number}, value, seconds=1.0).to_dict()}


ROUNDS = Rounds(3, 2)
BUDGET = Budget(seconds_per_cell=100.0, memory_gb=1.0)


def cell(name="c", rounds=ROUNDS):
    row = PlannedRow(name, "EASE", "films", 1, None, (), "t", rounds.trials)
    return WorkCell(row, "split", {"code": "1"}, lambda folder: {"folder": str(folder)}, rounds=rounds)


def work(*cells, budget=BUDGET, **more):
    return Work(
        cells, "m:cell", "m:split", {}, lambda *_: True, budget, (), lambda *_: {}, trial_function="m:trial", **more
    )


def ran(store, script, *cells, **more):
    events: list[Any] = []
    run = Run(work(*cells, **more), store, {}, events.append, RunningCells(store.folder))
    run.all(cells, script)
    assert run.at_work.cells == {}
    return run, events


def test_the_row_of_a_cell_holds_what_all_its_jobs_took(tmp_path):
    store = Kept(tmp_path)
    script = Script(
        c_0=[{CHECKED: {"host": "sound"}}, trial(0, 0.3), Outcome("done", {"trials": 3, "joules": 5.0}, seconds=2.0)],
        c_1=[{PROPOSED: {"reg": 9}}, Outcome("crashed", reason="boom", seconds=3.0, peak_memory=20)],
        c_2=[{CHECKED: {"other": "sound"}}, trial(2, 0.5), trial(2, 0.5),
             Outcome("done", {"trials": 3, "joules": 7.0}, seconds=4.0, peak_memory=9)],
        c=[Outcome("done", DONE, seconds=10.0, attempts=2)],
    )  # fmt: skip
    run, events = ran(store, script, cell())
    (row,) = store.rows
    assert (row.id, row.status, row.attempts, row.spec, row.split) == ("c", "done", 2, {"code": "1"}, "split")
    assert (row.seconds, row.seconds_tune, row.peak_memory) == (19.0, 1.0 + 2.0 + 3.0 + 4.0, 20)
    assert row.energy == {"joules": 2.0 + 5.0 + 7.0, "joules_fit": 1.0, "how": "measured"}
    assert store.trials[1] == TrialRecord(1, "failed", {"reg": 9}, reason="boom", seconds=3.0)
    # Each job gets the time that those before it left; a trial sees the rounds before its own.
    assert [(job.id, job.function, job.seconds, job.memory) for job, _ in script.jobs] == [
        ("c.0", "m:trial", 100.0, 10**9),
        ("c.1", "m:trial", 100.0, 10**9),
        ("c.2", "m:trial", 95.0, 10**9),
        ("c", "m:cell", 91.0, 10**9),
    ]
    told = [(payload.get("number"), len(payload["trials"]), payload[CHECKED]) for _, payload in script.jobs]
    assert told == [
        (0, 0, {}), (1, 0, {"host": "sound"}), (2, 2, {"host": "sound"}),
        (None, 3, {"host": "sound", "other": "sound"}),
    ]  # fmt: skip
    assert [(event.kind, event.done, event.failed, event.trials, event.best) for event in events] == [
        ("started", 0, 0, 0, None),
        ("trial", 0, 0, 1, 0.3),
        ("trial", 0, 0, 2, 0.3),
        ("trial", 0, 0, 3, 0.5),
        ("finished", 1, 0, 0, None),
    ]
    assert run.ran == 1


@pytest.mark.parametrize(("first", "best"), [(0.3, [0.3, 0.3, 0.2]), (0.0, [0.0, 0.0, 0.0])])
def test_lower_objectives_may_be_better_and_pruned_trials_are_no_best(tmp_path, first, best):
    script = Script(
        c_0=[trial(0, first), Outcome("done", {"trials": 3})],
        c_1=[trial(1, 0.1, "pruned"), Outcome("done", {"trials": 3})],
        c_2=[trial(2, 0.2), Outcome("done", {"trials": 3})],
        c=[Outcome("done", DONE)],
    )
    _, events = ran(Kept(tmp_path), script, cell(), better=min)
    assert [event.best for event in events if event.kind == "trial"] == best


def test_where_there_is_nothing_to_tune_the_cell_follows_its_first_trial(tmp_path):
    script = Script(
        c_0=[Outcome("done", {"trials": 0})], c_1=[Outcome("done", {"trials": 0})], c=[Outcome("done", DONE)]
    )
    store = Kept(tmp_path)
    ran(store, script, cell())
    assert [job.id for job, _ in script.jobs] == ["c.0", "c.1", "c"]
    assert [row.status for row in store.rows] == ["done"]


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        ("failed", f"broken in {Path('logs') / 'x'}"),
        ("timeout", "its jobs took more than the 100 seconds of budget.seconds_per_cell"),
    ],
)
def test_where_no_trial_can_work_or_time_is_up_the_cell_ends(tmp_path, status, reason):
    place = tmp_path / "logs" / "x"
    outcome = Outcome(status, reason=f"broken in {place}", detail=f"trace of {place}", seconds=7.0, peak_memory=4)
    store = Kept(tmp_path)
    run, events = ran(store, Script(c_0=[outcome]), cell())
    (row,) = store.rows
    assert (row.status, row.seconds, row.peak_memory) == (status, 7.0, 4)
    assert row.detail.startswith("trace of ")
    assert str(tmp_path) not in row.reason + row.detail
    assert row.reason.startswith(reason.partition(" in ")[0])
    assert [event.failed for event in events] == [0, 1]
    assert (run.ran, store.trials) == (1, {})


def test_out_of_memory_is_a_failed_trial_that_says_so(tmp_path):
    store = Kept(tmp_path)
    memory = Outcome("memory", reason="held 3 GB", seconds=1.0)
    ran(store, Script(c_0=[memory], c_1=[memory], c_2=[memory], c=[Outcome("failed", reason="no trial")]), cell())
    assert {one.reason for one in store.trials.values()} == {"out of memory: held 3 GB"}
    assert [row.reason for row in store.rows] == ["no trial"]


def test_a_full_disk_is_no_row(tmp_path):
    store = Kept(tmp_path)
    run, events = ran(store, Script(c=[Outcome(NOT_WRITTEN, reason="full")]), cell(rounds=Rounds(0)))
    assert (store.rows, run.ran, run.not_written) == ([], 0, "full")
    assert [event.kind for event in events] == ["started"]


@pytest.mark.parametrize("shared", [False, True])
def test_trials_of_an_earlier_run_count_for_the_only_cell_that_has_them(tmp_path, shared):
    store = Kept(tmp_path, TrialRecord(0, "complete", {}, 0.5, seconds=30.0))
    cells = [cell(name, Rounds(0)) for name in (["c", "d"] if shared else ["c"])]
    script = Script(c=[Outcome("done", DONE, seconds=10.0)], d=[Outcome("done", DONE, seconds=9.0)])
    ran(store, script, *cells)
    assert {job.seconds for job, _ in script.jobs} == {100.0}, "the budget is that of this run"
    assert store.rows[0].seconds == (10.0 if shared else 40.0)
    assert store.rows[0].seconds_tune == (1.0 if shared else 31.0)
    assert store.rows[0].peak_memory == 15


def test_cells_of_a_dataset_that_cannot_be_prepared_are_rows(tmp_path):
    class Preparing(Script):
        def run(self, queue, watcher):
            for job in queue if isinstance(queue, list) else ():
                watcher.finished(job, Outcome("failed", reason="no such file", detail="trace"))

    from recassay.runner.jobs import Job

    store, events = Kept(tmp_path), []
    run = Run(work(cell("a"), cell("b")), store, {"a": "done", "x": "failed"}, events.append, RunningCells(tmp_path))
    Preparing().run([Job("split", "m:split", dict)], run)
    run.chosen(lambda store: Choice([], "enough"), [cell("b")], Preparing())
    (row,) = store.rows
    assert (row.id, row.status, row.reason, row.detail) == ("b", "failed", "dataset films: no such file", "trace")
    assert [(event.kind, event.done, event.failed, event.total, event.reason, event.said) for event in events] == [
        ("split", 1, 0, 2, "dataset films: no such file", None),
        ("finished", 1, 1, 2, "dataset films: no such file", None),
        ("decided", 1, 1, 2, None, "enough"),
    ]
    run.waiting("no worker")
    run.note("a dashboard")
    assert [(event.kind, event.reason, event.said) for event in events[-2:]] == [
        ("waiting", "no worker", None),
        ("note", None, "a dashboard"),
    ]


def test_chosen_cells_run_batch_by_batch(tmp_path):
    store = Kept(tmp_path)
    cells = [cell(name, Rounds(0)) for name in "abc"]
    choices = iter(
        [Choice(["b", "unknown"], "one"), Choice([], "wait", again=True), Choice(["a", "b"], "two"), Choice([], "end")]
    )
    script = Script(**{name: [Outcome("done", DONE)] for name in "abc"})
    run = Run(work(*cells), store, {}, None, RunningCells(tmp_path))
    run.chosen(lambda store: next(choices), cells, script)
    assert [row.id for row in store.rows] == ["b", "a"]
    assert next(choices, None) is None


def test_a_cell_in_one_piece_keeps_its_own_words_and_counts_its_trials(tmp_path):
    store = Kept(tmp_path)
    late = Outcome("timeout", reason="ran longer than the 100 seconds", seconds=100.0)
    _, events = ran(store, Script(c=[trial(0, 0.3), trial(1, 0.2), late]), cell(rounds=Rounds(0)))
    assert [row.reason for row in store.rows] == ["ran longer than the 100 seconds"]
    assert [(event.trials, event.best) for event in events if event.kind == "trial"] == [(1, 0.3), (2, 0.3)]
    gap = Kept(tmp_path, *(TrialRecord(number, "complete", {}, 0.1) for number in (0, 7)))
    _, events = ran(gap, Script(c=[trial(1, 0.2), late]), cell(rounds=Rounds(0)))
    assert [event.trials for event in events if event.kind == "trial"] == [2], "by its number, whatever is kept"


def test_jobs_know_the_limits_the_gpu_and_the_memory_of_their_cell(tmp_path):
    asked = []
    wanted = replace(
        cell(rounds=Rounds(0)), gpu=True, gpu_need=lambda _: 5, need=lambda folder: asked.append(folder) or 77
    )
    script = Script(c=[Outcome("done", DONE)])
    ran(Kept(tmp_path), script, wanted, budget=Budget(seconds_per_cell=None, memory_gb=1.0))
    ((job, payload),) = script.jobs
    assert (job.seconds, job.memory, job.gpu, job.gpu_need(), job.need()) == (None, 10**9, True, 5, 77)
    assert asked == [tmp_path]
    assert payload == {"folder": str(tmp_path), "trials": [], CHECKED: {}}


def test_a_trial_has_no_time_left_where_those_before_it_took_all(tmp_path):
    script = Script(
        c_0=[trial(0, 0.3), Outcome("done", {"trials": 3}, seconds=60.0)],
        c_1=[trial(1, 0.3), Outcome("done", {"trials": 3}, seconds=60.0)],
        c_2=[Outcome("timeout", reason="late")],
    )
    ran(Kept(tmp_path), script, cell())
    assert [job.seconds for job, _ in script.jobs] == [100.0, 100.0, 0.0]


def test_a_failed_cell_keeps_the_seconds_of_earlier_trials_and_has_no_time_of_tuning(tmp_path):
    store = Kept(tmp_path, TrialRecord(0, "complete", {}, 0.5, seconds=30.0))
    ran(store, Script(c=[Outcome("crashed", reason="boom", seconds=10.0, peak_memory=6)]), cell(rounds=Rounds(0)))
    (row,) = store.rows
    assert (row.status, row.seconds, row.seconds_tune, row.peak_memory) == ("crashed", 40.0, None, 6)


def test_cells_that_take_longest_by_what_the_store_knows_come_first(tmp_path):
    def planned(name, algorithm):
        one = cell(name, Rounds(0))
        return replace(one, row=replace(one.row, algorithm=algorithm, tuning="t"))

    known = [planned("a1", "Quick"), planned("b1", "Long")]
    cells = [planned("a2", "Quick"), planned("b2", "Long")]
    store = Kept(tmp_path)
    store.seconds = lambda: {"a1": 1.0, "b1": 500.0}
    script = Script(**{name: [Outcome("done", DONE)] for name in ("a2", "b2")})
    run = Run(work(*known, *cells), store, {"a1": "done", "b1": "done"}, None, RunningCells(tmp_path))
    run.all(cells, script)
    assert [job.id for job, _ in script.jobs] == ["b2", "a2"]
    assert script.jobs[0][0].priority == pytest.approx(500.0)
    sizes = {"small": 1e3, "large": 1e7}
    cells = [
        replace(one, row=replace(one.row, dataset=name), split=name) for one, name in zip(cells, sizes, strict=True)
    ]
    script = Script(**{name: [Outcome("done", DONE)] for name in ("a2", "b2")})
    run = Run(work(*cells, size=lambda folder, split: sizes[split]), Kept(tmp_path), {}, None, RunningCells(tmp_path))
    run.all(cells, script)
    assert [job.id for job, _ in script.jobs] == ["b2", "a2"], "the larger dataset, where no time is known"


@pytest.mark.parametrize(
    ("outcome", "earlier", "order"),
    [
        (Outcome("done", DONE, seconds=500.0), 0.0, ["a1", "a2", "b2"]),
        (Outcome("done", DONE, seconds=1.0), 499.0, ["a1", "a2", "b2"]),
        (Outcome("timeout", reason="late", seconds=500.0), 0.0, ["a1", "b2", "a2"]),
    ],
)
def test_what_a_done_cell_took_in_all_says_which_of_the_others_comes_next(tmp_path, outcome, earlier, order):
    def planned(name, algorithm, dataset):
        one = cell(name, Rounds(0))
        return replace(one, row=replace(one.row, algorithm=algorithm, dataset=dataset, tuning=f"of {name}"))

    names = {"a1": ("A", "films"), "b2": ("B", "books"), "a2": ("A", "books"), "b1": ("B", "films")}
    cells = [planned(name, *place) for name, place in names.items()]
    store = Kept(tmp_path)
    store.seconds = lambda: {"b1": 1.0}
    kept = {"of a1": {0: TrialRecord(0, "complete", {}, 0.5, seconds=earlier)}} if earlier else {}
    store.kept_trials = lambda tuning: kept.get(tuning, {})
    quick = [Outcome("done", DONE, seconds=1.0)]
    script = Script(**dict.fromkeys(names, quick) | {"a1": [outcome]})
    Run(work(*cells), store, {}, None, RunningCells(tmp_path)).all(cells[:3], script)
    assert [job.id for job, _ in script.jobs] == order


def test_the_first_dataset_of_a_split_is_told_and_the_first_split_of_a_dataset_is_measured(tmp_path):
    from recassay.runner.jobs import Job

    def planned(name, dataset, split):
        one = cell(name, Rounds(0))
        return replace(one, row=replace(one.row, dataset=dataset), split=split)

    cells = [planned("a", "films", "s1"), planned("b", "copy", "s1"), planned("c", "books", "s2"),
             planned("d", "books", "s3")]  # fmt: skip
    asked, events = [], []
    sizes = {"s1": 10.0, "s2": 1e6, "s3": None}
    planned_work = work(*cells, size=lambda folder, split: asked.append((folder, split)) or sizes[split])
    run = Run(planned_work, Kept(tmp_path), {}, events.append, RunningCells(tmp_path))
    run.finished(Job("s1", "m:split", dict), Outcome("done"))
    assert [(event.kind, event.dataset, event.reason) for event in events] == [("split", "films", None)]
    script = Script(**{name: [Outcome("done", {**DONE, "peak_memory": None})] for name in "abcd"})
    run.all(cells, script)
    assert sorted(asked) == [(tmp_path, "s1"), (tmp_path, "s1"), (tmp_path, "s2")]
    assert script.jobs[0][0].id == "c"


def test_a_cell_whose_jobs_were_not_measured_has_no_peak(tmp_path):
    store = Kept(tmp_path)
    ends = {f"c_{n}": [trial(n, 0.3), Outcome("done", {"trials": 3})] for n in range(3)}
    ran(store, Script(**ends, c=[Outcome("done", {**DONE, "peak_memory": None})]), cell())
    assert [row.peak_memory for row in store.rows] == [None]
    assert store.rows[0].energy["joules"] == 2.0


def test_the_peak_of_a_failed_cell_is_that_of_all_its_jobs(tmp_path):
    store = Kept(tmp_path)
    ends = {f"c_{n}": [trial(n, 0.3), Outcome("done", {"trials": 3}, peak_memory=20 - n)] for n in range(3)}
    ran(store, Script(**ends, c=[Outcome("crashed", reason="boom", peak_memory=7)]), cell())
    assert [row.peak_memory for row in store.rows] == [20]


def test_a_cell_is_at_work_from_its_first_job_until_its_row(tmp_path):
    at_work, seen = RunningCells(tmp_path), []

    def look(event):
        seen.append((event.kind, [(one.cell, one.algorithm, one.dataset, one.seed) for one in at_work.cells.values()]))

    one, here = cell(rounds=Rounds(1)), [("c", "EASE", "films", 1)]
    run = Run(work(one), Kept(tmp_path), {}, look, at_work)
    run.all([one], Script(c_0=[trial(0, 0.3), Outcome("done", {"trials": 1})], c=[Outcome("done", DONE)]))
    assert seen == [("started", here), ("trial", here), ("finished", [])]


def test_trials_side_by_side_are_counted_with_those_that_were_kept_before(tmp_path):
    store = Kept(tmp_path, TrialRecord(1, "complete", {}, 0.1))
    script = Script(
        c_0=[trial(0, 0.3), Outcome("done", {"trials": 3})],
        c_2=[trial(2, 0.5), Outcome("done", {"trials": 3})],
        c=[Outcome("done", DONE)],
    )
    _, events = ran(store, script, cell())
    assert [event.trials for event in events if event.kind == "trial"] == [2, 3]
