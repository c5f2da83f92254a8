"""The popularity sensitivity of a ranking: how far the order on the least popular items is from that on all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recassay.analysis.strata.pairs import PairTests
from recassay.core import ties
from recassay.core.tabular import stated
from recassay.core.types import FloatArray


@dataclass(frozen=True, slots=True)
class Chance:
    """How far two orders are apart by chance alone: those on random halves of the users at one and the same P.

    `mean` over halvings, and the middle `confidence` share of them from `low` to `high`. A half has fewer users than
    the whole, so that its order is less firm: chance is rather overstated than understated.
    """

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, distances: FloatArray, confidence: float) -> Chance:
        """Of the distances of many halvings; undefined ones do not count."""
        known = distances[np.isfinite(distances)]
        if not len(known):
            return cls(float("nan"), float("nan"), float("nan"))
        outer = (1 - confidence) / 2
        low, high = np.quantile(known, [outer, 1 - outer])
        return cls(float(known.mean()), float(low), float(high))

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"mean": self.mean, "interval": [self.low, self.high]}


@dataclass(frozen=True, slots=True)
class OrderSensitivity:
    """The share of pairs whose order turns round between the ends (0: none, 1: all), beside what chance gives.

    Of the `pairs` of algorithms, `observed` have an order at both ends: where two algorithms tie (mostly because
    neither has a hit) nothing was seen that could turn. `flipped` of those change places, and `proven` do so with a
    significant difference at both ends.
    """

    estimate: float
    """The share of pairs whose order turns round."""
    chance: Chance
    """What random halves of the users give."""
    pairs: int
    observed: int
    flipped: int
    proven: int

    @property
    def beyond_chance(self) -> bool:
        """Whether the orders are farther apart than on random halves of the users mostly, and a pair is proven.

        The first alone happens to six equal algorithms in 8 % of cases, since halves of one sample vary less than two
        samples.
        """
        return self.estimate > self.chance.high and self.proven > 0

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return stated(self, "estimate", "chance", "beyond_chance", "pairs", "observed", "flipped", "proven")


@dataclass(frozen=True, slots=True)
class StudySensitivity:
    """Over the datasets of a study: the mean distance, and the distance between the two orders by mean rank.

    `by_mean_rank` compares the order of the algorithms (those on every dataset) by mean rank at the lowest thresholds
    with that at the highest. NaN where fewer than two algorithms are on every dataset.
    """

    estimate: float
    """The mean over datasets of the share of pairs whose order turns round."""
    chance: Chance
    """What random halves of the users give of it."""
    by_mean_rank: float
    by_mean_rank_chance: Chance
    """What they give of `by_mean_rank`."""
    n_datasets: int
    n_algorithms: int
    """How many algorithms are on every dataset."""
    proven: int
    """Pairs, summed over datasets, that differ significantly at both ends in opposite directions."""

    @property
    def beyond_chance(self) -> bool:
        """Whether the mean distance is larger than that of random halves mostly is, and a pair is proven."""
        return self.estimate > self.chance.high and self.proven > 0

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            **stated(self, "estimate", "chance", "beyond_chance"),
            "by_mean_rank": {
                "estimate": self.by_mean_rank,
                "chance": self.by_mean_rank_chance.to_dict(),
                "algorithms": self.n_algorithms,
            },
            "datasets": self.n_datasets,
            "proven": self.proven,
        }


def order_distance(here: FloatArray, other: FloatArray) -> FloatArray:
    """The share of pairs that two orders (rows x algorithms, by value) put in opposite order: Kendall's distance.

    Only pairs with an order in both count; NaN where there is none.
    """
    left, right = np.triu_indices(here.shape[-1], k=1)
    product = ties.sign(here[..., left], here[..., right]) * ties.sign(other[..., left], other[..., right])
    seen = (product != 0).sum(axis=-1)
    return np.where(seen > 0, (product < 0).sum(axis=-1) / np.maximum(seen, 1), np.nan)


def halved_distances(halves: FloatArray) -> FloatArray:
    """The distances between the two halves of every halving, those at the first threshold, then those at the last.

    `halves` is halvings x 2 halves x 2 ends x algorithms (see `user_halves`).
    """
    return order_distance(halves[:, 0], halves[:, 1]).T.ravel()


def _mean_of_known(values: FloatArray) -> FloatArray:
    """Over the datasets (rows); NaN where nothing is known."""
    known = np.isfinite(values)
    count = known.sum(axis=0)
    total = np.where(known, values, 0.0).sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def sensitivity(
    means: FloatArray, halves: FloatArray, tests: PairTests, *, alpha: float, confidence: float
) -> OrderSensitivity:
    """The distance between the orders at the first and the last threshold (`means`: thresholds x algorithms)."""
    first, last = np.sign(tests.difference[0]), np.sign(tests.difference[-1])
    flips = first * last < 0
    sure = flips & (tests.p_holm[0] < alpha) & (tests.p_holm[-1] < alpha)
    return OrderSensitivity(
        estimate=float(order_distance(means[0], means[-1])),
        chance=Chance.of(halved_distances(halves), confidence=confidence),
        pairs=len(flips),
        observed=int((first * last != 0).sum()),
        flipped=int(flips.sum()),
        proven=int(sure.sum()),
    )


def study_sensitivity(
    ends: Sequence[tuple[FloatArray, FloatArray]],
    common: Sequence[Sequence[int]],
    *,
    higher_is_better: bool,
    confidence: float,
    proven: int,
) -> StudySensitivity:
    """The mean distance over datasets, and the distance between the orders by mean rank.

    Each of `ends` is a dataset: its means (2 x algorithms: first and last threshold) and its halves of users.
    `common` holds for each the positions of the algorithms that every dataset has, in one order; `proven` pairs turn
    round significantly on single datasets.
    """
    distances = np.array([float(order_distance(means[0], means[1])) for means, _ in ends])
    halved = np.stack([halved_distances(halves) for _, halves in ends])
    by_rank, by_chance = np.nan, Chance(np.nan, np.nan, np.nan)
    if len(common[0]) > 1:
        chosen = [(means[:, at], halves[..., at]) for (means, halves), at in zip(ends, common, strict=True)]
        mean_ranks = np.mean([ties.ranks(means, higher_is_better=higher_is_better) for means, _ in chosen], axis=0)
        ranks = np.mean([ties.ranks(halves, higher_is_better=higher_is_better) for _, halves in chosen], axis=0)
        by_rank = float(order_distance(mean_ranks[0], mean_ranks[1]))
        by_chance = Chance.of(halved_distances(ranks), confidence=confidence)
    return StudySensitivity(
        estimate=float(_mean_of_known(distances)),
        chance=Chance.of(_mean_of_known(halved), confidence=confidence),
        by_mean_rank=by_rank,
        by_mean_rank_chance=by_chance,
        n_datasets=len(ends),
        n_algorithms=len(common[0]),
        proven=proven,
    )
