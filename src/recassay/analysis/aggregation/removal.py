"""Leave-best-out in machine code: the algorithm with the largest area leaves, again and again."""

from __future__ import annotations

import numpy as np

from recassay.core.ranked import wins
from recassay.core.system.compiled import compiled
from recassay.core.types import FloatArray, IntArray


@compiled
def removal_ranks(ladder: IntArray, gains: FloatArray, weights: FloatArray, ranks: FloatArray) -> None:
    """Write into `ranks` (replicates x algorithms) the round in which each algorithm leaves; those that tie share it.

    ladder: tables x datasets x algorithms, the best first; gains: tables x datasets x algorithms x algorithms, what a
    dataset adds to the area of the last when the one before is the best that is left; one table, or one for each row
    of weights. Areas are renewed only on the datasets whose best algorithm left.
    """
    n_datasets, n_algorithms = ladder.shape[1], ladder.shape[2]
    area, change = np.empty(n_algorithms), np.empty(n_algorithms)
    alive = np.empty(n_algorithms, dtype=np.bool_)
    place = np.empty(n_datasets, dtype=np.int64)
    for r in range(len(weights)):
        table = r if len(ladder) > 1 else 0
        area[:], alive[:], place[:] = 0.0, True, 0
        # The areas while all are there.
        for d in range(n_datasets):
            if weights[r, d] > 0:
                area += weights[r, d] * gains[table, d, ladder[table, d, 0]]
        removed = 0
        while removed < n_algorithms:
            # Those with the largest area leave together and share the mean of their rounds.
            top = -np.inf
            for a in range(n_algorithms):
                if alive[a] and area[a] > top:
                    top = area[a]
            size = 0
            for a in range(n_algorithms):
                if alive[a] and not wins(top, area[a]):
                    ranks[r, a] = -1.0
                    size += 1
            for a in range(n_algorithms):
                if alive[a] and ranks[r, a] == -1.0:
                    alive[a] = False
                    ranks[r, a] = removed + (size + 1) / 2
            removed += size
            if removed == n_algorithms:
                break
            # On datasets whose best left, the next best alive takes its place.
            change[:] = 0.0
            for d in range(n_datasets):
                before = ladder[table, d, place[d]]
                if weights[r, d] <= 0 or alive[before]:
                    continue
                while not alive[ladder[table, d, place[d]]]:
                    place[d] += 1
                weight, now, then = weights[r, d], gains[table, d, ladder[table, d, place[d]]], gains[table, d, before]
                for a in range(n_algorithms):
                    change[a] += weight * (now[a] - then[a])
            area += change
