"""Areas under Dolan-Moré profiles."""

from __future__ import annotations

import numpy as np

from recassay.core.types import FloatArray

BETA_MAX = 3.0


def contributions(ratios: FloatArray, beta_max: float, step: float | None) -> FloatArray:
    """What a dataset adds to the area under each profile.

    The profile of algorithm i is p_i(beta) = share of datasets with ratio <= beta, a sum of steps, so the area on
    [1, beta_max] is the mean over datasets of max(0, beta_max - ratio): exact. With `step`, the integral is the
    trapezoid rule on the grid 1, 1 + step, ..., beta_max, as the authors computed it (step 0.1).
    """
    if step is None:
        return np.maximum(beta_max - ratios, 0.0)
    grid, beyond = _grid(beta_max, step)
    return beyond[np.searchsorted(grid, ratios, side="left")]


def _grid(beta_max: float, step: float | None) -> tuple[FloatArray, FloatArray]:
    """The grid, and by place on it the area from there on; empty without a step."""
    if step is None:
        return np.empty(0), np.empty(0)
    grid = np.linspace(1.0, beta_max, round((beta_max - 1) / step) + 1)
    weight = np.full(len(grid), grid[1] - grid[0])
    weight[[0, -1]] /= 2
    return grid, np.concatenate([np.cumsum(weight[::-1])[::-1], [0.0]])


def leave_best_out(
    values: FloatArray, weights: FloatArray, *, higher_is_better: bool, beta_max: float, step: float | None
) -> FloatArray:
    """Ranks by repeated removal of the algorithm with the largest area (KDD'24, section 4.2.1, DM LBO).

    values: tables x algorithms x datasets (one table, or one for each row of weights); weights: replicates x datasets.
    Algorithms whose areas tie leave together and share the mean of their ranks.
    """
    from recassay.analysis.aggregation.removal import removal_ranks

    ranks = np.empty((len(weights), values.shape[1]))
    columns = np.ascontiguousarray(values.transpose(0, 2, 1))
    ladder = np.argsort(-columns if higher_is_better else columns, axis=2, kind="stable")
    weights = np.ascontiguousarray(weights)
    removal_ranks(ladder, columns, weights, higher_is_better, beta_max, *_grid(beta_max, step), ranks)
    return ranks
