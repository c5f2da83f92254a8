"""Every pair of algorithms over datasets: Wilcoxon's test with Holm's correction, and Nemenyi's (Demšar 2006)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from recassay.analysis.aggregation.contest import Contest
from recassay.analysis.inference.distributions import range_quantile
from recassay.analysis.inference.pair_rows import PairRows, blocks
from recassay.analysis.inference.wilcoxon import exact_ties, wilcoxon_rows
from recassay.core import ties
from recassay.core.choices import ZeroMethod
from recassay.core.tables.matrix import Matrix
from recassay.core.types import FloatArray, IntArray


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
    one, other = matrix.values[left], matrix.values[right]
    return np.where(ties.sign(one, other) == 0, 0.0, one - other if matrix.higher_is_better else other - one)


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


def wilcoxon_holm(
    names: Sequence[str],
    first: IntArray,
    second: IntArray,
    gaps: Callable[[slice], FloatArray],
    alpha: float,
    zeros: ZeroMethod,
) -> PairRows[Pair]:
    """The pairs (first[i], second[i]) of `names`, p-values adjusted together by Holm's step-down.

    `gaps` has the advantages (pairs x datasets) of a slice of the pairs.
    """
    numbers = np.empty((len(first), 7))
    for part in blocks(len(first), gaps(slice(0, 1)).shape[1]):
        rows = gaps(part)
        tests = wilcoxon_rows(rows, zeros, exact_ties(len(names)))
        numbers[part, 0], numbers[part, 1] = tests.statistic, tests.p
        numbers[part, 2] = tests.biserial if zeros == "wilcox" else wilcoxon_rows(rows).biserial
        numbers[part, 3] = np.median(rows, axis=1)
        for column, won in enumerate((rows > 0, rows == 0, rows < 0), start=4):
            numbers[part, column] = won.sum(axis=1)
    adjusted, effect = holm(numbers[:, 1]), numbers[:, 2]
    left, right = (np.array(names, dtype=object)[places] for places in (first, second))
    neither = np.full(len(first), None, dtype=object)
    columns = {
        "left": left,
        "right": right,
        "statistic": numbers[:, 0],
        "p": numbers[:, 1],
        "p_holm": adjusted,
        "significant": adjusted < alpha,
        "favours": np.where(effect > 0, left, np.where(effect < 0, right, neither)),
        "rank_biserial": effect,
        "median_difference": numbers[:, 3],
        **{name: numbers[:, at].astype(np.int64) for at, name in enumerate(("wins", "ties", "losses"), start=4)},
    }
    return PairRows(Pair, first, second, columns)
