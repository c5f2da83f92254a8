"""How good a clustering is, and how far two agree: the three usual indices, for few points."""

from __future__ import annotations

import numpy as np

from recassay.core.types import FloatArray, IntArray


def silhouette(points: FloatArray, labels: IntArray) -> float:
    """Mean over points of (b - a) / max(a, b), 0 for a point alone in its cluster (Rousseeuw 1987).

    a is the mean distance to the others of the own cluster, b the least mean distance to the points of another.
    """
    members = _members(labels)
    sizes = members.sum(axis=0)
    total = _distances(points, points) @ members
    own = np.argmax(members, axis=1)
    row = np.arange(len(points))
    inside = total[row, own] / np.maximum(sizes[own] - 1, 1)
    mean = total / sizes
    mean[row, own] = np.inf
    outside = mean.min(axis=1)
    larger = np.maximum(inside, outside)
    value = np.where((sizes[own] > 1) & (larger > 0), (outside - inside) / np.where(larger > 0, larger, 1.0), 0.0)
    return float(value.mean())


def davies_bouldin(points: FloatArray, labels: IntArray) -> float:
    """Mean over clusters of the worst (s_i + s_j) / d_ij (Davies and Bouldin 1979): lower is better.

    s is the mean distance of a cluster's points to its centre, d the distance between two centres.
    """
    members = _members(labels)
    sizes = members.sum(axis=0)
    centres = members.T @ points / sizes[:, None]
    spread = (_distances(points, centres) * members).sum(axis=0) / sizes
    apart = _distances(centres, centres)
    if np.allclose(spread, 0) or np.allclose(apart, 0):
        return 0.0
    ratio = np.where(apart > 0, (spread[:, None] + spread) / np.where(apart > 0, apart, 1.0), -np.inf)
    return float(ratio.max(axis=1).mean())


def adjusted_rand(one: IntArray, other: IntArray) -> float:
    """Share of pairs that two clusterings treat alike, corrected for chance (Hubert and Arabie 1985): 1 is the same."""
    table = _members(one).T @ _members(other)
    n = len(one)
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
