from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recassay.core.types import Interactions
from recassay.protocol.ordering import blocks_in_user, canonical, counting_order, event_keys, pair_keys
from support.protocol import drawn_interactions, few, interactions, rows_of, shuffled, synthetic


@few
@given(drawn_interactions(repeats=True), st.integers(0, 99))
def test_canonical_forms_of_the_same_events_are_equal(data: Interactions, seed: int) -> None:
    one, other = canonical(data), canonical(shuffled(data, seed))
    assert rows_of(one) == rows_of(data)
    for name in ("user", "item", "weight", "time"):
        assert np.array_equal(getattr(one, name), getattr(other, name))
    assert one.users.cast(str).to_list() == other.users.to_list() == sorted(other.users.to_list())
    assert one.items.cast(str).to_list() == other.items.to_list()


def test_canonical_sorts_by_user_item_time_weight_and_drops_unused_ids() -> None:
    data = interactions([("b", "x", 1, 5), ("a", "y", 2, 9), ("a", "x", 3, 7), ("a", "x", 2, 7), ("c", "z", 1, 1)])
    form = canonical(data.take(np.array([0, 1, 2, 3])))
    assert form.users.to_list() == ["a", "b"]
    assert form.items.to_list() == ["x", "y"]
    assert form.user.tolist() == [0, 0, 0, 1]
    assert form.weight is not None
    assert form.weight.tolist() == [2, 3, 2, 1]


def test_events_of_one_pair_stand_by_time_and_then_by_weight() -> None:
    rows = [("a", "x", 5, 3), ("a", "x", 1, 9), ("a", "x", 4, 3), ("a", "x", 2, 1)]
    form = canonical(interactions(rows))
    assert form.time is not None
    assert form.weight is not None
    assert (form.time.tolist(), form.weight.tolist()) == ([1, 3, 3, 9], [2, 4, 5, 1])
    untimed = canonical(interactions(rows, time=False))
    assert untimed.weight is not None
    assert untimed.weight.tolist() == [1, 2, 4, 5]


def test_canonical_of_nothing_is_nothing() -> None:
    form = canonical(interactions([]))
    assert len(form) == form.n_users == 0


@few
@given(st.lists(st.integers(0, 5), max_size=50))
def test_counting_order_is_the_stable_order(groups: list[int]) -> None:
    group = np.array(groups, dtype=np.int32)
    assert np.array_equal(counting_order(group, 6), np.argsort(group, kind="stable"))


def test_keys_depend_on_seed_names_and_ids_alone_and_look_uniform() -> None:
    data = synthetic(200, 300, 5000)
    keys = pair_keys(data, 1, "a")
    assert not np.array_equal(keys, pair_keys(data, 2, "a"))
    assert not np.array_equal(keys, pair_keys(data, 1, "b"))
    assert len(np.unique(keys)) == len(keys)
    histogram = np.bincount((keys >> np.uint64(60)).astype(np.int64), minlength=16)
    expected = len(keys) / 16
    assert ((histogram - expected) ** 2 / expected).sum() < 50  # chi-square with 15 degrees of freedom


def test_pair_keys_are_shared_by_repeats_and_event_keys_tell_weights_apart() -> None:
    data = interactions([("a", "x", 1, 1), ("a", "x", 2, 1), ("a", "y", 1, 1)])
    pair, event = pair_keys(data, 0), event_keys(data, 0)
    assert pair[0] == pair[1] != pair[2]
    assert event[0] != event[1]


@few
@given(drawn_interactions(repeats=True))
def test_blocks_in_user_follow_time_and_events_of_one_time_share_theirs(data: Interactions) -> None:
    assert data.time is not None
    start, end = blocks_in_user(data, data.time)
    told = list(zip(data.user.tolist(), data.time.tolist(), strict=True))
    assert start.tolist() == [sum(u == user and t < time for u, t in told) for user, time in told]
    assert end.tolist() == [sum(u == user and t <= time for u, t in told) for user, time in told]
