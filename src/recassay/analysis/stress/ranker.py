"""Rankings of many changed tables at once: the engine of the stress tests."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import combinations
from math import comb

import numpy as np

from recassay.analysis.aggregation.contest import Contest, Parts
from recassay.analysis.aggregation.rules import DolanMore, Rule
from recassay.core import ties
from recassay.core.choices import MANY_ALGORITHMS, VERY_MANY
from recassay.core.types import FloatArray, IntArray

NUMBERS_AT_ONCE = 2_000_000
"""Values (tables x algorithms x datasets) held in memory together."""

POINTS_OF_MANY, POINTS_OF_VERY_MANY = 10, 5


@dataclass(frozen=True, slots=True)
class Ranker:
    """Every aggregation as a function from tables to ranks."""

    rules: tuple[Rule, ...]
    higher_is_better: bool
    options: DolanMore = field(default_factory=DolanMore)

    def __call__(self, values: FloatArray, weights: FloatArray) -> FloatArray:
        """Ranks, rules x draws x algorithms, of one table (algorithms x datasets).

        weights: draws x datasets, 1 for a dataset that takes part and 0 for one that does not.
        """
        return self.of(self.contest(values), weights)

    def contest(self, values: FloatArray) -> Contest:
        """The duels of one table."""
        return Contest(values[None], higher_is_better=self.higher_is_better)

    def of(self, contest: Contest, weights: FloatArray, *, judged: int | None = None) -> FloatArray:
        """The same of a contest. With `judged`, all algorithms compete but only the first so many are ranked, among
        themselves."""
        ranks = np.empty((len(self.rules), len(weights), contest.n_algorithms if judged is None else judged))
        for r, rule in enumerate(self.rules):
            scores = rule.score(contest, weights, self.options)[:, :judged]
            ranks[r] = ties.ranks(scores, higher_is_better=rule.higher_is_better(self.higher_is_better))
        return ranks

    def among(self, whole: Contest, chosen: IntArray) -> FloatArray:
        """Ranks, rules x draws x size, among a part of the algorithms alone (positions, draws x size)."""
        n_datasets = whole.values.shape[2]
        block = max(1, NUMBERS_AT_ONCE // (chosen.shape[1] * n_datasets))
        parts = [chosen[start : start + block] for start in range(0, len(chosen), block)]
        return np.concatenate([self.of(Parts(whole, part), np.ones((len(part), n_datasets))) for part in parts], axis=1)

    def only(self, *names: str) -> Ranker:
        """The same with these rules alone, as far as it has them."""
        return replace(self, rules=tuple(rule for rule in self.rules if rule.name in names))

    def with_beta(self, beta_max: float) -> Ranker:
        """The same with another largest ratio of the Dolan-Moré rules."""
        return replace(self, options=DolanMore(beta_max, self.options.step))


def reranked(ranks: FloatArray) -> FloatArray:
    """Ranks along the last axis made whole again (1 to k, ties shared) after others were left out."""
    return ties.ranks(ranks, higher_is_better=False)


@dataclass(frozen=True, slots=True, eq=False)
class Subsets:
    """Chosen positions (draws x size, ascending) out of `total`; `exhaustive` where they are all that exist."""

    chosen: IntArray
    total: int
    exhaustive: bool

    def weights(self) -> FloatArray:
        """1 where chosen, 0 elsewhere: draws x total."""
        weights = np.zeros((len(self.chosen), self.total))
        np.put_along_axis(weights, self.chosen, 1.0, axis=1)
        return weights


def subsets(total: int, size: int, draws: int, rng: np.random.Generator) -> Subsets:
    """All subsets of `size` out of `total` where they number at most `draws`, else so many drawn at random."""
    if comb(total, size) <= draws:
        chosen = np.array(list(combinations(range(total), size)), dtype=np.int64).reshape(-1, size)
        return Subsets(chosen, total, True)
    order = np.argsort(rng.random((draws, total)), axis=1)[:, :size]
    return Subsets(np.sort(order, axis=1), total, False)


def fewer_points(usual: int, algorithms: int) -> int:
    """How many sizes or copies are tried: the usual number, 10 with more than 60 algorithms, 5 with more than 400."""
    if algorithms <= MANY_ALGORITHMS:
        return usual
    return min(usual, POINTS_OF_MANY if algorithms <= VERY_MANY else POINTS_OF_VERY_MANY)


def spread(low: int, high: int, most: int) -> list[int]:
    """At most `most` whole numbers from `low` to `high`, both included, evenly spread."""
    return [int(x) for x in np.unique(np.linspace(low, high, min(most, high - low + 1)).round())]
