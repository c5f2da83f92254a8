"""Which choice decides: the shares of the variance between universes that axes and pairs of axes explain.

What varies are the mean ranks of the algorithms (universes x algorithms). A part of the variance is kept as its matrix
of products (algorithms x algorithms): its trace is the part's share in the squared distance between universes, and
`[a, a] + [b, b] - 2 [a, b]` its share in the variance of the lead of a over b.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from recassay.core.types import FloatArray, IntArray

DRAWS = 400
MOST_EFFECTS = 700
"""With more effects than this the pairs of axes are left to the rest."""

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
        """Whether every combination of choices occurs, so that the shares are no estimates."""
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


def variance_parts(ranks: FloatArray, places: IntArray, levels: IntArray, rng: np.random.Generator) -> Parts:
    """The parts of the variance of mean ranks (universes x algorithms) over all combinations of choices.

    A full grid is decomposed exactly (the analysis of variance of a balanced design, one value per cell). On an
    incomplete one a Gaussian model with an effect of every choice and of every pair of choices is fitted, its variances
    by EM, and the parts of the full grid follow from draws of the effects: the draws give the intervals.
    """
    centred = ranks - ranks.mean(axis=0)
    full = int(np.prod(levels)) == len(places) == len(np.unique(places, axis=0))
    return _exact(centred, places, levels) if full else _estimated(ranks, places, levels, rng)


def _sources(levels: IntArray, *, pairs: bool) -> tuple[tuple[int, ...], ...]:
    single = [(i,) for i in range(len(levels))]
    double = list(combinations(range(len(levels)), 2)) if pairs and len(levels) > 1 else []
    return (*single, *double, ())


def _exact(centred: FloatArray, places: IntArray, levels: IntArray) -> Parts:
    k = centred.shape[1]
    grid = np.empty((*levels.tolist(), k))
    grid[tuple(places.T)] = centred
    sources = _sources(levels, pairs=len(levels) > 2)
    products = np.zeros((1, len(sources), k, k))
    effects: dict[tuple[int, ...], FloatArray] = {}
    for at, source in enumerate(sources[:-1]):
        # The mean over all other axes, less the effects of the single axes that it contains.
        mean = grid.mean(axis=tuple(i for i in range(len(levels)) if i not in source), keepdims=True)
        effects[source] = mean - sum((effects[(i,)] for i in source), 0.0) if len(source) > 1 else mean
        products[0, at] = _products(effects[source])
    whole = _products(centred)
    products[0, -1] = whole - products[0, :-1].sum(axis=0)
    return Parts(sources, products)


def _products(values: FloatArray) -> FloatArray:
    flat = values.reshape(-1, values.shape[-1])
    return flat.T @ flat / len(flat)


def _estimated(ranks: FloatArray, places: IntArray, levels: IntArray, rng: np.random.Generator) -> Parts:
    sizes = {source: int(np.prod(levels[list(source)])) for source in _sources(levels, pairs=True)[:-1]}
    sources = _sources(levels, pairs=sum(sizes.values()) <= MOST_EFFECTS)
    n, k = ranks.shape
    widths = [sizes[source] for source in sources[:-1]]
    starts = np.concatenate([[0], np.cumsum(widths)])
    group = np.repeat(np.arange(len(widths)), widths)
    design = np.zeros((n, int(starts[-1])))
    for source, start in zip(sources[:-1], starts, strict=False):
        cell = np.ravel_multi_index(tuple(places[:, list(source)].T), tuple(levels[list(source)]))
        design[np.arange(n), start + cell] = 1.0
    y = ranks - ranks.mean(axis=0)
    gram, cross = design.T @ design, design.T @ y
    scale = max(float((y**2).mean()), 1e-12)
    variance, noise = np.full(len(widths), scale / (len(widths) + 1)), scale / (len(widths) + 1)
    for _ in range(SWEEPS):
        # E: the posterior of the effects given the variances. M: the variances given the effects.
        covariance = np.linalg.inv(gram / noise + np.diag(1 / variance[group]))
        effect = covariance @ cross / noise
        spread = np.diag(covariance)
        second = (effect**2).mean(axis=1) + spread
        renewed = np.maximum(np.bincount(group, second) / widths, 1e-8 * scale)
        residual = y - design @ effect
        left = float((residual**2).mean() + (gram * covariance).sum() / n)
        moved = np.abs(np.log(renewed / variance)).max()
        variance, noise = renewed, max(left, 1e-8 * scale)
        if moved < SETTLED:
            break
    root = np.linalg.cholesky(covariance + 1e-12 * scale * np.eye(len(covariance)))
    rest = _products(residual)
    rest *= noise / max(float(np.trace(rest)) / k, 1e-15)
    drawn = effect + root @ rng.standard_normal((DRAWS, len(effect), k))
    return Parts(sources, _drawn_products(drawn, sources, starts, levels, rest))


def _drawn_products(
    drawn: FloatArray, sources: tuple[tuple[int, ...], ...], starts: IntArray, levels: IntArray, rest: FloatArray
) -> FloatArray:
    """The parts of full grids made of these effects (draws x effects x algorithms).

    What the effects of a pair have in common with those of its axes counts for the axes.
    """
    draws, _, k = drawn.shape
    single: dict[int, FloatArray] = {}
    parts: dict[tuple[int, ...], FloatArray] = {}
    for source, start in zip(sources, starts, strict=False):
        if len(source) == 1:
            single[source[0]] = drawn[:, start : start + levels[source[0]]].copy()
        elif len(source) == 2:
            i, j = source
            table = drawn[:, start : start + levels[i] * levels[j]].reshape(draws, levels[i], levels[j], k)
            rows, columns = table.mean(axis=2, keepdims=True), table.mean(axis=1, keepdims=True)
            whole = rows.mean(axis=1, keepdims=True)
            single[i] += (rows - whole)[:, :, 0]
            single[j] += (columns - whole)[:, 0]
            parts[source] = (table - rows - columns + whole).reshape(draws, -1, k)
    parts |= {(i,): effect - effect.mean(axis=1, keepdims=True) for i, effect in single.items()}
    made = [
        parts[source].swapaxes(1, 2) @ parts[source] / parts[source].shape[1] if source
        else np.broadcast_to(rest, (draws, k, k))
        for source in sources
    ]  # fmt: skip
    return np.stack(made, axis=1)
