"""Areas under Dolan-Moré profiles."""

from __future__ import annotations

import numpy as np

from recassay.analysis.aggregation.contest import ratio_to_best
from recassay.core.types import FloatArray

BETA_MAX = 3.0

GAINS_AT_ONCE = 4_000_000
"""Gains (tables x datasets x algorithms x algorithms) held in memory together."""


def contributions(ratios: FloatArray, beta_max: float, step: float | None) -> FloatArray:
    """What a dataset adds to the area under each profile.

    The profile of algorithm i is p_i(beta) = share of datasets with ratio <= beta, a sum of steps, so the area on
    [1, beta_max] is the mean over datasets of max(0, beta_max - ratio): exact. With `step`, the integral is the
    trapezoid rule on the grid 1, 1 + step, ..., beta_max, as the authors computed it (step 0.1).
    """
    if step is None:
        return np.maximum(beta_max - ratios, 0.0)
    grid = np.linspace(1.0, beta_max, round((beta_max - 1) / step) + 1)
    weight = np.full(len(grid), grid[1] - grid[0])
    weight[[0, -1]] /= 2
    beyond = np.concatenate([np.cumsum(weight[::-1])[::-1], [0.0]])
    return beyond[np.searchsorted(grid, ratios, side="left")]


def leave_best_out(
    values: FloatArray, weights: FloatArray, *, higher_is_better: bool, beta_max: float, step: float | None
) -> FloatArray:
    """Ranks by repeated removal of the algorithm with the largest area (KDD'24, section 4.2.1, DM LBO).

    values: tables x algorithms x datasets (one table, or one for each row of weights); weights: replicates x datasets.
    Algorithms whose areas tie leave together and share the mean of their ranks.
    """
    from recassay.analysis.aggregation.removal import removal_ranks

    replicates, n_datasets = weights.shape
    n_algorithms = values.shape[1]
    ranks = np.zeros((replicates, n_algorithms))
    block = max(1, GAINS_AT_ONCE // (n_algorithms**2 * n_datasets)) if len(values) > 1 else replicates
    for start in range(0, replicates, block):
        part = slice(start, min(start + block, replicates))
        columns = np.ascontiguousarray((values if len(values) == 1 else values[part]).transpose(0, 2, 1))
        ladder = np.argsort(-columns if higher_is_better else columns, axis=2, kind="stable")
        ratios = ratio_to_best(columns[:, :, None, :], columns[:, :, :, None], higher_is_better=higher_is_better)
        removal_ranks(ladder, contributions(ratios, beta_max, step), np.ascontiguousarray(weights[part]), ranks[part])
    return ranks
