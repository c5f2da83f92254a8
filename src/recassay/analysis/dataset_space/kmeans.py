"""k-means for few points and many starts: all starts (and all point clouds) advance together, in machine code.

scikit-learn's KMeans finds the same clusters (a test compares them), but runs one start after another and keeps the
best alone: on 30 points it takes 12 to 25 times as long, and the choice of datasets needs every run by itself.
"""

from __future__ import annotations

import numpy as np

from recassay.core import ties
from recassay.core.system.compiled import compiled_exactly
from recassay.core.types import BoolArray, FloatArray, IntArray

_MOST_STEPS = 100


def kmeans(
    points: FloatArray, clusters: int, rng: np.random.Generator, *, starts: int = 200
) -> tuple[IntArray, FloatArray]:
    """The labels and centres with the least inertia among `starts` runs of Lloyd's algorithm.

    `points` is n x dimensions, or clouds x n x dimensions; labels are then clouds x n and centres clouds x clusters x
    dimensions. Starts are those of k-means++ (Arthur and Vassilvitskii 2007). A run that loses a cluster never wins.
    """
    clouds = points[None] if points.ndim == 2 else points
    labels, centres, inertia = kmeans_runs(clouds, clusters, rng, starts=starts)
    best = inertia.argmin(axis=1)
    rows = np.arange(len(clouds))
    chosen, middle = labels[rows, best], centres[rows, best]
    return (chosen[0], middle[0]) if points.ndim == 2 else (chosen, middle)


def kmeans_runs(
    clouds: FloatArray, clusters: int, rng: np.random.Generator, *, starts: int
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Every run by itself: labels (clouds x starts x n), centres, and inertia (infinite where a cluster was lost)."""
    n_clouds, n, width = clouds.shape
    runs = n_clouds * starts
    points = np.repeat(clouds, starts, axis=0)
    cloud = np.repeat(np.arange(n_clouds), starts)
    # Starting centres: each next one drawn with probability proportional to the squared distance to those before.
    distance = ((clouds[:, None] - clouds[:, :, None]) ** 2).sum(axis=3)
    centres = np.empty((runs, clusters, width))
    chosen = rng.integers(0, n, runs)
    nearest = np.full((runs, n), np.inf)
    for k in range(clusters):
        centres[:, k] = clouds[cloud, chosen]
        nearest = np.minimum(nearest, distance[cloud, chosen])
        weight = np.where(nearest.sum(axis=1, keepdims=True) > 0, nearest, 1.0).cumsum(axis=1)
        drawn = rng.random(runs) * weight[:, -1]
        chosen = np.minimum((weight <= drawn[:, None]).sum(axis=1), n - 1)
    labels, inertia = np.full((runs, n), -1, dtype=np.int64), np.empty(runs)
    advance(points, centres, labels, inertia, _MOST_STEPS)
    return (
        labels.reshape(n_clouds, starts, n),
        centres.reshape(n_clouds, starts, clusters, width),
        inertia.reshape(n_clouds, starts),
    )


def central_points(points: FloatArray, centres: FloatArray, inside: BoolArray) -> IntArray:
    """For every cluster, the position of the point (n x width) nearest to its centre (... x clusters x width).

    `inside` (... x n x clusters) says which points may be chosen. In a cluster of two both are equally near, and
    rounding must not choose: of those that tie, it is the one nearest to the origin, then the one that comes first by
    its coordinates.
    """
    squares = ties.level((points**2).sum(axis=1))
    order = np.lexsort((*points.T[::-1], squares))
    distance = ((points[order][:, None, :] - centres[..., None, :, :]) ** 2).sum(axis=-1)
    within = np.where(inside[..., order, :], distance, np.inf)
    least = within.min(axis=-2, keepdims=True)
    return np.asarray(order[(within <= least * (1 + ties.RELATIVE_TIE) + ties.ROUNDING).argmax(axis=-2)])


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
        sample, middle, label = points[r], centres[r], labels[r]
        for _ in range(steps):
            # Every point to its nearest centre.
            changed = False
            for i in range(n):
                nearest, least = 0, np.inf
                for c in range(clusters):
                    distance = _squared(sample[i], middle[c])
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
                    total[label[i], d] += sample[i, d]
            for c in range(clusters):
                if size[c] > 0:
                    for d in range(width):
                        middle[c, d] = total[c, d] / size[c]
        # What the run is worth.
        size[:], inertia[r] = 0, 0.0
        for i in range(n):
            size[label[i]] += 1
            inertia[r] += _squared(sample[i], middle[label[i]])
        if size.min() == 0:
            inertia[r] = np.inf


@compiled_exactly
def _squared(point: FloatArray, centre: FloatArray) -> float:
    total = 0.0
    for d in range(len(point)):
        total += (point[d] - centre[d]) ** 2
    return total
