"""Repeated pairs, weighted events and dense ids, against slow and plain versions of each."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recassay.core.interactions import RepeatRule
from recassay.core.repeated import merged, sorted_groups
from recassay.core.specs.specs import ReadSpec
from recassay.data.readers import read_interactions
from recassay.data.reading.encode import IdEncoder
from recassay.data.reading.events import bounded_rule

CLOCK = 1_500_000_000
ROW = st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(-8, 8), st.integers(0, 3))


def frame_of(rows: list[tuple[int, int, int, int]]) -> pl.DataFrame:
    frame = pl.DataFrame(rows, schema=["user", "item", "rating", "timestamp"], orient="row")
    return frame.with_columns(pl.col("timestamp") + CLOCK)


@pytest.mark.slow
@settings(max_examples=100)
@given(st.lists(ROW, min_size=1, max_size=40), st.sampled_from(["last", "first", "sum", "max"]), st.booleans())
def test_merging_against_a_dictionary(rows: list[tuple[int, int, int, int]], rule: str, timed: bool) -> None:
    """Rows with times stay events, and are made one where a part asks for it; without times they are made one here."""
    frame = frame_of(rows) if timed else frame_of(rows).drop("timestamp")
    result = read_interactions(frame, ReadSpec(repeated=rule))  # type: ignore[arg-type]
    groups: dict[tuple[int, int], list[tuple[int, int, int]]] = defaultdict(list)
    for place, (user, item, rating, time) in enumerate(rows):
        groups[user, item].append((time if timed else 0, place, rating))
    expected = {}
    for pair, events in groups.items():
        first, last = min(events), max(events)
        ratings = [event[2] for event in events]
        values = {"first": first[2], "last": last[2], "sum": sum(ratings), "max": max(ratings)}
        expected[pair] = (values[rule], (first if rule == "first" else last)[0] + CLOCK)
    assert len(result.interactions) == (len(rows) if timed else len(expected))
    inside = merged(result.interactions)
    assert inside.weight is not None
    times = inside.time if inside.time is not None else np.full(len(inside), CLOCK)
    pairs = zip(inside.users.gather(inside.user), inside.items.gather(inside.item), strict=True)
    assert dict(zip(pairs, zip(inside.weight.tolist(), times.tolist(), strict=True), strict=True)) == expected
    assert len(inside) == len(expected)
    assert result.record.repeated == sum(len(events) for events in groups.values() if len(events) > 1)
    assert result.record.repeated_rule == rule


def test_counting_repeats_of_implicit_data() -> None:
    frame = pl.DataFrame({"user": [1, 1, 2], "item": [5, 5, 5]})
    counted = read_interactions(frame, ReadSpec(repeated="sum")).interactions
    assert counted.weight is not None
    assert counted.weight.tolist() == [2.0, 1.0]
    assert read_interactions(frame).interactions.weight is None
    assert read_interactions(frame, ReadSpec(repeated="max")).interactions.weight is None


def test_keys_too_wide_to_pack() -> None:
    keys = np.array([2**62, 5, 2**62, 5, 7])
    order, starts = sorted_groups(keys, np.array([2, 1, 1, 1, 0]))
    assert order.tolist() == [1, 3, 4, 2, 0]
    assert starts.tolist() == [0, 2, 3]


def events_of(text: str) -> pl.DataFrame:
    """`1a v v b` -> user 1, item a: two views and a buy, a second apart."""
    names = {"v": "view", "c": "cart", "b": "buy"}
    rows = []
    for line in text.split("|"):
        pair, *kinds = line.split()
        rows += [(pair[0], pair[1], names[kind]) for kind in kinds]
    frame = pl.DataFrame(rows, schema=["user", "item", "event"], orient="row")
    return frame.with_columns(pl.int_range(pl.len()).alias("timestamp") + CLOCK)


def test_event_weights_of_the_appendix() -> None:
    """12 events: 8 views, 3 carts, 1 purchase, so the weights are 12/8, 12/3 and 12/1."""
    frame = events_of("1a v v v v v b|1b v|2a v v c|2b c c")
    result = read_interactions(frame, ReadSpec(event_weights="inverse_frequency"))
    assert result.record.event_counts == {"buy": 1, "cart": 3, "view": 8}
    assert result.record.event_weights == {"buy": 12.0, "cart": 4.0, "view": 1.5}
    assert len(result.interactions) == 12
    inside = merged(result.interactions)
    assert inside.weight is not None
    assert inside.time is not None
    pairs = zip(inside.users.gather(inside.user), inside.items.gather(inside.item), strict=True)
    weights = dict(zip(pairs, zip(inside.weight.tolist(), (inside.time - CLOCK).tolist(), strict=True), strict=True))
    assert weights == {
        ("1", "a"): (12.0, 5),
        ("1", "b"): (1.5, 6),
        ("2", "a"): (4.0, 9),
        ("2", "b"): (8.0, 11),
    }
    assert result.record.repeated == 11
    assert result.record.repeated_rule == "bounded"


@pytest.mark.slow
@settings(max_examples=100)
@given(st.lists(st.tuples(st.sampled_from("12"), st.sampled_from("ab"), st.sampled_from("vvvvcb")), min_size=1))
def test_lesser_events_never_outweigh_greater_ones(rows: list[tuple[str, str, str]]) -> None:
    frame = pl.DataFrame(rows, schema=["user", "item", "event"], orient="row")
    result = read_interactions(frame, ReadSpec(event_weights="inverse_frequency"))
    weights = result.record.event_weights
    assert weights is not None
    for kind, weight in weights.items():
        assert weight == pytest.approx(len(rows) / sum(row[2] == kind for row in rows))
    inside = result.interactions
    assert inside.weight is not None
    greatest: dict[tuple[str, str], float] = defaultdict(float)
    for user, item, kind in rows:
        greatest[user, item] = max(greatest[user, item], weights[kind])
    for user, item, weight in zip(
        inside.users.gather(inside.user),
        inside.items.gather(inside.item),
        inside.weight.tolist(),
        strict=True,
    ):
        own = greatest.pop((user, item))
        above = min((other for other in weights.values() if other > own), default=np.inf)
        assert np.float32(own) <= weight < above
    assert not greatest


def test_weights_of_events_are_bounded_as_they_are_stored() -> None:
    """Weights that single precision does not tell apart are one."""
    rule = bounded_rule({"view": 0.1, "look": 0.1 + 1e-12, "buy": 2})
    assert rule == RepeatRule("bounded", (float(np.float32(0.1)), 2.0))


def test_given_event_weights_follow_the_repeated_rule() -> None:
    frame = events_of("1a v v c|2a b")
    spec = ReadSpec(event_weights={"view": 1, "cart": 3, "buy": 9}, repeated="sum")
    result = read_interactions(frame, spec)
    inside = merged(result.interactions)
    assert inside.weight is not None
    assert inside.weight.tolist() == [5.0, 9.0]
    assert result.record.event_weights == {"view": 1.0, "cart": 3.0, "buy": 9.0}


def test_events_without_weights_are_told() -> None:
    result = read_interactions(events_of("1a v v c|2a b"))
    assert result.interactions.weight is None
    assert "event_weights" in result.record.warnings[0]


@settings(max_examples=100)
@given(
    st.one_of(
        st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)), min_size=1),
        st.lists(st.one_of(st.none(), st.integers(-3, 30)), min_size=1),
        st.lists(st.one_of(st.none(), st.text(st.characters(exclude_categories=["C"]), max_size=3)), min_size=1),
    )
)
def test_encoding_is_a_sorted_table_and_its_positions(values: list[object]) -> None:
    kind = pl.String if any(isinstance(value, str) for value in values) else pl.Int64
    ids = pl.Series(values, dtype=kind)
    encoder = IdEncoder(ids.unique(), len(values))
    codes, table = encoder.codes(ids), encoder.table
    present = {value for value in values if value is not None and (kind == pl.Int64 or str(value).strip())}
    assert table.to_list() == sorted(present)  # type: ignore[type-var]
    assert codes.dtype == np.int32
    back = [None if code < 0 else table[int(code)] for code in codes]
    assert back == [value if value in present else None for value in values]
