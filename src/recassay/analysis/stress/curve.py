"""Spearman's rho against the strength of a change: what every stress test measures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from recassay.core.tabular import long_frame
from recassay.core.types import FloatArray, IntArray

NUMBERS = ("rho", "low", "high", "error", "lowest")
"""The numbers of the agreement at each strength of a change."""

CONFIDENCE = 0.95

Points: TypeAlias = dict[float, tuple[int, FloatArray]]
"""By strength of a change, what was `measured`."""


def measured(judged: FloatArray, exhaustive: bool, around: FloatArray | None = None) -> tuple[int, FloatArray]:
    """The agreement at one strength of a change: how many tables were judged, and `NUMBERS` of each rule (rules x 5).

    judged: rules x changed tables, the rho that the mean is of. around: rules x tables whose middle 95 % is the
    interval (the same ones where None). exhaustive: the tables are all that exist, so that the mean has no error of
    chance.
    """
    tail, count = 50 * (1 - CONFIDENCE), judged.shape[1]
    low, high = np.percentile(judged if around is None else around, [tail, 100 - tail], axis=1)
    error = judged.std(axis=1, ddof=1) / np.sqrt(count) if not exhaustive and count > 1 else 0.0 * low
    return count, np.stack([judged.mean(axis=1), low, high, error, judged.min(axis=1)], axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """One test: `numbers[r, p]` are mean, low, high, standard error and lowest rho of rule r at strength `x[p]`.

    `tried[p]` tables were judged there.
    """

    test: str
    """Name of the test."""
    rules: tuple[str, ...]
    """Names of the aggregations."""
    x: FloatArray
    tried: IntArray
    numbers: FloatArray

    @classmethod
    def of(cls, test: str, rules: tuple[str, ...], points: Points) -> Curve:
        """The curve through what was `measured` at each strength, in the order of the strengths."""
        x = sorted(points)
        tried, numbers = zip(*(points[strength] for strength in x), strict=True)
        return cls(test, rules, np.array(x), np.array(tried, dtype=np.int64), np.stack(numbers, axis=1))

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
