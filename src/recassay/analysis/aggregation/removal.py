"""Leave-best-out in machine code: the algorithm with the largest area leaves, again and again."""

from __future__ import annotations

import numpy as np

from recassay.core.ranked import wins
from recassay.core.system.compiled import compiled
from recassay.core.types import FloatArray, IntArray


@compiled
def removal_ranks(
    ladder: IntArray, columns: FloatArray, weights: FloatArray, higher_is_better: bool, beta_max: float,
    grid: FloatArray, beyond: FloatArray, ranks: FloatArray,
) -> None:  # fmt: skip
    """Write into `ranks` (replicates x algorithms) the round in which each algorithm leaves; those that tie share it.

    ladder: tables x datasets x algorithms, the best first; columns: the values, likewise; one table, or one for each
    row of weights. `grid` and `beyond` are those of `areas.contributions`, empty for the exact areas. Areas are renewed
    only on the datasets whose best algorithm left, and only of those that are still there.
    """
    n_datasets, n_algorithms = ladder.shape[1], ladder.shape[2]
    area, left = np.empty(n_algorithms), np.empty(n_algorithms, dtype=np.int64)
    alive = np.empty(n_algorithms, dtype=np.bool_)
    place = np.empty(n_datasets, dtype=np.int64)
    gains = np.empty((n_datasets, n_algorithms))
    for r in range(len(weights)):
        table = r if len(ladder) > 1 else 0
        area[:], alive[:], place[:] = 0.0, True, 0
        for a in range(n_algorithms):
            left[a] = a
        # The areas while all are there.
        for d in range(n_datasets):
            if weights[r, d] > 0:
                best = columns[table, d, ladder[table, d, 0]]
                for a in range(n_algorithms):
                    gains[d, a] = _gain(columns[table, d, a], best, higher_is_better, beta_max, grid, beyond)
                    area[a] += weights[r, d] * gains[d, a]
        count = n_algorithms
        while True:
            # Those with the largest area leave together and share the mean of their rounds.
            top = -np.inf
            for i in range(count):
                top = max(top, area[left[i]])
            kept = 0
            for i in range(count):
                alive[left[i]] = wins(top, area[left[i]])
                kept += alive[left[i]]
            rank = n_algorithms - count + (count - kept + 1) / 2
            kept = 0
            for i in range(count):
                a = left[i]
                if alive[a]:
                    left[kept] = a
                    kept += 1
                else:
                    ranks[r, a] = rank
            count = kept
            if count == 0:
                break
            # On datasets whose best left, the next best alive takes its place.
            for d in range(n_datasets):
                if weights[r, d] <= 0 or alive[ladder[table, d, place[d]]]:
                    continue
                while not alive[ladder[table, d, place[d]]]:
                    place[d] += 1
                best = columns[table, d, ladder[table, d, place[d]]]
                for i in range(count):
                    a = left[i]
                    gain = _gain(columns[table, d, a], best, higher_is_better, beta_max, grid, beyond)
                    area[a] += weights[r, d] * (gain - gains[d, a])
                    gains[d, a] = gain


@compiled
def _gain(
    value: float, best: float, higher_is_better: bool, beta_max: float, grid: FloatArray, beyond: FloatArray
) -> float:
    """What a dataset adds to the area of an algorithm: `areas.contributions` of `contest.ratio_to_best`."""
    above, below = (best, value) if higher_is_better else (value, best)
    if below > 0:
        ratio = above / below
    elif above == below:
        ratio = 1.0
    else:
        ratio = np.inf
    if not wins(ratio, 1.0):
        ratio = 1.0
    if len(grid):
        return beyond[np.searchsorted(grid, ratio)]
    return max(beta_max - ratio, 0.0)
