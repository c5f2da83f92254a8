"""Synthetic grids of results with known truth; none is made by the model that adaptive benchmarking believes in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from scipy.special import ndtri

from recassay.core.types import FloatArray

GridKind: TypeAlias = Literal["factors", "tails", "regimes", "none", "failures", "ties", "families", "bands", "memory"]
"""How the scores arise.

`factors`: levels, slopes over size and other characteristics, hidden factors of datasets. `tails`: the same with errors
of a Student distribution with 1.5 degrees of freedom. `regimes`: other levels above a threshold of size. `none`: no
algorithm is better than another. `failures`: an algorithm fails on up to 12 % of the datasets. `ties`: scores are
rounded so that many tie. `families`: levels that hardly depend on size, errors shared within families of algorithms,
one or two algorithms that take most of the seconds, as benchmarks of recommenders are known to have. `bands`: the same
with algorithms in two to four bands of nearly equal level. `memory`: the two best algorithms of `factors` fail (minus
infinity) above a size, which only roughly decides, as memory depends on users and items.
"""

GRID_KINDS: tuple[GridKind, ...] = get_args(GridKind)


@dataclass(frozen=True, slots=True, eq=False)
class SyntheticGrid:
    """`values` and `seconds` (algorithms x datasets, higher values better), and `features` of the datasets."""

    values: FloatArray
    seconds: FloatArray
    features: FloatArray


def synthetic_probes(
    grid: SyntheticGrid, rng: np.random.Generator, *, ratio: float = 0.05, noise: float | None = None
) -> tuple[FloatArray, FloatArray]:
    """Values and seconds of cheaper looks at the cells of a grid, which take about `ratio` of their seconds.

    On the scale of normal scores within a dataset, a probe is the cell's score with `noise` (None: a level drawn
    between 0.2 and 1.2) and a bias of its own for each algorithm.
    """
    place = np.argsort(np.argsort(grid.values, axis=0), axis=0)
    score = ndtri((place + 0.5) / len(grid.values))
    scatter = float(rng.uniform(0.2, 1.2)) if noise is None else noise
    bias = rng.normal(0, rng.uniform(0, 0.7), (len(score), 1))
    values = np.exp(score + bias + rng.normal(0, scatter, score.shape))
    return values, grid.seconds * ratio * rng.lognormal(0, 0.4, score.shape)


def synthetic_grid(
    kind: GridKind, rng: np.random.Generator, *, algorithms: int | None = None, datasets: int | None = None
) -> SyntheticGrid:
    """A grid of 6 to 17 algorithms and 10 to 30 datasets unless their numbers are given.

    Sizes are log-normal over five orders of magnitude, and seconds grow with them as size^b, b about 1: a few large
    datasets and slow algorithms take most of the time, as in real benchmarks.
    """
    m = int(rng.integers(6, 18)) if algorithms is None else algorithms
    n = int(rng.integers(10, 31)) if datasets is None else datasets
    size = rng.normal(11.5, 1.6, n)
    around = size - 11.5
    features = np.column_stack([size, rng.normal(0, 1, n) + 0.3 * around, rng.normal(0, 1.5, n) - 0.6 * around])
    x = (features - features.mean(axis=0)) / features.std(axis=0)
    level = rng.normal(0, 1, m) * rng.choice([0.5, 1.0, 1.5])
    by_factors = rng.normal(0, 0.6, (m, 2)) @ rng.normal(size=(2, n))
    chance = rng.normal(0, 0.7, (m, n))
    slopes = rng.normal(0, 0.4, (m, 1)) * x[:, 0]
    score = level[:, None] + slopes + by_factors + chance
    if kind in ("factors", "memory"):
        score = score + rng.normal(0, 0.2, (m, 3)) @ x.T
    elif kind == "tails":
        score = score - chance + 0.5 * rng.standard_t(1.5, (m, n))
    elif kind == "regimes":
        large = size > np.quantile(size, rng.uniform(0.4, 0.8))
        other = 0.5 * level + rng.normal(0, 0.8, m) * level.std()
        score = np.where(large, other[:, None], level[:, None]) + by_factors + chance
    elif kind == "none":
        score = rng.normal(size=(m, n))
    elif kind == "failures":
        failed = rng.random((m, n)) < rng.uniform(0, 0.12, m)[:, None]
        score = np.where(failed, rng.normal(-6, 1, (m, n)), score)
    elif kind == "ties":
        score = np.round(2 * score) / 2
    else:
        score = _families(level, x, rng, bands=kind == "bands")
    values = np.exp(0.5 * score * rng.lognormal(0, 0.4, n) + rng.normal(-3, 1, n))
    if kind == "memory":
        best = np.argsort(-score.mean(axis=1))[:2]
        needed = size + rng.normal(0, 0.2, (2, n))
        values[best] = np.where(needed > np.quantile(size, rng.uniform(0.4, 0.9, (2, 1))), -np.inf, values[best])
    a, b = rng.normal(-8, 1.8, (m, 1)), rng.normal(1, 0.25, (m, 1))
    if kind in ("families", "bands"):
        a[rng.permutation(m)[: int(rng.integers(1, 3))]] = a.max() + rng.uniform(1, 3)
    seconds = np.exp(a + b * size + rng.normal(0, 0.3, n) + rng.normal(0, 0.4, (m, n)))
    return SyntheticGrid(values, seconds, features)


def _families(level: FloatArray, x: FloatArray, rng: np.random.Generator, *, bands: bool) -> FloatArray:
    """Scores of algorithms in families of about three, which err together."""
    m, n = len(level), len(x)
    if bands:
        centres = np.linspace(-1.5, 1.5, int(rng.integers(2, 5)))
        level = rng.choice(centres, m) + rng.normal(0, 0.2, m)
    else:
        level = 1.3 * level
    family = rng.integers(0, max(m // 3, 1), m)
    together = rng.normal(0, rng.uniform(0.3, 0.8), (m, n))[family]
    slopes = rng.normal(0, rng.uniform(0, 0.2), (m, 1)) * x[:, 0]
    return level[:, None] + slopes + together + rng.normal(0, rng.uniform(0.5, 0.9), (m, n))
