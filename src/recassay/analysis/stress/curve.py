"""Spearman's rho against the strength of a change: what every stress test measures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from recassay.core.tabular import long_frame
from recassay.core.types import FloatArray, IntArray

NUMBERS = ("rho", "low", "high", "error", "lowest")
"""What is told of the agreement at each strength of a change."""

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """The rho of every aggregation at one strength: over changed tables, and over more of them for the interval.

    judged: rules x tables that the estimate is the mean of. around: rules x tables whose middle 95 % is the interval
    (the same ones where None). exhaustive: the tables are all that exist, so that the mean has no error of chance.
    """

    x: float
    judged: FloatArray
    exhaustive: bool
    around: FloatArray | None = None

    def estimate(self) -> FloatArray:
        """Rules x 5: mean, low and high end of the interval, standard error of the mean, lowest."""
        tail = 50 * (1 - CONFIDENCE)
        around = self.judged if self.around is None else self.around
        low, high = np.percentile(around, [tail, 100 - tail], axis=1)
        count = self.judged.shape[1]
        error = self.judged.std(axis=1, ddof=1) / np.sqrt(count) if not self.exhaustive and count > 1 else 0.0 * low
        return np.stack([self.judged.mean(axis=1), low, high, error, self.judged.min(axis=1)], axis=1)


def unchanged(n_rules: int) -> Point:
    """The point at strength 0: nothing is left out, so rho is 1."""
    return Point(0, np.ones((n_rules, 1)), True)


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """One test: `numbers[r, p]` are mean, low, high, standard error and lowest rho of rule r at strength `x[p]`.

    `tried[p]` tables were judged there. `title` names the strength, as an axis does.
    """

    test: str
    """Name of the test."""
    title: str
    rules: tuple[str, ...]
    """Names of the aggregations."""
    x: FloatArray
    tried: IntArray
    numbers: FloatArray

    @classmethod
    def of(cls, test: str, title: str, rules: tuple[str, ...], points: list[Point]) -> Curve:
        """The curve through `points`, in the order of their strength."""
        points = sorted(points, key=lambda point: point.x)
        return cls(
            test,
            title,
            rules,
            np.array([point.x for point in points]),
            np.array([point.judged.shape[1] for point in points], dtype=np.int64),
            np.stack([point.estimate() for point in points], axis=1),
        )

    @property
    def rho(self) -> FloatArray:
        """The mean rho: rules x points."""
        return self.numbers[:, :, 0]

    @property
    def error(self) -> FloatArray:
        """The standard error of the mean from the number of draws: rules x points; 0 where all were tried."""
        return self.numbers[:, :, 3]

    @property
    def lowest(self) -> FloatArray:
        """The lowest rho of any changed table: rules x points."""
        return self.numbers[:, :, 4]

    def to_frame(self) -> pl.DataFrame:
        """Long: test, aggregation, x, rho, low, high, error, lowest, tried."""
        return long_frame(
            {"test": [self.test], "aggregation": self.rules, "x": self.x.astype(float).tolist()},
            {NUMBERS: self.numbers, "tried": self.tried},
        )

    def to_dict(self) -> dict[str, Any]:
        """By aggregation, a list of points with `x`, `estimate`, `interval`, `error`, `lowest` and `tried`."""
        return {
            rule: [
                {"x": float(x), **estimated(self.numbers[r, p]), "lowest": float(self.numbers[r, p, 4]),
                 "tried": int(self.tried[p])}
                for p, x in enumerate(self.x)
            ]
            for r, rule in enumerate(self.rules)
        }  # fmt: skip


def estimated(numbers: FloatArray) -> dict[str, Any]:
    """One rule's numbers at one point as `estimate`, `interval` and `error`."""
    mean, low, high, error = (float(value) for value in numbers[:4])
    return {"estimate": mean, "interval": [low, high], "error": error}
