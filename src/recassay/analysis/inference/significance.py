"""Every pair of algorithms over datasets: Wilcoxon's test with Holm's correction, and Nemenyi's (Demšar 2006)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recassay.analysis.aggregation.contest import Contest
from recassay.analysis.inference.distributions import range_quantile
from recassay.analysis.inference.wilcoxon import rank_biserial, wilcoxon
from recassay.core import ties
from recassay.core.choices import ZeroMethod
from recassay.core.tables.matrix import Matrix
from recassay.core.types import FloatArray


@dataclass(frozen=True, slots=True)
class Pair:
    """Two algorithms compared on every dataset; positive differences mean that `left` is better.

    `favours` is the one on whose side Wilcoxon's rank sum is larger (None: neither). It need not be `left`, which has
    the better mean rank: mean ranks count places, the test weighs differences.
    """

    left: str
    right: str
    statistic: float
    p: float
    p_holm: float
    significant: bool
    favours: str | None
    rank_biserial: float
    """The matched-pairs rank-biserial correlation: 1 where all differences favour `left`, -1 where all favour
    `right`."""
    median_difference: float
    wins: int
    ties: int
    losses: int


def dataset_ranks(matrix: Matrix) -> FloatArray:
    """Ranks within each dataset (algorithms x datasets), 1 the best, ties sharing."""
    return Contest(matrix.values[None], higher_is_better=matrix.higher_is_better).ranks[0]


def advantages(matrix: Matrix, left: int, right: int) -> FloatArray:
    """By how much `left` is better than `right` on each dataset, in the metric's units; 0 where they are equal.

    Values that differ by no more than rounding are equal, here as in the ranks.
    """
    one, other = matrix.values[left], matrix.values[right]
    difference = np.where(ties.sign(one, other) == 0, 0.0, one - other)
    return difference if matrix.higher_is_better else 0.0 - difference


def nemenyi_cd(k: int, n: int, alpha: float) -> float:
    """The difference in mean rank beyond which two of k algorithms on n datasets differ (Demšar 2006, section 3.2.2).

    CD = q sqrt(k (k + 1) / (6 n)), q the upper alpha point of the studentised range with infinite degrees of freedom,
    divided by sqrt(2).
    """
    q = float(range_quantile(1 - alpha, k)) / np.sqrt(2)
    return float(q * np.sqrt(k * (k + 1) / (6 * n)))


def holm(p_values: FloatArray) -> FloatArray:
    """Holm's step-down adjusted p-values: with sorted p_(1) <= ... <= p_(m), max over i <= j of (m - i + 1) p_(i)."""
    m = len(p_values)
    order = np.argsort(p_values, kind="stable")
    adjusted = np.maximum.accumulate(p_values[order] * (m - np.arange(m)))
    out = np.empty(m)
    out[order] = np.minimum(adjusted, 1.0)
    return out


def wilcoxon_holm(names: list[tuple[str, str]], gaps: FloatArray, alpha: float, zeros: ZeroMethod) -> tuple[Pair, ...]:
    """Every pair by its names and advantages (pairs x datasets), p-values adjusted together by Holm's step-down."""
    tests = [wilcoxon(gap, zeros) for gap in gaps]
    adjusted = holm(np.array([p for _, p in tests]))
    return tuple(
        _pair(*pair, gap, *test, float(p_holm), alpha)
        for pair, gap, test, p_holm in zip(names, gaps, tests, adjusted, strict=True)
    )


def _pair(left: str, right: str, gap: FloatArray, statistic: float, p: float, p_holm: float, alpha: float) -> Pair:
    effect = rank_biserial(gap)
    return Pair(
        left=left,
        right=right,
        statistic=statistic,
        p=p,
        p_holm=p_holm,
        significant=p_holm < alpha,
        favours=left if effect > 0 else right if effect < 0 else None,
        rank_biserial=effect,
        median_difference=float(np.median(gap)),
        wins=int((gap > 0).sum()),
        ties=int((gap == 0).sum()),
        losses=int((gap < 0).sum()),
    )
