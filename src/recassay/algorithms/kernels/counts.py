"""How many users two items have in common, dense or sparse by which is smaller and faster."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from recassay.algorithms.kernels.products import SparseRows, gram
from recassay.core.types import Float32Array, FloatArray

SMALL_CATALOGUE = 4096
LARGE_CATALOGUE = 16384
"""Counts are dense for a small catalogue, sparse for a large one, and between them by how many pairs occur."""


class Counts(NamedTuple):
    """How many users have both items: dense (`table`), or sparse (`rows`), the other one empty."""

    table: Float32Array
    rows: SparseRows
    diagonal: FloatArray

    @classmethod
    def of(cls, history: csr_array) -> Counts:
        """X'X of a binary users x items matrix."""
        n_items = history.shape[1]
        if is_crowded(history):
            table = gram(history)
            return cls(table, SparseRows.of(csr_array((n_items, n_items))), table.diagonal().astype(np.float64))
        counts = (history.T.tocsr() @ history).tocsr()
        return cls(np.zeros((0, 0), dtype=np.float32), SparseRows.of(counts), counts.diagonal().astype(np.float64))


def is_crowded(history: csr_array) -> bool:
    """Whether a dense table of a binary users x items matrix is the better form."""
    n_items = history.shape[1]
    products = float(np.square(np.diff(history.indptr).astype(np.float64)).sum())
    return n_items <= SMALL_CATALOGUE or (n_items <= LARGE_CATALOGUE and products > n_items**2 / 4)


def cooccurring_pairs(n_users: int, n_items: int, n_interactions: int) -> int:
    """How many pairs of items may have a user in common: sum of n_u^2 at most, never more than all pairs.

    The sum is not known from the totals; six times (mean n_u)^2 for every user is a length distribution with a
    coefficient of variation above 2, more than that of the usual public datasets.
    """
    mean = n_interactions / max(n_users, 1)
    return int(min(n_items**2, 6 * n_users * mean**2 + n_items))
