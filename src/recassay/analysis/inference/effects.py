"""How large the difference between two algorithms is, and whether they are equivalent within a margin."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from recassay.analysis.inference.distributions import normal_quantile
from recassay.analysis.inference.families import family_means
from recassay.analysis.inference.pair_kernels import walsh_places
from recassay.analysis.inference.pair_rows import blocks
from recassay.analysis.inference.significance import holm
from recassay.analysis.inference.wilcoxon import EXACT, exact_ties, sum_distribution, wilcoxon_rows
from recassay.core.tables.matrix import Matrix
from recassay.core.types import BoolArray, FloatArray, IntArray

EffectKind = Literal["ratio", "difference"]
MOST_DECIMALS = 5


@dataclass(frozen=True, slots=True)
class Effect:
    """By how much `left` is better than `right` on a typical dataset.

    A `ratio` of 1.03 says that left is 3 % better, a `difference` of 0.03 that it is better by 0.03 in the metric's
    units; for metrics whose lower values are better, too. `interval` is None where there are too few datasets for one
    (fewer than six at 95 %).
    """

    kind: EffectKind
    """`ratio` or `difference`."""
    estimate: float
    interval: tuple[float, float] | None

    @property
    def reversed(self) -> Effect:
        """By how much `right` is better than `left`."""
        ratio, span = self.kind == "ratio", self.interval
        ends = None if span is None else (1 / span[1], 1 / span[0]) if ratio else (0.0 - span[1], 0.0 - span[0])
        return Effect(self.kind, 1 / self.estimate if ratio else 0.0 - self.estimate, ends)


def pair_gaps(matrix: Matrix, first: IntArray, second: IntArray) -> tuple[FloatArray, BoolArray]:
    """By pair and dataset, by how much the first is better, and by pair whether this is the log of a ratio.

    A pair has ratios where both have values above 0 on every dataset (or both below), else differences: a value of 0
    of one algorithm changes nothing for pairs of others.
    """
    values, up = matrix.values, 1.0 if matrix.higher_is_better else -1.0
    side = np.where((values > 0).all(axis=1), 1.0, np.where((values < 0).all(axis=1), -1.0, 0.0))
    logs = side[:, None] * np.log(np.abs(np.where(side[:, None] == 0, 1.0, values)))
    ratio = (side[first] == side[second]) & (side[first] != 0)
    chosen = ratio[:, None]
    return up * np.where(chosen, logs[first] - logs[second], values[first] - values[second]), ratio


def hodges_lehmann(differences: FloatArray, confidence: float = 0.95) -> FloatArray:
    """Estimate, lower and upper end for differences along the last axis (Hodges and Lehmann 1963).

    The estimate is the median of the means of all pairs of differences, each with itself included. The interval is
    Wilcoxon's test turned round: the values that, taken off all differences, leave a p of at least 1 - confidence. Its
    ends are pair means counted from both sides, by the exact distribution of the signed ranks (the normal one beyond
    200 differences). They are infinite where so few differences allow no interval at this level.
    """
    n = differences.shape[-1]
    rows = np.ascontiguousarray(differences.reshape(-1, n))
    means = n * (n + 1) // 2
    cut = _lower_end(n, round((1 - confidence) / 2, 12))
    places = [(means - 1) // 2, means // 2, max(cut, 0), means - 1 - max(cut, 0)]
    chosen = walsh_places(rows, np.array(places))
    ends = chosen[:, 2:] if cut >= 0 else np.broadcast_to([-np.inf, np.inf], (len(rows), 2))
    estimate = chosen[:, :2].mean(axis=1, keepdims=True)
    return np.concatenate([estimate, ends], axis=1).reshape(*differences.shape[:-1], 3)


def above_zero(differences: FloatArray, confidence: float) -> BoolArray:
    """Whether the interval of `hodges_lehmann` does not reach below zero, by row."""
    return np.asarray(hodges_lehmann(differences, confidence=confidence)[:, 1] >= -1e-12)


@lru_cache(maxsize=64)
def _lower_end(n: int, tail: float) -> int:
    """The position of the lower end among the ordered pair means; -1: there is no interval.

    It is the largest rank sum s with P(sum <= s) <= tail: as many pair means lie outside the interval on each side.
    """
    if n > EXACT:
        spread = np.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        return int(np.floor(n * (n + 1) / 4 + normal_quantile(tail) * spread - 0.5))
    below = np.cumsum(sum_distribution(np.arange(1, n + 1)))
    return int(np.searchsorted(below, tail * (1 + 1e-9), side="right")) - 1


def equivalence_p(
    values: FloatArray, first: IntArray, second: IntArray, *, within: float, families: IntArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """For pairs of rows of `values` (algorithms x datasets), the p of "not equivalent": alone, and Holm-corrected.

    With d_j the log ratios and delta = log(1 + within), two one-sided Wilcoxon tests ask whether d + delta lies above 0
    and delta - d does (Schuirmann 1987, on the exact signed-rank distribution); p is the larger of the two. It is 1
    where a value of the pair is not above 0. What rounding may hide is taken off delta: values printed to one decimal
    do not show that two algorithms are within 2 %. What is tested is the typical ratio (the Hodges-Lehmann estimate),
    not the mean one: rare large differences move a mean and hardly a typical value. Datasets of one of the `families`
    count as one, with the mean of their log ratios.
    """
    values = -values if (values < 0).all() else values
    positive: BoolArray = np.all(values > 0, axis=1)
    known = positive[first] & positive[second]
    logs = np.log(np.where(positive[:, None], values, 1.0))
    unit = rounding_unit(values)
    alone, together = np.ones(len(first)), np.ones(len(first))
    tested, exact = np.flatnonzero(known), exact_ties(len(values))
    for part in blocks(len(tested), values.shape[1]):
        left, right = first[tested[part]], second[tested[part]]
        delta = family_means(np.log1p(within) - unit / np.minimum(values[left], values[right]), families)
        ratio = family_means(logs[left] - logs[right], families)
        above, below = (wilcoxon_rows(side, most_tied=exact).greater for side in (ratio + delta, delta - ratio))
        alone[tested[part]] = np.maximum(above, below)
    together[known] = holm(alone[known])
    return alone, together


def rounding_unit(values: FloatArray) -> float:
    """The unit that all values are multiples of, such as 0.1, by their decimals; 0 where there are more than five of
    them after the first digit of the largest value: fractions and percentages have the same digits."""
    largest = float(np.abs(values).max())
    power = 10.0 ** np.floor(np.log10(largest) + 1e-12) if largest > 0 else 1.0
    for decimals in range(MOST_DECIMALS + 1):
        scaled = values / power * 10.0**decimals
        if np.abs(scaled - np.rint(scaled)).max() < 1e-6:
            return float(power * 10.0**-decimals)
    return 0.0
