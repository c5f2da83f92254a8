"""Resampling and halving the users of a test part: all algorithms and all strata with the same draws."""

from __future__ import annotations

import numpy as np

from recassay.core.types import FloatArray, IntArray

GROUPS = 2000
"""More users than this are gathered at random into so many groups, and the groups are drawn."""

ROWS_AT_ONCE = 500


def user_replicates(scores: FloatArray, replicates: int, rng: np.random.Generator) -> FloatArray:
    """Means over users drawn with replacement: replicates x thresholds x algorithms.

    `scores` is thresholds x algorithms x users, NaN for users outside a stratum. One draw of users serves every
    algorithm and every threshold, so that differences between algorithms are paired and the orders at two thresholds
    belong together. A mean is the sum over the drawn users of T_P divided by their number; a replicate that draws no
    user of some stratum is left out. Beyond `GROUPS` users, random groups of users are drawn in place of single ones:
    sums of independent users vary as the users do, so the spread is the same in expectation and the cost is bounded.
    """
    n_thresholds, n_algorithms, _ = scores.shape
    table = _sums(scores, rng)
    n_groups = table.shape[1]
    means = np.empty((replicates, n_thresholds, n_algorithms))
    for start in range(0, replicates, ROWS_AT_ONCE):
        rows = slice(start, min(start + ROWS_AT_ONCE, replicates))
        weights = rng.multinomial(n_groups, np.full(n_groups, 1 / n_groups), size=rows.stop - rows.start)
        means[rows] = _means(weights.astype(np.float64) @ table.T, n_thresholds, n_algorithms)
    return means[np.isfinite(means).all(axis=(1, 2))]


def user_halves(scores: FloatArray, halvings: int, rng: np.random.Generator) -> FloatArray:
    """Means over the two halves of the users of each random halving: halvings x 2 x thresholds x algorithms.

    NaN where a half has no user of some stratum. What lies between the two halves is chance alone.
    """
    n_thresholds, n_algorithms, _ = scores.shape
    table = _sums(scores, rng)
    n_groups = table.shape[1]
    half = (np.argsort(rng.random((halvings, n_groups)), axis=1) < n_groups // 2).astype(np.float64)
    one = half @ table.T
    both = np.stack([one, table.sum(axis=1) - one], axis=1)
    return _means(both, n_thresholds, n_algorithms)


def _sums(scores: FloatArray, rng: np.random.Generator) -> FloatArray:
    """By user (or group of users): the scores of every threshold and algorithm, then whether T_P has the user."""
    n_users = scores.shape[2]
    known = np.isfinite(scores[:, 0, :])
    table = np.concatenate([np.where(known[:, None], scores, 0.0).reshape(-1, n_users), known.astype(np.float64)])
    return _gathered(table, rng.permutation(n_users)) if n_users > GROUPS else table


def _means(sums: FloatArray, n_thresholds: int, n_algorithms: int) -> FloatArray:
    """From sums over users (last axis as in `_sums`) to means: ... x thresholds x algorithms; NaN without a user."""
    shape = (*sums.shape[:-1], n_thresholds, n_algorithms)
    with np.errstate(invalid="ignore", divide="ignore"):
        means: FloatArray = sums[..., :-n_thresholds].reshape(shape) / sums[..., -n_thresholds:, None]
    return means


def _gathered(table: FloatArray, order: IntArray) -> FloatArray:
    """The columns of `table` summed in `GROUPS` groups of equal size (one more or less), filled in the given order."""
    bounds = np.linspace(0, len(order), GROUPS + 1).astype(np.int64)[:-1]
    sums: FloatArray = np.add.reduceat(table[:, order], bounds, axis=1)
    return sums
