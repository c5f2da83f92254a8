"""Frequentist tests over datasets: Friedman, Nemenyi, and pairwise Wilcoxon with Holm's correction (Demšar 2006)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from recassay.analysis.aggregation.contest import Contest
from recassay.core import ties
from recassay.core.choices import ZeroMethod
from recassay.core.results import Matrix
from recassay.core.types import FloatArray


@dataclass(frozen=True, slots=True)
class FriedmanResult:
    """Friedman's test without and with the correction for ties, each with its Iman-Davenport F."""

    chi_square: float
    p_value: float
    f: float
    f_p_value: float
    degrees: tuple[int, int]
    chi_square_ties: float
    p_value_ties: float
    f_ties: float
    f_p_value_ties: float


@dataclass(frozen=True, slots=True)
class Pair:
    """Two algorithms compared on every dataset; positive differences mean that `left` is better."""

    left: str
    right: str
    statistic: float
    p: float
    p_holm: float
    significant: bool
    rank_biserial: float
    median_difference: float
    wins: int
    ties: int
    losses: int


def dataset_ranks(matrix: Matrix) -> FloatArray:
    """Ranks within each dataset (algorithms x datasets), 1 the best, ties sharing."""
    return Contest(matrix.values[None], higher_is_better=matrix.higher_is_better).ranks[0]


def advantages(matrix: Matrix, left: int, right: int) -> FloatArray:
    """By how much `left` is better than `right` on each dataset, in the metric's units; 0 where they tie."""
    mine, theirs = matrix.values[left], matrix.values[right]
    difference = np.where(ties.sign(mine, theirs) == 0, 0.0, mine - theirs)
    return difference if matrix.higher_is_better else 0.0 - difference


def friedman(ranks: FloatArray) -> FriedmanResult:
    """Are the mean ranks of k algorithms on N datasets more different than chance?

    chi^2 = 12 N / (k (k + 1)) * (sum_j R_j^2 - k (k + 1)^2 / 4), with k - 1 degrees of freedom, and
    F = (N - 1) chi^2 / (N (k - 1) - chi^2) with k - 1 and (k - 1)(N - 1) (Iman and Davenport 1980; Demšar 2006,
    section 3.2.2). With ties chi^2 is divided by 1 - sum (t^3 - t) / (N k (k^2 - 1)), as scipy does. Where every
    algorithm ties everywhere there is no evidence: statistics 0, p 1.
    """
    k, n = ranks.shape
    mean = ranks.mean(axis=1)
    plain = 12 * n / (k * (k + 1)) * float((mean**2).sum() - k * (k + 1) ** 2 / 4)
    tied = sum(float((count**3 - count).sum()) for count in (np.unique(d, return_counts=True)[1] for d in ranks.T))
    correction = 1 - tied / (n * k * (k**2 - 1))
    corrected = plain / correction if correction > 0 else 0.0
    degrees = (k - 1, (k - 1) * (n - 1))

    def with_f(chi: float) -> tuple[float, float, float, float]:
        chi = max(chi, 0.0)
        room = n * (k - 1) - chi
        f = (n - 1) * chi / room if ties.beats(n * (k - 1), chi) else float("inf")
        return chi, float(stats.chi2.sf(chi, k - 1)), f, float(stats.f.sf(f, *degrees))

    return FriedmanResult(*with_f(plain), degrees, *with_f(corrected))


def nemenyi_cd(k: int, n: int, alpha: float) -> float:
    """The difference in mean rank beyond which two of k algorithms on n datasets differ (Demšar 2006, section 3.2.2).

    CD = q sqrt(k (k + 1) / (6 n)), q the upper alpha point of the studentised range with infinite degrees of freedom,
    divided by sqrt(2).
    """
    q = float(stats.studentized_range.ppf(1 - alpha, k, np.inf)) / np.sqrt(2)
    return float(q * np.sqrt(k * (k + 1) / (6 * n)))


def holm(p_values: FloatArray) -> FloatArray:
    """Holm's step-down adjusted p-values: with sorted p_(1) <= ... <= p_(m), max over i <= j of (m - i + 1) p_(i)."""
    m = len(p_values)
    order = np.argsort(p_values, kind="stable")
    adjusted = np.maximum.accumulate(p_values[order] * (m - np.arange(m)))
    out = np.empty(m)
    out[order] = np.minimum(adjusted, 1.0)
    return out


def wilcoxon(advantage: FloatArray, zeros: ZeroMethod) -> tuple[float, float]:
    """Two-sided Wilcoxon signed-rank test by scipy (exact for few datasets without ties or zeros).

    `zeros` says what becomes of datasets where the two are equal: `wilcox` (default) drops them, `pratt` ranks them and
    drops their ranks, `zsplit` gives half of their ranks to each side. All equal: statistic 0, p 1. Differences of
    equal size, by the rule of `core.ties`, share their rank.
    """
    if not advantage.any():
        return 0.0, 1.0
    levelled = np.copysign(ties.level(np.abs(advantage)), advantage)
    answer = stats.wilcoxon(levelled, zero_method=zeros, alternative="two-sided")
    return float(answer.statistic), float(answer.pvalue)


def rank_biserial(advantage: FloatArray) -> float:
    """Matched-pairs rank-biserial correlation (Kerby 2014): (R+ - R-) / (R+ + R-) over the ranks of |difference|."""
    nonzero = advantage[advantage != 0]
    if not len(nonzero):
        return 0.0
    ranks = ties.ranks(np.abs(nonzero), higher_is_better=False)
    return float((ranks * np.sign(nonzero)).sum() / ranks.sum())


def wilcoxon_holm(matrix: Matrix, order: list[int], alpha: float, zeros: ZeroMethod) -> list[Pair]:
    """Every pair in the given order of algorithms, p-values adjusted together by Holm's step-down."""
    pairs = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
    gaps = [advantages(matrix, a, b) for a, b in pairs]
    tests = [wilcoxon(gap, zeros) for gap in gaps]
    adjusted = holm(np.array([p for _, p in tests]))
    return [
        Pair(
            left=matrix.algorithms[a],
            right=matrix.algorithms[b],
            statistic=statistic,
            p=p,
            p_holm=float(p_holm),
            significant=bool(p_holm < alpha),
            rank_biserial=rank_biserial(gap),
            median_difference=float(np.median(gap)),
            wins=int((gap > 0).sum()),
            ties=int((gap == 0).sum()),
            losses=int((gap < 0).sum()),
        )
        for (a, b), gap, (statistic, p), p_holm in zip(pairs, gaps, tests, adjusted, strict=True)
    ]
