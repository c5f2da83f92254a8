"""Rows by user and item, whatever their number: grouped by ranges of users first, then sorted range by range."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recassay.core import blocks
from recassay.core.arrays import BoolArray, IdArray, IntArray
from recassay.core.interactions import Interactions

_MOST_RANGES = (1 << 16) - 1


class UserRanges:
    """Rows in any order, by successive ranges of users: about `blocks.ROWS` rows a range, each user in one.

    The first step of a radix sort. A column is brought into the order of the ranges (in which rows of one range keep
    their order) block by block, reading and writing forwards, so that the time stays linear where a plain
    `column[order]` would miss the cache at every row. Iteration gives the rows of each range in that order.
    """

    def __init__(self, user: IdArray, n_users: int) -> None:
        self._user, self._range_of = user, np.zeros(n_users, dtype=np.uint8)
        self._sizes: IntArray = np.array([len(user)])
        if len(user) > blocks.ROWS:
            counts = blocks.count_ids(user, n_users)
            number = (np.cumsum(counts) - counts) // max(blocks.ROWS, -(-len(user) // _MOST_RANGES))
            self._sizes = np.bincount(number, weights=counts).astype(np.int64)
            self._range_of = number.astype(np.uint8 if len(self._sizes) <= 256 else np.uint16)

    def __iter__(self) -> Iterator[slice]:
        ends = np.cumsum(self._sizes).tolist()
        return (slice(end - size, end) for end, size in zip(ends, self._sizes.tolist(), strict=True) if size)

    def _moves(self) -> Iterator[tuple[slice, IntArray, IntArray]]:
        """For each block of rows their order by range, and where they go in that order."""
        place = np.cumsum(self._sizes) - self._sizes
        for block in blocks.row_blocks(len(self._user)):
            ranges = self._range_of[self._user[block]]
            order, here = np.argsort(ranges, kind="stable"), np.bincount(ranges, minlength=len(self._sizes))
            target = np.repeat(place - (np.cumsum(here) - here), here)
            target += np.arange(len(target))
            place += here
            yield block, order, target

    def arrange(self, *columns: NDArray[Any]) -> None:
        """Bring columns into the order of the ranges, in place, one after the other; the users' own comes last."""
        if len(self._sizes) == 1:
            return
        for column in columns:
            moved = np.empty_like(column)
            for block, order, target in self._moves():
                moved[target] = column[block][order]
            column[:] = moved

    def arranged_codes(self, item: IdArray, n_items: int) -> IntArray:
        """The codes of all pairs in the order of the ranges."""
        codes = np.empty(len(item), dtype=np.int64)
        for block, order, target in self._moves():
            codes[target] = pair_codes(self._user[block], item[block], n_items)[order]
        return codes


def pair_codes(user: IdArray, item: IdArray, n_items: int) -> IntArray:
    """One int64 for each pair of user and item, in their order."""
    codes = user.astype(np.int64)
    codes *= max(n_items, 1)
    codes += item
    return codes


def sorted_codes(rows: Interactions) -> IntArray:
    """The codes of all rows, sorted: 8 bytes per row."""
    ranges = UserRanges(rows.user, rows.n_users)
    codes = ranges.arranged_codes(rows.item, rows.n_items)
    for part in ranges:
        if not bool((codes[part][1:] >= codes[part][:-1]).all()):
            codes[part].sort()
    return codes


def contained(wanted: IntArray, codes: IntArray) -> BoolArray:
    """Whether each of `wanted` is among the sorted `codes`."""
    if not len(codes):
        return np.zeros(len(wanted), dtype=np.bool_)
    return codes[np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)] == wanted


def repeated_rows(rows: Interactions) -> int:
    """How many rows have a pair of user and item that another row has too."""
    codes, repeated = sorted_codes(rows), 0
    for block in blocks.row_blocks(len(codes)):
        near = codes[max(block.start - 1, 0) : block.stop + 1]
        same = np.zeros(len(near) + 1, dtype=np.bool_)
        same[1:-1] = near[1:] == near[:-1]
        inside = slice(min(block.start, 1), min(block.start, 1) + block.stop - block.start)
        repeated += int(np.count_nonzero((same[1:] | same[:-1])[inside]))
    return repeated


class DistinctPairs:
    """The different pairs of several parts over the same ids: iteration gives their users and items, sorted, a range of
    users at a time.

    Parts in the order of user and item are taken as they lie; of others the codes are sorted and held.
    """

    def __init__(self, parts: Sequence[Interactions]) -> None:
        first = parts[0]
        self.n_items = max(first.n_items, 1)
        ordered = [blocks.in_order(part.user, part.item) for part in parts]
        self._columns = [(p.user, p.item) for p, lies in zip(parts, ordered, strict=True) if lies]
        self._codes = [sorted_codes(p) for p, lies in zip(parts, ordered, strict=True) if not lies]
        counts = sum(blocks.count_ids(part.user, first.n_users) for part in parts)
        number = (np.cumsum(counts) - counts) // blocks.ROWS
        self._users = [*np.flatnonzero(np.diff(number, prepend=-1)).tolist(), first.n_users]

    def __iter__(self) -> Iterator[tuple[IntArray, IntArray]]:
        for low, high in zip(self._users[:-1], self._users[1:], strict=True):
            parts = []
            for user, item in self._columns:
                rows = slice(*np.searchsorted(user, np.array([low, high], dtype=user.dtype)).tolist())
                parts.append(pair_codes(user[rows], item[rows], self.n_items))
            for codes in self._codes:
                ends = np.array([low, high]) * self.n_items
                parts.append(codes[slice(*np.searchsorted(codes, ends).tolist())])
            together = np.concatenate(parts)
            if len(parts) > 1:
                together.sort()
            if len(together):
                first = np.ones(len(together), dtype=np.bool_)
                first[1:] = together[1:] != together[:-1]
                together = together[first]
                users = together // self.n_items
                yield users, together - users * self.n_items
