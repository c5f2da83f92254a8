"""Datasets as points: characteristics standardised, on principal components, with the outliers marked (KDD'24, C)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recassay.core.decompositions import signed_svd
from recassay.core.tables.characteristics import CharacteristicsTable
from recassay.core.types import BoolArray, FloatArray, IntArray

COMPONENTS = 3
"""Principal components kept: with three, the clusters of Table 5 of KDD'24 come out (and its 1/3 in appendix C)."""

OUTLIER_SHARE = 1 / 6
"""Of the datasets, taken for outliers: 5 of the paper's 30."""


TREES = 1000
"""Of the isolation forest: with as many, the outliers among the paper's datasets do not depend on the seed."""


@dataclass(frozen=True, slots=True, eq=False)
class DatasetSpace:
    """`points[d]`: dataset d on the principal components; `loadings` are components x characteristics."""

    points: FloatArray
    explained: FloatArray
    """By component, its share of the variance."""
    loadings: FloatArray
    datasets: tuple[str, ...]
    characteristics: tuple[str, ...]
    """Names of the characteristics that were used."""
    dropped: dict[str, str]
    outlier: BoolArray
    """For each dataset, whether it was set aside as an outlier."""


@dataclass(frozen=True, slots=True, eq=False)
class Standardisation:
    """How characteristics are brought to one scale: logarithm where `logged`, less `centre`, over `scale`."""

    logged: BoolArray
    centre: FloatArray
    scale: FloatArray

    @classmethod
    def of(cls, values: FloatArray, *, log_skewed: bool = False) -> Standardisation:
        """From the rows of `values`; with `log_skewed`, positive columns with a skewness above 1 are logged first."""
        logged = np.zeros(values.shape[1], dtype=np.bool_)
        if log_skewed and len(values) > 2:
            deviation = values.std(axis=0)
            standard = (values - values.mean(axis=0)) / np.where(deviation > 0, deviation, np.inf)
            logged = (values.min(axis=0) > 0) & ((standard**3).mean(axis=0) > 1)
        spread = np.where(logged, np.log(np.where(logged, values, 1.0)), values)
        scale = spread.std(axis=0)
        return cls(logged, spread.mean(axis=0), np.where(scale > 0, scale, 1.0))

    def __call__(self, values: FloatArray) -> FloatArray:
        """Rows in standard deviations from the centre; a logged value that is not positive stands at -inf."""
        with np.errstate(divide="ignore"):
            spread = np.where(self.logged, np.log(np.where(self.logged, np.maximum(values, 0.0), 1.0)), values)
        return (spread - self.centre) / self.scale


def place_datasets(table: CharacteristicsTable, *, log_skewed: bool = False, rng: np.random.Generator) -> DatasetSpace:
    """Standardise (population standard deviation), project on `COMPONENTS` principal components, mark outliers.

    Outliers are the `round(OUTLIER_SHARE * n)` datasets that an isolation forest (Liu et al. 2008) isolates most
    easily. The sign of a component is chosen so that its largest loading is positive.
    """
    known, dropped = table.usable()
    scaled = Standardisation.of(known.values, log_skewed=log_skewed)(known.values)
    left, size, right = signed_svd(scaled)
    kept = min(COMPONENTS, int((size > 1e-9 * size[0]).sum()))
    points = left[:, :kept] * size[:kept]
    outlier, count = np.zeros(len(points), dtype=np.bool_), round(OUTLIER_SHARE * len(points))
    if count > 0:
        scores = isolation_scores(points, rng, trees=TREES)
        outlier[np.argsort(-scores, kind="stable")[:count]] = True
    return DatasetSpace(
        points=points,
        explained=size[:kept] ** 2 / (size**2).sum(),
        loadings=right[:kept],
        datasets=known.datasets,
        characteristics=known.names,
        dropped=dropped,
        outlier=outlier,
    )


def isolation_scores(points: FloatArray, rng: np.random.Generator, *, trees: int) -> FloatArray:
    """How easily random cuts set each point (row) apart, from 0 to 1: 2^(-E(h) / c(n)) of Liu, Ting and Zhou (2008).

    A tree cuts a group of points at a uniformly random value of a random coordinate in which they differ, down to depth
    ceil(log2 n); h is the number of cuts to a point, plus c(m) where it ends among m points, and c(m) = 2 H(m - 1) -
    2 (m - 1) / m the mean depth of such a search. Every tree sees every point (the paper draws up to 256).

    All trees grow together, level by level. scikit-learn's IsolationForest gives the same scores up to the chance of
    the draw (a test compares them) but fits one tree after another: 1000 trees on 30 points take 2.1 s instead of 0.05.
    """
    n, width = points.shape
    node = np.zeros((trees, n), dtype=np.int64)
    live = np.ones((trees, n), dtype=np.bool_)
    length = np.zeros((trees, n))
    tree = np.arange(trees)[:, None]
    flat = np.tile(points, (trees, 1))
    deepest = int(np.ceil(np.log2(max(n, 2))))
    for level in range(deepest + 1):
        # The range of every node in every coordinate.
        count = 2**level
        place = (tree * count + node).ravel()
        inside = live.ravel()
        size = np.bincount(place[inside], minlength=trees * count)
        low, high = np.full((trees * count, width), np.inf), np.full((trees * count, width), -np.inf)
        np.minimum.at(low, place[inside], flat[inside])
        np.maximum.at(high, place[inside], flat[inside])
        differ = high > low
        splits = np.zeros(len(differ), dtype=np.bool_) if level == deepest else differ.max(axis=1)
        # Points in nodes that are not cut any more end here.
        ends = inside & ~splits[place]
        length.ravel()[ends] = level + _mean_depth(size[place[ends]])
        live = live & ~ends.reshape(trees, n)
        if not live.any():
            break
        # A random cut of a random coordinate in which the node's points differ.
        axis = np.where(differ, rng.random(differ.shape), -1.0).argmax(axis=1)
        rows = np.arange(len(axis))
        reach = np.where(splits, high[rows, axis] - low[rows, axis], 0.0)
        cut = np.where(splits, low[rows, axis], 0.0) + rng.random(len(axis)) * reach
        beyond = flat[np.arange(len(flat)), axis[place]] > cut[place]
        node = 2 * node + beyond.reshape(trees, n)
    scores: FloatArray = 2.0 ** (-length.mean(axis=0) / np.maximum(_mean_depth(np.array([n]))[0], 1.0))
    return scores


def _mean_depth(size: IntArray) -> FloatArray:
    """c(m): the mean depth of an unsuccessful search in a binary search tree of m points; 0 for one point."""
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, max(2, int(size.max(initial=1)))))])
    count = np.maximum(size, 1)
    return np.where(size > 1, 2 * harmonic[count - 1] - 2 * (count - 1) / count, 0.0)
