"""Classifiers that learn nothing and mark the limits (Cardoso et al., 4.2.1, after Martínez-Plumed et al.)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.int64]


class Artificial:
    """Base: knows the classes of the training rows, and gets the truth of the test rows when it answers."""

    role: ClassVar[str] = "artificial"
    source: ClassVar[str] = "Cardoso et al., 4.2.1"

    def __init__(self, random_state: int | None = None) -> None:
        self.random_state = random_state
        self.counts: Labels = np.zeros(0, dtype=np.int64)

    def fit(self, features: Any, labels: Labels) -> Artificial:
        """Count the classes; the features are not looked at."""
        self.counts = np.bincount(labels)
        return self

    def answer(self, truth: Labels) -> Labels:
        """A class for every test row."""
        raise NotImplementedError


class Optimal(Artificial):
    """Every answer right."""

    def answer(self, truth: Labels) -> Labels:
        """The truth."""
        return truth.copy()


class Pessimal(Artificial):
    """Every answer wrong: the class after the right one."""

    def answer(self, truth: Labels) -> Labels:
        """A class that is not the truth; with one class in training, one that does not exist."""
        return (truth + 1) % max(2, len(self.counts))


class Majority(Artificial):
    """Always the most frequent class of the training rows (the first of several)."""

    def answer(self, truth: Labels) -> Labels:
        """The most frequent class."""
        return np.full(len(truth), int(self.counts.argmax()))


class Minority(Artificial):
    """Always the rarest class of the training rows (the first of several)."""

    def answer(self, truth: Labels) -> Labels:
        """The rarest class that occurs."""
        return np.full(len(truth), int(np.where(self.counts > 0, self.counts, self.counts.sum() + 1).argmin()))


class RandomClassifier(Artificial):
    """Any class, each with the same chance."""

    def answer(self, truth: Labels) -> Labels:
        """Independent draws, uniform over the classes."""
        return np.random.default_rng(self.random_state).integers(len(self.counts), size=len(truth))
