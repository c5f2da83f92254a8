"""Reading block by block gives what reading at once gives, for awkward sources of every kind."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from recassay.core import blocks
from recassay.core.errors import InputError
from recassay.core.specs.specs import ReadSpec
from recassay.core.types import Interactions
from recassay.data.characteristics import describe
from recassay.data.library import import_dataset, load_dataset
from recassay.data.readers import ReadResult, read_interactions
from recassay.data.reading import hashes
from recassay.data.reading.hashes import Seen

N = 400


def numbers() -> pl.DataFrame:
    rng = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "user": rng.integers(0, 12, N) ** 3 - 40,
            "item": rng.integers(0, 25, N),
            "rating": rng.integers(1, 11, N) / 2,
            "timestamp": 1_400_000_000 + rng.integers(0, 60, N),
        }
    )


def frames() -> dict[str, pl.DataFrame]:
    """Sources by name; all have repeated pairs, ties in time and rows in no order."""
    plain, row = numbers(), pl.int_range(pl.len())
    text = plain.with_columns(
        user=pl.concat_str(pl.lit("ü "), pl.col("user").cast(pl.String)),
        item=pl.col("item").cast(pl.String).str.zfill(3),
    )
    return {
        "numbers": plain,
        "text": text,
        "far apart": plain.with_columns(user=(pl.col("user") + 100).cast(pl.UInt64) * 2**50),
        "milliseconds": plain.with_columns(timestamp=pl.col("timestamp") * 1000),
        "fractions": plain.with_columns(timestamp=pl.col("timestamp") + pl.col("item") / 8),
        "no times": plain.drop("timestamp"),
        "pairs": plain.select("user", "item"),
        "bad": text.with_columns(
            user=pl.when(row % 17 == 3).then(None).when(row % 19 == 4).then(pl.lit(" ")).otherwise("user"),
            rating=pl.when(row % 31 == 6).then(float("inf")).when(row % 31 == 8).then(1e300).otherwise("rating"),
            timestamp=pl.when(row % 37 == 2).then(-5).when(row % 37 == 9).then(None).otherwise("timestamp"),
        ),
        "events": plain.drop("rating").with_columns(
            event=pl.when(row % 7 == 0)
            .then(pl.lit("buy"))
            .when(row % 7 < 3)
            .then(pl.lit("cart"))
            .otherwise(pl.lit("a"))
        ),
    }


def written(frame: pl.DataFrame, way: str, folder: Path) -> Any:
    if way == "frame":
        return frame
    if way == "lazy":
        return frame.lazy()
    if way == "parquet":
        frame.write_parquet(folder / "events.parquet", row_group_size=60)
        return folder / "events.parquet"
    if way == "csv":
        frame.write_csv(folder / "events.csv")
        return folder / "events.csv"
    with gzip.open(folder / "events.tsv.gz", "wt", encoding="utf-8") as file:
        file.write(frame.write_csv(separator="\t"))
    return folder / "events.tsv.gz"


def same(one: Interactions, other: Interactions) -> None:
    for name in ("user", "item", "weight", "time"):
        left, right = getattr(one, name), getattr(other, name)
        assert (left is None) == (right is None), name
        if left is not None:
            assert left.dtype == right.dtype
            assert left.tobytes() == right.tobytes(), name
            assert left.flags.writeable
    assert one.users.equals(other.users, check_dtypes=True)
    assert one.items.equals(other.items, check_dtypes=True)
    assert one.repeated == other.repeated


@pytest.mark.parametrize("way", ["frame", "lazy", "parquet", "csv", "gzip"])
@pytest.mark.parametrize("name", list(frames()))
def test_blocks_give_the_same_interactions_and_record(
    name: str, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = written(frames()[name], way, tmp_path)
    options: list[dict[str, Any]] = [{}, {"repeated": "sum", "time": "ignore"}]
    if name == "events":
        options += [{"event_weights": "inverse_frequency"}, {"event_weights": {"a": 1.0, "cart": 3.0, "buy": 9.5}}]
    for given in options:
        spec = ReadSpec.checked(skip_bad_rows=True, **given)
        whole: ReadResult = read_interactions(source, spec)
        with monkeypatch.context() as patch:
            patch.setattr(blocks, "ROWS", 23)
            pieces = read_interactions(source, spec)
            described = describe(pieces.interactions)
        same(whole.interactions, pieces.interactions)
        assert whole.record == pieces.record
        assert repr(described) == repr(describe(whole.interactions))


@pytest.fixture
def uncompiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashes of small sources, looked up without waiting for the compiler."""
    monkeypatch.setattr(hashes, "_add", hashes._add.py_func)


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("rows", [blocks.ROWS, 23])
def test_two_ids_of_one_hash_are_told_apart(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    seeds = []

    def weak(column: Any, seed: int = 0) -> Any:
        """Hashes of one bit for the first seed, as they are for others."""
        seeds.append(seed)
        return plain[type(column)](column, seed) % 2 if seed == 0 else plain[type(column)](column, seed)

    plain = {kind: kind.hash for kind in (pl.Expr, pl.Series)}
    whole = read_interactions(frames()["text"]).interactions
    monkeypatch.setattr(blocks, "ROWS", rows)
    for kind in plain:
        monkeypatch.setattr(kind, "hash", weak)
    same(whole, read_interactions(frames()["text"]).interactions)
    assert set(seeds) == {0, 1}


SMALL = {"text": "lazy", "far apart": "frame", "bad": "csv", "events": "parquet", "no times": "gzip"}


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("name", SMALL)
def test_a_source_of_many_blocks_is_read_as_one(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, spec = written(frames()[name], SMALL[name], tmp_path), ReadSpec(skip_bad_rows=True)
    whole = read_interactions(source, spec)
    monkeypatch.setattr(blocks, "ROWS", 23)
    pieces = read_interactions(source, spec)
    same(whole.interactions, pieces.interactions)
    assert whole.record == pieces.record
    assert repr(describe(pieces.interactions)) == repr(describe(whole.interactions))


@pytest.mark.usefixtures("uncompiled")
def test_a_small_table_of_hashes_grows() -> None:
    seen = Seen()
    seen._slots = np.zeros(4, dtype=np.uint64)
    top = 1 << 63
    block = np.array([5, 0, 5, top, 1, 7, 0, top + 1, top], dtype=np.uint64)  # 0 is taken for 1
    assert seen.first(block).tolist() == [0, 1, 3, 5, 7]
    assert seen.first(np.array([7, 9, top + 1, 9], dtype=np.uint64)).tolist() == [1]
    assert (len(seen._slots), np.count_nonzero(seen._slots)) == (16, 6)


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("way", ["parquet", "csv"])
def test_bad_rows_are_told_alike(way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = written(frames()["bad"], way, tmp_path)
    told = []
    for rows in (blocks.ROWS, 23):
        monkeypatch.setattr(blocks, "ROWS", rows)
        with pytest.raises(InputError) as error:
            read_interactions(source)
        told.append(str(error.value))
    assert told[0] == told[1]
    assert "user id is empty" in told[0]


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("name", ["numbers", "text", "no times"])
def test_a_stored_dataset_comes_back_whatever_the_blocks(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECASSAY_HOME", str(tmp_path))
    frame = frames()[name]
    import_dataset(frame, "whole")
    whole = load_dataset("whole")
    monkeypatch.setattr(blocks, "ROWS", 23)
    manifest = import_dataset(frame, "pieces")
    same(whole, load_dataset("pieces"))
    same(whole, load_dataset("whole"))
    assert (manifest.users, manifest.items) == (whole.n_users, whole.n_items)


@pytest.mark.parametrize("different", [1, 3, 40_000, 300_000])
def test_hashes_are_new_once_however_the_table_grows(different: int) -> None:
    rng = np.random.default_rng(different)
    known = rng.integers(0, 2**64, different, dtype=np.uint64)
    known[0] = 0  # which also marks a free slot
    met = rng.choice(known, 400_000)
    seen, found, start = Seen(), [], 0
    for size in (1, 7, 100_000, 299_992):
        block = met[start : start + size]
        found.extend((seen.first(block) + start).tolist())
        start += size
    _, expected = np.unique(met, return_index=True)
    assert found == sorted(expected.tolist())
    assert seen.first(met).size == 0
