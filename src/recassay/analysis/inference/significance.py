"""Every pair of algorithms over datasets: Wilcoxon's test with Holm's correction, and Nemenyi's (Demšar 2006)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recassay.analysis.aggregation.contest import Contest
from recassay.analysis.inference.distributions import range_quantile
from recassay.analysis.inference.wilcoxon import wilcoxon_rows
from recassay.core import ties
from recassay.core.choices import ZeroMethod
from recassay.core.tables.matrix import Matrix
from recassay.core.types import FloatArray, IntArray

_PAIRS_AT_ONCE = 20_000


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


def advantages(matrix: Matrix, left: IntArray, right: IntArray) -> FloatArray:
    """By how much `left` is better than `right` on each dataset (pairs x datasets), in the metric's units.

    Values that differ by no more than rounding are equal, here as in the ranks: 0.
    """
    found = np.empty((len(left), len(matrix.datasets)))
    for start in range(0, len(left), _PAIRS_AT_ONCE):
        part = slice(start, start + _PAIRS_AT_ONCE)
        one, other = matrix.values[left[part]], matrix.values[right[part]]
        found[part] = np.where(ties.sign(one, other) == 0, 0.0, one - other if matrix.higher_is_better else other - one)
    return found


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
    tests = wilcoxon_rows(gaps, zeros)
    effect = tests.biserial if zeros == "wilcox" else wilcoxon_rows(gaps).biserial
    adjusted = holm(tests.p)
    columns = {
        "statistic": tests.statistic,
        "p": tests.p,
        "p_holm": adjusted,
        "significant": adjusted < alpha,
        "rank_biserial": effect,
        "median_difference": np.median(gaps, axis=1),
        "wins": (gaps > 0).sum(axis=1),
        "ties": (gaps == 0).sum(axis=1),
        "losses": (gaps < 0).sum(axis=1),
    }
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return tuple(
        Pair(left, right, favours=left if favour > 0 else right if favour < 0 else None,
             **dict(zip(columns, row, strict=True)))
        for (left, right), favour, row in zip(names, effect.tolist(), rows, strict=True)
    )  # fmt: skip
