"""What learning from pairs of items has in common: how training visits the events, and what it improves.

The events of large data are cut into blocks of some users and some items, as in DSGD (Gemulla, Nijkamp, Haas &
Sismanis 2011, KDD). Blocks that share neither are learned from at once. The wrong items, too, come from the block.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from recassay.algorithms.kernels.compiled import compiled, in_rounds
from recassay.algorithms.kernels.positives import POSITIVES_BYTES, Positives, States, draw
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


MANY_EVENTS = 1 << 18
"""Data of fewer events are not cut: they are learned from within seconds on one thread."""

MOST_PARTS = 16
"""Into how many parts the users and the items of large data are cut: so many threads at most learn at once."""

ITEMS_A_PART = 256
"""The least that a part of the items has: a user's wrong items come from it."""

EVENTS_A_BLOCK = 1024
"""Below so many events in a block of a turn, handing out blocks would cost more than threads gain."""

EVENTS_A_MEETING = 2
"""About so many events of a user are learned from with one part of the items before the items are cut again.

With 16 on ml-1m-half, WARP and BPR lost 3 % of nDCG@10; with 2 they lost nothing.
"""


def parts_of(n_items: int, n_events: int) -> int:
    """Into how many parts users and items are cut: a power of two, by the size of the data alone."""
    fitting = max(n_items // ITEMS_A_PART, 1)
    return min(MOST_PARTS, 1 << (fitting.bit_length() - 1)) if n_events >= MANY_EVENTS else 1


def turns_of(parts: int, n_users: int, n_events: int) -> int:
    """How often the items are cut again in an epoch, each time for another share of the events."""
    wanted = n_events // max(parts * n_users * EVENTS_A_MEETING, 1)
    return max(1, min(wanted, n_events // (parts**2 * EVENTS_A_BLOCK))) if parts > 1 else 1


class Factors(NamedTuple):
    """What is learned, or a number for each of its numbers; items stand in the order of the turn's catalogue."""

    users: Float32Array
    items: Float32Array
    bias: Float32Array


class Blocks(NamedTuple):
    """The events of a turn, one block for each part of the users (its row) and part of the items (its column).

    Users are cut into ranges of about as many events; the items of part b are `catalogue[b * size:(b + 1) * size]`.
    """

    users: IdArray
    """The user of every event, block after block; a user's events in one block stand together."""
    places: IdArray
    """The place of its item in `catalogue`."""
    bounds: IntArray
    """Rows x (columns + 1): where each block begins, and the last of the row ends."""
    catalogue: IdArray
    """The items in a random order."""
    size: int
    starts: IntArray
    """Room for where the visits of a block begin, at the positions of its events."""
    length: int
    """The most events of a visit."""
    states: States
    """Rows x (columns + 1): the state of the draws in each block, and of those that shuffle the events of the row."""


class Visits:
    """A random order of all events, another one every epoch, by blocks that do not meet.

    Every epoch shuffles the events of each user and deals them to its turns. Every turn puts the catalogue into a new
    random order, which cuts the items into other parts. Its rounds learn from as many blocks at once as there are
    parts, no two of which have a user or an item in common. Within a block, a visit is a run of at most `length` events
    of one user; the visits come in a random order. So each event is met exactly once. Whatever is drawn in a block is
    drawn from a state of its own: the threads that work on it do not change it.
    """

    def __init__(self, positives: Positives, rng: np.random.Generator, length: int) -> None:
        n_events, n_items = len(positives.items), positives.n_items
        self.parts = parts_of(n_items, n_events)
        self.turns = turns_of(self.parts, positives.n_users, n_events)
        self._first, self._shuffled, self._rng = positives.first, positives.items.copy(), rng
        self._cuts = np.searchsorted(positives.first, np.arange(self.parts + 1) * n_events // self.parts)
        self._cuts[-1] = positives.n_users
        self._place = np.arange(n_items, dtype=np.int32)
        self.blocks = Blocks(
            users=np.empty(n_events, dtype=np.int32),
            places=np.empty(n_events, dtype=np.int32),
            bounds=np.zeros((self.parts, self.parts + 1), dtype=np.int64),
            catalogue=np.arange(n_items, dtype=np.int32),
            size=max(1, -(-n_items // self.parts)),
            starts=np.empty(n_events, dtype=np.int64),
            length=length,
            states=np.empty((self.parts, self.parts + 1), dtype=np.uint64),
        )

    def next_turn(self) -> tuple[IdArray, IntArray]:
        """The former place of the item at each place, and the rounds: the part of items that every row meets."""
        catalogue, states = self.blocks.catalogue, self.blocks.states
        moved = np.arange(len(catalogue), dtype=np.int32)
        if self.parts > 1:
            self._rng.shuffle(moved)
            catalogue[:] = catalogue[moved]
            self._place[catalogue] = np.arange(len(catalogue), dtype=np.int32)
        states[:] = self._rng.integers(1, 2**63, size=states.shape, dtype=np.uint64)
        return moved, (self._rng.permutation(self.parts)[:, None] + np.arange(self.parts)) % self.parts

    def fill(self, row: int, turn: int) -> None:
        """Put the events that a part of the users learns from in this turn into their blocks."""
        low, high = self._cuts[row : row + 2]
        first = self._first[low : high + 1]
        if turn == 0:
            _shuffle_rows(first, self._shuffled, self.blocks.states[row, -1:])
        _fill_row(first, self._shuffled, self._place, self.blocks, row, low, turn, self.turns)


class PairTraining(ABC):
    """Factors of users and items and a bias of items, improved by visits to the events; `learn` says how."""

    def __init__(
        self, train: Interactions, factors: int, rng: np.random.Generator, *, events_a_visit: int = EVENTS_A_VISIT
    ) -> None:
        self.positives = Positives.of(train)
        users, items = centred_factors(train.n_users, factors, rng), centred_factors(train.n_items, factors, rng)
        self.learned = [Factors(users, items, np.zeros(train.n_items, dtype=np.float32))]
        self.visits = Visits(self.positives, rng, events_a_visit)
        self._rng, self._done = rng, 0

    @abstractmethod
    def learn(self, row: int, column: int) -> None:
        """Visit the events of a block."""

    def advance(self, iterations: int) -> None:
        """So many further epochs."""
        in_rounds(self._rounds(iterations), alone=self.visits.parts == 1)
        self._done += iterations

    def _rounds(self, epochs: int) -> Iterator[list[Callable[[], None]]]:
        visits = self.visits
        rows = range(visits.parts)
        for turn in list(range(visits.turns)) * epochs:
            moved, rounds = visits.next_turn()
            yield [partial(visits.fill, row, turn) for row in rows]
            if visits.parts > 1:
                yield from self._move_items(moved)
            for columns in rounds.tolist():
                yield [partial(self.learn, row, column) for row, column in zip(rows, columns, strict=True)]

    def _move_items(self, moved: IdArray) -> Iterator[list[Callable[[], None]]]:
        """Bring what is learned of items into the new order: the items of a part then stand together in memory."""
        for at, (users, items, bias) in enumerate(self.learned):
            self.learned[at] = Factors(users, np.empty_like(items), bias[moved])
            size, new = self.visits.blocks.size, self.learned[at].items
            parts = [slice(start, start + size) for start in range(0, len(items), size)]
            yield [partial(np.take, items, moved[part], 0, new[part], "clip") for part in parts]

    def model(self) -> FactorRecommender:
        """The factors as they are now."""
        (users, items, bias), place = self.learned[0], np.argsort(self.visits.blocks.catalogue)
        return FactorRecommender(users.copy(), items[place], bias[place], rng=self._rng, iterations=self._done)


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


@compiled
def _fill_row(
    first: IntArray, items: IdArray, place: IdArray, blocks: Blocks, row: int, low: int, turn: int, turns: int
) -> None:
    """Put the turn's events of the users from `low` on, whose events begin at `first`, into their blocks."""
    bounds, size = blocks.bounds[row], blocks.size
    bounds.fill(0)
    for event in range(first[0] + turn, first[-1], turns):
        bounds[place[items[event]] // size + 1] += 1
    bounds[0] = first[0]
    for column in range(1, len(bounds)):
        bounds[column] += bounds[column - 1]
    following = bounds[:-1].copy()
    user = 0
    for event in range(first[0] + turn, first[-1], turns):
        while first[user + 1] <= event:
            user += 1
        column = place[items[event]] // size
        blocks.users[following[column]] = low + user
        blocks.places[following[column]] = place[items[event]]
        following[column] += 1


@compiled
def shuffled_visits(blocks: Blocks, begin: int, end: int, state: States) -> IntArray:
    """Where the visits of the block from `begin` to `end` begin, in a random order."""
    users, starts, visits, run = blocks.users, blocks.starts[begin:end], 0, 0
    for event in range(begin, end):
        run = run + 1 if event > begin and users[event] == users[event - 1] and run < blocks.length else 1
        if run == 1:
            starts[visits] = event
            visits += 1
    for last in range(visits - 1, 0, -1):
        chosen = draw(state, last + 1)
        kept = starts[chosen]
        starts[chosen] = starts[last]
        starts[last] = kept
    return starts[:visits]
