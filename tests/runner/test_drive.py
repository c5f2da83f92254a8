"""From a plan to the store, with jobs that take no time: what runs again, what is told, what executors are asked."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import polars as pl
import pytest

from recassay.core.errors import InputError
from recassay.core.specs.study import Budget
from recassay.runner import drive as driving
from recassay.runner.drive import CANNOT_RUN, CellPrediction, StudyRecord, drive, earlier_versions, known_cells
from recassay.runner.jobs import NOT_WRITTEN, JobFailure
from recassay.runner.work import Choice, Rounds, Work, WorkCell
from recassay.store import CellRecord, Store, TrialRecord
from recassay.store.files import LISTS, cell_file, write_cell_files
from recassay.store.records import PlannedRow
from recassay.store.store import INDEX_FILE
from recassay.store.verification import damaged_cells
from support.in_process import InProcess

FRAME = pl.DataFrame({"user": ["u1"], "ndcg@10": [0.5]})


def make_split(payload, emit):
    (Path(payload["folder"]) / payload["split"]).touch()
    return {}


def run_cell(payload, emit):
    """Does what the first line of the file with its name says: nothing, fail, or find the disk full."""
    folder, cell = Path(payload["folder"]), payload["id"]
    mood = folder.parent / cell
    if mood.is_file():
        raise JobFailure(mood.read_text(), "as it was told")
    files = write_cell_files(folder, cell, per_user=FRAME, lists=FRAME)
    energy = {"joules": 1.0, "joules_fit": 1.0, "how": "measured"}
    return {"metrics": {"ndcg@10": 0.5}, "files": files, "seconds_tune": 0.0, "energy": energy}


def cell(name, algorithm="EASE", *, code="1", split="split", **more):
    row = PlannedRow(name, algorithm, "films", 1, None, ("ndcg@10",), f"tuning of {name}", 2)
    payload = partial(lambda id, folder: {"folder": str(folder), "id": id}, name)
    return WorkCell(row, split, {"code": code}, payload, **more)


def work(*cells, **more):
    splits = {one.split: partial(lambda split, folder: {"folder": str(folder), "split": split}, one.split)
              for one in cells}  # fmt: skip
    more = {"budget": Budget(), "gpus": (), **more}
    return Work(
        cells,
        f"{__name__}:run_cell",
        f"{__name__}:make_split",
        splits,
        lambda folder, split: (folder / split).is_file(),
        preload=("some.module",),
        manifest=lambda workers, threads: {"workers": workers, "threads": threads},
        **more,
    )


@pytest.fixture
def asked(monkeypatch):
    """What the local executor was made with, each time."""
    made = []

    def executor(workers, logs, **more):
        made.append({"workers": workers, "logs": logs, **more})
        return InProcess(workers, logs)

    monkeypatch.setattr(driving, "LocalExecutor", executor)
    return made


def run(folder, *cells, told=None, **more):
    how = {name: more.pop(name) for name in ("retry_failed", "choose", "threads") if name in more}
    return drive(work(*cells, **more), folder, workers=2, progress=None if told is None else told.append, **how)


def test_failed_cells_run_again_only_where_that_is_asked(tmp_path, asked):
    folder, cells = tmp_path / "out", [cell("a"), cell("b", "ALS")]
    (tmp_path / "b").write_text("timeout")
    told = []
    first = run(folder, *cells, told=told)
    assert (first.planned, first.done, first.ran, [one.id for one in first.failed]) == (2, 1, 2, ["b"])
    assert [(event.kind, event.done, event.failed, event.total) for event in told] == [
        ("plan", 0, 0, 2), ("split", 0, 0, 2), ("started", 0, 0, 2), ("finished", 1, 0, 2), ("started", 1, 0, 2),
        ("finished", 1, 1, 2), ("end", 1, 1, 2),
    ]  # fmt: skip
    with Store.open(folder, create=True) as store:
        store.record_trial("tuning of b", TrialRecord(0, "failed", {}))
        store.record_trial("tuning of a", TrialRecord(0, "failed", {}))
        store.record_trial("tuning of c", TrialRecord(0, "failed", {}))
    told.clear()
    assert run(folder, *cells, told=told).ran == 0
    assert [(event.kind, event.done, event.failed) for event in told] == [("plan", 1, 1), ("end", 1, 1)]
    (tmp_path / "b").unlink()
    again = run(folder, *cells, cell("c", "BPR"), retry_failed=True)
    assert (again.done, again.ran, again.failed) == (3, 2, ())
    with Store.open(folder) as store:
        assert store.kept_trials("tuning of b") == {}, "what failed is tried again"
        assert list(store.kept_trials("tuning of a")) == [0], "what is done stays"
        assert list(store.kept_trials("tuning of c")) == [0], "a cell that was interrupted goes on"
        assert store.manifest() == {"workers": 2, "threads": 1}
    assert not (folder / "running.json").exists()


def test_damaged_cells_run_again_and_are_told_with_the_plan(tmp_path, asked):
    folder, cells, told = tmp_path / "out", [cell("a"), cell("b", "ALS"), cell("c", "BPR")], []
    run(folder, *cells)
    lists = cell_file(folder, LISTS, "b")
    lists.write_bytes(b"")
    with Store.open(folder, create=True) as store:
        store._connection.execute("UPDATE cells SET seconds = 5.0 WHERE id = 'c'")
    (folder / ".unfinished-scores").write_text("half")
    record = run(folder, *cells, told=told)
    assert (record.ran, record.done) == (2, 3)
    assert told[0].damaged == (str(lists), f"{folder / INDEX_FILE} (the row of BPR on films, seed 1)")
    assert (told[0].kind, told[0].done) == ("plan", 1)
    assert {event.cell for event in told if event.kind == "started"} == {"b", "c"}
    assert not (folder / ".unfinished-scores").exists()
    with Store.open(folder) as store:
        assert damaged_cells(store, ["a", "b", "c"]) == {}


def test_damaged_cells_are_forgotten_even_where_they_are_not_run_again(tmp_path, asked):
    folder, cells = tmp_path / "out", [cell("a"), cell("b", "ALS")]
    run(folder, *cells)
    cell_file(folder, LISTS, "b").unlink()
    record = run(folder, *cells, choose=lambda store: Choice([], "enough"))
    assert (record.ran, record.done) == (0, 1)
    assert known_cells(folder) == {"a": "done"}


def test_cells_of_earlier_code_are_told_and_run_again(tmp_path, asked):
    folder, told = tmp_path / "out", []
    assert known_cells(folder) == {}
    assert earlier_versions(work(cell("a")), folder) == {}
    run(folder, cell("a"))
    newer = cell("b", code="2")
    assert known_cells(folder) == {"a": "done"}
    assert earlier_versions(work(newer), folder) == {"EASE": 1}
    assert earlier_versions(work(cell("a")), folder) == {}
    record = run(folder, newer, told=told)
    assert (record.earlier, told[0].earlier, record.ran) == ({"EASE": 1}, {"EASE": 1}, 1)
    assert record.to_dict()["earlier"] == {"EASE": 1}


def test_a_write_that_fails_ends_the_run_and_what_was_done_is_kept(tmp_path, asked):
    (tmp_path / "a").write_text(NOT_WRITTEN)
    with pytest.raises(InputError, match=r"out: what a cell writes could not be written \(as it was told\), and cells"):
        run(tmp_path / "out", cell("a"), cell("b", "ALS"))
    assert known_cells(tmp_path / "out") == {"b": "done"}


def test_what_the_executor_of_this_machine_is_asked_for(tmp_path, asked):
    cells = [cell("a"), cell("b", "ALS", rounds=Rounds(0, 1))]
    run(tmp_path / "out", *cells, threads=3, gpus=("0", "1"), budget=Budget(cells_per_gpu=2))
    gpus = asked[0].pop("gpus")
    assert [(name := gpus.find(None), gpus.take(name, None))[0] for _ in range(4)] == ["0", "1", "0", "1"]
    assert gpus.find(0) is None
    assert asked == [
        {"workers": 2, "logs": tmp_path / "out" / "logs", "threads": 3, "preload": ("some.module",)}
    ]  # fmt: skip
    run(tmp_path / "out", *cells, cell("c", "BPR"))
    assert asked[1]["workers"] == 1, "one cell is left"
    run(tmp_path / "out", *cells)
    assert len(asked) == 2, "nothing is left"
    drive(work(cell("d", rounds=Rounds(0, 3)), cell("e")), tmp_path / "out", workers=8)
    assert asked[2]["workers"] == 4, "three trials side by side, and another cell"


def test_a_chooser_is_asked_once_where_nothing_is_left(tmp_path, asked):
    folder, told, stores = tmp_path / "out", [], []
    choices = iter([Choice(["b"], "one more"), Choice([], "enough"), Choice(["a"], "all is known")])

    def choose(store):
        stores.append(store.status().done)
        return next(choices)

    cells = [cell("a"), cell("b", "ALS")]
    first = run(folder, *cells, choose=choose, told=told)
    assert (first.ran, [event.said for event in told if event.kind == "decided"]) == (1, ["one more", "enough"])
    run(folder, *cells)
    told.clear()
    run(folder, *cells, choose=choose, told=told)
    assert [(event.kind, event.said) for event in told] == [("plan", None), ("decided", "all is known"), ("end", None)]
    assert stores == [0, 1, 2]


def test_only_splits_that_are_needed_and_not_there_are_made(tmp_path):
    cells = [cell("a", split="one"), cell("b", "ALS", split="two"), cell("c", "BPR", split="three")]
    (tmp_path / "two").touch()
    planned = work(*cells, budget=Budget(seconds_per_cell=9.0, memory_gb=2.0))
    (job,) = planned.split_jobs(cells[:2], tmp_path)
    assert (job.id, job.function, job.seconds, job.memory) == ("one", f"{__name__}:make_split", 9.0, 2 * 10**9)
    assert job.payload() == {"folder": str(tmp_path), "split": "one"}


def test_causes_are_those_of_failed_cells_else_of_cells_that_cannot_run(tmp_path):
    failed = CellRecord("a", "EASE", "films", 1, None, {}, "timeout", reason="slow")
    predictions = tuple(
        CellPrediction.of(cell(name, name).row, state, reason="no file")
        for name, state in (("ALS", CANNOT_RUN), ("BPR", "to go"))
    )
    both = StudyRecord(tmp_path, 3, failed=(failed,), predictions=predictions)
    assert [cause.sentence() for cause in both.causes()] == ["timeout: EASE on films: slow"]
    dry = StudyRecord(tmp_path, 2, predictions=predictions)
    assert [cause.sentence() for cause in dry.causes()] == ["cannot run: ALS on films: no file"]
    assert StudyRecord(tmp_path, 2).causes() == ()
    plain = both.to_dict()
    assert (plain["folder"], plain["planned"], plain["done"]) == (str(tmp_path), 3, 0)
    assert plain["failed"] == [
        {"algorithm": "EASE", "dataset": "films", "seed": 1, "fold": None, "status": "timeout", "reason": "slow"}
    ]
    assert [one["state"] for one in plain["predictions"]] == [CANNOT_RUN, "to go"]


def test_a_cluster_is_asked_in_place_of_this_machine(tmp_path, asked, monkeypatch):
    made = []
    monkeypatch.setattr(
        driving,
        "DaskExecutor",
        lambda address, folder, **more: made.append((address, folder, more)) or InProcess(1, ""),
    )
    drive(work(cell("a")), tmp_path / "out", workers=2, threads=4, cluster="tcp://there")
    reached = ("tcp://there", tmp_path / "out", {"threads": 4, "preload": ("some.module",)})
    assert made == [reached, reached], "once before the folder is made, once for the cells"
    assert asked == []
    assert known_cells(tmp_path / "out") == {"a": "done"}
