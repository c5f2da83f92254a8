"""The cache of datasets: an exact round trip, atomic folders, checked names and checksums."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recassay
from recassay.core.errors import InputError, UsageError
from recassay.core.specs.specs import ReadSpec
from recassay.core.system.files import UNFINISHED
from recassay.core.types import Interactions
from recassay.data import folders, library
from recassay.data.library import (
    datasets_folder,
    import_dataset,
    list_datasets,
    load_dataset,
    read_manifest,
    remove_dataset,
)
from recassay.data.readers import read_interactions

FRAME = pl.DataFrame({"user": ["b", "a", "b"], "item": [7, 7, 9], "rating": [1.5, 2.0, 3.0], "timestamp": [10**9] * 3})


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    monkeypatch.setenv("RECASSAY_HOME", str(folder))
    return folder


def assert_same(one: Interactions, other: Interactions) -> None:
    for name in ("user", "item", "weight", "time"):
        left, right = getattr(one, name), getattr(other, name)
        assert (left is None) == (right is None)
        if left is not None:
            assert left.dtype == right.dtype
            assert np.array_equal(left, right)
    assert one.users.equals(other.users, check_dtypes=True)
    assert one.items.equals(other.items, check_dtypes=True)


def test_import_list_load_remove(tmp_path: Path, home: Path) -> None:
    path = tmp_path / "a.csv"
    FRAME.write_csv(path)
    manifest = import_dataset(path, "mine", ReadSpec(repeated="max"), licence="CC0", note="made up")
    assert (manifest.interactions, manifest.users, manifest.items) == (3, 2, 2)
    assert (manifest.licence, manifest.note, manifest.time_unit) == ("CC0", "made up", "seconds")
    assert manifest.options["repeated"] == "max"
    assert manifest.record["rows"] == 3
    assert manifest.source == str(path)
    assert list_datasets() == [manifest] == [read_manifest("mine")]
    assert sorted(p.name for p in (home / "datasets" / "mine").iterdir()) == [
        "interactions.parquet",
        "manifest.json",
    ]
    assert_same(load_dataset("mine"), read_interactions(path).interactions)
    stored = pl.read_parquet(home / "datasets" / "mine" / "interactions.parquet")
    assert stored.get_column("user").to_list() == ["b", "a", "b"]
    remove_dataset("mine")
    assert list_datasets() == []
    assert list((home / "datasets").iterdir()) == []


@pytest.mark.slow
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_the_round_trip_is_exact(data: st.DataObject) -> None:
    ids = data.draw(st.sampled_from([st.integers(-(2**63), 2**63 - 1), st.text(min_size=1).filter(str.strip)]))
    rows = st.tuples(ids, st.integers(0, 255), st.floats(width=32, allow_nan=False, allow_infinity=False))
    drawn = data.draw(st.lists(rows, min_size=1, max_size=15))
    frame = pl.DataFrame(drawn, schema={"user": None, "item": pl.UInt8, "rating": pl.Float64}, orient="row")
    import_dataset(frame, "trip", replace=True)
    assert_same(load_dataset("trip"), read_interactions(frame).interactions)


def test_an_existing_name_is_kept_unless_replaced(home: Path) -> None:
    first = import_dataset(FRAME, "mine")
    for name in ("mine", "MINE"):
        with pytest.raises(InputError, match="'mine' exists already"):
            import_dataset(FRAME.head(1), name)
    assert read_manifest("mine") == first
    with pytest.raises(InputError, match="user id is empty"):
        import_dataset(pl.DataFrame({"user": [None], "item": [1]}), "mine", replace=True)
    assert len(load_dataset("mine")) == 3
    import_dataset(FRAME.head(1), "mine", replace=True)
    assert len(load_dataset("mine")) == 1
    assert [p.name for p in (home / "datasets").iterdir()] == ["mine"]


UNHAPPY_NAMES = (
    *(
        "",
        ".",
        "..",
        "../x",
        "a/b",
        "a\\b",
        "/etc",
        "C:x",
        "CON",
        "nul.txt",
        "Com1",
        ".hidden",
        "-rf",
        "end.",
    ),
    *("é", "a b", "a\n", "a\0", "x" * 65),
)


@pytest.mark.parametrize("name", UNHAPPY_NAMES)
def test_unhappy_names(home: Path, name: str) -> None:
    for act in (
        lambda: import_dataset(FRAME, name),
        lambda: load_dataset(name),
        lambda: remove_dataset(name),
    ):
        with pytest.raises(UsageError, match="the name") as caught:
            act()
        assert "\n" not in str(caught.value)
    assert not home.exists()


def test_unknown_names_are_met_with_a_suggestion() -> None:
    import_dataset(FRAME, "films")
    for act in (load_dataset, read_manifest, remove_dataset):
        with pytest.raises(InputError, match=r"no dataset 'film' was imported; did you mean 'films'\?"):
            act("film")


def test_changed_and_missing_files_are_noticed() -> None:
    import_dataset(FRAME, "mine")
    table = datasets_folder() / "mine" / "interactions.parquet"
    content = table.read_bytes()
    table.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(InputError, match="checksum differs"):
        load_dataset("mine")
    table.unlink()
    with pytest.raises(InputError, match=r"missing or not those.*import it again"):
        load_dataset("mine")


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"schema_version": "x"}', '{"schema_version": 1}'])
def test_a_damaged_manifest(content: str) -> None:
    import_dataset(FRAME, "mine")
    (datasets_folder() / "mine" / "manifest.json").write_text(content)
    with pytest.raises(InputError, match="manifest is missing or damaged"):
        load_dataset("mine")
    remove_dataset("mine")
    assert list_datasets() == []


def test_a_manifest_of_the_future() -> None:
    import_dataset(FRAME, "mine")
    path = datasets_folder() / "mine" / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"schema_version": 99, "recassay_version": "9.9"}))
    with pytest.raises(InputError, match=r"newer RecAssay \(9.9\)"):
        load_dataset("mine")


def test_a_failure_while_writing_leaves_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full_disk(path: Path) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(library, "hash_file", full_disk)
    with pytest.raises(OSError, match="No space left"):
        import_dataset(FRAME, "mine")
    assert list((home / "datasets").iterdir()) == []


def test_a_failed_replacement_restores_the_former(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import_dataset(FRAME, "mine")

    def fails(source: Path, target: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "rename", fails)
    with pytest.raises(PermissionError):
        import_dataset(FRAME.head(1), "mine", replace=True)
    assert len(load_dataset("mine")) == 3
    assert [p.name for p in (home / "datasets").iterdir()] == ["mine"]


def test_abandoned_folders_are_cleared_and_never_listed(home: Path) -> None:
    old, young = (home / "datasets" / f"{UNFINISHED}{age}" for age in ("old", "young"))
    for folder in (old, young):
        folder.mkdir(parents=True)
    os.utime(old, (time.time() - 200_000,) * 2)
    import_dataset(FRAME, "mine")
    assert [manifest.name for manifest in list_datasets()] == ["mine"]
    assert (old.exists(), young.exists()) == (False, True)


def test_where_the_cache_lies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RECASSAY_HOME")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert folders.home() == Path("/somewhere/recassay")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert folders.home() == Path.home() / ".cache" / "recassay"
    monkeypatch.setattr("sys.platform", "darwin")
    assert folders.home() == Path.home() / "Library" / "Caches" / "recassay"
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", "/local")
    assert folders.home() == Path("/local/recassay/Cache")


def test_a_cache_that_cannot_be_written(home: Path) -> None:
    home.write_text("a file is in the way")
    with pytest.raises(InputError, match=r"cannot be written.*RECASSAY_HOME"):
        import_dataset(FRAME, "mine")


def test_a_stored_dataset_of_the_catalogue_is_listed_once() -> None:
    import_dataset(FRAME, "ml-100k", ReadSpec())
    kinds = [row["kind"] for row in recassay.list_data(everything=True) if row["name"] == "ml-100k"]
    assert kinds == ["stored"]
