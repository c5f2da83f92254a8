"""Wilcoxon's signed-rank test by its exact permutation distribution, ties and zeros included."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from recassay.analysis.inference.distributions import normal_sf
from recassay.core import ties
from recassay.core.choices import ZeroMethod
from recassay.core.types import FloatArray, IntArray

EXACT = 200
"""The most differences whose distribution is computed exactly; beyond, the normal approximation is."""


def signed_ranks(difference: FloatArray, zeros: ZeroMethod) -> FloatArray:
    """Ranks of the sizes of the differences, with the sign of each; ties share the mean of their places.

    `wilcox` leaves zero differences out before ranking; `pratt` and `zsplit` rank them, too, and give them rank 0
    here: whichever way their ranks are then shared, they say nothing of the direction.
    """
    kept = difference[difference != 0] if zeros == "wilcox" else difference
    return np.sign(kept) * ranks_of_sizes(np.abs(kept))


def ranks_of_sizes(sizes: FloatArray) -> FloatArray:
    """Ranks from the smallest on; neighbours that are equal but for rounding share the mean of their places."""
    if not len(sizes):
        return np.zeros(0)
    order = np.argsort(sizes, kind="stable")
    ordered = sizes[order]
    run = np.concatenate([[0], np.cumsum(ties.beats(ordered[1:], ordered[:-1]))])
    count = np.bincount(run)
    ranks = np.empty(len(sizes))
    ranks[order] = (np.cumsum(count) - (count - 1) / 2)[run]
    return ranks


def wilcoxon(difference: FloatArray, zeros: ZeroMethod = "wilcox") -> tuple[float, float]:
    """Two-sided Wilcoxon signed-rank test: the smaller of the two rank sums, and p.

    p is exact, given the ranks: under the null hypothesis every sign is + or - with equal chance, so the distribution
    of the positive sum is the convolution of one step per difference (`sum_distribution`). That holds with ties and
    zeros as well as without. Beyond `EXACT` differences p is that of the normal approximation with the same variance,
    sum of squared ranks / 4. All equal: statistic 0, p 1. Under `zsplit` half of the zeros' ranks goes to each side:
    that shifts the sum, not its p, which is therefore that of `pratt`.
    """
    ranks = signed_ranks(difference, zeros)
    positive, negative = float(ranks[ranks > 0].sum()), float(-ranks[ranks < 0].sum())
    split = 0.0
    if zeros == "zsplit":
        n = len(ranks)
        split = (n * (n + 1) / 2 - positive - negative) / 2
    statistic = min(positive, negative) + split
    moving = np.abs(ranks[ranks != 0])
    if not len(moving):
        return statistic, 1.0
    if len(moving) > EXACT:
        z = (positive - negative) / np.sqrt((moving**2).sum())
        return statistic, float(2 * normal_sf(abs(z)))
    doubled = np.rint(2 * moving).astype(np.int64)
    lower = _lower_tail(np.sort(doubled).tobytes())
    return statistic, float(min(1.0, 2 * lower[round(2 * min(positive, negative))]))


@lru_cache(maxsize=256)
def _lower_tail(steps: bytes) -> FloatArray:
    """P(sum <= s) of these steps: pairs without ties have the same ones."""
    return np.cumsum(sum_distribution(np.frombuffer(steps, dtype=np.int64)))


def greater_p(difference: FloatArray) -> float:
    """One-sided: the probability, if signs were coins, of at least this sum of positive ranks (zeros left out)."""
    ranks = signed_ranks(difference, "wilcox")
    if not len(ranks):
        return 1.0
    positive = float(ranks[ranks > 0].sum())
    sizes = np.abs(ranks)
    if len(sizes) > EXACT:
        return float(normal_sf((2 * positive - sizes.sum()) / np.sqrt((sizes**2).sum())))
    chances = sum_distribution(np.rint(2 * sizes).astype(np.int64))
    return float(min(1.0, chances[round(2 * positive) :].sum()))


def greater_p_rows(differences: FloatArray) -> FloatArray:
    """`greater_p` of each row (rows x differences); rows without ties and zeros share one distribution."""
    n = differences.shape[1]
    sizes = np.abs(differences)
    order = np.argsort(sizes, axis=1, kind="stable")
    ordered = np.take_along_axis(sizes, order, axis=1)
    usual = (ordered[:, 0] > 0) & ties.beats(ordered[:, 1:], ordered[:, :-1]).all(axis=1) & (n <= EXACT)
    found = np.empty(len(differences))
    if usual.any():
        positive = np.take_along_axis(differences > 0, order, axis=1)[usual] @ np.arange(1, n + 1)
        upper = np.cumsum(sum_distribution(np.arange(1, n + 1))[::-1])[::-1]
        found[usual] = np.minimum(1.0, upper[positive])
    for row in np.flatnonzero(~usual):
        found[row] = greater_p(differences[row])
    return found


def sum_distribution(steps: IntArray) -> FloatArray:
    """P(the sum of those steps whose coin shows heads = s) for s = 0, 1, ..., sum of steps."""
    chances = np.zeros(int(steps.sum()) + 1)
    chances[0] = 1.0
    reach = 0
    for step in steps:
        moved = chances[: reach + 1] / 2
        chances[: reach + 1] = moved
        chances[step : step + reach + 1] += moved
        reach += int(step)
    return chances


def rank_biserial(difference: FloatArray) -> float:
    """Matched-pairs rank-biserial correlation (Kerby 2014): (R+ - R-) / (R+ + R-), zeros left out."""
    ranks = signed_ranks(difference, "wilcox")
    return float(ranks.sum() / np.abs(ranks).sum()) if len(ranks) else 0.0
