"""The scale on which scores add up: logits of shares, logarithms of positive values, or the values themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from recassay.core.types import BoolArray, FloatArray

Transform: TypeAlias = Literal["logit", "log", "identity"]

FLOOR = 0.5
"""A score of 0 stands at this share of the least positive score of its dataset, where a logarithm needs one."""


@dataclass(frozen=True, slots=True, eq=False)
class Scale:
    """A transform with the direction in it: on the scale, higher is always better.

    `moved` counts scores of 0 (or of 1 under a logit) that were moved off the end of the scale.
    """

    transform: Transform
    """How scores are brought to the scale."""
    higher_is_better: bool
    moved: int = 0

    def forward(self, values: FloatArray) -> FloatArray:
        """Scores on the scale; NaN stays NaN."""
        if self.transform == "logit":
            found = np.log(values) - np.log1p(-values)
        elif self.transform == "log":
            found = np.log(values)
        else:
            found = values
        return found if self.higher_is_better else -found

    def backward(self, scores: FloatArray) -> FloatArray:
        """From the scale to the metric's own units."""
        up = scores if self.higher_is_better else -scores
        if self.transform == "logit":
            return 1 / (1 + np.exp(-up))
        return np.exp(up) if self.transform == "log" else up

    def slope(self, values: FloatArray) -> FloatArray:
        """The absolute derivative of the scale at these values: what an error of the value becomes on it."""
        if self.transform == "logit":
            return 1 / (values * (1 - values))
        return 1 / values if self.transform == "log" else np.ones_like(values)


def choose_scale(values: FloatArray, higher_is_better: bool) -> tuple[Scale, FloatArray]:
    """The scale for these values (datasets x algorithms, NaN where missing), and the values kept off its ends.

    Logits where all lie between 0 and 1, logarithms where none is negative, the values themselves else. A score of 0
    has no logarithm: it takes half the least positive score of its dataset (of the table where a dataset has none).
    """
    known = values[np.isfinite(values)]
    if known.min() < 0 or known.max() == 0:
        return Scale("identity", higher_is_better), values
    transform: Transform = "logit" if known.max() <= 1 else "log"
    low = _end(values, values > 0)
    kept = np.where(values == 0, FLOOR * low, values)
    if transform == "logit":
        kept = np.where(kept == 1, 1 - FLOOR * _end(1 - values, values < 1), kept)
    return Scale(transform, higher_is_better, int(np.nansum(kept != np.where(np.isnan(values), kept, values)))), kept


def _end(values: FloatArray, inside: BoolArray) -> FloatArray:
    """The least of the values inside the scale on each dataset (a column), or on all where a dataset has none."""
    candidates = np.where(inside, values, np.inf)
    least = candidates.min(axis=1, keepdims=True)
    whole = candidates.min()
    return np.where(np.isfinite(least), least, whole if np.isfinite(whole) else 0.5)
