"""What survives a change of the table: how often who is first, and who is before whom, stays so; and so what holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from recassay.analysis.aggregation.rules import Rule, first_shares
from recassay.core.system.display import worded
from recassay.core.types import BoolArray, FloatArray

KEPT = 0.95
"""A statement holds under an aggregation where this share of the changed tables keeps it."""

MOST = 0.75
"""It survives where it holds under this share of the aggregations; below half it does not."""

Verdict = Literal["survives", "depends on the aggregation", "does not survive"]


@dataclass(frozen=True, slots=True)
class Change:
    """How the table was changed: some of its datasets or algorithms were left out, or a copy of one was added."""

    kind: Literal["datasets", "algorithms", "copies"]
    """What was left out, or that a copy was added."""
    left_out: int = 0
    """How many were left out."""
    of: int = 0
    """How many there are."""

    @property
    def name(self) -> str:
        """One word; the number of datasets is part of it."""
        return f"{self.kind}_{self.left_out}" if self.kind == "datasets" else self.kind

    @property
    def when(self) -> str:
        """What was changed, as the end of a sentence."""
        return str(worded("stress", "when", self))


@dataclass(frozen=True, slots=True, eq=False)
class Survival:
    """`first[r, a]`: share of the changed tables in which a is first under rule r; `ahead[r, a, b]`: in which a is
    before b. Ties share the first place and count half. Tables without a (or b) do not count.
    """

    change: Change
    """How the table was changed."""
    tried: int
    """How many changed tables there were."""
    exhaustive: bool
    """Whether these are all that are possible."""
    first: FloatArray
    ahead: FloatArray


def survival(change: Change, ranks: FloatArray, *, exhaustive: bool) -> Survival:
    """From ranks (rules x tables x algorithms; NaN for an algorithm that a table lacks)."""
    n_rules, tried, count = ranks.shape
    first, ahead = np.empty((n_rules, count)), np.empty((n_rules, count, count))
    present = np.isfinite(ranks[0])
    both = np.maximum(present.T.astype(np.float64) @ present, 1)
    for r in range(n_rules):
        filled = np.where(present, ranks[r], np.inf)
        first[r] = first_shares(filled).sum(axis=0) / np.maximum(present.sum(axis=0), 1)
        for a in range(count):  # a rank that is missing is before nobody
            rank = ranks[r, :, a, None]
            ahead[r, a] = np.count_nonzero(rank < ranks[r], axis=0) + 0.5 * np.count_nonzero(rank == ranks[r], axis=0)
        ahead[r] /= both
    return Survival(change, tried, exhaustive, first, ahead)


@dataclass(frozen=True, slots=True)
class Conclusion:
    """A statement, the change it was put to, and the share of changed tables that keep it under each aggregation."""

    kind: Literal["first", "before"]
    """That the algorithm is first, or that the first of two is before the second."""
    algorithms: tuple[str, ...]
    """The algorithm, or the two."""
    change: Change
    """The change that it was put to."""
    shares: tuple[float, ...]
    """By aggregation, the share of changed tables that keep it."""

    @property
    def statement(self) -> str:
        """In words."""
        return str(worded("stress", "statement", self))

    @property
    def holds_under(self) -> int:
        """The number of aggregations under which at least 95 % of the changed tables keep it."""
        return sum(share >= KEPT for share in self.shares)

    @property
    def verdict(self) -> Verdict:
        """By `MOST` and one half of the aggregations."""
        part = self.holds_under / len(self.shares)
        return "survives" if part >= MOST else "does not survive" if part < 0.5 else "depends on the aggregation"


def leading_order(
    rules: tuple[Rule, ...], reference: FloatArray, mean_ranks: FloatArray, names: tuple[str, ...]
) -> list[int]:
    """Positions of the algorithms, best first, in the order that the statements are about: that by mean rank.

    It is the order of the tests and of every other verdict. Where the mean rank is not among the aggregations, it is
    the mean of the ranks under those that are (rules x algorithms).
    """
    keys = mean_ranks if any(rule.name == "mean_rank" for rule in rules) else reference.mean(axis=0)
    return sorted(range(len(names)), key=lambda a: (keys[a], names[a]))


def conclude(order: list[int], names: tuple[str, ...], survivals: list[Survival]) -> Iterator[Conclusion]:
    """That the first of the order is first, and that each is before the next, under each change."""
    best = order[0]
    for survived in survivals:
        yield Conclusion("first", (names[best],), survived.change, tuple(survived.first[:, best].tolist()))
        for a, b in pairwise(order):
            shares = tuple(survived.ahead[:, a, b].tolist())
            yield Conclusion("before", (names[a], names[b]), survived.change, shares)


def tiers(order: list[int], change: Survival) -> list[list[int]]:
    """The order cut where every algorithm above is before every one below, and that survives the change.

    Within a tier the order is not to be relied on; between tiers it is.
    """
    holds = (change.ahead >= KEPT).mean(axis=0)[np.ix_(order, order)] >= MOST
    # The last place below each that is not surely behind it: no cut before that.
    places = np.arange(len(order))
    reach = np.maximum.accumulate(np.where(~holds & (places > places[:, None]), places, 0).max(axis=1))
    groups: list[list[int]] = [[order[0]]]
    for place in range(1, len(order)):
        if reach[place - 1] < place:
            groups.append([])
        groups[-1].append(order[place])
    return groups


def deciding_datasets(reference: FloatArray, without: FloatArray, best: int) -> BoolArray:
    """`[r, d]`: under rule r the algorithm `best` is first, and without dataset d alone it no longer is."""
    leads = reference[:, best] == reference.min(axis=1)
    still = without[:, :, best] == without.min(axis=2)
    return np.asarray(leads[:, None] & ~still)
