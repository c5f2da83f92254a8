"""Which choice decides: the shares of the variance between universes that axes and pairs of axes explain.

What varies are the mean ranks of the algorithms (universes x algorithms). A part of the variance is kept as its matrix
of products (algorithms x algorithms): its trace is the part's share in the squared distance between universes, and
`[a, a] + [b, b] - 2 [a, b]` its share in the variance of the lead of a over b.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from recassay.core.types import FloatArray, IntArray

DRAWS = 400
MOST_EFFECTS = 700
"""With more effects than this the model has none for pairs of choices."""

MOST_CELLS = 200_000
"""Combinations of choices that are completed, at most."""

MOST_NUMBERS = 20_000_000
"""Numbers that are drawn in all, at most; but at least 40 grids."""

SWEEPS = 100
SETTLED = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """The variance between universes by source: axes, pairs of axes, and the rest.

    `products` is draws x sources x algorithms x algorithms; a single draw where the grid is full and nothing is
    estimated.
    """

    axes: tuple[tuple[int, ...], ...]
    """The sources: one or two positions of axes; the last, without any, is the rest."""
    products: FloatArray

    @property
    def exact(self) -> bool:
        """Whether every combination of choices occurs, so that the shares are not estimates."""
        return len(self.products) == 1

    def of_distance(self) -> FloatArray:
        """Draws x sources: shares of the squared distance between the rankings of two universes."""
        return _shares(np.trace(self.products, axis1=2, axis2=3))

    def of_lead(self, a: int, b: int) -> FloatArray:
        """Draws x sources: shares of the variance of the lead of one algorithm over another."""
        p = self.products
        return _shares(p[:, :, a, a] + p[:, :, b, b] - 2 * p[:, :, a, b])


def _shares(parts: FloatArray) -> FloatArray:
    total = parts.sum(axis=1, keepdims=True)
    return np.where(total > 1e-15, parts / np.where(total > 1e-15, total, 1.0), 0.0)


def variance_parts(ranks: FloatArray, places: IntArray, levels: IntArray, rng: np.random.Generator) -> Parts | None:
    """The parts of the variance of mean ranks (universes x algorithms) over all combinations of choices.

    A full grid is decomposed exactly (the analysis of variance of a balanced design, one value per cell). For an
    incomplete one a Gaussian model with an effect of every choice and of every pair of choices is fitted, its variances
    by EM; universes that do not occur are drawn from it, and each completed grid is decomposed: the draws give the
    intervals. None where there are more than `MOST_CELLS` combinations.
    """
    cells = int(np.prod(levels))
    if cells > MOST_CELLS:
        return None
    sources = _sources(levels, pairs=len(levels) > 2)
    grid = np.full((cells, ranks.shape[1]), np.nan)
    seen = np.ravel_multi_index(tuple(places.T), tuple(levels))
    grid[seen] = ranks
    if len(seen) == cells:
        return Parts(sources, _products_of(grid, levels, sources)[None])
    draw = _fitted(ranks - ranks.mean(axis=0), places, levels)
    draws = int(np.clip(MOST_NUMBERS // grid.size, 40, DRAWS))
    parts = []
    for _ in range(draws):
        whole = draw(rng) + ranks.mean(axis=0)
        whole[seen] = ranks
        parts.append(_products_of(whole, levels, sources))
    return Parts(sources, np.stack(parts))


def _sources(levels: IntArray, *, pairs: bool) -> tuple[tuple[int, ...], ...]:
    single = [(i,) for i in range(len(levels))]
    return (*single, *(combinations(range(len(levels)), 2) if pairs else ()), ())


def _products_of(values: FloatArray, levels: IntArray, sources: tuple[tuple[int, ...], ...]) -> FloatArray:
    """The matrix of products of every source, in a full grid (combinations x algorithms)."""
    k = values.shape[1]
    grid = (values - values.mean(axis=0)).reshape(*levels.tolist(), k)
    products = np.zeros((len(sources), k, k))
    effects: dict[tuple[int, ...], FloatArray] = {}
    for at, source in enumerate(sources[:-1]):
        # The mean over all other axes, less the effects of the single axes that it contains.
        mean = grid.mean(axis=tuple(i for i in range(len(levels)) if i not in source), keepdims=True)
        effects[source] = mean - sum((effects[(i,)] for i in source), 0.0) if len(source) > 1 else mean
        products[at] = _products(effects[source])
    products[-1] = _products(grid) - products[:-1].sum(axis=0)
    return products


def _products(values: FloatArray) -> FloatArray:
    flat = values.reshape(-1, values.shape[-1])
    return np.asarray(flat.T @ flat / len(flat))


def _fitted(y: FloatArray, places: IntArray, levels: IntArray) -> Callable[[np.random.Generator], FloatArray]:
    """The model given centred mean ranks, as a function that draws the values of all combinations of choices.

    Every kind of effect has a variance of its own, found by EM.
    """
    for pairs in (len(levels) > 1, False):
        sources = _sources(levels, pairs=pairs)[:-1]
        widths = [int(np.prod(levels[list(source)])) for source in sources]
        if sum(widths) <= MOST_EFFECTS:
            break
    starts = np.cumsum([0, *widths[:-1]])
    group = np.repeat(np.arange(len(widths)), widths)
    n, k = y.shape
    design = np.zeros((n, sum(widths)))
    for source, start in zip(sources, starts, strict=True):
        cell = np.ravel_multi_index(tuple(places[:, list(source)].T), tuple(levels[list(source)]))
        design[np.arange(n), start + cell] = 1.0
    gram, cross = design.T @ design, design.T @ y
    scale = max(float((y**2).mean()), 1e-12)
    variance, noise = np.full(len(widths), scale / (len(widths) + 1)), scale / (len(widths) + 1)
    for _ in range(SWEEPS):
        # E: the posterior of the effects given the variances. M: the variances given the effects.
        covariance = np.linalg.inv(gram / noise + np.diag(1 / variance[group]))
        effect = covariance @ cross / noise
        second = (effect**2).mean(axis=1) + np.diag(covariance)
        renewed = np.maximum(np.bincount(group, second) / widths, 1e-8 * scale)
        residual = y - design @ effect
        left = float((residual**2).mean() + (gram * covariance).sum() / n)
        moved = np.abs(np.log(renewed / variance)).max()
        variance, noise = renewed, max(left, 1e-8 * scale)
        if moved < SETTLED:
            break
    # What no effect explains has this covariance, of which a square root is kept (algorithms x algorithms).
    covariance_of_rest = _products(residual)
    covariance_of_rest *= noise / max(float(np.trace(covariance_of_rest)) / k, 1e-15)
    values, vectors = np.linalg.eigh(covariance_of_rest)
    rest = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    root = np.asarray(np.linalg.cholesky(covariance + 1e-12 * scale * np.eye(len(covariance))), dtype=np.float64)
    # Universes less the effects that they determine: how well the variances are known.
    degrees = max(n - float((gram * covariance).sum()) / noise, 3.0)

    def draw(rng: np.random.Generator) -> FloatArray:
        # The variances are estimates themselves: deviations are Student's, not normal.
        stretch = np.sqrt(degrees / rng.chisquare(degrees))
        drawn = effect + stretch * (root @ rng.standard_normal(effect.shape))
        grid = (stretch * rng.standard_normal((int(np.prod(levels)), k)) @ rest).reshape(*levels.tolist(), k)
        for source, start in zip(sources, starts, strict=True):
            shape = [int(size) if i in source else 1 for i, size in enumerate(levels)]
            grid += drawn[start : start + int(np.prod(shape))].reshape(*shape, k)
        return np.asarray(grid.reshape(-1, k))

    return draw
