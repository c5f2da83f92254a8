"""Wilcoxon's signed-rank test by its exact permutation distribution, ties and zeros included."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recassay.analysis.inference.distributions import normal_sf
from recassay.analysis.inference.pair_kernels import rank_sums, tails
from recassay.core.choices import VERY_MANY, ZeroMethod
from recassay.core.types import FloatArray, IntArray

EXACT = 200
"""The most differences whose distribution is computed exactly; beyond, the normal approximation is."""

EXACT_TIES_OF_MANY = 50
"""The same for rows with ties where there are more than 400 algorithms."""


@dataclass(frozen=True, slots=True, eq=False)
class SignedRanks:
    """Wilcoxon's signed-rank test of many rows of differences at once."""

    statistic: FloatArray
    """The smaller of the two rank sums of each row."""
    p: FloatArray
    """Two-sided."""
    greater: FloatArray
    """One-sided: the probability, if signs were coins, of at least this sum of positive ranks."""
    biserial: FloatArray
    """Matched-pairs rank-biserial correlation (Kerby 2014): (R+ - R-) / (R+ + R-)."""


def wilcoxon_rows(differences: FloatArray, zeros: ZeroMethod = "wilcox", most_tied: int = EXACT) -> SignedRanks:
    """The signed-rank test of each row (rows x differences).

    Ranks are those of the sizes of the differences; sizes that are equal but for rounding share the mean of their
    places. `wilcox` leaves zero differences out before ranking; `pratt` and `zsplit` rank them, too, and give them rank
    0 here: whichever way their ranks are then shared, they say nothing of the direction.

    p is exact, given the ranks: under the null hypothesis every sign is + or - with equal chance, so the distribution
    of the positive sum is the convolution of one step per difference (`sum_distribution`). That holds with ties and
    zeros as well as without. Beyond `EXACT` differences, or `most_tied` of which some tie, p is that of the normal
    approximation with the same variance, sum of squared ranks / 4. All equal: statistic 0, p 1. Under `zsplit` half of
    the zeros' ranks goes to each side: that shifts the sum, not its p, which is therefore that of `pratt`.
    """
    ranks, signs, ranked, tied = rank_sums(differences, keep_zeros=zeros != "wilcox")
    positive, negative = (np.where(side, ranks, 0.0).sum(axis=1) for side in (signs > 0, signs < 0))
    squares, total, n = (ranks**2).sum(axis=1), positive + negative, differences.shape[1]
    lower = np.full((len(ranks), 2), np.nan)
    plain = (ranked == n) & (ranked <= EXACT) & ~tied & (total == n * (n + 1) / 2)
    if plain.any():
        whole = np.cumsum(sum_distribution(np.arange(1, n + 1)))
        lower[plain] = whole[np.stack([negative, positive], axis=1)[plain].astype(np.int64)]
    tied = ~plain & (ranked <= min(most_tied, EXACT))
    less, equal = tails(ranks[tied], np.minimum(positive, negative)[tied]).T[:, :, None]
    # By symmetry P(sum <= larger) = 1 - P(sum < smaller) = 1 - P(sum <= smaller) + P(sum = smaller).
    lead = np.stack([positive - negative, negative - positive], axis=1)[tied]
    lower[tied] = np.where(lead >= 0, less, np.minimum(1.0, 1.0 - less + equal))
    moving = squares > 0
    many = moving & np.isnan(lower[:, 0])
    z = np.where(many, (positive - negative) / np.sqrt(np.where(moving, squares, 1.0)), 0.0)
    split = (ranked * (ranked + 1) / 2 - positive - negative) / 2 if zeros == "zsplit" else 0.0
    return SignedRanks(
        statistic=np.minimum(positive, negative) + split,
        p=np.where(many, 2 * normal_sf(np.abs(z)), np.where(moving, np.minimum(1.0, 2 * lower.min(axis=1)), 1.0)),
        greater=np.where(many, normal_sf(z), np.where(moving, np.minimum(1.0, lower[:, 0]), 1.0)),
        biserial=np.where(moving, (positive - negative) / np.where(moving, total, 1.0), 0.0),
    )


def exact_ties(algorithms: int) -> int:
    """The most differences for which ties are computed exactly, among the pairs of so many algorithms."""
    return EXACT if algorithms <= VERY_MANY else EXACT_TIES_OF_MANY


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
