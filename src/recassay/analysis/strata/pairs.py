"""Pairs of algorithms on one stratum after another: paired tests at each threshold, and where the order flips."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from recassay.analysis.inference.distributions import t_sf
from recassay.analysis.inference.significance import holm
from recassay.core import ties
from recassay.core.types import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class PairTests:
    """Every two algorithms at every threshold (thresholds x pairs), `left` and `right` being positions.

    `difference` is in the metric's units, positive where `left` is better and 0 where the means tie; `p_holm` is
    adjusted over the pairs of one threshold.
    """

    left: IntArray
    right: IntArray
    difference: FloatArray
    t: FloatArray
    """The t of the paired test over users."""
    p: FloatArray
    """Its p-values."""
    p_holm: FloatArray


@dataclass(frozen=True, slots=True)
class Crossing:
    """Two algorithms change places: `first` is ahead up to threshold `below`, `second` from threshold `above` on.

    `threshold` is where the line between the two differences, over the logarithm of P, meets zero. Each side is the run
    of thresholds up to the neighbouring crossings: its p is the smallest Holm-adjusted one of the run times the number
    of all thresholds, so that a sweep may be searched for it.
    """

    first: str
    second: str
    below: int
    above: int
    threshold: float
    p_below: float
    """The p-value of the side up to `below`."""
    p_above: float
    """The p-value of the side from `above` on."""
    significant_below: bool
    """Whether `first` is significantly ahead on its side."""
    significant_above: bool
    """Whether `second` is on its side."""

    @property
    def proven(self) -> bool:
        """Whether both sides are significant."""
        return self.significant_below and self.significant_above


def paired_tests(scores: FloatArray, *, higher_is_better: bool) -> PairTests:
    """Student's paired t-test over users for every two algorithms at each threshold (the test of the paper's Table 1).

    t = mean(d) / (s(d) / sqrt(n)) with n - 1 degrees of freedom, d the differences of the n users in T_P. No p is below
    2 / 2^m, m the users whose d is not 0: if the signs of their differences were coins, all would fall alike that
    often. Without that, three users with equal differences, which have no spread, would give p = 0.
    Means that tie differ by 0.
    """
    n_thresholds, n_algorithms, _ = scores.shape
    left, right = np.triu_indices(n_algorithms, k=1)
    mean, t, p, coins = (np.empty((n_thresholds, len(left))) for _ in range(4))
    for row, block in enumerate(scores):
        values = block[:, np.isfinite(block[0])]
        n = values.shape[1]
        for a in range(n_algorithms - 1):
            at = left == a
            gaps = (values[a] - values[a + 1 :]) * (1.0 if higher_is_better else -1.0)
            tied = ties.sign(values[a].mean(), values[a + 1 :].mean(axis=1)) == 0
            mean[row, at] = np.where(tied, 0.0, gaps.mean(axis=1))
            error = gaps.std(axis=1, ddof=1) / np.sqrt(n) if n > 1 else np.full(len(gaps), np.inf)
            t[row, at] = _quotient(mean[row, at], error)
            coins[row, at] = 2.0 ** (1 - np.count_nonzero(gaps, axis=1))
        p[row] = np.clip(2 * t_sf(np.abs(t[row]), max(n - 1, 1)), np.minimum(coins[row], 1.0), 1.0)
    adjusted = np.stack([holm(row) for row in p])
    return PairTests(left.astype(np.int64), right.astype(np.int64), mean, t, p, adjusted)


def _quotient(mean: FloatArray, error: FloatArray) -> FloatArray:
    flat = error <= ties.RELATIVE_TIE * np.abs(mean)
    safe = np.where(flat, 1.0, error)
    return np.where(flat, np.where(mean == 0, 0.0, np.copysign(np.inf, mean)), mean / safe)


def find_crossings(
    tests: PairTests, thresholds: tuple[int, ...], algorithms: tuple[str, ...], alpha: float
) -> tuple[Crossing, ...]:
    """The places where the sign of a difference changes between two neighbouring thresholds without a tie.

    Thresholds at which the two are exactly equal belong to neither side. Ordered by threshold.
    """
    crossings = []
    order = np.sign(tests.difference).astype(np.int64)
    for pair in np.flatnonzero((order > 0).any(axis=0) & (order < 0).any(axis=0)):
        ordered = np.flatnonzero(order[:, pair])
        flips = np.flatnonzero(np.diff(order[ordered, pair]))
        runs = np.split(ordered, flips + 1)
        p_of_run = [min(1.0, len(thresholds) * float(tests.p_holm[run, pair].min())) for run in runs]
        names = algorithms[tests.left[pair]], algorithms[tests.right[pair]]
        for i, (before, after) in enumerate(pairwise(runs)):
            low, high = int(before[-1]), int(after[0])
            first, second = names if order[low, pair] > 0 else names[::-1]
            gap_low, gap_high = (abs(float(tests.difference[at, pair])) for at in (low, high))
            share = gap_low / (gap_low + gap_high)
            crossings.append(
                Crossing(
                    first=first,
                    second=second,
                    below=thresholds[low],
                    above=thresholds[high],
                    threshold=thresholds[low] ** (1 - share) * thresholds[high] ** share,
                    p_below=p_of_run[i],
                    p_above=p_of_run[i + 1],
                    significant_below=p_of_run[i] < alpha,
                    significant_above=p_of_run[i + 1] < alpha,
                )
            )
    return tuple(sorted(crossings, key=lambda crossing: (crossing.threshold, crossing.first, crossing.second)))
