"""Training that goes on in iterations: all at once, or in a few stages that tuning can look at."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar, Generic, Protocol, TypeVar

import numpy as np

from recassay.algorithms.kernels.positives import Positives
from recassay.core.specs.search import Tunable
from recassay.core.types import Float32Array, Interactions, Recommender

Model = TypeVar("Model", bound=Recommender)
Model_co = TypeVar("Model_co", bound=Recommender, covariant=True)


class Training(Protocol[Model_co]):
    """A training under way."""

    def advance(self, iterations: int) -> None:
        """Do so many further iterations."""

    def model(self) -> Model_co:
        """The model as it is now; training on does not change it."""


class Iterated(Tunable, ABC, Generic[Model]):
    """An algorithm that is trained in iterations; a subclass says how one training begins."""

    counted_by: ClassVar[str] = "iterations"
    """The parameter that says how many iterations there are."""
    most_stages: ClassVar[int] = 8
    """Stages of one training: enough to stop a bad trial early, few enough for their lists to cost little."""

    @abstractmethod
    def training(self, train: Interactions, rng: np.random.Generator) -> Training[Model]:
        """A training that has not begun."""

    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Model:
        """The model after all iterations."""
        training = self.training(train, rng)
        training.advance(getattr(self, self.counted_by))
        return training.model()

    def fit_steps(self, train: Interactions, *, rng: np.random.Generator) -> Iterator[Model]:
        """The model after each of several stages of nearly equal length; the last is that of `fit`."""
        training, iterations = self.training(train, rng), getattr(self, self.counted_by)
        stages, done = max(1, min(self.most_stages, iterations)), 0
        for stage in range(1, stages + 1):
            until = iterations * stage // stages
            training.advance(until - done)
            done = until
            yield training.model()


class TwoSides(ABC, Generic[Model_co]):
    """A training that improves the factors of all users and of all items in turn, each side given the other.

    The factors begin as even random numbers from 0 to `largest`.
    """

    def __init__(self, by_user: Positives, factors: int, largest: float, rng: np.random.Generator) -> None:
        self._by_user, self._by_item = by_user, by_user.transposed()
        self._users, self._items = (
            rng.random((size, factors), dtype=np.float32) * np.float32(largest)
            for size in (by_user.n_users, by_user.n_items)
        )
        self._rng, self._done = rng, 0

    @abstractmethod
    def improve(self, rows: Positives, fixed: Float32Array, moved: Float32Array) -> None:
        """Bring every row of `moved` nearer to the best, given its events and the factors `fixed` of the other side."""

    def advance(self, iterations: int) -> None:
        """So many further turns of both sides."""
        for _ in range(iterations):
            self.improve(self._by_user, self._items, self._users)
            self.improve(self._by_item, self._users, self._items)
        self._done += iterations

    @abstractmethod
    def model(self) -> Model_co:
        """The model as it is now; training on does not change it."""
