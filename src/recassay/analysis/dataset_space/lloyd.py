"""Lloyd's algorithm in machine code, for many runs on few points."""

from __future__ import annotations

import numpy as np

from recassay.core.system.compiled import compiled_exactly
from recassay.core.types import FloatArray, IntArray


@compiled_exactly
def advance(points: FloatArray, centres: FloatArray, labels: IntArray, inertia: FloatArray, steps: int) -> None:
    """Move the centres (runs x clusters x dimensions) of every run until no point changes its nearest one.

    Labels (runs x n) and inertia (the squared distances to the own centre, added up) are written in place; the inertia
    of a run that lost a cluster is infinite. A centre that no point is near stays where it is.
    """
    runs, n, width = points.shape
    clusters = centres.shape[1]
    size, total = np.empty(clusters, dtype=np.int64), np.empty((clusters, width))
    for r in range(runs):
        own, middle, label = points[r], centres[r], labels[r]
        for _ in range(steps):
            # Every point to its nearest centre.
            changed = False
            for i in range(n):
                nearest, least = 0, np.inf
                for c in range(clusters):
                    distance = _squared(own[i], middle[c])
                    if distance < least:
                        nearest, least = c, distance
                if nearest != label[i]:
                    label[i], changed = nearest, True
            if not changed:
                break
            # Every centre to the mean of its points.
            size[:], total[:] = 0, 0.0
            for i in range(n):
                size[label[i]] += 1
                for d in range(width):
                    total[label[i], d] += own[i, d]
            for c in range(clusters):
                if size[c] > 0:
                    for d in range(width):
                        middle[c, d] = total[c, d] / size[c]
        # What the run is worth.
        size[:], inertia[r] = 0, 0.0
        for i in range(n):
            size[label[i]] += 1
            inertia[r] += _squared(own[i], middle[label[i]])
        if size.min() == 0:
            inertia[r] = np.inf


@compiled_exactly
def _squared(point: FloatArray, centre: FloatArray) -> float:
    total = 0.0
    for d in range(len(point)):
        total += (point[d] - centre[d]) ** 2
    return total
