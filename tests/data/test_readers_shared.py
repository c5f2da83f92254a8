"""Published datasets, where they are at hand: counts as their manifest states them."""

from __future__ import annotations

import json

import polars as pl
import pytest

from recassay.core.repeated import merged
from recassay.core.specs.specs import ReadSpec
from recassay.data.readers import read_interactions
from support.places import DATA

ROOT = DATA / "interactions"
NAMES = (
    *(
        "ml-100k",
        "ml-latest-small",
        "lastfm-2k",
        "filmtrust",
        "ciao",
        "citeulike-a",
        "anime-5k",
        "retailrocket-s",
    ),
    *("rsc15-100k", "amazon-beauty-seq", "tafeng", "msweb"),
)


@pytest.mark.parametrize("name", NAMES)
def test_counts_of_published_datasets(name: str) -> None:
    if not (ROOT / "manifest.json").is_file():
        pytest.skip(f"no datasets in {ROOT}: set RECASSAY_DATA")
    entry = next(e for e in json.loads((ROOT / "manifest.json").read_text()) if e["name"] == name)
    clock = (entry["timestamp_kind"] or "").startswith("unix")
    positions = bool(entry["has_timestamp"] or entry["timestamp_kind"]) and not clock
    result = read_interactions(ROOT / entry["file"], ReadSpec(time="position" if positions else "auto"))
    record, inside = result.record, result.interactions
    assert (record.rows, record.users, record.items, record.bad) == (
        entry["rows"],
        entry["users"],
        entry["items"],
        0,
    )
    assert record.sha256 == entry["sha256"]
    pairs = pl.read_parquet(ROOT / entry["file"], columns=["user", "item"]).n_unique()
    timed = record.time_unit is not None
    assert record.kept == len(inside) == (entry["rows"] if timed else pairs)
    assert len(merged(inside)) == pairs
    assert (record.repeated > 0) == (pairs < entry["rows"])
    assert (inside.weight is not None) == entry["has_rating"]
    assert record.time_unit == ("seconds" if clock else "position" if positions else None)
    if entry["has_rating"] and record.repeated == 0:
        assert inside.weight is not None
        assert [inside.weight.min(), inside.weight.max()] == pytest.approx(entry["rating_values"][:2])
