"""The scale on which scores add up: logits of shares, logarithms of positive values, or the values themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from recassay.core.tables.labels import is_share
from recassay.core.types import BoolArray, FloatArray

Transform: TypeAlias = Literal["logit", "log", "identity"]

FLOOR = 0.5
"""A score of 0 stands at this share of the least positive score of its dataset, where a logarithm needs one."""


@dataclass(frozen=True, slots=True, eq=False)
class Scale:
    """A transform with the direction in it: on the scale, higher is always better.

    `moved` counts scores of 0 (or of 1 under a logit) that were moved off the end of the scale; `whole` is what the
    table writes for a share of 1: 100 where it is in percent.
    """

    transform: Transform
    """How scores are brought to the scale."""
    higher_is_better: bool
    moved: int = 0
    whole: float = 1.0

    def forward(self, values: FloatArray) -> FloatArray:
        """Scores on the scale; NaN stays NaN."""
        scores = values
        if self.transform == "logit":
            with np.errstate(divide="ignore"):  # a whole share is infinitely far up
                scores = np.log(values / self.whole) - np.log1p(-values / self.whole)
        elif self.transform == "log":
            scores = np.log(values)
        return scores if self.higher_is_better else -scores

    def backward(self, scores: FloatArray) -> FloatArray:
        """From the scale to the metric's own units."""
        up = scores if self.higher_is_better else -scores
        if self.transform == "logit":
            return self.whole / (1 + np.exp(-up))
        return np.exp(up) if self.transform == "log" else up

    def slope(self, values: FloatArray) -> FloatArray:
        """The absolute derivative of the scale at these values: what an error of the value becomes on it."""
        if self.transform == "logit":
            return self.whole / (values * (self.whole - values))
        return 1 / values if self.transform == "log" else np.ones_like(values)


def choose_scale(values: FloatArray, higher_is_better: bool, metric: str) -> tuple[Scale, FloatArray]:
    """The scale for these values (datasets x algorithms, NaN where missing), and the values kept off its ends.

    The metric decides: logits for shares, logarithms for other metrics without negative values, else the values
    themselves. A score of 0 has no logarithm: it takes half the least positive score of its dataset (of the table where
    a dataset has none).
    """
    known = values[np.isfinite(values)]
    if known.min() < 0 or known.max() == 0:
        return Scale("identity", higher_is_better), values
    share = is_share(metric) and known.max() <= 100
    whole = 100.0 if share and known.max() > 1 else 1.0
    kept = np.where(values == 0, FLOOR * _end(values, values > 0), values)
    if share:
        kept = np.where(kept == whole, whole - FLOOR * _end(whole - values, values < whole), kept)
    moved = int((np.isfinite(values) & (kept != values)).sum())
    return Scale("logit" if share else "log", higher_is_better, moved, whole), kept


def _end(values: FloatArray, inside: BoolArray) -> FloatArray:
    """The least of the values inside the scale on each dataset (a column), or on all where a dataset has none."""
    candidates = np.where(inside, values, np.inf)
    least = candidates.min(axis=1, keepdims=True)
    whole = candidates.min()
    return np.where(np.isfinite(least), least, whole if np.isfinite(whole) else 0.5)
