"""Is A better than B: every pair at once, by flipping the signs of whole datasets and stepping down."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recassay.analysis.inference.pair_rows import blocks
from recassay.core import ties
from recassay.core.tables.matrix import Matrix
from recassay.core.types import FloatArray, IntArray

EXACT = 14
"""Up to so many datasets every pattern of signs is tried; beyond, `FLIPS` of them at random and the observed one."""

FLIPS = 10_000

FLIPS_OF_MANY = 2_000
"""The same with more than 400 algorithms: an adjusted p of 0.05 then has a standard error of 0.005."""

PRIOR_ALGORITHMS = 2.0
"""How many algorithms' weight the spread of a dataset gives to the spread of a typical one."""

FLOOR = 1.0
"""How much of the typical pair's sum of squares stands beside a pair's own, in the statistic with a floor."""

QUANTILES = 0.99, 0.96, 0.95
"""The two statistics, without and with the floor, count alike at the first two quantiles of their largest values; the
last one is that of the level."""


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


def fewest_datasets(level: float) -> int:
    """The fewest datasets with which a p-value could be below this level."""
    return max(2, int(np.floor(1 - np.log2(level))) + 1)


def scaled_values(matrix: Matrix) -> FloatArray:
    """Values, higher the better, divided by the spread of their dataset (algorithms x datasets).

    The squared spread is the variance over the algorithms, drawn towards its median over the datasets with the weight
    of `PRIOR_ALGORITHMS` algorithms: the variance of two or three values is hardly an estimate. Values that tie are
    equal.
    """
    up = matrix.values if matrix.higher_is_better else -matrix.values
    up = np.stack([ties.level(column) for column in up.T], axis=1)
    up = up - up[0]  # so that the variance of equal values is 0, not what rounding leaves of it
    variance = up.var(axis=0, ddof=1)
    typical = float(np.median(variance)) or float(variance.mean()) or 1.0
    k = len(up)
    shrunk = ((k - 1) * variance + PRIOR_ALGORITHMS * typical) / (k - 1 + PRIOR_ALGORITHMS)
    return np.asarray((up - up.mean(axis=0)) / np.sqrt(shrunk))


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
    from recassay.analysis.inference.pair_kernels import count_flips, largest_flips

    n = scaled.shape[1]
    sums, squares = _sums(scaled, first, second)
    typical = float(np.median(squares)) or float(squares.mean()) or 1.0
    plain = np.where(squares > 0, 1 / np.sqrt(np.where(squares > 0, squares, 1.0)), 0.0)
    floored = 1 / np.sqrt(squares + FLOOR * typical)
    flipped = sign_patterns(n, rng, count) @ scaled.T
    # The quantiles of the largest statistic under the flips without the floor, with it, and again with it.
    largest = np.empty((min(len(flipped), 1000), 2))
    largest_flips(flipped[:1000], first, second, np.stack([plain, floored]), largest)
    unit, floored_unit, critical = (
        float(np.quantile(largest[:, way], q, method="higher")) or 1.0
        for way, q in zip((0, 1, 1), QUANTILES, strict=True)
    )
    weight = np.maximum(plain / unit, floored / floored_unit)
    observed = np.abs(sums) * weight
    order = np.argsort(-observed, kind="stable")
    alone, together = np.zeros(len(order)), np.zeros(len(order))
    count_flips(flipped, first[order], second[order], weight[order], observed[order] - 1e-9, alone, together)
    single, adjusted = np.empty(len(order)), np.empty(len(order))
    single[order] = alone / len(flipped)
    adjusted[order] = np.maximum.accumulate(together / len(flipped))
    return PairTests(single, adjusted, sums, critical)


def _sums(scaled: FloatArray, first: IntArray, second: IntArray) -> tuple[FloatArray, FloatArray]:
    """By pair, the sums of the differences and of their squares, as many pairs at once as memory should hold."""
    sums, squares = np.empty(len(first)), np.empty(len(first))
    for part in blocks(len(first), scaled.shape[1]):
        gaps = scaled[first[part]] - scaled[second[part]]
        sums[part], squares[part] = gaps.sum(axis=1), (gaps**2).sum(axis=1)
    return sums, squares


def sign_patterns(n: int, rng: np.random.Generator, count: int = FLIPS) -> FloatArray:
    """Patterns of signs (patterns x datasets), the observed one first; a pattern stands for its opposite, too.

    All of them up to `EXACT` datasets, `count` at random beyond.
    """
    if n <= EXACT:
        bits = (np.arange(2 ** (n - 1))[:, None] >> np.arange(n)) & 1
        return np.asarray(1.0 - 2.0 * bits)
    return np.vstack([np.ones(n), rng.choice([-1.0, 1.0], size=(count, n))])
