"""How large the difference between two algorithms is: Hodges and Lehmann's estimate with its exact interval."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from recassay.analysis.inference.distributions import normal_quantile
from recassay.analysis.inference.wilcoxon import EXACT, sum_distribution
from recassay.core.tables.matrix import Matrix
from recassay.core.types import BoolArray, FloatArray

EffectKind = Literal["ratio", "difference"]


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


def effect_kind(matrix: Matrix) -> EffectKind:
    """Ratios where every value of the table is above 0, else differences: one kind for all pairs of a table."""
    return "ratio" if bool((matrix.values > 0).all()) else "difference"


def hodges_lehmann(differences: FloatArray, confidence: float = 0.95) -> FloatArray:
    """Estimate, lower and upper end for differences along the last axis (Hodges and Lehmann 1963).

    The estimate is the median of the means of all pairs of differences, each with itself included. The interval is
    Wilcoxon's test turned round: the values that, taken off all differences, leave a p of at least 1 - confidence. Its
    ends are pair means counted from both sides, by the exact distribution of the signed ranks (the normal one beyond
    200 differences). They are infinite where so few differences allow no interval at this level.
    """
    from recassay.analysis.inference.pair_kernels import walsh_places

    n = differences.shape[-1]
    rows = np.ascontiguousarray(differences.reshape(-1, n))
    means = n * (n + 1) // 2
    cut = _lower_end(n, round((1 - confidence) / 2, 12))
    places = [(means - 1) // 2, means // 2, max(cut, 0), means - 1 - max(cut, 0)]
    found = np.empty((len(rows), 4))
    walsh_places(rows, np.array(places), found)
    ends = found[:, 2:] if cut >= 0 else np.broadcast_to([-np.inf, np.inf], (len(rows), 2))
    estimate = found[:, :2].mean(axis=1, keepdims=True)
    return np.concatenate([estimate, ends], axis=1).reshape(*differences.shape[:-1], 3)


def above_zero(differences: FloatArray, confidence: float) -> BoolArray:
    """Whether the interval of `hodges_lehmann` does not reach below zero, by row: counted, not searched for."""
    from recassay.analysis.inference.pair_kernels import walsh_below

    cut = _lower_end(differences.shape[1], round((1 - confidence) / 2, 12))
    below = np.empty(len(differences), dtype=np.int64)
    walsh_below(np.ascontiguousarray(differences), -1e-12, below)
    return below <= cut


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
