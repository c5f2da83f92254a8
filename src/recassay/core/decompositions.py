"""Decompositions with one answer: LAPACK leaves signs and bases open, and each processor chooses them differently."""

from __future__ import annotations

import numpy as np

from recassay.core.arrays import FloatArray

NEARLY = 1 - 1e-6
"""Entries of at least this share of the largest count as the largest, so that rounding does not choose among them."""


def signed_svd(matrix: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(left, sizes, right) of the thin singular value decomposition left diag(sizes) right.

    In each row of `right` the largest entry in absolute value is positive (the first of those that are nearly equal).
    """
    left, size, right = np.linalg.svd(matrix, full_matrices=False)
    reach = np.abs(right)
    largest = (reach >= NEARLY * reach.max(axis=1, keepdims=True, initial=0.0)).argmax(axis=1)
    sign = np.where(right[np.arange(len(right)), largest] < 0, -1.0, 1.0)
    return left * sign, size, right * sign[:, None]


def helmert_contrasts(k: int) -> FloatArray:
    """k - 1 orthonormal rows that sum to zero: the mean of the first r columns against the next (Helmert's matrix).

    A decomposition of I - 1/k would give such rows, too; but all its singular values are equal, so that every LAPACK
    gives another basis, and another basis gives other draws.
    """
    place = np.arange(1, k)
    rows = np.tril(np.ones((k - 1, k)))
    rows[place - 1, place] = -place
    return rows / np.sqrt(place * (place + 1.0))[:, None]
