"""From scores to lists: the k best items of every row, with ties broken by chance and not by item id."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array

from recassay.core.errors import InputError, UsageError
from recassay.core.types import BoolArray, Float32Array, FloatArray, IdArray, IntArray

ROWS_AT_ONCE = 256
"""Rows that are selected together: enough to amortise a call, few enough to stay in the processor's cache."""

SORT_FROM_SHARE = 8
"""Where k is at least an eighth of the catalogue, sorting whole rows is faster than picking candidates."""

_LOWEST = np.finfo(np.float32).min


def tie_order(n_items: int, rng: np.random.Generator) -> IdArray:
    """The place of every item in a random order of the catalogue, drawn from a copy of `rng`.

    `rng` itself does not move on, so that every batch of one run sees the same order.
    """
    return copy.deepcopy(rng).permutation(n_items).astype(np.int32)


def select_top(
    scores: Float32Array | FloatArray,
    k: int,
    *,
    exclude: csr_array | None = None,
    rng: np.random.Generator,
) -> tuple[IdArray, Float32Array]:
    """The k best items of every row of `scores` (rows x items), best first: (items, scores), both rows x k.

    Items stored in the same row of `exclude` never appear, nor do items whose score is -inf; a list that is
    then shorter than k ends in item -1 with score -inf. A NaN score raises. Equal scores stand in the order
    `tie_order` draws from `rng`: it is the same for every row and every call with a generator in the same
    state, so that a list depends neither on the size nor on the order of the batches, and the first j of k
    are the top j.
    """
    if scores.ndim != 2:
        raise UsageError(f"scores have {scores.ndim} dimensions", fix="give one row per user, one column per item")
    return select_placed(scores, k, tie_order(scores.shape[1], rng), exclude=exclude)


def select_placed(
    scores: Float32Array | FloatArray, k: int, place: IdArray, *, exclude: csr_array | None = None
) -> tuple[IdArray, Float32Array]:
    """`select_top`, with the order of equal scores that `tie_order` has drawn: for many blocks of one run."""
    if k < 1:
        raise UsageError(f"a list of {k} items was asked for", fix="ask for at least one")
    rows, n_items = scores.shape
    if exclude is not None and exclude.shape != scores.shape:
        raise UsageError(
            f"exclude is {exclude.shape} and scores are {scores.shape}",
            fix="pass the rows of the scored users: exclude[users]",
        )
    items = np.full((rows, k), -1, dtype=np.int32)
    best = np.full((rows, k), -np.inf, dtype=np.float32)
    if n_items == 0:
        return items, best
    for start in range(0, rows, ROWS_AT_ONCE):
        stop = min(start + ROWS_AT_ONCE, rows)
        block = np.array(scores[start:stop], dtype=np.float32, order="C")
        _refuse_nan(block, start)
        if exclude is not None:
            _strike_out(block, exclude, start, stop)
        if k * SORT_FROM_SHARE >= n_items:
            _fill_by_sorting(block, place, items[start:stop], best[start:stop])
            continue
        row, item = _candidates(block, k, place)
        score = block[row, item]
        order = np.lexsort((place[item], -score, row))
        row, item, score = row[order], item[order], score[order]
        position = np.arange(len(row)) - np.searchsorted(row, row)
        kept = position < k
        items[start + row[kept], position[kept]] = item[kept]
        best[start + row[kept], position[kept]] = score[kept]
    return items, best


def batches(n_users: int, n_items: int, memory_budget: int) -> Iterator[slice]:
    """Slices of `range(n_users)` whose dense float32 score block (users x items) fits `memory_budget` bytes.

    A budget below one row still yields single users: less than one row cannot be scored.
    """
    rows = max(1, int(memory_budget // max(4 * n_items, 1)))
    for start in range(0, n_users, rows):
        yield slice(start, min(start + rows, n_users))


def _refuse_nan(block: Float32Array, start: int) -> None:
    missing = np.isnan(block)
    if missing.any():
        row, item = np.argwhere(missing)[0]
        raise InputError(
            f"{int(missing.sum())} scores are NaN, the first in row {start + int(row)} for item {int(item)}",
            fix="give every item a number, and -inf to an item that must not be listed",
        )


def _strike_out(block: Float32Array, exclude: csr_array, start: int, stop: int) -> None:
    bounds = exclude.indptr[start : stop + 1]
    row = np.repeat(np.arange(stop - start), np.diff(bounds))
    block[row, exclude.indices[bounds[0] : bounds[-1]]] = -np.inf


def _fill_by_sorting(block: Float32Array, place: IdArray, items: IdArray, best: Float32Array) -> None:
    """Fill the lists (views of the answer) from fully sorted rows; a stable sort keeps the order of ties."""
    order = np.argsort(place).astype(np.int32)
    width = min(items.shape[1], block.shape[1])
    first = np.argsort(-block[:, order], axis=1, kind="stable")[:, :width]
    chosen = order[first]
    score = np.take_along_axis(block, chosen, axis=1)
    items[:, :width] = np.where(score >= _LOWEST, chosen, -1)
    best[:, :width] = score


def _candidates(block: Float32Array, k: int, place: IdArray) -> tuple[IntArray, IntArray]:
    """(row, item) pairs that hold the k best of every row and little else.

    The k-th largest of the maxima of disjoint groups of items bounds the k-th largest score from below (k
    groups have an item at least that good), at the price of one pass and a partition of the few maxima. Rows
    where ties leave too many items above that bound are partitioned in full.
    """
    bound = np.maximum(_lower_bound(block, k), _LOWEST)
    above = block >= bound[:, None]
    crowded = np.flatnonzero(np.count_nonzero(above, axis=1) > 4 * k + 32)
    if len(crowded):
        above[crowded] = _exact(block[crowded], k, place)
    row, item = np.divmod(np.flatnonzero(above), block.shape[1])
    return row, item


def _lower_bound(block: Float32Array, k: int) -> Float32Array:
    rows, n_items = block.shape
    groups = max(8 * k, 128)
    depth = n_items // groups
    if depth < 2:
        return np.partition(block, n_items - k, axis=1)[:, n_items - k]
    whole = depth * groups
    maxima = block[:, :whole].reshape(rows, depth, groups).max(axis=1)
    rest = n_items - whole
    np.maximum(maxima[:, :rest], block[:, whole:], out=maxima[:, :rest])
    return np.partition(maxima, groups - k, axis=1)[:, groups - k]


def _exact(block: Float32Array, k: int, place: IdArray) -> BoolArray:
    """Where exactly the k best of every row are, ties at the k-th score by `place`; at least k have a finite score."""
    n_items = block.shape[1]
    bound = np.partition(block, n_items - k, axis=1)[:, n_items - k, None]
    key = np.where(block > bound, np.int32(-1), np.where(block == bound, place, np.int32(n_items)))
    return key <= np.partition(key, k - 1, axis=1)[:, k - 1, None]
