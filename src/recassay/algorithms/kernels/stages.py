"""Training that goes on in iterations: all at once, or in a few stages that tuning can look at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, TypeVar

from recassay.core.types import Recommender

Model_co = TypeVar("Model_co", bound=Recommender, covariant=True)

MOST_STAGES = 8
"""Stages of one training: enough to stop a bad trial early, few enough for their lists to cost little."""


class Training(Protocol[Model_co]):
    """A training under way."""

    def advance(self, iterations: int) -> None:
        """Do so many further iterations."""

    def model(self) -> Model_co:
        """The model as it is now; training on does not change it."""


def finish(training: Training[Model_co], iterations: int) -> Model_co:
    """The model after all `iterations`."""
    training.advance(iterations)
    return training.model()


def in_stages(training: Training[Model_co], iterations: int, *, most: int = MOST_STAGES) -> Iterator[Model_co]:
    """The model after each of at most `most` stages of nearly equal length; the last equals `finish`."""
    stages = max(1, min(most, iterations))
    done = 0
    for stage in range(1, stages + 1):
        until = iterations * stage // stages
        training.advance(until - done)
        done = until
        yield training.model()
