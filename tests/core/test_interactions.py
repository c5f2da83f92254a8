"""Events by hand: what several of one user and item mean, when they reach a threshold, parts and their joining."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from recassay.core import blocks
from recassay.core.errors import UsageError
from recassay.core.interactions import Interactions, RepeatRule, joined, read_only_matrix
from recassay.core.repeated import merged, one_of_each, reaches, repeats, sorted_groups
from recassay.core.types import Split, TopK

USERS, ITEMS = pl.Series(["a", "b"]), pl.Series([10, 20, 30])


def events(rows, rule="last", levels=()):
    """From rows (user, item, weight, time)."""
    kinds = (np.int32, np.int32, np.float32, np.int64)
    user, item, weight, time = (
        np.array(column, dtype=kind) for column, kind in zip(zip(*rows, strict=True), kinds, strict=True)
    )
    return Interactions(user, item, USERS, ITEMS, weight, time, RepeatRule(rule, levels))


def rows_of(made):
    return list(zip(made.user.tolist(), made.item.tolist(), made.weight.tolist(), made.time.tolist(), strict=True))


RATED = [(1, 2, 4, 7), (0, 1, 1, 5), (0, 1, 3, 1), (0, 1, 2, 9)]
EVENTS = [(0, 0, 1, 1), (0, 0, 1, 2), (0, 1, 5, 3), (0, 1, 1, 4), *((1, 2, 1, time) for time in range(6))]


@pytest.mark.parametrize(
    ("rule", "pair"),
    [("last", (0, 1, 2, 9)), ("first", (0, 1, 3, 1)), ("sum", (0, 1, 6, 9)), ("max", (0, 1, 3, 9))],
)
def test_several_events_become_one_by_their_rule(rule, pair):
    assert rows_of(merged(events(RATED, rule))) == [pair, (1, 2, 4, 7)]


def test_many_small_events_never_outweigh_a_great_one():
    made = merged(events(EVENTS, "bounded", (1.0, 5.0)))
    below = float(np.nextafter(np.float32(5), np.float32(0)))
    assert rows_of(made) == [(0, 0, 2, 2), (0, 1, 5, 3), (1, 2, below, 5)]
    rule = RepeatRule("bounded", (1.0, 5.0))
    assert rule.bounds().tolist() == [below, np.inf]
    assert rule.level_of(np.array([1, 4.9, 5, 9], dtype=np.float32)).tolist() == [0, 0, 1, 1]


def test_events_without_weights_are_counted_by_their_sum():
    bare = replace(events(RATED, "sum"), weight=None)
    assert merged(bare).weight.tolist() == [3, 1]
    different = events(RATED[:2])
    assert merged(different) is different
    assert merged(replace(events(RATED[:2], "sum"), weight=None)).weight.tolist() == [1, 1]
    assert merged(replace(events(RATED, "max"), weight=None)).weight is None


@pytest.mark.parametrize(
    "keys", [[3, 5, 5, 9], [9, 5, 3, 5], [2**61 + 1, 5, 2**61, 5]], ids=["sorted", "small", "too large to be packed"]
)
@pytest.mark.parametrize("timed", [True, False])
def test_rows_are_grouped_by_key_then_time_then_place(keys, timed):
    time = np.array([4, 8, 3, 2]) if timed else None
    order, starts = sorted_groups(np.array(keys), time)
    by_hand = sorted(range(4), key=lambda row: (keys[row], time[row] if timed else 0, row))
    assert order.tolist() == by_hand
    firsts = [place for place, row in enumerate(by_hand) if place == 0 or keys[row] != keys[by_hand[place - 1]]]
    assert starts.tolist() == firsts


def test_events_of_one_time_stay_in_their_order():
    rows = [(0, 1, 3, 5), (0, 1, 1, 5), (0, 1, 2, 5)]
    assert rows_of(merged(events(rows))) == [rows[2]]
    assert rows_of(merged(events(rows, "first"))) == [rows[0]]


@pytest.mark.parametrize("rule", ["last", "first", "sum", "max", "bounded"])
@pytest.mark.parametrize("ordered", [True, False])
def test_many_events_are_merged_block_by_block_as_all_at_once(rule, ordered, monkeypatch):
    rng = np.random.default_rng(3)
    rows = [(int(rng.integers(2)), int(rng.integers(3)), int(rng.choice([1, 5])), time) for time in range(40)]
    data = events(sorted(rows) if ordered else rows, rule, (1.0, 5.0) if rule == "bounded" else ())
    whole, enough, first = rows_of(merged(data)), reaches(data, 4), one_of_each(data, data.weight > 1)
    monkeypatch.setattr(blocks, "ROWS", 7)
    assert rows_of(merged(data)) == whole
    assert reaches(data, 4).tolist() == enough.tolist()
    assert one_of_each(data, data.weight > 1).tolist() == first.tolist()
    assert len(whole) == 6


@pytest.mark.parametrize(
    ("rule", "threshold", "reached"),
    [
        ("last", 2, [True, False, True, True]),
        ("first", 2, [True, True, True, True]),
        ("first", 4, [True, False, False, False]),
        ("sum", 4, [True, True, False, True]),
        ("sum", 5, [False, False, False, True]),
        ("max", 3, [True, True, True, True]),
    ],
)
def test_no_later_event_has_a_say_in_a_threshold(rule, threshold, reached):
    assert reaches(events(RATED, rule), threshold).tolist() == reached


def test_a_sum_reaches_a_threshold_to_the_precision_of_weights():
    tenths = events([(0, 0, 0.1, time) for time in range(3)], "sum")
    assert reaches(tenths, 0.3).tolist() == [False, False, True]


def test_a_threshold_on_bounded_events():
    made = reaches(events(EVENTS, "bounded", (1.0, 5.0)), 2)
    assert made.tolist() == [False, True, True, True, False, True, True, True, True, True]
    many = reaches(events(EVENTS, "bounded", (1.0, 5.0)), 5)
    assert many.tolist() == [False, False, True, True] + [False] * 6
    mixed = events([(0, 0, 1, 1), (0, 0, 5, 2), (0, 0, 1, 3), (0, 0, 5, 4)], "bounded", (1.0, 5.0))
    assert reaches(mixed, 6).tolist() == [False, False, False, True], "small events add nothing to great ones"
    with pytest.raises(ValueError, match="events without weights reach no threshold"):
        reaches(replace(events(RATED), weight=None), 1)


def test_the_first_of_each_pair_among_some():
    rows = events([(0, 1, 1, 0), (1, 0, 1, 0), (0, 1, 1, 0), (0, 0, 1, 0), (1, 0, 1, 0)])
    assert one_of_each(rows, np.array([False, True, True, True, True])).tolist() == [False, True, True, True, False]
    assert one_of_each(rows, np.zeros(5, dtype=bool)).tolist() == [False] * 5
    assert repeats(rows) is None
    again = repeats(events([(0, 1, 1, 0), (0, 1, 1, 0), (0, 0, 1, 0), (1, 0, 1, 0)]))
    assert again.tolist() == [False, True, False, False]


def test_parts_and_their_joining():
    one, two = events(RATED), events(EVENTS[:1])
    assert rows_of(joined([one, two])) == [*RATED, EVENTS[0]]
    assert joined([one]) is one
    assert joined([one, replace(two, time=None)]).time is None
    assert joined([one, replace(two, weight=None)]).weight is None
    assert one.csr().toarray().tolist() == [[0, 1, 0], [0, 0, 1]]
    assert one.csr(binary=False).toarray().tolist() == [[0, 6, 0], [0, 0, 4]]
    assert replace(one, weight=None).csr(binary=False).toarray().tolist() == [[0, 3, 0], [0, 0, 1]]
    assert one.csr().dtype == np.float32
    assert rows_of(one.take(np.array([0, 3]))) == [RATED[0], RATED[3]]
    view, matrix = one.read_only(), read_only_matrix(one.csr())
    for array in (view.user, view.item, view.weight, view.time, matrix.data, matrix.indices, matrix.indptr):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    for change, message in (
        ({"item": one.item[:1]}, "item has 1 rows and user has 4"),
        ({"time": one.time.astype(np.float64)}, "time is float64; it must be int64"),
        ({"weight": one.weight[:3]}, "weight has 3 rows and user has 4"),
        ({"time": one.time[:2]}, "time has 2 rows and user has 4"),
        ({"user": one.user.astype(np.int64)}, "user is int64; it must be int32"),
        ({"item": one.item.astype(np.int16)}, "item is int16; it must be int32"),
    ):
        with pytest.raises(ValueError, match=message):
            replace(one, **change)
    one.user[0] = 0  # the owner may write, and nothing was copied
    assert (view.user[0], one.user.base is None) == (0, True)


def test_what_the_final_model_is_trained_on_and_may_not_name():
    train, valid, test = events([RATED[0]]), events([RATED[1]]), events([RATED[2]])
    split = Split(train, valid, test, "f")
    assert rows_of(split.refit()) == [RATED[0], RATED[1]]
    assert len(replace(split, unjudged_valid=test).refit()) == 3
    assert replace(split, final_fit="train").refit_parts() == (train,)
    twice = replace(split, valid=train)
    assert (len(twice.refit()), len(replace(twice, overlapping=True).refit())) == (2, 1)
    assert len(replace(twice, overlapping=True, final_fit="train").refit()) == 1
    counted = replace(events(RATED[:2], "sum"), weight=None)
    assert Split(counted, counted, counted, "f", final_fit="train", overlapping=True).refit() is counted
    seen = csr_array((2, 3))
    assert split.barred(seen) is seen
    assert replace(split, task="repeat").barred(seen) is None


def test_lists():
    lists = TopK.empty(np.array([1, 0], dtype=np.int32), 3)
    assert (lists.k, lists.items.tolist(), lists.cut(2).k) == (3, [[-1] * 3] * 2, 2)
    assert np.isneginf(lists.scores).all()
    with pytest.raises(UsageError, match="lists of 0 items were asked for; ask for at least one item"):
        TopK.empty(lists.users, 0)
    with pytest.raises(ValueError, match="1 users for 2 lists"):
        TopK(lists.users[:1], lists.items, lists.scores)
    with pytest.raises(ValueError, match="must be one n x k shape"):
        TopK(lists.users, lists.items, lists.scores[:, :2])
    with pytest.raises(ValueError, match="must be one n x k shape"):
        TopK(lists.users, lists.items[:, 0], lists.scores[:, 0])
