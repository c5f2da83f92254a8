"""k-means on few points: the number of clusters, what chance would show, and how firm the grouping is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from recassay.analysis.dataset_space.kmeans import kmeans
from recassay.core import ties
from recassay.core.tabular import long_frame
from recassay.core.types import FloatArray, IntArray

MOST_CLUSTERS = 9
_CHANCE_DRAWS = 20
_STABILITY_DRAWS = 20


@dataclass(frozen=True, slots=True, eq=False)
class NumberOfClusters:
    """Silhouette and Davies-Bouldin for each candidate number, and the one chosen.

    `chance` holds, for clouds without any clusters, the best silhouette over all candidates: mean and 95 % quantile.
    """

    candidates: tuple[int, ...]
    """The numbers that were tried."""
    silhouette: FloatArray
    """By candidate, the mean silhouette: higher is better."""
    davies_bouldin: FloatArray
    """By candidate, the Davies-Bouldin index: lower is better."""
    chosen: int
    """The number that was taken."""
    chance: tuple[float, float]

    @property
    def best_silhouette(self) -> float:
        """The silhouette of the chosen number."""
        return float(self.silhouette[self.candidates.index(self.chosen)])

    def to_frame(self) -> pl.DataFrame:
        """One row per candidate."""
        chosen = [k == self.chosen for k in self.candidates]
        return long_frame(
            {"clusters": self.candidates},
            {"silhouette": self.silhouette, "davies_bouldin": self.davies_bouldin, "chosen": chosen},
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "chosen": self.chosen,
            "candidates": self.to_frame().drop("chosen").to_dicts(),
            "silhouette_by_chance": {"mean": self.chance[0], "quantile_95": self.chance[1]},
        }


def number_of_clusters(points: FloatArray, rng: np.random.Generator, *, wanted: int | None = None) -> NumberOfClusters:
    """The number with the best sum of ranks by silhouette and Davies-Bouldin; ties go to the higher silhouette."""
    candidates = tuple(range(2, min(MOST_CLUSTERS, len(points) - 1) + 1))
    if wanted is not None and wanted not in candidates:
        candidates = (*candidates, wanted)
    labels = [kmeans(points, k, rng)[0] for k in candidates]
    separation = np.array([silhouette(points, each) for each in labels])
    close = np.array([davies_bouldin(points, each) for each in labels])
    places = ties.ranks(separation, higher_is_better=True) + ties.ranks(close, higher_is_better=False)
    chosen = wanted or candidates[int(np.lexsort((-separation, places))[0])]
    clouds = rng.normal(size=(_CHANCE_DRAWS, *points.shape)) * points.std(axis=0)
    by_number = [kmeans(clouds, k, rng, starts=10)[0] for k in candidates]
    reached = [max(silhouette(cloud, each[i]) for each in by_number) for i, cloud in enumerate(clouds)]
    return NumberOfClusters(
        candidates, separation, close, chosen, (float(np.mean(reached)), float(np.quantile(reached, 0.95)))
    )


def ordered_labels(points: FloatArray, clusters: int, rng: np.random.Generator) -> tuple[IntArray, FloatArray]:
    """Labels from 0, the largest cluster first (ties: by the first component of the centre), and the centres."""
    labels, centres = kmeans(points, clusters, rng)
    sizes = np.bincount(labels, minlength=clusters)
    order = np.lexsort((centres[:, 0], -sizes))
    return np.argsort(order)[labels], centres[order]


def stability(points: FloatArray, labels: IntArray, clusters: int, rng: np.random.Generator) -> float:
    """Mean adjusted Rand index between `labels` and the clusterings of random nine tenths of the points."""
    size = max(clusters, round(0.9 * len(points)))
    parts = np.stack([rng.choice(len(points), size, replace=False) for _ in range(_STABILITY_DRAWS)])
    refitted, _ = kmeans(points[parts], clusters, rng, starts=10)
    return float(np.mean([adjusted_rand(labels[p], each) for p, each in zip(parts, refitted, strict=True)]))


def silhouette(points: FloatArray, labels: IntArray) -> float:
    """Mean over points of (b - a) / max(a, b), 0 for a point alone in its cluster (Rousseeuw 1987).

    a is the mean distance to the others of the own cluster, b the least mean distance to the points of another.
    """
    members = _members(labels)
    sizes = members.sum(axis=0)
    total = _distances(points, points) @ members
    nearest = np.argmax(members, axis=1)
    row = np.arange(len(points))
    inside = total[row, nearest] / np.maximum(sizes[nearest] - 1, 1)
    mean = total / sizes
    mean[row, nearest] = np.inf
    outside = mean.min(axis=1)
    larger = np.maximum(inside, outside)
    value = np.where((sizes[nearest] > 1) & (larger > 0), (outside - inside) / np.where(larger > 0, larger, 1.0), 0.0)
    return float(value.mean())


def davies_bouldin(points: FloatArray, labels: IntArray) -> float:
    """Mean over clusters of the worst (s_i + s_j) / d_ij (Davies and Bouldin 1979): lower is better.

    s is the mean distance of a cluster's points to its centre, d the distance between two centres.
    """
    members = _members(labels)
    sizes = members.sum(axis=0)
    centres = members.T @ points / sizes[:, None]
    spread = (_distances(points, centres) * members).sum(axis=0) / sizes
    between = _distances(centres, centres)
    if np.allclose(spread, 0) or np.allclose(between, 0):
        return 0.0
    ratio = np.where(between > 0, (spread[:, None] + spread) / np.where(between > 0, between, 1.0), -np.inf)
    return float(ratio.max(axis=1).mean())


def adjusted_rand(left: IntArray, right: IntArray) -> float:
    """Share of pairs that two clusterings treat alike, corrected for chance (Hubert and Arabie 1985): 1 is the same."""
    table = _members(left).T @ _members(right)
    n = len(left)
    squares = (table**2).sum()
    rows, columns = (table.sum(axis=1) ** 2).sum(), (table.sum(axis=0) ** 2).sum()
    both, first, second = (squares - n) / 2, (rows - squares) / 2, (columns - squares) / 2
    neither = n * (n - 1) / 2 - both - first - second
    if first == 0 and second == 0:
        return 1.0
    below = (both + first) * (first + neither) + (both + second) * (second + neither)
    return float(2 * (both * neither - first * second) / below)


def _members(labels: IntArray) -> FloatArray:
    """Points x clusters: 1 where a point is in a cluster."""
    return (labels[:, None] == np.unique(labels)).astype(np.float64)


def _distances(left: FloatArray, right: FloatArray) -> FloatArray:
    return np.sqrt(((left[:, None, :] - right) ** 2).sum(axis=2))
