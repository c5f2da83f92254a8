"""Leave-best-out: the algorithm with the largest area under its profile leaves, again and again."""

from __future__ import annotations

import numpy as np

from recassay.core.ranked import KEPT, wins
from recassay.core.system.compiled import compiled
from recassay.core.ties import beats
from recassay.core.types import FloatArray, IntArray

FEW_SETS = 12
"""Up to so many algorithms areas are made by the set of those that are left: there are at most 4,095 of them."""


def ranks_by_sets(added: FloatArray, ladder: IntArray, weights: FloatArray) -> FloatArray:
    """As `removal_ranks` of one table of few algorithms (replicates x algorithms): areas depend on the replicate's
    weights and on who is left, and few algorithms make few sets of them.

    `added[d, b, a]` is what dataset d adds to the area of a where b is the best that is left; `ladder` has the
    algorithms of each dataset, the best first.
    """
    datasets, n_algorithms = np.arange(len(ladder)), ladder.shape[1]
    bits = 1 << np.arange(n_algorithms)
    left, ranks = np.full(len(weights), bits.sum()), np.zeros((len(weights), n_algorithms))
    playing = np.arange(len(weights))
    while len(playing):
        playing = playing[np.argsort(left[playing], kind="stable")]
        sets = left[playing]
        edges = [*np.flatnonzero(np.diff(sets, prepend=0)), len(sets)]
        known = (sets[edges[:-1], None] & bits) > 0
        best = ladder[datasets, known[:, ladder].argmax(axis=2)]
        share, area = weights[playing], np.empty((len(playing), n_algorithms))
        for of_set, start, end in zip(best, edges, edges[1:], strict=False):
            np.matmul(share[start:end], added[datasets, of_set], out=area[start:end])
        present = (sets[:, None] & bits) > 0
        area[~present] = -np.inf
        leaving = present & ~beats(area.max(axis=1, keepdims=True), area)
        gone = n_algorithms - present.sum(axis=1)
        ranks[playing] += leaving * (gone + (leaving.sum(axis=1) + 1) / 2)[:, None]
        left[playing] = sets & ~(leaving @ bits)
        playing = playing[left[playing] > 0]
    return ranks


@compiled
def removal_ranks(
    ladder: IntArray, columns: FloatArray, weights: FloatArray, higher_is_better: bool, beta_max: float,
    grid: FloatArray, beyond: FloatArray, ranks: FloatArray,
) -> None:  # fmt: skip
    """Write into `ranks` (replicates x algorithms) the round in which each algorithm leaves; those that tie share it.

    ladder: tables x datasets x algorithms, the best first; columns: the values, likewise; one table, or one for each
    row of weights. `grid` and `beyond` are those of `rules.contributions`, empty for the exact areas. Areas are renewed
    only on the datasets whose best algorithm left; the area of an algorithm that left is minus infinity.
    """
    n_datasets, n_algorithms = ladder.shape[1], ladder.shape[2]
    area = np.empty(n_algorithms)
    place, best = np.empty(n_datasets, dtype=np.int64), np.empty(n_datasets)
    # A ratio is the product of two numbers: that of the best algorithm, and that of the other.
    of_other, of_best = _factors(columns, higher_is_better)
    for r in range(len(weights)):
        table = r if len(ladder) > 1 else 0
        area[:], place[:], best[:] = 0.0, 0, -1.0
        count = n_algorithms
        while count > 0:
            # On datasets whose best left, and at first on all, the next best that is left takes its place.
            for d in range(n_datasets):
                if weights[r, d] <= 0 or (best[d] >= 0 and area[ladder[table, d, place[d]]] > -np.inf):
                    continue
                while area[ladder[table, d, place[d]]] == -np.inf:
                    place[d] += 1
                new = of_best[table, d, ladder[table, d, place[d]]]
                _renew(area, weights[r, d], best[d], new, of_other[table, d], beta_max, grid, beyond)
                best[d] = new
            # Those with the largest area leave together and share the mean of their rounds.
            first, second = 0, -np.inf
            for a in range(1, n_algorithms):
                if area[a] > area[first]:
                    first, second = a, area[first]
                elif area[a] > second:
                    second = area[a]
            lowest = area[first]
            if lowest > 0 and not wins(lowest, second):
                lowest *= KEPT
            leaving = 0
            for a in range(n_algorithms):
                leaving += int(area[a] >= lowest)
            if leaving == 0:  # areas that are not numbers: nothing orders those that are left
                for a in range(n_algorithms):
                    if area[a] != -np.inf:
                        ranks[r, a] = n_algorithms - count + (count + 1) / 2
                break
            for a in range(n_algorithms):
                if area[a] >= lowest:
                    ranks[r, a] = n_algorithms - count + (leaving + 1) / 2
                    area[a] = -np.inf
            count -= leaving


@compiled
def _factors(columns: FloatArray, higher_is_better: bool) -> tuple[FloatArray, FloatArray]:
    """What each value contributes to a ratio as the other's (its inverse, or itself) and as the best's.

    A ratio without a value, 0 times infinity, is that of two zeros, and counts as 1.
    """
    inverse = np.empty(columns.shape)
    for t in range(columns.shape[0]):
        for d in range(columns.shape[1]):
            for a in range(columns.shape[2]):
                inverse[t, d, a] = 1 / columns[t, d, a] if columns[t, d, a] > 0 else np.inf
    return (inverse, columns) if higher_is_better else (columns, inverse)


@compiled
def _renew(
    area: FloatArray, weight: float, old: float, new: float, per_place: FloatArray, beta_max: float,
    grid: FloatArray, beyond: FloatArray,
) -> None:  # fmt: skip
    """Add to every area what a dataset of this weight adds with a new best in place of the old one (below 0: none).

    It is `rules.contributions` of `contest.ratio_to_best`.
    """
    first = old < 0
    for a in range(len(area)):
        was, now = old * per_place[a], new * per_place[a]
        was, now = was if was * KEPT > 1 else 1.0, now if now * KEPT > 1 else 1.0
        if len(grid):
            before, after = beyond[np.searchsorted(grid, was)], beyond[np.searchsorted(grid, now)]
        else:
            before = beta_max - was if wins(beta_max, was) else 0.0
            after = beta_max - now if wins(beta_max, now) else 0.0
        area[a] += weight * (after if first else after - before)
