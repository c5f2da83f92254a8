"""Intra-list diversity: how unlike each other the items of a list are."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

from recassay.core.types import FloatArray, IdArray, IntArray, TopK
from recassay.metrics.context import EvaluationContext, ratio
from recassay.metrics.protocol import MetricBase

PAIRS_AT_ONCE = 1 << 22
"""Pairs of listed items that are held at once."""


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
    preload: ClassVar[tuple[str, ...]] = ("recassay.metrics.common_users",)

    def per_user(self, top: TopK, truth: csr_array, context: EvaluationContext) -> FloatArray:
        """One value per row of `top`; NaN for a list of fewer than two items."""
        items = top.items[:, : self.depth(top)]
        n_pairs = items.shape[1] * (items.shape[1] - 1) // 2
        step = max(1, PAIRS_AT_ONCE // max(n_pairs, 1))
        parts = [mean_cosine(items[start : start + step], context) for start in range(0, len(items), step)]
        return 1 - np.concatenate([*parts, np.empty(0)])


def mean_cosine(items: IdArray, context: EvaluationContext) -> FloatArray:
    """For every row of `items` (-1 is not an item), the mean cosine of the training columns of its pairs; NaN without a
    pair.
    """
    from recassay.metrics.common_users import common_users  # numba takes long to load, and few commands need it

    listed = items >= 0
    # Items are numbered by popularity: the first item of a pair has the larger column.
    number = np.empty(context.n_items, dtype=np.int32)
    number[context.by_popularity] = np.arange(context.n_items)
    distinct, position = np.unique(number[items[listed]], return_inverse=True)
    local = np.full(items.shape, -1, dtype=np.int32)
    local[listed] = position
    left, right = np.triu_indices(items.shape[1], k=1)
    a, b = local[:, left], local[:, right]
    present = (a >= 0) & (b >= 0)
    n = max(len(distinct), 1)
    keys = np.minimum(a, b)[present].astype(np.int64) * n + np.maximum(a, b)[present]
    pairs, where = _distinct(keys, n * n)
    first, second = np.divmod(pairs, n)
    listed_columns = context.columns[:, context.by_popularity[distinct]]
    lengths = np.sqrt(np.diff(listed_columns.indptr))
    lengths = lengths[first] * lengths[second]
    cosine = common_users(listed_columns, first, second) / np.where(lengths > 0, lengths, 1)
    total = np.bincount(np.nonzero(present)[0], cosine[where], len(items)).astype(np.float64, copy=False)
    return ratio(total, np.count_nonzero(present, axis=1))


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
