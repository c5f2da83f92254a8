"""What was flipped, cut, emptied or swapped on the disk is never used: a run makes it again, or it is refused."""

from __future__ import annotations

import json
import shutil
import sqlite3

import pytest

from recassay.core.errors import InputError
from recassay.recommenders.splits import load_split
from recassay.recommenders.study import run_study
from recassay.store import Store
from recassay.store.store import INDEX_FILE
from recassay.store.verification import damaged_cells, verify_store
from support.in_process import without_processes
from support.run import numbers, tiny_folder, tiny_study


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A finished study: its spec, and its folder, which each test copies."""
    base = tmp_path_factory.mktemp("study")
    with without_processes():
        tiny_folder(base)
        spec = tiny_study(base, ("Fake", "Pop"), trials=2)
        run_study(spec, base / "out", workers=1)
        yield spec, base / "out"


def _flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) * 3 // 4] ^= 4
    path.write_bytes(content)


def _cut(path):
    path.write_bytes(path.read_bytes()[:-20])


def _empty(path):
    path.write_bytes(b"")


def _swap(path):
    other = next(one for one in sorted(path.parent.iterdir()) if one != path and one.suffix == path.suffix)
    first, second = path.read_bytes(), other.read_bytes()
    path.write_bytes(second)
    other.write_bytes(first)


HARMS = (_flip, _cut, _empty, _swap, lambda path: path.unlink())
NAMES = ("flipped", "cut", "emptied", "swapped", "removed")


@pytest.mark.parametrize("harm", HARMS, ids=NAMES)
@pytest.mark.parametrize("part", ["train.item.npy", "test.user.npy", "items.parquet", "split.json"])
@pytest.mark.usefixtures("in_process")
def test_a_damaged_split_is_refused_and_made_again(study, tmp_path, part, harm):
    spec, source = study
    folder = tmp_path / "out"
    shutil.copytree(source, folder)
    split = next((folder / "splits").iterdir())
    if part == "split.json" and harm is _swap:
        pytest.skip("there is one")
    harm(split / part)
    with pytest.raises(InputError, match=r"(missing|not what was written|damaged).*run the study again"):
        load_split(folder, split.name)
    shutil.rmtree(folder / "scores")
    run_study(spec, folder, workers=1)
    assert numbers(folder) == numbers(source)


@pytest.mark.parametrize("harm", HARMS, ids=NAMES)
@pytest.mark.parametrize("kind", ["scores", "lists"])
@pytest.mark.usefixtures("in_process")
def test_a_damaged_file_of_a_cell_is_refused_and_the_cell_run_again(study, tmp_path, kind, harm):
    spec, source = study
    folder = tmp_path / "out"
    shutil.copytree(source, folder)
    path = sorted((folder / kind).iterdir())[0]
    harm(path)
    with Store.open(folder) as store:
        cell = path.stem
        read = store.per_user if kind == "scores" else store.top_lists
        with pytest.raises(InputError, match=rf"{path.name}|no finished cell"):
            read(cell)
        assert cell in damaged_cells(store, [one.id for one in store.cells()])
    told = []
    record = run_study(spec, folder, workers=1, progress=told.append)
    assert record.ran == (2 if harm is _swap else 1)
    assert str(path) in told[0].damaged
    assert numbers(folder) == numbers(source)
    assert run_study(spec, folder, workers=1).ran == 0


def test_the_seal_of_a_split_covers_its_description(study, tmp_path):
    _, source = study
    folder = tmp_path / "out"
    shutil.copytree(source, folder)
    path = next((folder / "splits").iterdir()) / "split.json"
    told = json.loads(path.read_text())
    told["final_fit"] = "train"
    path.write_text(json.dumps(told))
    with pytest.raises(InputError, match="not what was written"):
        load_split(folder, path.parent.name)


@pytest.mark.slow
def test_a_damaged_index_is_one_line(study, tmp_path, cli):
    _, source = study
    folder = tmp_path / "out"
    shutil.copytree(source, folder)
    index = folder / INDEX_FILE
    content = bytearray(index.read_bytes())
    for page in range(4096, len(content), 4096):
        content[page : page + 64] = b"\xff" * 64
    index.write_bytes(content)
    for command in ("status", "rank", "analyze", "results", "strata"):
        ran = cli(command, folder)
        assert ran.code == 2, command
        assert "damaged" in ran.err
        assert "Traceback" not in ran.err


@pytest.mark.parametrize("header", [False, True], ids=["no byte", "no tables"])
@pytest.mark.usefixtures("in_process")
def test_a_run_that_was_killed_while_it_made_the_store_goes_on(study, tmp_path, header):
    spec, source = study
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / INDEX_FILE).touch()
    if header:
        connection = sqlite3.connect(folder / INDEX_FILE)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.close()
        assert (folder / INDEX_FILE).stat().st_size
    with pytest.raises(InputError, match="the store is empty; run the study"):
        Store.open(folder)
    record = run_study(spec, folder, workers=1, preflight=True)
    assert record.done == record.planned == 2
    assert numbers(folder) == numbers(source)


def test_a_reader_leaves_a_study_as_it_is(study, tmp_path):
    _, source = study
    folder = tmp_path / "out"
    shutil.copytree(source, folder)
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert not [name for name in before if name.endswith(("-wal", "-shm"))]
    with Store.open(folder) as store:
        assert len(store.cells()) == 2
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before


@pytest.mark.parametrize("killed", [False, True], ids=["finished", "killed"])
def test_a_study_on_read_only_media_is_read(study, tmp_path, monkeypatch, killed):
    _, source = study
    folder = tmp_path / "out"
    shutil.copytree(source, folder)
    if killed:  # a driver that did not end left its last commits in the log
        writer = sqlite3.connect(folder / INDEX_FILE, isolation_level=None)
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        writer.execute("UPDATE plan SET dataset = 'last commit'")
        shutil.copytree(folder, tmp_path / "copy")
        writer.close()
        folder = tmp_path / "copy"
        (folder / f"{INDEX_FILE}-shm").unlink()
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    monkeypatch.setattr("recassay.store.schema.os.access", lambda *_: False)
    with Store.open(folder) as store:
        assert len(store.cells()) == 2
        assert (store.plan()[0].dataset == "last commit") is killed
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


def _sql(statement):
    def change(folder):
        connection = sqlite3.connect(folder / INDEX_FILE)
        connection.execute(statement)
        assert connection.total_changes or "TABLE" in statement
        connection.commit()
        connection.close()

    return change


def _split_part(folder):
    return sorted(next((folder / "splits").iterdir()).glob("train.*.npy"))[0]


EDITS = {
    "metrics": _sql("UPDATE metrics SET value = value + 0.1"),
    "one metric is gone": _sql("DELETE FROM metrics WHERE rowid = (SELECT min(rowid) FROM metrics)"),
    "parameters": _sql("UPDATE cells SET parameters = '{\"a\": 1}'"),
    "seconds": _sql("UPDATE cells SET seconds_fit = 0.5"),
    "status": _sql("UPDATE cells SET attempts = attempts + 1"),
    "a trial's parameters": _sql("UPDATE trials SET parameters = '{\"a\": 1}' WHERE number = 1"),
    "a trial's value": _sql("UPDATE trials SET value = value + 0.1 WHERE number = 0"),
}
SPLIT_HARMS = {
    "a zeroed split": lambda folder: _split_part(folder).write_bytes(bytes(_split_part(folder).stat().st_size)),
    "a removed file of a split": lambda folder: _split_part(folder).unlink(),
    "a removed split": lambda folder: shutil.rmtree(next((folder / "splits").iterdir())),
    "a swapped score": lambda folder: _swap(sorted((folder / "scores").iterdir())[0]),
}


@pytest.mark.parametrize("harm", [*EDITS, *SPLIT_HARMS])
def test_verify_notices_every_harm_and_exits_with_1(study, tmp_path, cli, harm):
    folder = shutil.copytree(study[1], tmp_path / "copy")
    sound = cli("status", folder, "--verify")
    assert sound.code == 0
    assert "All 2 done cells and 1 splits are what was written." in sound.out
    {**EDITS, **SPLIT_HARMS}[harm](folder)
    harmed = cli("status", folder, "--verify")
    assert harmed.code == 1
    assert "Damaged or gone:" in harmed.out
    assert "are what was written" not in harmed.out
    told = cli("status", folder, "--verify", "--json")
    assert told.code == 1
    assert told.json()["damaged"]
    assert cli("status", folder, "--json").json()["damaged"] is None


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.usefixtures("in_process")
def test_an_edited_row_is_made_again(study, tmp_path, edit):
    spec, source = study
    folder = shutil.copytree(source, tmp_path / "copy")
    EDITS[edit](folder)
    if "trial" not in edit:
        with Store.open(folder) as store, pytest.raises(InputError, match=r"is not what was written.*run the study"):
            store.results()
    assert run_study(spec, folder, workers=1).ran >= 1
    assert numbers(folder) == numbers(source)
    with Store.open(folder) as store:
        assert verify_store(store).damaged == ()


@pytest.mark.parametrize(
    "edit",
    ["UPDATE plan SET trials = 1", "DELETE FROM plan WHERE position = 0", "UPDATE plan SET metrics = '[\"ndcg@5\"]'"],
)
def test_an_edited_plan_is_found(study, tmp_path, cli, edit):
    folder = shutil.copytree(study[1], tmp_path / "copy")
    connection = sqlite3.connect(folder / "study.sqlite")
    connection.execute(edit)
    connection.commit()
    connection.close()
    harmed = cli("status", folder, "--verify")
    assert harmed.code == 1
    assert "study.sqlite (the plan)" in harmed.out


def test_what_has_no_checksum_cannot_be_verified(study, tmp_path, cli):
    folder = shutil.copytree(study[1], tmp_path / "copy")
    _sql("UPDATE cells SET files = NULL, seal = NULL")(folder)
    _swap(sorted((folder / "scores").iterdir())[0])
    told = cli("status", folder, "--verify")
    assert told.code == 0
    assert "2 cells cannot be verified" in " ".join(told.out.split())
    assert "are what was written" not in told.out
    assert cli("status", folder, "--verify", "--json").json()["unverified"] == {"cells": 2}


@pytest.mark.parametrize(
    "harm",
    [
        _sql("ALTER TABLE cells DROP COLUMN reason"),
        _sql("DROP TABLE metrics"),
        _sql("UPDATE cells SET algorithm = CAST(x'ff41' AS TEXT)"),
    ],
    ids=["a column is gone", "a table is gone", "a text is not UTF-8"],
)
def test_a_store_that_lacks_a_part_is_one_line(study, tmp_path, cli, harm):
    folder = shutil.copytree(study[1], tmp_path / "copy")
    harm(folder)
    for command in ("status", "results", "rank"):
        ran = cli(command, folder)
        assert ran.code == 2, ran.err
        assert "the store is damaged" in ran.err
        assert "Traceback" not in ran.err
