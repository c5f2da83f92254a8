"""Intra-list diversity: how unlike each other the items of a list are."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.sparse import csc_array, csr_array

from recassay.core.types import FloatArray, IdArray, IntArray, TopK
from recassay.metrics.context import EvaluationContext, ratio
from recassay.metrics.protocol import MetricBase

BITSET_BYTES = 1 << 29
"""The most memory that the bit sets of the listed items may take; beyond it pairs are counted sparsely."""

PAIRS_AT_ONCE = 1 << 22
"""Pairs of listed items that are held at once."""

_CHUNK = 1 << 21
_SPARSE_COST = 8
"""What one sparse look-up costs, in words of 64 bits compared by bit sets (measured)."""


class Diversity(MetricBase):
    """One minus the mean cosine similarity of all pairs of items in the list.

    cos(i, j) = |U_i and U_j| / sqrt(|U_i| |U_j|), where U_i are the training users of item i (the cosine of
    the binary training columns). An item without training interactions has cosine 0 with every other.
    Undefined (NaN) for a list of fewer than two items.
    """

    name = "diversity"
    formula = "1 - mean over pairs i<j of |U_i ∩ U_j| / sqrt(|U_i| |U_j|)"
    source = "Kaminskas and Bridge, Diversity, serendipity, novelty, and coverage, TiiS 2016"
    variants: ClassVar[dict[str, str]] = {"cosine": "cosine of the binary training columns (KDD'24)"}

    def per_user(self, top: TopK, truth: csr_array, context: EvaluationContext) -> FloatArray:
        """One value a row of `top`; NaN for a list of fewer than two items."""
        items = top.items[:, : self.depth(top)]
        n_pairs = items.shape[1] * (items.shape[1] - 1) // 2
        step = max(1, PAIRS_AT_ONCE // max(n_pairs, 1))
        parts = [mean_cosine(items[start : start + step], context.columns) for start in range(0, len(items), step)]
        return 1 - np.concatenate([*parts, np.empty(0)])


def mean_cosine(items: IdArray, columns: csc_array) -> FloatArray:
    """For every row of `items` (-1 is no item), the mean cosine of the columns of its pairs; NaN without a
    pair.
    """
    listed = items >= 0
    distinct, position = np.unique(items[listed], return_inverse=True)
    local = np.full(items.shape, -1, dtype=np.int32)
    local[listed] = position
    left, right = np.triu_indices(items.shape[1], k=1)
    a, b = local[:, left], local[:, right]
    present = (a >= 0) & (b >= 0)
    n = max(len(distinct), 1)
    keys = np.minimum(a, b)[present].astype(np.int64) * n + np.maximum(a, b)[present]
    pairs, where = _distinct(keys, n * n)
    first, second = np.divmod(pairs, n)
    listed_columns = columns[:, distinct]
    lengths = np.sqrt(np.diff(listed_columns.indptr))
    lengths = lengths[first] * lengths[second]
    shared = shared_users(listed_columns, first, second)
    cosine = shared / np.where(lengths > 0, lengths, 1)
    total = np.bincount(np.nonzero(present)[0], cosine[where], len(items)).astype(np.float64, copy=False)
    number = np.count_nonzero(present, axis=1)
    return ratio(total, number)


def shared_users(columns: csc_array, first: IntArray, second: IntArray) -> IntArray:
    """For each pair of columns, the number of rows that both have, by the cheaper of two exact ways.

    Bit sets compare n_rows / 64 words a pair; the sparse way looks every row of the smaller column up in the
    larger.
    """
    sizes = np.diff(columns.indptr)
    words = -(-columns.shape[0] // 64)
    lookups = int(np.minimum(sizes[first], sizes[second]).sum())
    fits = 8 * words * columns.shape[1] <= BITSET_BYTES
    if fits and len(first) * words <= _SPARSE_COST * lookups:
        return shared_by_bits(columns, first, second)
    return shared_by_lookup(columns, first, second)


def shared_by_bits(columns: csc_array, first: IntArray, second: IntArray) -> IntArray:
    """Rows shared by each pair of columns, from one set of bits a column."""
    n_rows, n_columns = columns.shape
    n_bytes = 8 * -(-n_rows // 64)
    bits = np.zeros(n_columns * n_bytes, dtype=np.uint8)
    byte = np.repeat(np.arange(n_columns) * n_bytes, np.diff(columns.indptr)) + columns.indices // 8
    np.bitwise_or.at(bits, byte, np.left_shift(1, columns.indices % 8).astype(np.uint8))
    words = bits.view(np.uint64).reshape(n_columns, n_bytes // 8)
    shared = np.empty(len(first), dtype=np.int64)
    step = max(1, _CHUNK // max(8 * words.shape[1], 1))
    for start in range(0, len(first), step):
        part = slice(start, start + step)
        shared[part] = _ones(words[first[part]] & words[second[part]])
    return shared


def shared_by_lookup(columns: csc_array, first: IntArray, second: IntArray) -> IntArray:
    """Rows shared by each pair of columns, looking those of the smaller up in the larger."""
    n_rows, n_columns = columns.shape
    sizes = np.diff(columns.indptr).astype(np.int64)
    swap = sizes[first] > sizes[second]
    small, large = np.where(swap, second, first), np.where(swap, first, second)
    ordered = columns if columns.has_sorted_indices else columns.sorted_indices()
    stored = np.repeat(np.arange(n_columns, dtype=np.int64), sizes) * n_rows + ordered.indices
    shared = np.zeros(len(first), dtype=np.int64)
    ends = np.cumsum(sizes[small])
    start = 0
    while start < len(first):
        done = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, done + _CHUNK, side="right")))
        part = slice(start, stop)
        count = sizes[small[part]]
        pair = np.repeat(np.arange(len(count)), count)
        offset = np.arange(len(pair)) - np.repeat(np.cumsum(count) - count, count)
        row = ordered.indices[ordered.indptr[small[part]][pair] + offset]
        wanted = large[part][pair] * n_rows + row
        at = np.minimum(np.searchsorted(stored, wanted), max(len(stored) - 1, 0))
        shared[part] = np.bincount(pair[stored[at] == wanted], minlength=len(count))
        start = stop
    return shared


def _distinct(keys: IntArray, limit: int) -> tuple[IntArray, IntArray]:
    """The distinct keys (each below `limit`) in order, and where every key stands among them."""
    if limit > 1 << 25:
        distinct, where = np.unique(keys, return_inverse=True)
        return distinct, where
    occurs = np.zeros(limit, dtype=bool)
    occurs[keys] = True
    distinct = np.flatnonzero(occurs).astype(np.int64, copy=False)
    place = np.empty(limit, dtype=np.int64)
    place[distinct] = np.arange(len(distinct))
    return distinct, place[keys]


def _ones(words: np.ndarray[tuple[int, int], np.dtype[np.uint64]]) -> IntArray:
    """The bits set in every row."""
    if hasattr(np, "bitwise_count"):
        return np.asarray(np.bitwise_count(words).sum(axis=1), dtype=np.int64)
    return np.asarray(np.unpackbits(words.view(np.uint8), axis=1).sum(axis=1), dtype=np.int64)
