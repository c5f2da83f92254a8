"""Rows, trials, files and splits that are not what was written: by name, in stores written by hand."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import socket
import sqlite3
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from recassay.core.errors import InputError
from recassay.store import CellRecord, Store, TrialRecord, adaptive
from recassay.store import schema as store_schema
from recassay.store.files import LISTS, RESPONSES, SCORES, cell_file, write_array, write_cell_files, write_parquet
from recassay.store.lock import LOCK_FILE, study_lock
from recassay.store.records import PlannedRow, StoreStatus, Verification, unpacked
from recassay.store.sealed import files_state, folder_state, read_sealed, seal_folder, write_sealed
from recassay.store.store import INDEX_FILE, MANIFEST_FILE
from recassay.store.verification import damaged_cells, verify_store

FRAME = pl.DataFrame({"user": ["u1", "u2"], "ndcg@10": [0.5, 0.0]})


def row(cell, algorithm="EASE", dataset="films"):
    return PlannedRow(cell, algorithm, dataset, 7, None, ("ndcg@10",), f"tuning of {cell}", 3)


def record(store, cell, algorithm="EASE", dataset="films", *, status="done", sealed=True, split=None):
    """A cell of the store with its files; `sealed`: with their checksums."""
    files = write_cell_files(store.folder, cell, per_user=FRAME, lists=FRAME) if status == "done" else None
    kept = {"metrics": {"ndcg@10": 0.25}, "files": files if sealed else None} if status == "done" else {"reason": "no"}
    store.record(CellRecord(cell, algorithm, dataset, 7, None, {}, status, **kept, split=split))


def trials(store, tuning, count):
    for number in range(count):
        store.record_trial(tuning, TrialRecord(number, "complete", {"reg": number}, 0.1 * number))


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "study", create=True) as opened:
        yield opened


def change(store, statement):
    store._connection.execute(statement)


def test_what_is_damaged_is_named_with_its_place(store):
    store.set_plan([row("c1"), row("c2", "ALS"), row("c3", "BPR", "books"), row("c4", "Pop")], {})
    for cell in ("c1", "c2", "c3", "c4", "old"):
        record(store, cell, *{"c2": ("ALS",), "c3": ("BPR", "books"), "c4": ("Pop",)}.get(cell, ()))
    trials(store, "tuning of c2", 3)
    everything = ["c1", "c2", "c3", "c4", "old"]
    index = store.folder / INDEX_FILE
    assert damaged_cells(store, everything) == {}
    change(store, "UPDATE cells SET algorithm = 'Other' WHERE id IN ('c1', 'old')")
    change(store, "UPDATE trials SET value = value + 1 WHERE number > 0")
    lists = cell_file(store.folder, LISTS, "c3")
    lists.write_bytes(lists.read_bytes()[:-1])
    scores = cell_file(store.folder, SCORES, "c4")
    scores.unlink()
    assert damaged_cells(store, everything) == {
        "c1": f"{index} (the row of EASE on films, seed 7)",
        "c2": f"{index} (trial 1 of ALS on films, seed 7)",
        "c3": str(lists),
        "c4": str(scores),
        "old": f"{index} (the row of old)",
    }
    assert list(damaged_cells(store, ["c3", "c9"])) == ["c3", "c9"], "a cell without a row is not what was written"
    store.forget_damaged(["c1", "c3"])
    assert store.statuses() == {"c2": "done", "c4": "done", "old": "done"}
    assert [trial.number for trial in store.trial_records("tuning of c2")] == [0]


def test_files_without_checksums_must_be_there(store):
    record(store, "c1", sealed=False)
    assert damaged_cells(store, ["c1"]) == {}
    lists = cell_file(store.folder, LISTS, "c1")
    lists.write_bytes(b"no table")
    assert damaged_cells(store, ["c1"]) == {}
    with pytest.raises(InputError, match="the lists of this cell cannot be read; run the study again: it makes this"):
        store.top_lists("c1")
    lists.unlink()
    assert damaged_cells(store, ["c1"]) == {"c1": str(cell_file(store.folder, SCORES, "c1"))}
    assert not store.has_files("c1")
    write_parquet(cell_file(store.folder, RESPONSES, "c1"), FRAME)
    assert store.has_files("c1"), "responses alone are all that a classifier leaves"
    assert store.responses("c1").equals(FRAME)


def test_a_file_that_was_changed_is_not_read(store):
    record(store, "c1")
    scores = cell_file(store.folder, SCORES, "c1")
    write_parquet(scores, FRAME.reverse())
    with pytest.raises(InputError, match=r"the scores of this cell are not what was written \(the checksum differs\)"):
        store.per_user("c1")
    assert store.top_lists("c1").equals(FRAME)


def test_trials_that_were_changed_are_forgotten_with_those_after_them(store):
    trials(store, "t", 4)
    trials(store, "u", 4)
    trials(store, "v", 2)
    change(store, "UPDATE trials SET parameters = '{}' WHERE tuning = 't' AND number IN (3, 2)")
    change(store, "UPDATE trials SET seconds = 9.0 WHERE tuning = 'u' AND number = 1")
    change(store, "UPDATE trials SET seal = NULL WHERE tuning = 'v'")
    assert store.damaged_trials() == ({"t": 2, "u": 1}, 2)
    store.forget_damaged_trials()
    assert {name: list(store.kept_trials(name)) for name in "tuv"} == {"t": [0, 1], "u": [0], "v": [0, 1]}


def split_folder(store, name, *, sealed=True):
    folder = store.folder / "splits" / name
    folder.mkdir(parents=True)
    (folder / "train.npy").write_text(name)
    if sealed:
        seal_folder(folder, "split.json", {})
    else:
        (folder / "split.json").write_text("{}")
    return folder


def test_a_study_is_verified_with_all_that_its_done_cells_rest_on(store):
    store.set_plan([row("c1"), row("c2", "ALS"), row("c3", "BPR")], {})
    record(store, "c1", split="one")
    record(store, "c2", "ALS", split="two")
    record(store, "c3", "BPR", status="failed")
    record(store, "of another plan", split="gone")
    trials(store, "tuning of c1", 2)
    split_folder(store, "one")
    two = split_folder(store, "two")
    split_folder(store, ".unfinished-three", sealed=False)
    assert verify_store(store) == Verification(cells=2, splits=2, damaged=(), unverified={})
    spare = split_folder(store, "spare", sealed=False)
    change(store, "UPDATE cells SET seal = NULL WHERE id = 'c1'")
    change(store, "UPDATE cells SET files = NULL, seal = NULL WHERE id = 'c2'")
    change(store, "UPDATE trials SET seal = NULL WHERE number = 1")
    (store.folder / MANIFEST_FILE).unlink()
    found = verify_store(store)
    assert (found.cells, found.splits, found.damaged) == (2, 3, ())
    assert found.unverified == {"cells": 2, "splits": 1, "trials": 1, "plans": 1}
    (two / "train.npy").write_text("other")
    (spare / "split.json").unlink()
    assert verify_store(store).damaged == (str(spare), str(two))
    change(store, "UPDATE cells SET split = 'lost', seal = NULL WHERE id = 'c1'")
    assert str(store.folder / "splits" / "lost") in verify_store(store).damaged


def test_cells_without_checksums_of_their_files_or_of_their_row_are_not_verified(store):
    store.set_plan([row("c1"), row("c2", "ALS")], {})
    record(store, "c1", sealed=False)
    record(store, "c2", "ALS")
    assert verify_store(store).unverified == {"cells": 1}
    assert verify_store(store).splits == 0


def test_a_plan_that_was_changed_is_damaged_and_one_without_a_checksum_unknown(store):
    store.set_plan([row("c1")], {"seeds": [1]})
    assert verify_store(store).unverified == {}
    change(store, "UPDATE plan SET trials = 9")
    assert verify_store(store).damaged == (f"{store.folder / INDEX_FILE} (the plan)",)
    write_sealed(store.folder / MANIFEST_FILE, {"seeds": [1]})
    assert verify_store(store) == Verification(0, 0, (), {"plans": 1})
    store.set_plan([], {})
    write_sealed(store.folder / MANIFEST_FILE, {})
    assert verify_store(store).unverified == {}, "nothing is planned"


def test_a_reader_sees_the_cells_that_a_writer_adds(store):
    store.set_plan([row("c1"), row("c2", "ALS")], {})
    record(store, "c1")
    with Store.open(store.folder) as reader:
        assert [cell.id for cell in reader.cells()] == ["c1"]
        record(store, "c2", "ALS")
        assert [cell.id for cell in reader.cells()] == ["c1", "c2"]
        change(store, "UPDATE cells SET reason = 'changed'")
        with pytest.raises(InputError, match="the row of EASE on films is not what was written"):
            reader.cells()


def test_the_checksum_of_a_row_is_that_of_its_filled_columns_and_metrics(store):
    """A column that a later version adds is empty in the rows of this one, and changes no checksum."""
    store.record(CellRecord("c1", "EASE", "films", 7, None, {"a": 1}, "failed", metrics={"ndcg@10": None, "mrr": 0.5}))
    (seal,) = store._connection.execute("SELECT seal FROM cells").fetchone()
    filled = {"id": "c1", "algorithm": "EASE", "dataset": "films", "seed": 7, "spec": '{"a": 1}', "status": "failed",
              "attempts": 1, "finished": ""}  # fmt: skip
    content = json.dumps([filled, [[0, "ndcg@10", None], [1, "mrr", 0.5]]])
    assert seal == hashlib.sha256(content.encode()).hexdigest()


def test_a_damaged_store_still_says_how_far_it_is(store):
    store.set_plan([row("c1"), row("c2", "ALS")], {})
    record(store, "c1")
    change(store, "UPDATE metrics SET value = 0.9")
    status = store.status()
    assert (status.done, [waiting.cell for waiting in status.to_go]) == (1, ["c2"])
    with pytest.raises(InputError, match="the row of EASE on films is not what was written"):
        store.results()


def test_results_are_known_by_their_cells_their_status_and_their_metrics(store):
    def source(*cells):
        store.set_plan([row(cell) for cell in cells], {})
        return store.results().sources

    record(store, "c1")
    record(store, "c2")
    record(store, "c3", status="failed")
    first = source("c1")
    assert len({first, source("c2"), source("c3")}) == 3
    assert source("c1") == first


def test_a_row_that_cannot_be_kept_leaves_what_was_there(store):
    store.set_plan([row("c1")], {})
    record(store, "c1")
    before = store.cells()
    broken = CellRecord("c1", "EASE", "films", 7, None, {}, "failed", metrics={"ndcg@10": "high"})
    with pytest.raises(sqlite3.IntegrityError):
        store.record(broken)
    assert store.cells() == before
    record(store, "c1", status="timeout")
    (again,) = store.cells()
    assert (again.status, dict(again.metrics)) == ("timeout", {})


def test_a_writer_leaves_no_log_behind_and_a_reader_changes_nothing(store):
    store.set_plan([row("c1")], {})
    assert (store.folder / f"{INDEX_FILE}-wal").exists()
    assert store._connection.execute("PRAGMA synchronous").fetchone() == (2,), "a commit is on the disk"
    store.close()
    names = {path.name for path in store.folder.iterdir()}
    assert names == {INDEX_FILE, MANIFEST_FILE}
    before = (store.folder / INDEX_FILE).read_bytes()
    with Store.open(store.folder) as reader:
        assert reader.plan() == (row("c1"),)
        assert reader._connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        assert {path.name for path in store.folder.iterdir()} == names
    assert (store.folder / INDEX_FILE).read_bytes() == before


@pytest.mark.parametrize(
    ("logged", "closed"),
    [(False, {"copy", INDEX_FILE}), (False, {"copy"}), (False, {INDEX_FILE}), (True, {"copy", INDEX_FILE})],
    ids=["finished", "folder", "file", "killed"],
)
def test_a_store_that_may_not_be_written_is_read_from_a_copy(store, tmp_path, monkeypatch, logged, closed):
    """A run that was killed leaves its last commits in a log beside the index."""
    store.set_plan([row("c1")], {})
    if not logged:
        store.close()
    folder = shutil.copytree(store.folder, tmp_path / "copy")
    (folder / f"{INDEX_FILE}-shm").unlink(missing_ok=True)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert (f"{INDEX_FILE}-wal" in before) is logged
    monkeypatch.setattr(store_schema.os, "access", lambda path, mode: Path(path).name not in closed)
    with Store.open(folder) as reader:
        assert reader.plan() == (row("c1"),)
        assert reader._connection.execute("PRAGMA database_list").fetchone()[2] == "", "it is in memory"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("writable", [True, False])
def test_a_file_that_is_no_store_leaves_no_connection_open(tmp_path, monkeypatch, writable):
    """Python 3.13 warns of connections that nobody closed, and Windows cannot delete their files."""
    opened = []

    class Watched(store_schema._Index):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            opened.append(self)

    monkeypatch.setattr(store_schema, "_Index", Watched)
    monkeypatch.setattr(store_schema.os, "access", lambda path, mode: writable)
    (tmp_path / INDEX_FILE).write_bytes(b"no database " * 400)
    with pytest.raises(InputError, match=r"study\.sqlite: this is not a store of a study"):
        Store.open(tmp_path)
    assert len(opened) == (1 if writable else 2)
    for connection in opened:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            connection.total_changes  # noqa: B018


def test_a_store_begins_with_its_tables(tmp_path):
    folder = tmp_path / "study"
    assert not Store.begun(folder)
    folder.mkdir()
    (folder / INDEX_FILE).touch()
    assert not Store.begun(folder)
    with pytest.raises(InputError, match=r"study\.sqlite: the store is empty; run the study"):
        Store.open(folder)
    assert (folder / INDEX_FILE).read_bytes() == b""
    Store.open(folder, create=True).close()
    assert Store.begun(folder)


def test_pages_and_texts_that_were_overwritten_are_one_line(store):
    store.set_plan([row(f"c{n}") for n in range(200)], {})
    change(store, "UPDATE plan SET dataset = CAST(x'ff41' AS TEXT) WHERE position = 3")
    with pytest.raises(InputError, match=r"study\.sqlite: the store is damaged \(.*; restore it from a copy, or run"):
        store.plan()
    store.close()
    index = store.folder / INDEX_FILE
    content = bytearray(index.read_bytes())
    for page in range(4096, len(content), 4096):
        content[page : page + 64] = b"\xff" * 64
    index.write_bytes(content)
    with pytest.raises(InputError, match=r"study\.sqlite: .*damaged \("):
        Store.open(store.folder)


def test_the_lock_says_who_works_here_and_is_empty_afterwards(tmp_path):
    with study_lock(tmp_path / "new"):
        pass
    (tmp_path / "new" / LOCK_FILE).write_text("what a process that was killed left behind " * 9)
    with study_lock(tmp_path / "new"):
        said = (tmp_path / "new" / LOCK_FILE).read_text()
        who = re.escape(f"process {os.getpid()} on {socket.gethostname()} since ")
        assert re.fullmatch(who + r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00\n", said)
    assert (tmp_path / "new" / LOCK_FILE).read_bytes() == b""


@pytest.mark.parametrize(
    ("column", "text", "value"),
    [
        ("files", None, None),
        ("spec", '{"a": "\\u00e9"}', {"a": "é"}),
        ("metrics", '["ndcg@10"]', ["ndcg@10"]),
        ("stages", "[1, 2]", [1, 2]),
    ],
)
def test_columns_of_json_are_unpacked(column, text, value):
    assert unpacked(column, text, Path("study")) == value


@pytest.mark.parametrize(
    ("column", "text"),
    [
        ("spec", "[]"),
        ("spec", "{"),
        ("spec", "null"),
        ("spec", '{"a": "\\ud800"}'),
        ("stages", "{}"),
        ("metrics", "[1]"),
        ("energy", "[" * 100_000),
    ],
)
def test_columns_of_json_that_were_changed_are_refused(column, text):
    words = f"study: the store is damaged: {column} of a row is not what was written; restore it from a copy, or run"
    with pytest.raises(InputError, match=words):
        unpacked(column, text, Path("study"))


def test_how_far_a_study_is_as_plain_data():
    failed = CellRecord("c1", "EASE", "films", 2, 1, {}, "timeout", reason="slow", detail="trace", attempts=2)
    status = StoreStatus(4, 1, (failed, failed), (row("c2"),), 6, {"ALS": 2}, Verification(1, 1, ("x",), {"cells": 1}))
    assert status.to_dict() == {
        "planned": 4,
        "done": 1,
        "failed": [
            {"algorithm": "EASE", "dataset": "films", "seed": 2, "fold": 1, "status": "timeout", "reason": "slow"}
        ]
        * 2,
        "to_go": [{"algorithm": "EASE", "dataset": "films", "seed": 7}],
        "trials": 6,
        "earlier": {"ALS": 2},
        "damaged": ["x"],
        "unverified": {"cells": 1},
        "left_out": [],
    }
    assert [(cause.status, cause.reason, cause.cells) for cause in status.causes()] == [("timeout", "slow", 2)]
    unasked = StoreStatus(1, 0, (), (), 0).to_dict()
    assert (unasked["damaged"], unasked["unverified"], unasked["earlier"]) == (None, None, {})


def test_a_journal_beyond_its_size_is_damaged(tmp_path, monkeypatch):
    journal = dict.fromkeys(("metric", "algorithms", "datasets", "question", "steps", "seed", "said"), 1)
    adaptive.write_adaptive(tmp_path, journal)
    size = (tmp_path / adaptive.ADAPTIVE_FILE).stat().st_size
    monkeypatch.setattr(adaptive, "MOST_BYTES", size)
    assert adaptive.read_adaptive(tmp_path)["seed"] == 1
    monkeypatch.setattr(adaptive, "MOST_BYTES", size - 1)
    with pytest.raises(InputError, match="the journal of the adaptive run is damaged"):
        adaptive.read_adaptive(tmp_path)


def test_a_folder_of_several_descriptions_is_sealed_where_all_are(tmp_path):
    (tmp_path / "a.npy").write_text("a")
    (tmp_path / "logs").mkdir()
    seal_folder(tmp_path, "split.json", {"b": 2, "a": 1})
    assert folder_state(tmp_path) == "sound"
    stored = json.loads((tmp_path / "split.json").read_text())
    (tmp_path / "split.json").write_text(json.dumps(dict(sorted(stored.items()))))
    assert folder_state(tmp_path) == "sound", "the order of keys says nothing"
    (tmp_path / "notes.json").write_text("{}")
    assert folder_state(tmp_path) == "unsealed"


def test_a_description_that_is_no_table_or_is_gone_is_damaged(tmp_path):
    for content in ("[1]", "3", "{", '{"a": NaN}'):
        (tmp_path / "d.json").write_text(content)
        with pytest.raises(InputError, match=r"d\.json: it is missing or damaged; run the study again: it makes this"):
            read_sealed(tmp_path, "d.json", "it")
    with pytest.raises(InputError, match="it is missing or damaged"):
        read_sealed(tmp_path, "gone.json", "it")


def test_the_state_of_files_is_another_when_one_was_swapped(tmp_path):
    """A file of the same size and time of writing is another one: it has another inode and time of change."""
    (tmp_path / "a.npy").write_text("one")
    seal_folder(tmp_path, "d.json", {})
    stored = read_sealed(tmp_path, "d.json", "it")
    before, written = files_state(tmp_path, stored), (tmp_path / "a.npy").stat()
    (tmp_path / "b.npy").write_text("two")
    assert files_state(tmp_path, stored) == before, "a file that the description does not name"
    os.utime(tmp_path / "b.npy", ns=(written.st_atime_ns, written.st_mtime_ns))
    (tmp_path / "b.npy").replace(tmp_path / "a.npy")
    swapped = files_state(tmp_path, stored)
    (tmp_path / "a.npy").unlink()
    assert len({before, swapped, files_state(tmp_path, stored)}) == 3


def test_rows_of_a_version_without_checksums_are_read(store):
    store.set_plan([row("c1"), row("c2", "ALS")], {})
    record(store, "c1")
    record(store, "c2", "ALS", status="failed")
    change(store, "UPDATE cells SET seal = NULL")
    assert [cell.id for cell in store.cells()] == ["c1", "c2"]
    assert damaged_cells(store, ["c1"]) == {}


def test_an_array_of_objects_is_never_written(tmp_path):
    with pytest.raises(ValueError, match="Object arrays cannot be saved"):
        write_array(tmp_path / "a.npy", np.array([{}], dtype=object))
    assert list(tmp_path.iterdir()) == []
    write_array(tmp_path / "a.npy", np.arange(3))
    assert np.load(tmp_path / "a.npy").tolist() == [0, 1, 2]
