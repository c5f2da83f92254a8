"""What is computed a block at a time is what the whole column gives, however small the blocks."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recassay.core import blocks, pairs
from recassay.core.pairs import DistinctPairs, UserRanges, contained, repeated_rows, sorted_codes
from recassay.core.types import Interactions


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "ROWS", 7)


def events(seed: int, rows: int, n_users: int = 9, n_items: int = 5) -> Interactions:
    rng = np.random.default_rng(seed)
    return Interactions(
        user=rng.integers(0, n_users, rows).astype(np.int32) ** 2 % n_users,
        item=rng.integers(0, n_items, rows).astype(np.int32),
        users=pl.Series(range(n_users)),
        items=pl.Series(range(n_items)),
    )


@settings(max_examples=50)
@given(st.lists(st.one_of(st.integers(-(2**63), 2**63 - 1), st.integers(-3, 3)), min_size=1, max_size=60), st.randoms())
def test_the_nth_smallest_is_that_of_the_sorted_values(values: list[int], random: object) -> None:
    for kind in (np.int64, np.uint64):
        column = np.array([value % 2**64 if kind is np.uint64 else value for value in values], dtype=kind)
        place = random.randrange(len(values))  # type: ignore[attr-defined]
        found = blocks.nth_smallest(column, place)
        assert found == np.sort(column)[place]
        assert found.dtype == kind


@pytest.mark.parametrize("rows", [0, 1, 7, 8, 50, 300])
def test_ranges_hold_whole_users_in_their_order(rows: int) -> None:
    data = events(rows, rows)
    user, row = data.user.copy(), np.arange(rows)
    ranges = UserRanges(user, data.n_users)
    ranges.arrange(row)
    ranges.arrange(user)
    assert np.array_equal(data.user[row], user)
    parts = list(ranges)
    assert sum(part.stop - part.start for part in parts) == rows
    held = [set(user[part].tolist()) for part in parts]
    for one, following in pairwise(held):
        assert max(one) < min(following)
    for part in parts:
        assert (np.diff(row[part]) > 0).all()
    if rows == 300:
        assert len(parts) > 3


def test_there_are_no_more_ranges_than_numbers_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "_MOST_RANGES", 3)
    data = events(1, 300)
    assert 1 < len(list(UserRanges(data.user, data.n_users))) <= 3


def test_more_ranges_than_a_byte_can_count() -> None:
    data = events(2, 4000, n_users=1499)
    user, row = data.user.copy(), np.arange(4000)
    ranges = UserRanges(user, data.n_users)
    ranges.arrange(row, user)
    assert len(list(ranges)) > 256
    for one, following in pairwise([user[part] for part in ranges]):
        assert one.max() < following.min()
    assert np.array_equal(data.user[row], user)


def test_which_codes_are_among_others() -> None:
    codes = np.array([2, 4, 4, 9])
    assert contained(np.array([1, 2, 3, 4, 9, 10]), codes).tolist() == [False, True, False, True, True, False]
    assert contained(np.array([0, 1]), codes[:0]).tolist() == [False, False]


def test_ids_are_counted_in_all_rows_or_in_some() -> None:
    ids = np.array([3, 0, 3, 1, 3, 0, 3, 3, 0, 3] * 3, dtype=np.int32)
    assert blocks.count_ids(ids, 5).tolist() == [9, 3, 0, 18, 0]
    assert blocks.count_ids(ids, 5, np.arange(30) < 10).tolist() == [3, 1, 0, 6, 0]
    assert [(part.start, part.stop) for part in blocks.row_blocks(30, 20)] == [(0, 20), (20, 30)]
    table = np.array([10, 11, 12, 13], dtype=np.int32)
    assert np.array_equal(blocks.looked_up(table, ids), table[ids])
    expected = table[ids]
    assert blocks.looked_up(table, ids, out=ids) is ids
    assert np.array_equal(ids, expected)


@pytest.mark.parametrize("rows", [0, 1, 9, 200])
def test_codes_repeats_and_distinct_pairs_are_those_of_numpy(rows: int) -> None:
    data = events(rows, rows, n_users=40, n_items=20)
    codes = np.sort(data.user.astype(np.int64) * data.n_items + data.item)
    assert np.array_equal(sorted_codes(data), codes)
    unique, counts = np.unique(codes, return_counts=True)
    assert repeated_rows(data) == counts[counts > 1].sum()
    ordered = data.take(np.lexsort((data.item, data.user)))
    for parts in (
        [data],
        [ordered],
        [data.take(slice(0, rows // 2)), data],
        [ordered.take(slice(0, rows // 2)), data.take(slice(0, rows // 3)), ordered],
    ):
        found = [user * data.n_items + item for user, item in DistinctPairs(parts)]
        assert np.array_equal(np.concatenate([*found, np.empty(0, dtype=np.int64)]), unique)


def test_blocks_of_users_part_no_user() -> None:
    user = np.repeat(np.arange(6, dtype=np.int32), [1, 20, 3, 3, 3, 9])
    found = list(blocks.user_blocks(user))
    assert [part.start for part in found[1:]] == [part.stop for part in found[:-1]]
    assert (found[0].start, found[-1].stop) == (0, len(user))
    assert all(user[part.start] != user[part.start - 1] for part in found[1:])


def test_rows_are_kept_in_their_own_column() -> None:
    column, rows = np.arange(30), np.arange(30) % 3 == 1
    kept = blocks.kept_rows(column, rows)
    assert np.array_equal(kept, np.arange(30)[rows])
    assert np.shares_memory(kept, column)


def test_order_is_seen_across_blocks() -> None:
    user = np.repeat(np.arange(5, dtype=np.int32), 4)
    item = np.tile(np.arange(4, dtype=np.int32), 5)
    assert blocks.in_order(user, item)
    item[7] = 0
    assert not blocks.in_order(user, item)
    for users, items, ordered in (([0, 0], [1, 1], True), ([1, 0], [0, 1], False), ([0, 1], [1, 0], True)):
        assert blocks.in_order(np.array(users), np.array(items)) == ordered
