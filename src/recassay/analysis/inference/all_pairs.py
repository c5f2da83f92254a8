"""Is A better than B: every pair at once, by flipping the signs of whole datasets and stepping down."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recassay.analysis.inference.pair_kernels import count_flips, largest_flips
from recassay.analysis.inference.pair_rows import blocks
from recassay.core import ties
from recassay.core.tables.matrix import Matrix
from recassay.core.types import FloatArray, IntArray

EXACT = 14
"""Up to so many datasets every pattern of signs is tried; beyond, `FLIPS` of them at random and the observed one."""

EXACT_OF_FEW = 18
"""The same where the pairs are so few that all patterns are no more than `MOST` statistics."""

FLIPS = 10_000

FLIPS_OF_MANY = 2_000
"""The same with more than 400 algorithms: an adjusted p of 0.05 then has a standard error of 0.005."""

NEAR = 0.6, 1.4
"""Random patterns are not enough where an adjusted p lies between these shares of the level: more are drawn, up to
`MOST` statistics (patterns x pairs)."""

MOST = 100_000_000

CALIBRATION = 8192
"""So many patterns, or all where there are fewer, tell the quantiles of the largest statistic."""

PRIOR_ALGORITHMS = 2.0
"""How many algorithms' weight the spread of a dataset gives to the spread of a typical one."""

FLOOR = 1.0
"""How much of the typical pair's sum of squares stands beside a pair's own, in the statistic with a floor."""

QUANTILES = 0.99, 0.96
"""The two statistics, without and with the floor, count alike at these quantiles of their largest values."""


WINNERS_SHARE = 0.2
"""The share of alpha that belongs to the question whether the observed leader beats every other; the rest belongs to
all pairs. One pair alone needs no sharing."""


@dataclass(frozen=True, slots=True, eq=False)
class PairTests:
    """Two-sided p-values of pairs, in the order of the pairs: `single` of each alone, `adjusted` for all of them."""

    single: FloatArray
    adjusted: FloatArray
    sums: FloatArray
    """The sums of the scaled differences: above 0 where they favour the first of the pair."""


def smallest_p(datasets: int) -> float:
    """The smallest two-sided p-value of flipped signs: all differences on one side, 2 / 2^N."""
    return float(2.0 ** (1 - datasets))


def fewest_datasets(level: float) -> int:
    """The fewest datasets with which a p-value could be below this level."""
    return max(2, int(np.floor(1 - np.log2(level))) + 1)


def relative_values(matrix: Matrix) -> FloatArray:
    """Values, higher the better and equal where they tie, divided by the level of their dataset, if it has one."""
    up = np.stack([ties.level(column) for column in matrix.upward.T], axis=1)
    if not ((up >= 0).all() or (up <= 0).all()):
        return up
    level = np.abs(np.median(up, axis=0))
    level = np.where(level > 0, level, np.abs(up.mean(axis=0)))
    return np.asarray(up / np.where(level > 0, level, 1.0))


def scaled_values(matrix: Matrix) -> FloatArray:
    """Values, higher the better, divided by the level and the spread of their dataset (algorithms x datasets).

    Where no two values of the table have different signs, the level of a dataset is the median over the algorithms (the
    mean where that is 0): a dataset that is ten times harder counts like the others, and a value of 0 changes nothing
    for the others. The squared spread is the variance over the algorithms, drawn towards its median over the datasets
    with the weight of `PRIOR_ALGORITHMS` algorithms: the variance of two or three values is hardly an estimate. Values
    that tie are equal.
    """
    up = relative_values(matrix)
    up = up - up[0]  # so that the variance of equal values is 0, not what rounding leaves of it
    variance = up.var(axis=0, ddof=1)
    typical = float(np.median(variance)) or float(variance.mean()) or 1.0
    k = len(up)
    shrunk = ((k - 1) * variance + PRIOR_ALGORITHMS * typical) / (k - 1 + PRIOR_ALGORITHMS)
    return np.asarray((up - up.mean(axis=0)) / np.sqrt(shrunk))


def compare_pairs(
    scaled: FloatArray,
    first: IntArray,
    second: IntArray,
    rng: np.random.Generator,
    flips: int = FLIPS,
    alpha: float = 0.05,
) -> PairTests:
    """Which of the pairs (first[i], second[i]) differ, all at once.

    With d_j the scaled difference of a pair on dataset j, T = |sum d_j| / sqrt(sum d_j^2 + c). If the two were equal,
    d_j could as well have the other sign, and so could the differences of all pairs on that dataset together: T is
    compared with the largest T over the pairs when the signs of whole datasets are flipped. Pairs are tested from the
    largest T down, each against the largest of those not yet tested (Westfall and Young 1993; Romano and Wolf 2005), so
    that the dependence between pairs is used and the chance of any false finding is at most `alpha`. It assumes what
    Wilcoxon's test assumes: differences that are symmetric about zero where there is none.

    Two values of c are used, and T is the larger of both in units of a quantile of its own largest value: c = 0, which
    finds small differences that are always there, and c = the median over pairs of sum d_j^2, which is steadier on few
    datasets. Random patterns are dealt out to the datasets by position: give them in an order of their content.
    """
    sums, squares = _sums(scaled, first, second)
    typical = float(np.median(squares)) or float(squares.mean()) or 1.0
    plain = np.where(squares > 0, 1 / np.sqrt(np.where(squares > 0, squares, 1.0)), 0.0)
    floored = 1 / np.sqrt(squares + FLOOR * typical)
    patterns = sign_patterns(scaled.shape[1], rng, flips, len(first))
    flipped = patterns @ scaled.T
    tried = flipped if len(flipped) <= CALIBRATION else flipped[rng.choice(len(flipped), CALIBRATION, replace=False)]
    largest = largest_flips(tried, first, second, np.stack([plain, floored]))
    unit, floored_unit = (
        float(np.quantile(values, q, method="higher")) or 1.0 for values, q in zip(largest, QUANTILES, strict=True)
    )
    weight = np.maximum(plain / unit, floored / floored_unit)
    observed = np.abs(sums) * weight
    order = np.argsort(-observed, kind="stable")
    asked = first[order], second[order], weight[order], observed[order] - 1e-9
    alone, together, total = np.zeros(len(order)), np.zeros(len(order)), len(flipped)
    count_flips(flipped, *asked, alone, together)
    near = (together > NEAR[0] * alpha * total) & (together < NEAR[1] * alpha * total)
    more = min(9 * flips, MOST // len(first) - total)
    if len(patterns) == flips + 1 and more > 0 and near.any():
        for rows in blocks(more, scaled.shape[1]):
            drawn = rng.choice([-1.0, 1.0], size=(rows.stop - rows.start, scaled.shape[1]))
            count_flips(drawn @ scaled.T, *asked, alone, together)
        total += more
    single, adjusted = np.empty(len(order)), np.empty(len(order))
    single[order] = alone / total
    adjusted[order] = np.maximum.accumulate(together / total)
    return PairTests(single, adjusted, sums)


def _sums(scaled: FloatArray, first: IntArray, second: IntArray) -> tuple[FloatArray, FloatArray]:
    """By pair, the sums of the differences and of their squares, as many pairs at once as memory should hold."""
    sums, squares = np.empty(len(first)), np.empty(len(first))
    for part in blocks(len(first), scaled.shape[1]):
        gaps = scaled[first[part]] - scaled[second[part]]
        sums[part], squares[part] = gaps.sum(axis=1), (gaps**2).sum(axis=1)
    return sums, squares


def sign_patterns(n: int, rng: np.random.Generator, count: int = FLIPS, pairs: int = 1) -> FloatArray:
    """Patterns of signs (patterns x datasets), the observed one first; a pattern stands for its opposite, too.

    All of them up to `EXACT` datasets (`EXACT_OF_FEW` where the pairs are few), `count` at random beyond.
    """
    if n <= EXACT or (n <= EXACT_OF_FEW and pairs * 2 ** (n - 1) <= MOST):
        bits = (np.arange(2 ** (n - 1))[:, None] >> np.arange(n)) & 1
        return np.asarray(1.0 - 2.0 * bits)
    return np.vstack([np.ones(n), rng.choice([-1.0, 1.0], size=(count, n))])
