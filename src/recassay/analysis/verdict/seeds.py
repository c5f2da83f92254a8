"""Tests over the seeds of each dataset: what they show holds for other seeds there, not for other datasets."""

from __future__ import annotations

import numpy as np

from recassay.analysis.inference.distributions import t_sf
from recassay.analysis.inference.significance import holm
from recassay.analysis.verdict.result import SeedTests
from recassay.core.choices import MANY_ALGORITHMS
from recassay.core.tables.matrix import Matrix

FEWEST_SEEDS = 3
"""Of both algorithms of a pair on a dataset; two say too little of how values vary."""


def seed_tests(matrix: Matrix, alpha: float = 0.05) -> SeedTests | None:
    """Welch's t-test of every pair on every dataset, Holm-corrected over the pairs of a dataset.

    Welch's test does not need equal variances, and three seeds each are enough for it. Exact permutation is not: with
    five seeds each its smallest p is 0.008, which no correction for ten pairs survives. Seeds count as independent;
    where the same seed makes the same luck for all algorithms, the test is careful. None where no pair has seeds
    enough, where repeats are folds (they share their data), and with more than 60 algorithms.
    """
    if matrix.replicates is None or matrix.paired or len(matrix.algorithms) > MANY_ALGORITHMS:
        return None
    count = np.isfinite(matrix.replicates).sum(axis=2)
    enough = count >= FEWEST_SEEDS
    safe = np.where(enough, count, FEWEST_SEEDS)
    mean = np.nansum(matrix.replicates, axis=2) / safe
    centred = np.where(np.isfinite(matrix.replicates), matrix.replicates - mean[:, :, None], 0.0)
    error = (centred**2).sum(axis=2) / (safe - 1) / safe  # squared standard errors of the means
    # Rounding alone makes a mean of equal values differ from them.
    error = np.where(error <= (1e-12 * np.abs(mean)) ** 2, 0.0, error)
    k, n = mean.shape
    first, second = np.triu_indices(k, 1)
    tested = enough[first] & enough[second]
    if not tested.any():
        return None
    gap, variance = mean[first] - mean[second], error[first] + error[second]
    with np.errstate(divide="ignore", invalid="ignore"):
        degrees = variance**2 / (error[first] ** 2 / (safe[first] - 1) + error[second] ** 2 / (safe[second] - 1))
        t = np.abs(gap) / np.sqrt(variance)
    certain = variance == 0  # without any seed noise a difference is one, and equal values are not
    p = np.where(
        certain, (gap == 0).astype(float), 2 * t_sf(np.where(certain, 0.0, t), np.where(certain, 1.0, degrees))
    )
    square, ahead = np.full((k, k, n), np.nan), np.zeros((k, k, n), dtype=bool)
    better = gap > 0 if matrix.higher_is_better else gap < 0
    ahead[first, second], ahead[second, first] = better, ~better & (gap != 0)
    for d in range(n):
        judged = np.flatnonzero(tested[:, d])
        square[first[judged], second[judged], d] = square[second[judged], first[judged], d] = holm(p[judged, d])
    return SeedTests(matrix.algorithms, matrix.datasets, alpha=alpha, p=square, ahead=ahead)
