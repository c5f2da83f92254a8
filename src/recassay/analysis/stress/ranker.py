"""Rankings of many changed tables at once: the engine of the stress tests."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from math import comb

import numpy as np

from recassay.analysis.aggregation.contest import Contest, Parts
from recassay.analysis.aggregation.rules import DolanMore, Rule
from recassay.analysis.inference.bootstrap import random_subsets
from recassay.core import ties
from recassay.core.blocks import number_blocks
from recassay.core.choices import MANY_ALGORITHMS, VERY_MANY
from recassay.core.types import FloatArray, IntArray

NUMBERS_AT_ONCE = 2_000_000
"""Values (tables x algorithms x datasets) held in memory together."""

POINTS_OF_MANY, POINTS_OF_VERY_MANY = 10, 5


@dataclass(frozen=True, slots=True)
class Ranker:
    """Every aggregation as a function from weights of the datasets to ranks, on one table (`contest`)."""

    rules: tuple[Rule, ...]
    contest: Contest
    options: DolanMore = field(default_factory=DolanMore)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the aggregations."""
        return tuple(rule.name for rule in self.rules)

    def __call__(self, weights: FloatArray) -> FloatArray:
        """Ranks, rules x draws x algorithms.

        weights: draws x datasets, 1 for a dataset that takes part and 0 for one that does not.
        """
        return self.of(self.contest, weights)

    def of(self, contest: Contest, weights: FloatArray, *, judged: int | None = None) -> FloatArray:
        """The same of another contest. With `judged`, all algorithms compete but only the first so many are ranked,
        among themselves."""
        ranks = np.empty((len(self.rules), len(weights), contest.n_algorithms if judged is None else judged))
        for r, rule in enumerate(self.rules):
            scores = rule.score(contest, weights, self.options)[:, :judged]
            ranks[r] = ties.ranks(scores, higher_is_better=rule.higher_is_better(contest.higher_is_better))
        return ranks

    def among(self, chosen: IntArray) -> FloatArray:
        """Ranks, rules x draws x size, among a part of the algorithms alone (positions, draws x size)."""
        n_datasets = self.contest.values.shape[2]
        blocks = number_blocks(len(chosen), chosen.shape[1] * n_datasets, NUMBERS_AT_ONCE)
        parts = [Parts(self.contest, chosen[block]) for block in blocks]
        return np.concatenate([self.of(part, np.ones((len(part.values), n_datasets))) for part in parts], axis=1)


def subsets(order: IntArray, size: int, draws: int, rng: np.random.Generator) -> tuple[IntArray, bool]:
    """All subsets of `size` where they number at most `draws`, else so many drawn at random.

    `order` has all positions in an order of their content, so that what is drawn does not depend on names. Positions
    (subsets x size, ascending), and whether these are all that exist.
    """
    total = len(order)
    if comb(total, size) <= draws:
        return np.array(list(combinations(range(total), size)), dtype=np.int64).reshape(-1, size), True
    return np.sort(order[random_subsets(total, size, draws, rng)], axis=1), False


def fewer_points(usual: int, algorithms: int) -> int:
    """How many sizes or copies are tried: the usual number, 10 with more than 60 algorithms, 5 with more than 400."""
    if algorithms <= MANY_ALGORITHMS:
        return usual
    return min(usual, POINTS_OF_MANY if algorithms <= VERY_MANY else POINTS_OF_VERY_MANY)


def spread(low: int, high: int, most: int) -> list[int]:
    """At most `most` whole numbers from `low` to `high`, both included, evenly spread."""
    return [int(x) for x in np.unique(np.linspace(low, high, min(most, high - low + 1)).round())]
