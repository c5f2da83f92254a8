"""What learning from pairs of items has in common: how training visits the events, and what it improves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from recassay.algorithms.kernels.compiled import compiled
from recassay.algorithms.kernels.positives import POSITIVES_BYTES, Positives, States, draw, fresh_state
from recassay.algorithms.kernels.scoring import FactorRecommender
from recassay.core.types import Float32Array, IdArray, IntArray, Interactions

EVENTS_A_VISIT = 8
"""Events of one user that are learned from in a row: the user's factors then stay in the processor's cache."""

SMALL_CATALOGUE = 4_000
"""Up to so many items, `hardest_of` of them are drawn; more from larger catalogues, chosen on seven validation sets."""
MOST_LARGER = 4.0


def draws(hardest_of: int, n_items: int) -> int:
    """How many items are drawn for an event, of which the wrong one that scores highest is learned from."""
    return 1 + round((hardest_of - 1) * min(max(n_items / SMALL_CATALOGUE, 1.0), MOST_LARGER))


class Visited(NamedTuple):
    """The events as they are visited, and the state of the draws on the way."""

    users: IdArray
    items: IdArray
    state: States


class Factors(NamedTuple):
    """What is learned, or a number for each of its numbers."""

    users: Float32Array
    items: Float32Array
    bias: Float32Array


class Visits:
    """A random order of all events, another one every epoch, in which a user's events come a few at a time.

    A visit is a run of at most `length` events of one user. Every epoch shuffles the events of each user and then the
    visits, so that each event is met exactly once.
    """

    def __init__(self, positives: Positives, rng: np.random.Generator, length: int) -> None:
        self.events = Visited(state=fresh_state(rng), items=positives.items.copy(), users=positives.users())
        self._first, self._rng = positives.first, rng
        self._starts = visit_starts(positives.first, length)

    def next_epoch(self) -> IntArray:
        """Shuffle: the events of each user are in a new order, the answer is where each visit begins."""
        if len(self._starts) < len(self.events.items):
            _shuffle_rows(self._first, self.events.items, self.events.state)
        return self._rng.permutation(self._starts)


class PairTraining(ABC):
    """Factors of users and items and a bias of items, improved by visits to the events; `learn` says how."""

    def __init__(
        self, train: Interactions, factors: int, rng: np.random.Generator, *, events_a_visit: int = EVENTS_A_VISIT
    ) -> None:
        self.positives = Positives.of(train)
        users, items = centred_factors(train.n_users, factors, rng), centred_factors(train.n_items, factors, rng)
        self.factors = Factors(users, items, np.zeros(train.n_items, dtype=np.float32))
        self.visits = Visits(self.positives, rng, events_a_visit)
        self._rng, self._done = rng, 0

    @abstractmethod
    def learn(self, starts: IntArray) -> None:
        """One epoch: visit the events in the order of `starts`."""

    def advance(self, iterations: int) -> None:
        """So many further epochs."""
        for _ in range(iterations):
            self.learn(self.visits.next_epoch())
        self._done += iterations

    def model(self) -> FactorRecommender:
        """The factors as they are now."""
        return FactorRecommender(*(part.copy() for part in self.factors), rng=self._rng, iterations=self._done)


def pairs_bytes(factors: int, copies: int, n_users: int, n_items: int, n_interactions: int) -> int:
    """Memory of a `PairTraining`: factors and biases `copies` times, and the pairs.

    While the pairs are made they take more than the order of the visits later.
    """
    return copies * 4 * (factors + 1) * (n_users + n_items) + POSITIVES_BYTES * n_interactions


def visit_starts(first: IntArray, length: int = EVENTS_A_VISIT) -> IntArray:
    """The positions at which visits begin, where the events of row r are at `first[r]` to `first[r + 1]`."""
    position = np.arange(first[-1]) - np.repeat(first[:-1], np.diff(first))
    return np.flatnonzero(position % length == 0)


def centred_factors(rows: int, factors: int, rng: np.random.Generator) -> Float32Array:
    """Even random numbers from -1 / (2 factors) to 1 / (2 factors): inner products begin near zero."""
    return (rng.random((rows, factors), dtype=np.float32) - np.float32(0.5)) / np.float32(factors)


@compiled
def _shuffle_rows(first: IntArray, items: IdArray, state: States) -> None:
    for row in range(len(first) - 1):
        begin = first[row]
        for last in range(first[row + 1] - begin - 1, 0, -1):
            chosen = begin + draw(state, last + 1)
            kept = items[chosen]
            items[chosen] = items[begin + last]
            items[begin + last] = kept
