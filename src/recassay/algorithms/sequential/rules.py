"""Rules between items: what follows what, counted. The simple methods that sequential models have to beat.

A recommender here is a sparse product: the last items of a history, weighed by how recent they are, times the rules
from one item to another. Items without a rule follow by popularity.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array, eye_array

from recassay.algorithms.kernels.compiled import in_parallel
from recassay.algorithms.kernels.counts import cooccurring_pairs
from recassay.algorithms.kernels.sparse_scoring import SparseRecommender, sparse_lists_bytes
from recassay.core.histories import Histories
from recassay.core.ranking import tie_order
from recassay.core.specs.search import SearchSpace, Tunable, choice, fixed, real, whole
from recassay.core.system.compiled import compiled_exactly
from recassay.core.types import Float32Array, IdArray, IntArray, Interactions, TopK

FALLS = {"same": 0.0, "1/distance": 1.0, "1/distance^2": 2.0}
"""By how much a pair counts less, the further apart its events are: the power of the distance."""


class _Rules(Tunable):
    """The parameters that all rules have.

    Asked are the `last` newest events of a history, j = 1, 2, ..., which count j^-`decay`.
    """

    reads_order: ClassVar[bool] = True

    last: int = whole(1, 50, default=1, log=True, least=1)
    decay: float = real(0.5, 3.0, default=1.5)

    def fit(self, train: Interactions, *, rng: np.random.Generator) -> RuleRecommender:
        """Count the rules."""
        known = Histories.of(train, np.arange(train.n_users, dtype=np.int32))
        weights = (np.arange(1.0, self.last + 1) ** -self.decay).astype(np.float32)
        return RuleRecommender(known, self._rules(known, train.n_items), weights, place=popular_first(train, rng))

    def _rules(self, known: Histories, n_items: int) -> csr_array:
        raise NotImplementedError

    def _reach(self, n_users: int, n_items: int, n_interactions: int) -> int:
        """How many rules there may be."""
        raise NotImplementedError

    def memory_bytes(self, n_users: int, n_items: int, n_interactions: int) -> int:
        """The histories and where they end, the rules twice, the last items of every user."""
        rules = min(self._reach(n_users, n_items, n_interactions), n_items**2)
        asked = min(n_users * self.last, n_interactions)
        return 80 * n_interactions + 20 * rules + 32 * (asked + n_users) + 2 * sparse_lists_bytes(n_items)


class LastItems(_Rules):
    """The last items of the user again, the newest first; the most popular items after them.

    Where lists may not name items that the user has had, only the popular ones are left.
    """

    name: ClassVar[str] = "LastItems"
    space: ClassVar[SearchSpace] = {}
    source: ClassVar[str] = (
        "Ariannezhad, Jullien, Li, Fang, Schelter, de Rijke: ReCANet, a repeat consumption-aware neural network for "
        "next basket recommendation (SIGIR 2022), repeated items as a baseline"
    )

    last: int = fixed(100, least=1)
    decay: float = fixed(1.0, least=0)

    def _rules(self, known: Histories, n_items: int) -> csr_array:
        return csr_array(eye_array(n_items, dtype=np.float32, format="csr"))

    def _reach(self, n_users: int, n_items: int, n_interactions: int) -> int:
        return n_items


class SequentialRules(_Rules):
    """Sequential rules: item b follows item a, at most `steps` events later, weighed by the distance (SR).

    w(a, b) = sum over all histories and all pairs of an event with a and one with b, d = 1 to `steps` events later, of
    1, 1 / d or 1 / d^2 (`weighting`). score(b) = sum over the `last` newest events j = 1, 2, ... of the history, with
    the item a_j, of j^-`decay` w(a_j, b) / (events with a_j)^`confidence`. As published, the newest event alone is
    asked: `last` = 1, where `confidence` changes nothing. The implementation in session-rec keeps the 20 best rules of
    each item; all are kept here.
    """

    name: ClassVar[str] = "SequentialRules"
    aliases: ClassVar[tuple[str, ...]] = ("SR",)
    source: ClassVar[str] = (
        "Kamehkhosh, Jannach, Ludewig: A comparison of frequent pattern techniques and a deep learning method for "
        "session-based recommendation (RecTemp at RecSys 2017)"
    )

    steps: int = whole(2, 50, default=10, log=True)
    weighting: str = choice(("1/distance", "1/distance^2"), default="1/distance", among=tuple(FALLS))
    last: int = whole(1, 50, default=20, log=True, least=1)
    confidence: float = real(0.0, 1.0, default=0.5)

    def _rules(self, known: Histories, n_items: int) -> csr_array:
        rules = rules_of(known, n_items, steps=self.steps, fall=FALLS[self.weighting])
        events = np.maximum(np.bincount(known.items, minlength=n_items), 1.0)
        rules.data *= np.repeat((events**-self.confidence).astype(np.float32), np.diff(rules.indptr))
        return rules

    def _reach(self, n_users: int, n_items: int, n_interactions: int) -> int:
        return n_interactions * self.steps


class MarkovChain(_Rules):
    """A Markov chain of the first order: how often item b came next after item a, for the user's newest item a."""

    name: ClassVar[str] = "MarkovChain"
    aliases: ClassVar[tuple[str, ...]] = ("MC",)
    space: ClassVar[SearchSpace] = {}
    source: ClassVar[str] = (
        "Ludewig, Jannach: Evaluation of session-based recommendation algorithms (UMUAI 2018), simple Markov chain"
    )

    last: int = fixed(1, least=1, most=1)
    decay: float = fixed(1.0, least=0)

    def _rules(self, known: Histories, n_items: int) -> csr_array:
        return rules_of(known, n_items, steps=1)

    def _reach(self, n_users: int, n_items: int, n_interactions: int) -> int:
        return n_interactions


class AssociationRules(_Rules):
    """Association rules of size two: how many pairs of events with a and b histories have, in any order.

    As published, the user's newest item alone is asked. The implementation in session-rec keeps the 20 best rules of
    each item; all are kept here.
    """

    name: ClassVar[str] = "AssociationRules"
    aliases: ClassVar[tuple[str, ...]] = ("AR",)
    source: ClassVar[str] = (
        "Ludewig, Jannach: Evaluation of session-based recommendation algorithms (UMUAI 2018), simple association rules"
    )

    last: int = whole(1, 20, default=1, log=True, least=1)

    def _rules(self, known: Histories, n_items: int) -> csr_array:
        ahead = rules_of(known, n_items, steps=int(known.lengths().max(initial=1)))
        return csr_array(ahead + ahead.T)

    def _reach(self, n_users: int, n_items: int, n_interactions: int) -> int:
        return 3 * cooccurring_pairs(n_users, n_items, n_interactions)


class RuleRecommender:
    """Lists by the rules of the newest items, by `weights` (newest first); equal scores stand by `place`."""

    def __init__(self, known: Histories, rules: csr_array, weights: Float32Array, *, place: IdArray) -> None:
        self._rules, self._weights, self._place = rules, weights, place
        self._lists = self._asked(known)

    def _asked(self, histories: Histories) -> SparseRecommender:
        newest = histories.last(len(self._weights))
        age = np.repeat(newest.starts[1:], newest.lengths()) - 1 - np.arange(len(newest.items))
        shape = (len(newest), len(self._place))
        left = csr_array((self._weights[age], newest.items, newest.starts), shape=shape)
        return SparseRecommender(left, self._rules, place=self._place)

    def recommend(self, users: IdArray, k: int, *, exclude: csr_array | None) -> TopK:
        """The k best items for each of `users`; see `Recommender`."""
        return self._lists.recommend(users, k, exclude=exclude)

    def recommend_from(self, histories: Histories, k: int, *, exclude: csr_array | None) -> TopK:
        """The k best items after each history; see `FoldsIn`."""
        everyone = np.arange(len(histories), dtype=np.int32)
        return self._asked(histories).recommend(everyone, k, exclude=exclude)


def popular_first(train: Interactions, rng: np.random.Generator) -> IdArray:
    """The place of every item by its number of events, most first; equal numbers stand in the order of `tie_order`."""
    events = np.bincount(train.item, minlength=train.n_items)
    place = np.empty(train.n_items, dtype=np.int32)
    place[np.lexsort((tie_order(train.n_items, rng), -events))] = np.arange(train.n_items, dtype=np.int32)
    return place


def rules_of(known: Histories, n_items: int, *, steps: int, fall: float = 0.0) -> csr_array:
    """Items x items: entry (a, b) adds up distance^-fall over the pairs of a and b, at most `steps` events later."""
    length = known.lengths()
    steps = max(1, min(steps, int(length.max(initial=1)) - 1))
    ahead = np.minimum(np.repeat(known.starts[1:], length) - 1 - np.arange(len(known.items)), steps)
    events = np.argsort(known.items, kind="stable")
    first = np.concatenate([[0], np.cumsum(np.bincount(known.items, minlength=n_items))]).astype(np.int64)
    pairs = np.concatenate([[0], np.cumsum(ahead[events])])[first]
    weights = (np.arange(1.0, steps + 1) ** -fall).astype(np.float32)
    items = np.require(known.items, np.int32, ["C", "W"])

    def count(part: slice) -> tuple[IntArray, IdArray, Float32Array]:
        room = int(np.minimum(np.diff(pairs[part.start : part.stop + 1]), n_items).sum())
        column, value = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.float32)
        rules = np.zeros(part.stop - part.start, dtype=np.int64)
        filled = _count_rules(items, ahead, events, first[part.start : part.stop + 1], weights, rules, column, value)
        return rules, column[:filled], value[:filled]

    counted = in_parallel(count, n_items) if n_items else []
    rules, column, value = (np.concatenate(arrays) for arrays in zip(*counted, strict=True))
    return csr_array((value, column, np.concatenate([[0], np.cumsum(rules)])), shape=(n_items, n_items))


@compiled_exactly
def _count_rules(
    items: IdArray,
    ahead: IntArray,
    events: IntArray,
    first: IntArray,
    weights: Float32Array,
    rules: IntArray,
    column: IdArray,
    value: Float32Array,
) -> int:
    """Write the rules of some items one after the other; how many these are."""
    sums = np.zeros(items.max() + 1 if len(items) else 0, dtype=np.float32)
    filled = 0
    for item in range(len(rules)):
        begin = filled
        for place in range(first[item], first[item + 1]):
            event = events[place]
            for distance in range(1, ahead[event] + 1):
                other = np.uint32(items[event + distance])
                if sums[other] == 0:
                    column[filled] = other
                    filled += 1
                sums[other] += weights[distance - 1]
        for place in range(begin, filled):
            value[place] = sums[np.uint32(column[place])]
            sums[np.uint32(column[place])] = 0
        rules[item] = filled - begin
    return filled
