"""The best items of rows of scores over a large catalogue, in one pass over each row."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from recassay.algorithms.kernels.compiled import in_parallel
from recassay.algorithms.kernels.shortlist import (
    Keys,
    hand_over,
    keep_best,
    key_of,
    new_shortlist,
    read_lists,
    rising,
)
from recassay.core.system.compiled import compiled_exactly
from recassay.core.types import Float32Array, IdArray

ROWS_A_THREAD = 8
"""Rows that a thread takes at once."""

LOOKED_AT = 32
"""Scores that are compared with the bound together, since hardly any is above it."""

Lists: TypeAlias = tuple[IdArray, Float32Array]

LEAST = np.finfo(np.float32).min


def best_of_rows(scores: Float32Array, barred: csr_array | None, place: IdArray, k: int) -> Lists | None:
    """As `core.ranking.select_placed`, on all threads; None where a score is not a number."""
    scores = np.ascontiguousarray(scores, dtype=np.float32)
    first, items = np.zeros(len(scores) + 1, dtype=np.int64), np.empty(0, dtype=np.int64)
    if barred is not None:
        rising_items = barred if barred.has_sorted_indices else barred.sorted_indices()
        first, items = (part.astype(np.int64) for part in (rising_items.indptr, rising_items.indices))
    best = np.empty((len(scores), k), dtype=np.uint64)
    kept = in_parallel(
        lambda rows: fill_best(scores, first, items, place, best, rows.start, min(rows.stop, len(scores))),
        len(scores),
        size=ROWS_A_THREAD,
    )
    return read_lists(best, np.argsort(place).astype(np.int32)) if all(kept) else None


@compiled_exactly
def fill_best(
    scores: Float32Array,
    first: NDArray[np.int64],
    barred: NDArray[np.int64],
    place: IdArray,
    best: Keys,
    start: int,
    stop: int,
) -> bool:
    """Write the keys of the best items of rows `start` to `stop`; False as soon as a score is not a number.

    The items `barred[first[r]:first[r + 1]]`, rising, are left out of row r.
    """
    n_items, width = scores.shape[1], best.shape[1]
    bits = np.empty(1, dtype=np.uint32)
    number = bits.view(np.float32)
    for row in range(start, stop):
        keys, size, bound = new_shortlist(width), 0, LEAST
        for block in range(0, n_items, LOOKED_AT):
            looked_at = scores[row, block : min(block + LOOKED_AT, n_items)]
            candidates = np.int32(0)
            for spot in range(len(looked_at)):
                candidates += np.int32(not looked_at[spot] < bound)
            if not candidates:
                continue
            for spot in range(len(looked_at)):
                item, score = block + spot, looked_at[spot]
                if score != score:
                    return False
                if score >= bound and not _is_among(barred, first[row], first[row + 1], item):
                    number[0] = score + np.float32(0)  # zero has two signs, which are equal
                    keys[size] = key_of(rising(bits[0]), place[item])
                    size += 1
                    if size == len(keys):
                        size = keep_best(keys, size, width)
                        bits[0] = _falling(np.uint32(keys[width - 1] >> np.uint64(32)))
                        bound = number[0]
        hand_over(keys, size, best[row])
    return True


@compiled_exactly
def _falling(rank: np.uint32) -> np.uint32:
    """The bits of the float32 whose `rising` this is."""
    return np.uint32(rank ^ np.uint32(0x80000000)) if rank >> np.uint32(31) else np.uint32(~rank)


@compiled_exactly
def _is_among(items: NDArray[np.int64], low: int, high: int, wanted: int) -> bool:
    """Whether `wanted` is one of `items[low:high]`, which rise."""
    end = high
    while low < high:
        middle = (low + high) >> 1
        if items[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low < end and items[low] == wanted
