"""Trials as jobs of their own: the numbers depend on how many are proposed together, and on nothing else."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import pytest

from recassay.core.specs.search import Real, Whole
from recassay.core.specs.study import TuningSpec
from recassay.recommenders.plan import plan
from recassay.recommenders.study import run_study
from recassay.recommenders.tune import Tuning
from recassay.recommenders.work import Stage
from recassay.runner.work import GIVE_UP_AFTER, Rounds
from recassay.store import Store, TrialRecord
from support.in_process import without_processes
from support.run import PLUGIN, numbers, tiny_folder, tiny_study

SPACE = {"rate": Real(0.0, 1.0, 0.5), "depth": Whole(1, 50, 10)}

MOODY = """

class Moody(Fake):
    def fit(self, train, *, rng):
        if self.how == "log":
            ctypes.string_at(0)
        return super().fit(train, rng=rng)
"""


def objective(parameters, number):
    yield Stage(-abs(parameters["rate"] - 0.3) - abs(parameters["depth"] - 30) / 50)


def search(parallel, trials=14):
    return Tuning(SPACE, objective, trials=trials, higher_is_better=True, seed=1, names=("a",), parallel=parallel)


def identity(trials):
    return [(t.number, t.state, dict(t.parameters), t.value) for t in sorted(trials, key=lambda t: t.number)]


def failure(number):
    return TrialRecord(number, "failed", {}, reason="no luck")


@pytest.fixture
def folder(tmp_path):
    return tiny_folder(tmp_path, PLUGIN + MOODY)


def study(folder, algorithms, parallel, **more):
    return tiny_study(folder, algorithms, parallel=parallel, **more)


def test_a_trial_sees_the_rounds_before_its_own_and_no_others():
    whole = search(4).run()
    known = {trial.number: trial for trial in whole.trials}
    for number in (13, 2, 6, 11, 7):
        alone = search(4).one(number, [known[n] for n in range(number // 4 * 4)])
        assert identity([alone]) == identity([known[number]])
    assert identity(search(4, trials=10).run().trials) == identity(whole.trials)[:10]
    assert identity(search(1).run().trials) != identity(whole.trials)
    assert identity(search(1).run().trials)[:1] == identity(whole.trials)[:1]


def test_rounds_end_when_all_are_known_or_all_fail():
    rounds = Rounds(10, 4)
    assert rounds.open({}) == (0, 1, 2, 3)
    assert rounds.open({0: failure(0), 2: failure(2)}) == (1, 3)
    assert rounds.open({n: failure(n) for n in range(4)}) == (4, 5, 6, 7)
    assert GIVE_UP_AFTER == 5
    assert rounds.open({n: failure(n) for n in range(8)}) == ()
    assert Rounds(9).open({n: failure(n) for n in range(4)}) == (4,)
    assert Rounds(9).open({n: failure(n) for n in range(5)}) == ()
    assert Rounds(9).open({n: TrialRecord(n, "over_budget", {}) for n in range(5)}) == ()
    assert Rounds(9).open({n: TrialRecord(n, "pruned", {}) for n in range(5)}) == (5,)
    good = {n: failure(n) for n in range(8)} | {3: TrialRecord(3, "complete", {}, 0.5)}
    assert rounds.open(good) == (8, 9)
    assert rounds.open(good | {8: failure(8), 9: failure(9)}) == ()


def test_no_round_begins_after_the_seconds_of_those_before_it():
    def took(number, seconds, state="complete"):
        return TrialRecord(number, state, {}, 0.5 if state == "complete" else None, seconds=seconds)

    limited = Rounds(6, 2, seconds=3.0)
    assert limited.open({}) == (0, 1), "the first round always begins"
    assert limited.open({0: took(0, 9.0)}) == (1,), "a round is finished"
    assert limited.open({0: took(0, 1.0), 1: took(1, 2.0)}) == (2, 3)
    assert limited.open({0: took(0, 1.0), 1: took(1, 2.1)}) == ()
    failed = {n: took(n, 9.0, "failed") for n in range(2)}
    assert limited.open(failed) == (2, 3), "without a value the search goes on"
    assert limited.open(failed | {2: took(2, 0.1), 3: took(3, 0.1)}) == ()


def test_a_limit_of_time_is_part_of_the_cell_and_not_of_its_trials(folder):
    plain = study(folder, ("Fake",), 1)
    limited = plain.model_copy(update={"tuning": plain.tuning.model_copy(update={"seconds": 5.0})})
    cells = [plan(spec).cells[0] for spec in (plain, limited)]
    assert "seconds" not in TuningSpec().model_dump()
    assert cells[0].id != cells[1].id
    assert cells[0].spec.tuning_id == cells[1].spec.tuning_id
    trials = search(1).run().trials
    slow = [replace(trial, seconds=2.0) for trial in trials]
    cut = replace(search(1), seconds=3.0).run(slow)
    assert identity(cut.trials) == identity(trials)[:2], "of more known trials those count that would have begun"


def test_rounds_that_are_left_and_what_a_trial_sees():
    rounds = Rounds(7, 3)
    assert [rounds.left(known) for known in (0, 2, 3, 5, 6, 7)] == [3, 2, 2, 1, 1, 0]
    assert [rounds.seen_by(number) for number in range(7)] == [0, 0, 0, 3, 3, 3, 6]
    assert (rounds.open({}), Rounds(2, 3).open({}), Rounds(0).open({})) == ((0, 1, 2), (0, 1), ())


def test_one_at_a_time_is_the_cell_it_was(folder):
    assert "parallel" not in TuningSpec().model_dump()
    plain, one, two = (plan(study(folder, ("Fake",), n)).cells[0] for n in (1, 1, 2))
    assert plain.id == one.id != two.id
    assert one.spec.tuning_id != two.spec.tuning_id
    assert TuningSpec.model_validate(two.spec.tuning.model_dump()) == two.spec.tuning


@pytest.mark.slow
def test_the_numbers_are_the_same_for_any_number_of_workers(folder):
    spec = study(folder, ("Fake", "Staged", "Pop", "Raises"), 3, trials=7)
    with without_processes():
        run_study(spec, folder / "inside", workers=1)
    record = run_study(spec, folder / "spread", workers=4)
    assert (record.planned, record.done, record.ran) == (4, 3, 4)
    assert "the matrix is singular" in record.failed[0].reason
    assert numbers(folder / "spread") == numbers(folder / "inside")
    with Store.open(folder / "spread") as store:
        counts = store.trials().group_by("algorithm").len()
        assert dict(counts.rows()) == {"Fake": 7, "Staged": 7, "Raises": 6}
        fake = next(cell for cell in store.cells() if cell.algorithm == "Fake")
        assert 0 < fake.seconds_tune < fake.seconds


@pytest.mark.slow
def test_a_run_that_was_killed_inside_a_round_goes_on(folder):
    spec = study(folder, ("Fake",), 4, trials=8)
    with without_processes():
        run_study(spec, folder / "whole", workers=1)
        run_study(spec, folder / "cut", workers=1)
        with sqlite3.connect(folder / "cut" / "study.sqlite") as index:
            index.execute("DELETE FROM metrics")
            index.execute("DELETE FROM cells")
            index.execute("DELETE FROM trials WHERE number IN (4, 6, 7)")
        index.close()
        told = []
        run_study(spec, folder / "cut", workers=1, progress=told.append)
    assert [event.trial.number for event in told if event.kind == "trial"] == [4, 6, 7]
    assert numbers(folder / "cut") == numbers(folder / "whole")


@pytest.mark.slow
def test_a_trial_that_crashes_is_a_failed_trial(folder):
    spec = study(folder, ("Moody",), 3, trials=6)
    record = run_study(spec, folder / "out", workers=2)
    assert record.done == 1
    with Store.open(folder / "out") as store:
        trials = store.trials()
    crashed = trials.filter(trials.get_column("state") == "failed")
    assert crashed.height
    assert trials.height == 6
    assert all('"log"' in text for text in crashed.get_column("parameters"))
    assert all("SIGSEGV" in reason for reason in crashed.get_column("reason"))


@pytest.mark.slow
def test_the_seconds_of_a_cell_are_those_of_its_jobs_together(folder):
    spec = study(folder, ("Hangs",), 2, trials=6, seconds_per_cell=1.5)
    record = run_study(spec, folder / "out", workers=2)
    assert [cell.status for cell in record.failed] == ["timeout"]
    assert "its jobs took more than the 1.5 seconds" in record.failed[0].reason
    assert record.ran == 1


def test_files_of_a_split_are_checked_once_a_run_unless_they_change(folder, monkeypatch):
    from recassay.recommenders import splits

    read, checked = splits.check_files, []
    monkeypatch.setattr(splits, "check_files", lambda *told: (checked.append(told[0]), read(*told)))
    spec = study(folder, ("Fake",), 2, trials=4, seed=(1, 2, 3))

    def harm(event):
        if event.kind == "finished" and event.done == 2:
            path = next((folder / "out" / "splits").glob("*/train.user.npy"))
            data = bytearray(path.read_bytes())
            data[-1] ^= 1
            path.write_bytes(bytes(data))

    with without_processes():
        record = run_study(spec, folder / "out", workers=1, progress=harm)
    assert len(checked) == 2
    assert record.done == 2
    assert "train.user.npy: a file of the prepared split is not what was written" in record.failed[0].reason
