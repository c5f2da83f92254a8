"""Is A better than B: every pair at once, by flipping the signs of whole datasets and stepping down."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from recassay.core import ties
from recassay.core.tables.matrix import Matrix
from recassay.core.types import FloatArray, IntArray

EXACT = 14
"""Up to so many datasets every pattern of signs is tried; beyond, `FLIPS` of them at random and the observed one."""

FLIPS = 10_000

PRIOR_ALGORITHMS = 2.0
"""How many algorithms' weight the spread of a dataset gives to the spread of a typical one."""

FLOOR = 1.0
"""How much of the typical pair's sum of squares stands beside a pair's own, in the statistic with a floor."""

QUANTILES = 0.99, 0.96, 0.95
"""The two statistics, without and with the floor, count alike at the first two quantiles of their largest values; the
last one is that of the level."""

_BLOCK = 4_000_000
"""Statistics (flips x pairs) that are held at once."""


@dataclass(frozen=True, slots=True, eq=False)
class PairTests:
    """Two-sided p-values of pairs, in the order of the pairs: `single` of each alone, `adjusted` for all of them."""

    single: FloatArray
    adjusted: FloatArray
    sums: FloatArray
    """The sums of the scaled differences: above 0 where they favour the first of the pair."""
    critical: float
    """The 95 % quantile of the largest T with c > 0 over the pairs, if all were equal."""


def smallest_p(datasets: int) -> float:
    """The smallest two-sided p-value of flipped signs: all differences on one side, 2 / 2^N."""
    return float(2.0 ** (1 - datasets))


def scaled_values(matrix: Matrix) -> FloatArray:
    """Values, higher the better, divided by the spread of their dataset (algorithms x datasets).

    The squared spread is the variance over the algorithms, drawn towards its median over the datasets with the weight
    of `PRIOR_ALGORITHMS` algorithms: the variance of two or three values is hardly an estimate. Values that tie are
    equal.
    """
    up = matrix.values if matrix.higher_is_better else -matrix.values
    up = np.stack([ties.level(column) for column in up.T], axis=1)
    variance = up.var(axis=0, ddof=1)
    typical = float(np.median(variance)) or float(variance.mean()) or 1.0
    k = len(up)
    centred = up - up.mean(axis=0)
    scaled: FloatArray = centred / np.sqrt(
        ((k - 1) * variance + PRIOR_ALGORITHMS * typical) / (k - 1 + PRIOR_ALGORITHMS)
    )
    return scaled


def compare_pairs(
    scaled: FloatArray, first: IntArray, second: IntArray, rng: np.random.Generator, count: int = FLIPS
) -> PairTests:
    """Which of the pairs (first[i], second[i]) differ, all at once.

    With d_j the scaled difference of a pair on dataset j, T = |sum d_j| / sqrt(sum d_j^2 + c). If the two were equal,
    d_j could as well have the other sign, and so could the differences of all pairs on that dataset together: T is
    compared with the largest T over the pairs when the signs of whole datasets are flipped. Pairs are tested from the
    largest T down, each against the largest of those not yet tested (Westfall and Young 1993; Romano and Wolf 2005), so
    that the dependence between pairs is used and the chance of any false finding is at most the level. It assumes what
    Wilcoxon's test assumes: differences that are symmetric about zero where there is none.

    Two values of c are used, and T is the larger of both in units of a quantile of its own largest value: c = 0, which
    finds small differences that are always there, and c = the median over pairs of sum d_j^2, which is steadier on few
    datasets.
    """
    gaps = scaled[first] - scaled[second]
    sums = gaps.sum(axis=1)
    n = gaps.shape[1]
    squares = (gaps**2).sum(axis=1)
    typical = float(np.median(squares)) or float(squares.mean()) or 1.0
    plain = np.where(squares > 0, 1 / np.sqrt(np.where(squares > 0, squares, 1.0)), 0.0)
    floored = 1 / np.sqrt(squares + FLOOR * typical)
    flips = sign_patterns(n, rng, count)
    *units, critical = _quantiles(gaps, (plain, floored, floored), flips)
    weight = np.maximum(plain / units[0], floored / units[1])
    observed = np.abs(sums) * weight
    order = np.argsort(-observed, kind="stable")
    alone, together = np.zeros(len(order)), np.zeros(len(order))
    slack = observed[order] - 1e-9
    for flipped in _blocks(gaps[order] * weight[order, None], flips):
        alone += (flipped >= slack).sum(axis=0)
        together += (np.maximum.accumulate(flipped[:, ::-1], axis=1)[:, ::-1] >= slack).sum(axis=0)
    single, adjusted = np.empty(len(order)), np.empty(len(order))
    single[order] = alone / len(flips)
    adjusted[order] = np.maximum.accumulate(together / len(flips))
    return PairTests(single, adjusted, sums, critical)


def sign_patterns(n: int, rng: np.random.Generator, count: int = FLIPS) -> FloatArray:
    """Patterns of signs (patterns x datasets), the observed one first; a pattern stands for its opposite, too.

    All of them up to `EXACT` datasets, `count` at random beyond.
    """
    if n <= EXACT:
        bits = (np.arange(2 ** (n - 1))[:, None] >> np.arange(n)) & 1
        return np.asarray(1.0 - 2.0 * bits)
    return np.vstack([np.ones(n), rng.choice([-1.0, 1.0], size=(count, n))])


def _blocks(gaps: FloatArray, flips: FloatArray) -> Iterator[FloatArray]:
    """|sums| under the flips (flips x pairs), as many flips at once as memory should hold."""
    size = max(1, _BLOCK // len(gaps))
    for start in range(0, len(flips), size):
        yield np.abs(flips[start : start + size] @ gaps.T)


def _quantiles(gaps: FloatArray, weights: tuple[FloatArray, ...], flips: FloatArray) -> list[float]:
    """For each way to weigh the pairs, the quantile of the largest statistic under (at most 1,000 of) the flips."""
    largest: list[list[FloatArray]] = [[] for _ in weights]
    for flipped in _blocks(gaps, flips[:1000]):
        for found, weight in zip(largest, weights, strict=True):
            found.append((flipped * weight).max(axis=1))
    quantiles = [
        float(np.quantile(np.concatenate(found), q, method="higher"))
        for found, q in zip(largest, QUANTILES, strict=True)
    ]
    return [quantile if quantile > 0 else 1.0 for quantile in quantiles]
