"""A stratified division of a table into training and test rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recassay.core.errors import InputError
from recassay.core.types import BoolArray


def stratified_test(labels: NDArray[np.int64], *, share: float, most: int, rng: np.random.Generator) -> BoolArray:
    """True for the test rows: `share` of all but at most `most`, every class in proportion (Cardoso et al., 4.2.1).

    Class k with n_k of n rows gets n_k T / n of the T test rows, rounded by largest remainders, and always keeps one
    row for training: a class with a single row is never tested, since nobody could have learned it.
    """
    counts = np.bincount(labels)
    total = min(round(share * len(labels)), most)
    quota = _apportioned(counts, total)
    if quota.sum() < 1:
        raise InputError(f"{total} test rows of {len(labels)} leave nothing to test on", fix="raise test_share")
    shuffled = rng.permutation(len(labels))
    by_class = shuffled[np.argsort(labels[shuffled], kind="stable")]
    place = np.arange(len(labels)) - np.repeat(np.cumsum(counts) - counts, counts)
    test = np.zeros(len(labels), dtype=bool)
    test[by_class] = place < np.repeat(quota, counts)
    return test


def _apportioned(counts: NDArray[np.int64], total: int) -> NDArray[np.int64]:
    """`total` divided in proportion to `counts`, none above its count less one; ties go to the earlier class."""
    exact = counts * (total / counts.sum())
    room = np.maximum(counts - 1, 0)
    quota = np.minimum(np.floor(exact + 1e-9).astype(np.int64), room)
    order = np.argsort(-(exact - quota), kind="stable")
    open_ = order[quota[order] < room[order]]
    quota[open_[: max(0, total - int(quota.sum()))]] += 1
    return quota
