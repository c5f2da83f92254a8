"""Long columns a block at a time, so that what is computed from them takes little memory beside them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from recassay.core.arrays import BoolArray, IdArray, IntArray

ROWS = 1 << 21
"""Rows that are handled at a time: with their temporary columns some 100 MB."""

Number = TypeVar("Number", bound=np.generic)


def row_blocks(rows: int, at_least: int = 0) -> Iterator[slice]:
    """Successive slices of `ROWS` rows, or of `at_least` so many where that is more."""
    return number_blocks(rows, 1, max(ROWS, at_least))


def number_blocks(rows: int, width: int, numbers: int) -> Iterator[slice]:
    """Successive slices of rows of `width` numbers, so that none has more than `numbers` of them, or of single rows."""
    step = max(1, numbers // max(width, 1))
    return (slice(start, min(start + step, rows)) for start in range(0, rows, step))


def user_blocks(user: IdArray) -> Iterator[slice]:
    """Successive slices of about `ROWS` rows that stand in the order of users; no user's rows are parted."""
    start = 0
    while start < len(user):
        end = min(start + ROWS, len(user))
        if end < len(user):
            end = int(np.searchsorted(user, user[end - 1], side="right"))
        yield slice(start, end)
        start = end


def in_order(user: IdArray, item: IdArray) -> bool:
    """Whether rows stand in the order of user and item."""
    for block in row_blocks(len(user)):
        near = slice(block.start, block.stop + 1)
        u, i = user[near], item[near]
        later = u[1:] > u[:-1]
        later |= (u[1:] == u[:-1]) & (i[1:] >= i[:-1])
        if not later.all():
            return False
    return True


def count_ids(ids: IdArray, size: int, rows: BoolArray | None = None) -> IntArray:
    """How often each position of an id table of this size occurs, in all rows or in those of a mask."""
    counts = np.zeros(size, dtype=np.int64)
    for block in row_blocks(len(ids), size):
        counts += np.bincount(ids[block] if rows is None else ids[block][rows[block]], minlength=size)
    return counts


def looked_up(table: NDArray[Number], ids: IdArray, out: NDArray[Number] | None = None) -> NDArray[Number]:
    """`table[ids]`, into `out` where it is given; `out` may be `ids` itself."""
    values = np.empty(len(ids), dtype=table.dtype) if out is None else out
    for block in row_blocks(len(ids)):
        values[block] = table[ids[block]]
    return values


def kept_rows(column: NDArray[Number], rows: BoolArray) -> NDArray[Number]:
    """The rows of a mask, moved to the front of their own column: a view of it, and no copy."""
    end = 0
    for block in row_blocks(len(column)):
        kept = column[block][rows[block]]
        column[end : end + len(kept)] = kept
        end += len(kept)
    return column[:end]


def nth_smallest(values: NDArray[np.int64] | NDArray[np.uint64], place: int) -> np.int64 | np.uint64:
    """The value at `place` of the sorted values (0: the smallest), without a copy of them.

    Counted by the leading bits of their distance from the smallest, until few enough for sorting are left.
    """
    low, high, before = int(values.min()), int(values.max()), 0
    while True:
        shift = max((high - low).bit_length() - 16, 0)
        counts = np.zeros(1 << 16, dtype=np.int64)
        for block in row_blocks(len(values)):
            distance = _distance(values[block], low, high) >> np.uint64(shift)
            counts += np.bincount(distance.astype(np.int64), minlength=len(counts))
        bucket = int(np.searchsorted(np.cumsum(counts), place - before, side="right"))
        before += int(counts[:bucket].sum())
        low, high = low + (bucket << shift), min(high, low + ((bucket + 1) << shift) - 1)
        if shift == 0:
            return values.dtype.type(low)
        if counts[bucket] <= ROWS:
            left = np.concatenate([_distance(values[block], low, high) for block in row_blocks(len(values))])
            return values.dtype.type(low + int(np.partition(left, place - before)[place - before]))


def _distance(values: NDArray[np.int64] | NDArray[np.uint64], low: int, high: int) -> NDArray[np.uint64]:
    """How far above `low` the values from `low` to `high` lie."""
    kind = values.dtype.type
    inside = values[(values >= kind(low)) & (values <= kind(high))]
    return inside.view(np.uint64) - np.uint64(low % (1 << 64))
