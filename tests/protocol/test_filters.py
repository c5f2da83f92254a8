from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recassay.core.errors import InputError
from recassay.core.specs.specs import FilterName, ProtocolSpec
from recassay.core.types import Interactions
from recassay.protocol.filters import frequent_rows, positive_rows
from support.protocol import drawn_interactions, few, interactions, rows_of, shuffled

FOUR = interactions([("a", "x", 3.0, 1), ("a", "y", 3.5, 2), ("b", "x", 5.0, 3), ("b", "z", 1.0, 4)])


def binarise(events: Interactions, threshold: float | None) -> Interactions:
    if threshold is None:
        assert positive_rows(events, None).all()
        return events
    return replace(events, weight=None).take(positive_rows(events, threshold))


def filtered(name: FilterName, events: Interactions, *, min_item: int, min_user: int) -> Interactions:
    spec = ProtocolSpec(filter=name, min_item_interactions=min_item, min_user_interactions=min_user)
    return events.take(frequent_rows(events, spec, np.ones(len(events), dtype=np.bool_)))


filter_once, filter_core = partial(filtered, "once"), partial(filtered, "core")


def test_threshold_keeps_weights_at_and_above_it_and_drops_the_weights() -> None:
    kept = binarise(FOUR, 3.5)
    assert rows_of(kept) == [("a", "y", None, 2), ("b", "x", None, 3)]
    assert kept.users is FOUR.users


def test_threshold_compares_as_float32() -> None:
    data = interactions([("a", "x", 3.3, 1)])
    assert len(binarise(data, 3.3)) == 1


def test_missing_weight_is_below_every_threshold() -> None:
    assert len(binarise(interactions([("a", "x", float("nan"), 1)]), -1e9)) == 0


def test_no_threshold_changes_nothing_and_weights_are_needed_for_one() -> None:
    assert binarise(FOUR, None) is FOUR
    with pytest.raises(InputError, match=r"positive_threshold is 3\.5.*no weights.*leave positive_threshold out"):
        binarise(interactions([("a", "x")], weight=False, time=False), 3.5)


CHAIN = interactions([("a", "x"), ("b", "x"), ("a", "y"), ("b", "y"), ("c", "y"), ("c", "z")], weight=False, time=False)


def test_filter_once_takes_items_first_then_users_and_stops() -> None:
    # z has one event and leaves; c is then left with one and leaves; y keeps two
    kept = filter_once(CHAIN, min_item=2, min_user=2)
    assert {row[:2] for row in rows_of(kept)} == {("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")}
    # with at least 3 an item: only y stays, then every user has one event; items are not looked at again
    assert {row[:2] for row in rows_of(filter_once(CHAIN, min_item=3, min_user=1))} == {
        ("a", "y"),
        ("b", "y"),
        ("c", "y"),
    }
    # users are judged after items: y (3 events) stays although its users all leave later in a core
    assert len(filter_once(CHAIN, min_item=3, min_user=2)) == 0


def test_filter_once_may_leave_rare_items_where_the_core_does_not() -> None:
    data = interactions(
        [("a", "x"), ("b", "x"), ("a", "y"), ("c", "y"), ("a", "w"), ("d", "w"), ("d", "x")],
        weight=False,
        time=False,
    )
    once, core = filter_once(data, min_item=2, min_user=2), filter_core(data, min_item=2, min_user=2)
    assert {row[:2] for row in rows_of(once)} == {("a", "x"), ("a", "y"), ("a", "w"), ("d", "w"), ("d", "x")}
    assert {row[:2] for row in rows_of(core)} == {("a", "x"), ("a", "w"), ("d", "w"), ("d", "x")}


def naive_core(rows: list[tuple[object, ...]], min_item: int, min_user: int) -> list[tuple[object, ...]]:
    pairs = {r[:2] for r in rows}
    while True:
        kept = {pair for pair in pairs if sum(other[0] == pair[0] for other in pairs) >= min_user}
        kept = {pair for pair in kept if sum(other[1] == pair[1] for other in kept) >= min_item}
        if kept == pairs:
            return [r for r in rows if r[:2] in pairs]
        pairs = kept


@few
@given(drawn_interactions(repeats=True), st.integers(1, 4), st.integers(1, 4), st.integers(0, 99))
def test_filters_against_counting_by_hand(data: Interactions, least_i: int, least_u: int, seed: int) -> None:
    rows = rows_of(data)
    pairs = {r[:2] for r in rows}
    by_item = {pair for pair in pairs if sum(other[1] == pair[1] for other in pairs) >= least_i}
    left = {pair for pair in by_item if sum(other[0] == pair[0] for other in by_item) >= least_u}
    expected = [r for r in rows if r[:2] in left]
    once = filter_once(data, min_item=least_i, min_user=least_u)
    assert rows_of(once) == expected
    core = filter_core(data, min_item=least_i, min_user=least_u)
    assert rows_of(core) == naive_core(rows, least_i, least_u)
    assert rows_of(filter_core(shuffled(data, seed), min_item=least_i, min_user=least_u)) == rows_of(core)


def test_filters_leave_their_input_alone() -> None:
    before = CHAIN.user.copy()
    filter_core(CHAIN, min_item=3, min_user=3)
    assert np.array_equal(CHAIN.user, before)
