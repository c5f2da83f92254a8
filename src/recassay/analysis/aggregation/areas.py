"""Areas under Dolan-Moré profiles."""

from __future__ import annotations

import numpy as np

from recassay.analysis.aggregation.contest import ratio_to_best
from recassay.core.ties import beats
from recassay.core.types import FloatArray, IntArray

BETA_MAX = 3.0


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
    replicates, n_datasets = weights.shape
    n_algorithms = values.shape[1]
    ranks = np.zeros((replicates, n_algorithms))
    block = max(1, int(2_000_000 / (n_algorithms * n_datasets)))
    for start in range(0, replicates, block):
        part = slice(start, min(start + block, replicates))
        table = values if len(values) == 1 else values[part]
        ranks[part] = _leave_best_out_block(table, weights[part], higher_is_better, beta_max, step)
    return ranks


def _leave_best_out_block(
    values: FloatArray, weights: FloatArray, higher_is_better: bool, beta_max: float, step: float | None
) -> FloatArray:
    """Areas are renewed only on the datasets whose best algorithm left: most keep theirs in most rounds."""
    single = len(values) == 1
    columns = values.transpose(0, 2, 1)
    ladder = np.argsort(-columns if higher_is_better else columns, axis=2, kind="stable")
    table = np.zeros(len(weights), dtype=np.int64) if single else np.arange(len(weights))

    def gains(own: FloatArray, best: FloatArray) -> FloatArray:
        return contributions(ratio_to_best(own, best, higher_is_better=higher_is_better), beta_max, step)

    of_best = gains(columns[0][:, None, :], columns[0][:, :, None]) if single else None

    def gain(row: IntArray, dataset: IntArray, place: IntArray) -> FloatArray:
        best = ladder[table[row], dataset, place]
        if of_best is not None:
            return of_best[dataset, best]
        own = columns[row, dataset]
        return gains(own, np.take_along_axis(own, best[:, None], axis=1))

    start = gains(columns, np.take_along_axis(columns, ladder[:, :, :1], axis=2))
    area = weights @ start[0] if single else np.einsum("bda,bd->ba", start, weights, optimize=True)
    ranks = np.zeros(area.shape)
    alive = np.ones(area.shape, dtype=bool)
    removed = np.zeros(len(weights))
    place = np.zeros(weights.shape, dtype=np.int64)
    dataset = np.arange(weights.shape[1])
    while alive.any():
        top = np.where(alive, area, -np.inf).max(axis=1, keepdims=True)
        leaving = alive & ~beats(top, area)
        size = leaving.sum(axis=1)
        ranks += np.where(leaving, (removed + (size + 1) / 2)[:, None], 0.0)
        removed += size
        alive &= ~leaving
        holder = ladder[table[:, None], dataset, place]
        orphaned = ~np.take_along_axis(alive, holder, axis=1) & (weights > 0) & alive.any(axis=1, keepdims=True)
        row, where = np.nonzero(orphaned)
        if not len(row):
            continue
        before = place[row, where]
        after = before + 1
        while (gone := ~alive[row, ladder[table[row], where, after]]).any():
            after[gone] += 1
        place[row, where] = after
        change = weights[row, where][:, None] * (gain(row, where, after) - gain(row, where, before))
        first = np.flatnonzero(np.diff(row, prepend=-1))
        area[row[first]] += np.add.reduceat(change, first, axis=0)
    return ranks
