from __future__ import annotations

import errno
import json
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from types import SimpleNamespace

import polars as pl
import pytest

from recassay.core.errors import InputError, UsageError
from recassay.store import CellRecord, Store, TrialRecord
from recassay.store import schema as store_schema
from recassay.store.adaptive import ADAPTIVE_FILE, read_adaptive, write_adaptive
from recassay.store.files import write_cell_files
from recassay.store.lock import LOCK_FILE, study_lock
from recassay.store.records import PlannedRow
from recassay.store.sealed import check_files, files_state, folder_state, read_sealed, seal_folder
from recassay.store.store import INDEX_FILE
from recassay.store.verification import damaged_cells

METRICS = ("ndcg@10", "coverage@10")


def row(cell, algorithm="EASE", dataset="films", *, seed=1, fold=None):
    return PlannedRow(cell, algorithm, dataset, seed, fold, METRICS, f"tuning of {cell}", 3)


def record(cell, algorithm="EASE", dataset="films", *, status="done", **more):
    values = {"metrics": dict(zip(METRICS, (0.25, None), strict=True)), "memory": 2e6, "seconds_fit": 0.5}
    if status != "done":
        values = {"reason": "it broke"}
    return CellRecord(cell, algorithm, dataset, 1, None, {"algorithm": algorithm}, status, **values | more)


def write_files(folder, cell):
    frame = pl.DataFrame({"user": ["u1", "u2"], "ndcg@10": [0.5, 0.0]})
    lists = pl.DataFrame({"user": ["u1"], "rank": [1], "item": ["i9"], "score": [0.5]})
    write_cell_files(folder, cell, per_user=frame, lists=lists)
    return frame, lists


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "study", create=True) as opened:
        yield opened


def test_a_done_cell_comes_back_whole(store):
    store.set_plan([row("c1")], {"seeds": [1]})
    frame, lists = write_files(store.folder, "c1")
    kept = record("c1", parameters={"reg": 3.5}, counts={"users": 2}, attempts=2)
    store.record(kept)
    assert store.cells() == (kept,)
    assert store.per_user("c1").equals(frame)
    assert store.top_lists("c1").equals(lists)
    assert store.manifest() == {"seeds": [1]}


def test_results_list_failed_cells_without_a_value(store):
    store.set_plan([row("c1"), row("c2", "ALS"), row("c3", "BPR")], {})
    write_files(store.folder, "c1")
    store.record(record("c1"))
    store.record(record("c2", "ALS", status="timeout"))
    frame = store.results().frame
    assert frame.filter(algorithm="EASE", metric="ndcg@10")["value"].to_list() == [0.25]
    assert frame.filter(algorithm="EASE", metric="memory")["value"].to_list() == [2.0]
    assert frame.filter(algorithm="ALS")["value"].to_list() == [None] * 5
    assert "BPR" not in frame["algorithm"].to_list()
    assert "fold" not in frame.columns
    status = store.status()
    assert (status.planned, status.done) == (3, 1)
    assert [(cell.algorithm, cell.status, cell.reason) for cell in status.failed] == [("ALS", "timeout", "it broke")]
    assert [waiting.algorithm for waiting in status.to_go] == ["BPR"]
    assert json.loads(json.dumps(status.to_dict()))["to_go"] == [{"algorithm": "BPR", "dataset": "films", "seed": 1}]


def test_only_the_current_plan_counts_and_an_old_cell_may_return(store):
    store.set_plan([row("c1")], {})
    write_files(store.folder, "c1")
    store.record(record("c1"))
    store.set_plan([row("c2")], {})
    assert store.cells() == ()
    with pytest.raises(InputError, match="no cell of this study has run"):
        store.results()
    store.set_plan([row("c1")], {})
    assert [cell.id for cell in store.cells()] == ["c1"]


def test_folds_are_a_column_where_there_are_folds(store):
    store.set_plan([row("c1", fold=0), row("c2", fold=1)], {})
    for cell, fold in (("c1", 0), ("c2", 1)):
        write_files(store.folder, cell)
        store.record(CellRecord(cell, "EASE", "films", 1, fold, {}, "done", metrics={"ndcg@10": 0.1}))
    assert store.results().frame.filter(metric="ndcg@10")["fold"].to_list() == ["0", "1"]
    store.set_plan([row("c1", fold=0), row("c2", fold=1), row("c3", dataset="books")], {})
    write_files(store.folder, "c3")
    store.record(CellRecord("c3", "EASE", "books", 1, None, {}, "done", metrics={"ndcg@10": 0.2}))
    assert store.results().frame.filter(metric="ndcg@10")["fold"].to_list() == ["0", "1", "0"], "a single split is one"


def test_a_done_row_needs_its_files_and_a_cell_without_them_is_to_be_run(store):
    store.set_plan([row("c1")], {})
    with pytest.raises(UsageError, match="no files"):
        store.record(record("c1"))
    write_files(store.folder, "c1")
    store.record(record("c1"))
    assert damaged_cells(store, ["c1"]) == {}
    (store.folder / "lists" / "c1.parquet").unlink()
    assert list(damaged_cells(store, ["c1"])) == ["c1"]
    with pytest.raises(InputError, match="no finished cell"):
        store.top_lists("c1")


def test_trials_resume_up_to_the_first_gap_and_are_never_rewritten(store):
    trials = [TrialRecord(n, "complete", {"reg": n / 3}, n / 7, None, (0.1, n / 7), 0.5) for n in (0, 1, 3)]
    for trial in trials:
        store.record_trial("tuning of c1", trial)
    store.record_trial("tuning of c1", TrialRecord(1, "failed", {"reg": 0.0}, None, "late"))
    assert store.trial_records("tuning of c1") == tuple(trials[:2])
    store.set_plan([row("c1")], {})
    frame = store.trials()
    assert frame["number"].to_list() == [0, 1]
    assert frame["value"].to_list() == [0, 1 / 7]


def test_failed_trials_are_forgotten_with_those_that_followed_from_them(store):
    states = ("complete", "pruned", "over_budget", "complete", "failed")
    for tuning in ("t", "u"):
        for number, state in enumerate(states):
            store.record_trial(tuning, TrialRecord(number, state, {}))
    store.forget_failed_trials("t")
    assert [trial.state for trial in store.trial_records("t")] == ["complete", "pruned"]
    assert len(store.trial_records("u")) == 5
    store.forget_failed_trials("t")
    assert len(store.trial_records("t")) == 2


def test_a_reader_sees_what_is_committed_while_a_writer_is_open(store):
    store.set_plan([row("c1")], {})
    with Store.open(store.folder) as reader:
        assert reader.status().planned == 1
        store.set_plan([row("c1"), row("c2")], {})
        assert reader.status().planned == 2


def change_version(folder, version):
    connection = sqlite3.connect(folder / INDEX_FILE)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()


COLUMNS = {
    "cells": "id algorithm dataset seed fold? spec status reason? detail? attempts finished parameters? validation? "
    "seconds? seconds_tune? seconds_fit? seconds_predict? memory? peak_memory? predicted_memory? energy? counts? "
    "files? split? seal?",
    "metrics": "cell position metric value?",
    "trials": "tuning number state parameters value? reason? stages seconds seal?",
    "plan": "position? cell algorithm dataset seed fold? metrics tuning trials universe",
}
"""Those of version 5; where this changes, the version changes too, and `MIGRATIONS` lead to it."""


@pytest.mark.parametrize("table", COLUMNS)
def test_the_tables_of_this_version(store, table):
    told = store._connection.execute(f"PRAGMA table_info({table})").fetchall()
    assert " ".join(f"{name}{'' if required else '?'}" for _, name, _, required, *_ in told) == COLUMNS[table]
    kinds = {name: kind for _, name, kind, *_ in told}
    assert {kinds[name] for name in kinds if name.startswith(("seconds", "value", "validation"))} <= {"REAL"}
    assert {kinds[name] for name in kinds if name in ("seed", "fold", "number", "attempts", "trials")} <= {"INTEGER"}
    assert store_schema.SCHEMA_VERSION == 5


def test_other_schema_versions_are_refused(store):
    store.close()
    change_version(store.folder, 99)
    with pytest.raises(InputError, match=r"newer RecAssay \(schema 99; this one knows 5\); update RecAssay"):
        Store.open(store.folder)
    change_version(store.folder, 6)
    with pytest.raises(InputError, match=r"newer RecAssay \(schema 6; this one knows 5\)"):
        Store.open(store.folder)
    change_version(store.folder, 0)
    with pytest.raises(InputError, match=r"older RecAssay \(schema 0; this one writes 5\)"):
        Store.open(store.folder, create=True)


def test_an_older_store_is_migrated_where_there_is_a_way(store, monkeypatch):
    store.close()
    connection = sqlite3.connect(store.folder / INDEX_FILE)
    for table, column in (
        ("cells", "files"),
        ("cells", "split"),
        ("cells", "seal"),
        ("trials", "seal"),
        ("cells", "energy"),
        ("plan", "universe"),
    ):
        connection.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
    connection.close()
    change_version(store.folder, 0)
    monkeypatch.setitem(store_schema.MIGRATIONS, 0, "ALTER TABLE plan ADD COLUMN colour TEXT")
    before = (store.folder / INDEX_FILE).read_bytes()
    with Store.open(store.folder) as opened:
        assert opened.plan() == ()
        assert opened.cells() == ()
    assert (store.folder / INDEX_FILE).read_bytes() == before, "a reader migrates a copy"
    Store.open(store.folder, create=True).close()
    connection = sqlite3.connect(store.folder / INDEX_FILE)
    assert connection.execute("PRAGMA user_version").fetchone() == (5,)
    assert "colour" in [column[1] for column in connection.execute("PRAGMA table_info(plan)")]
    connection.close()


def test_folders_that_hold_no_study_are_refused(tmp_path):
    with pytest.raises(InputError, match="no study in this folder"):
        Store.open(tmp_path)
    (tmp_path / INDEX_FILE).write_bytes(b"this is text, and long enough to be not a header of SQLite" * 20)
    with pytest.raises(InputError, match="not a store of a study"):
        Store.open(tmp_path)
    (tmp_path / INDEX_FILE).unlink()
    connection = sqlite3.connect(tmp_path / INDEX_FILE)
    connection.execute("CREATE TABLE other (x)")
    connection.close()
    with pytest.raises(InputError, match="not a store of a study"):
        Store.open(tmp_path, create=True)


HOLDER = """
import sys, time
from pathlib import Path
from recassay.store.lock import study_lock
with study_lock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.mark.slow
def test_a_second_driver_is_refused_and_a_killed_ones_lock_is_taken_over(tmp_path):
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    try:
        with (
            pytest.raises(UsageError, match=rf"another run is at work .*process {holder.pid} on"),
            study_lock(tmp_path),
        ):
            pass
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
    assert (tmp_path / LOCK_FILE).is_file()
    for _ in range(50):
        try:
            with study_lock(tmp_path):
                break
        except UsageError:
            time.sleep(0.1)
    else:
        pytest.fail("the lock of a killed process was not taken over")


def test_the_results_of_a_study_by_hand(store):
    """Costs in their units, folds of datasets without folds as one, other universes left out."""
    rows = [row("c1", fold=0), row("c2", "ALS", "books"), row("c3", "BPR"), replace(row("c4"), universe=1)]
    store.set_plan(rows, {})
    energy = {"joules": 9.0, "joules_fit": 7.0, "how": "measured"}
    costs = {"seconds": 4.0, "seconds_fit": 0.5, "seconds_predict": 0.25, "memory": 3e6, "peak_memory": 8e6}
    for kept in (
        replace(record("c1", energy=energy, **costs), fold=0),
        record("c2", "ALS", "books", metrics={"ndcg@10": 0.5, "coverage@10": 1.0}, seconds=None),
        record("c3", "BPR", status="failed", metrics={"ndcg@10": 0.9}, seconds=1.0),
        record("c4", metrics={"ndcg@10": 0.7}, seconds=2.0),
    ):
        write_files(store.folder, kept.id)
        store.record(kept)
    results = store.results()
    by_cell = results.frame.group_by("algorithm", "dataset", "fold", maintain_order=True)
    values = {cell: tuple(part["value"]) for cell, part in by_cell}
    kept = ["seconds_fit", "seconds_predict", "memory", "joules"]
    assert results.frame["metric"].unique(maintain_order=True).to_list() == [*METRICS, *kept]
    assert values == {
        ("EASE", "films", "0"): (0.25, None, 0.5, 0.25, 3.0, 7.0),
        ("ALS", "books", "0"): (0.5, 1.0, 0.5, None, 2.0, None),
        ("BPR", "films", "0"): (None,) * 6,
    }
    assert store.seconds() == {"c1": 4.0, "c4": 2.0}
    assert [cell.id for cell in store.cells()] == ["c1", "c2", "c3"]
    assert [cell.id for cell in store.cells(every=True)] == ["c1", "c2", "c3", "c4"]
    status = store.status()
    assert (status.planned, status.done, [cell.id for cell in status.failed]) == (4, 3, ["c3"])
    changed = store.results().sources
    store.record(record("c2", "ALS", "books", metrics={"ndcg@10": 0.6}))
    assert store.results().sources != changed == results.sources


def test_cells_of_other_versions_of_the_code_are_counted(store):
    plan = [row("c1"), row("c2", "ALS"), row("c3", "BPR"), row("c4", "Pop"), row("c5", "ALS", seed=2)]
    store.set_plan(plan, {})
    for cell, algorithm, code, status in (
        ("o1", "EASE", "v1", "done"),
        ("o2", "ALS", "v1", "done"),
        ("o3", "ALS", "v2", "done"),
        ("o4", "BPR", "v1", "failed"),
        ("o5", "Pop", "v1", "done"),
    ):
        write_files(store.folder, cell)
        store.record(replace(record(cell, algorithm, status=status), spec={"code": code}))
    code = {"EASE": "v2", "ALS": "v2", "BPR": "v2"}
    assert store.earlier_versions(plan, code) == {"EASE": 1}
    assert store.earlier_versions(plan, {**code, "ALS": "v3"}) == {"EASE": 1, "ALS": 1}


def test_trials_of_the_plan_are_counted_up_to_their_number(store):
    store.set_plan([row("c1"), row("c2", "ALS")], {})
    for number in range(5):
        store.record_trial("tuning of c1", TrialRecord(number, "complete", {"reg": 1}, float("nan"), None, (), 2))
    store.record_trial("tuning of c9", TrialRecord(0, "complete", {}))
    assert store.status().trials == 3
    frame = store.trials()
    assert frame.columns == [
        "algorithm", "dataset", "seed", "fold", "number", "state", "value", "parameters", "stages", "reason", "seconds",
        "cell",
    ]  # fmt: skip
    assert frame.row(2) == ("EASE", "films", 1, None, 2, "complete", None, '{"reg": 1}', "[]", None, 2.0, "c1")
    assert list(store.kept_trials("tuning of c1")) == [0, 1, 2, 3, 4]
    assert store.damaged_trials() == ({}, 0)


def test_the_journal_of_an_adaptive_run(tmp_path):
    assert read_adaptive(tmp_path) is None
    journal = dict.fromkeys(("metric", "algorithms", "datasets", "question", "steps", "seed", "said"), 1)
    write_adaptive(tmp_path, journal)
    assert read_adaptive(tmp_path) == {"version": 1, **journal}
    file = tmp_path / ADAPTIVE_FILE
    sound = file.read_text()
    for damaged in ("", "[]", sound.replace('"seed": 1', '"seed": 2'), sound[:-9]):
        file.write_text(damaged)
        with pytest.raises(InputError, match="the journal of the adaptive run is damaged; remove it: the cells stay"):
            read_adaptive(tmp_path)
    for other in ({**journal, "version": 2}, {key: 1 for key in journal if key != "said"}):
        write_adaptive(tmp_path, other)
        with pytest.raises(InputError, match="damaged"):
            read_adaptive(tmp_path)


@pytest.mark.parametrize(
    ("code", "free", "number", "message"),
    [
        (sqlite3.SQLITE_FULL, 1 << 40, errno.ENOSPC, None),
        (sqlite3.SQLITE_READONLY, 1 << 40, errno.EROFS, None),
        (sqlite3.SQLITE_READONLY, 0, errno.EROFS, None),
        (sqlite3.SQLITE_CANTOPEN, 1 << 40, errno.EACCES, None),
        (sqlite3.SQLITE_PERM, 1 << 40, errno.EACCES, None),
        (sqlite3.SQLITE_IOERR | 3 << 8, 1 << 17, errno.EIO, None),
        (sqlite3.SQLITE_IOERR | 3 << 8, (1 << 17) - 1, errno.ENOSPC, None),
        (sqlite3.SQLITE_BUSY, 0, None, "another process holds the store; try again when it is done"),
        (sqlite3.SQLITE_LOCKED, 0, None, "another process holds the store"),
        (sqlite3.SQLITE_CORRUPT, 0, None, "this is not a store of a study, or it is damaged (odd); name the folder"),
        (sqlite3.SQLITE_NOTADB, 0, None, "this is not a store of a study, or it is damaged (odd)"),
        (0, 0, None, "the store is damaged (odd); restore it from a copy, or run the study in a new folder"),
    ],
)
def test_what_errors_of_the_database_mean(tmp_path, monkeypatch, code, free, number, message):
    monkeypatch.setattr(store_schema.shutil, "disk_usage", lambda folder: SimpleNamespace(free=free))
    error = sqlite3.OperationalError("odd")
    error.sqlite_errorcode = code
    explained = store_schema._explained(SimpleNamespace(path=str(tmp_path / "study.sqlite")), error)
    if message is None:
        assert isinstance(explained, OSError)
        assert (explained.errno, explained.filename) == (number, str(tmp_path / "study.sqlite"))
    else:
        assert str(explained).startswith(f"{tmp_path / 'study.sqlite'}: {message}")


def test_a_sealed_folder_knows_its_files(tmp_path):
    def state():
        return folder_state(tmp_path), files_state(tmp_path, read_sealed(tmp_path, "d.json", "it"))

    for name in ("a.npy", "b.npy"):
        (tmp_path / name).write_text(name)
    seal_folder(tmp_path, "d.json", {"x": 1})
    before = state()
    assert before[0] == "sound"
    assert state() == before
    assert read_sealed(tmp_path, "d.json", "it")["x"] == 1
    (tmp_path / "a.npy").write_text("other")
    assert state()[0] == "damaged"
    assert state()[1] != before[1]
    with pytest.raises(InputError) as refused:
        check_files(tmp_path, read_sealed(tmp_path, "d.json", "it"), "it")
    assert "a.npy: a file of it is not what was written (its checksum differs); run the study again" in str(
        refused.value
    )
    (tmp_path / "a.npy").unlink()
    with pytest.raises(InputError, match=r"a\.npy: a file of it is missing; run the study again"):
        check_files(tmp_path, read_sealed(tmp_path, "d.json", "it"), "it")
    (tmp_path / "d.json").write_text('{"x": 1}')
    assert folder_state(tmp_path) == "unsealed"
    (tmp_path / "d.json").write_text((tmp_path / "d.json").read_text().replace("1", '2, "seal": "abc"'))
    with pytest.raises(InputError, match=r"d\.json: it is not what was written \(its checksum differs\)"):
        read_sealed(tmp_path, "d.json", "it")
    (tmp_path / "d.json").unlink()
    assert folder_state(tmp_path) == "damaged"


def test_an_altered_row_of_a_further_universe_is_refused(tmp_path):
    with Store.open(tmp_path / "s", create=True) as store:
        store.set_plan([PlannedRow(name, "EASE", "films", 1, None, ("ndcg@10",), "", 0, universe=at)
                        for at, name in enumerate(("own", "further"))], {})  # fmt: skip
        for name in ("own", "further"):
            store.record(CellRecord(name, "EASE", "films", 1, None, {}, "failed", reason="slow"))
        assert [cell.id for cell in store.cells()] == ["own"]
        assert [cell.id for cell in store.cells(every=True)] == ["own", "further"]
        store._connection.execute("UPDATE cells SET reason = 'fast' WHERE id = 'further'")
        assert len(store.cells(every=True, damaged=True)) == 2
        for every in (False, True):
            with pytest.raises(InputError, match="the row of EASE on films is not what was written"):
                store.cells(every=every)
