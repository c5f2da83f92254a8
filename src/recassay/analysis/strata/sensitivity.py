"""The popularity sensitivity of a ranking: how far the order on the least popular items is from that on all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recassay.analysis.inference.bootstrap import intervals
from recassay.analysis.strata.pairs import PairTests
from recassay.core import ties
from recassay.core.types import FloatArray


@dataclass(frozen=True, slots=True)
class OrderSensitivity:
    """A Kendall distance (0: the same order, 1: the reverse) with its bootstrap interval.

    Of the `pairs` of algorithms, `flipped` change places between the ends, and `proven` do so with a significant
    difference at both ends: the part of the distance that is more than noise between equals.
    """

    estimate: float
    low: float
    high: float
    pairs: int
    flipped: int
    proven: int

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "estimate": self.estimate,
            "interval": [self.low, self.high],
            "pairs": self.pairs,
            "flipped": self.flipped,
            "proven": self.proven,
        }


@dataclass(frozen=True, slots=True)
class StudySensitivity:
    """Over the datasets of a study: the mean distance, and the distance between the two orders by mean rank.

    `by_mean_rank` compares the order of the algorithms (those on every dataset) by mean rank at the lowest thresholds
    with that at the highest. NaN where fewer than two algorithms are on every dataset.
    """

    estimate: float
    low: float
    high: float
    by_mean_rank: float
    by_mean_rank_low: float
    by_mean_rank_high: float
    n_datasets: int
    n_algorithms: int

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "estimate": self.estimate,
            "interval": [self.low, self.high],
            "by_mean_rank": {
                "estimate": self.by_mean_rank,
                "interval": [self.by_mean_rank_low, self.by_mean_rank_high],
                "algorithms": self.n_algorithms,
            },
            "datasets": self.n_datasets,
        }


def kendall_distance(one: FloatArray, other: FloatArray) -> FloatArray:
    """The share of pairs that two orders (rows x algorithms, by value) put in opposite order; NaN without a pair.

    A pair that is tied in exactly one of the two orders counts one half (K^(1/2) of Fagin et al. 2004, Comparing and
    aggregating rankings with ties), one tied in both counts nothing.
    """
    left, right = np.triu_indices(one.shape[-1], k=1)
    if not len(left):
        return np.full(one.shape[:-1], np.nan)
    apart = ties.sign(one[..., left], one[..., right]) - ties.sign(other[..., left], other[..., right])
    distance: FloatArray = np.abs(apart).mean(axis=-1) / 2
    return distance


def sensitivity(
    means: FloatArray, replicates: FloatArray, tests: PairTests, *, n_users: int, alpha: float, confidence: float
) -> OrderSensitivity:
    """The distance between the orders at the first and the last threshold.

    `means` is thresholds x algorithms, `replicates` the same for each draw of users. The interval is the expanded
    percentile interval over draws, widened to attained values. Two algorithms that are equal in truth flip in half of
    all draws, so both the estimate and the interval include such noise: `proven` does not.
    """
    drawn = kendall_distance(replicates[:, 0], replicates[:, -1])
    low, high = intervals(drawn[:, None], n_users, confidence, discrete=True)[0]
    first, last = np.sign(tests.difference[0]), np.sign(tests.difference[-1])
    flips = first * last < 0
    sure = flips & (tests.p_holm[0] < alpha) & (tests.p_holm[-1] < alpha)
    estimate = float(kendall_distance(means[0], means[-1]))
    return OrderSensitivity(estimate, float(low), float(high), len(flips), int(flips.sum()), int(sure.sum()))


def study_sensitivity(
    ends: Sequence[tuple[FloatArray, FloatArray]],
    common: Sequence[Sequence[int]],
    *,
    higher_is_better: bool,
    n_users: int,
    confidence: float,
    rng: np.random.Generator,
) -> StudySensitivity:
    """The mean distance over datasets, and the distance between the orders by mean rank.

    Each of `ends` is a dataset: its means (2 x algorithms: first and last threshold) and its draws of users
    (replicates x 2 x algorithms). `common` holds for each the positions of the algorithms that every dataset has, in
    one order. The intervals are two-stage: datasets are drawn with replacement, then a draw of users for each; with one
    dataset, users alone (`n_users` of them).
    """
    n = len(ends)
    units = n if n > 1 else n_users
    distances = np.array([float(kendall_distance(means[0], means[1])) for means, _ in ends])
    replicates = min(len(draws) for _, draws in ends)
    drawn = np.stack([kendall_distance(draws[:replicates, 0], draws[:replicates, 1]) for _, draws in ends])
    which, user_draw = rng.integers(n, size=(replicates, n)), rng.integers(replicates, size=(replicates, n))
    low, high = intervals(drawn[which, user_draw].mean(axis=1)[:, None], units, confidence, discrete=True)[0]
    by_rank, rank_low, rank_high = np.nan, np.nan, np.nan
    if len(common[0]) > 1:
        chosen = [(means[:, at], draws[:replicates, :, at]) for (means, draws), at in zip(ends, common, strict=True)]
        own = np.stack([ties.ranks(means, higher_is_better=higher_is_better) for means, _ in chosen]).mean(axis=0)
        ranks = np.stack([ties.ranks(draws, higher_is_better=higher_is_better) for _, draws in chosen])
        mean_rank = ranks[which, user_draw].mean(axis=1)
        by_rank = float(kendall_distance(own[0], own[1]))
        drawn_by_rank = kendall_distance(mean_rank[:, 0], mean_rank[:, 1])
        rank_low, rank_high = intervals(drawn_by_rank[:, None], units, confidence, discrete=True)[0]
    return StudySensitivity(
        estimate=float(distances.mean()),
        low=float(low),
        high=float(high),
        by_mean_rank=by_rank,
        by_mean_rank_low=float(rank_low),
        by_mean_rank_high=float(rank_high),
        n_datasets=n,
        n_algorithms=len(common[0]),
    )
