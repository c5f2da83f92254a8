"""Predicting the order of algorithms on a dataset from its characteristics, and what that is worth on unseen ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from recassay.analysis.dataset_space.space import Standardisation
from recassay.core.types import FloatArray, IntArray

BASELINE = "overall mean rank"


@dataclass(frozen=True, slots=True)
class OrderModel:
    """A way to predict ranks: the baseline, the mean over the `strength` nearest, or ridge with that penalty."""

    kind: Literal["baseline", "nearest", "ridge"]
    strength: float = 0.0

    @property
    def name(self) -> str:
        """For people."""
        if self.kind == "baseline":
            return BASELINE
        return f"{self.strength:g} nearest datasets" if self.kind == "nearest" else f"ridge, penalty {self.strength:g}"


CANDIDATES = (
    OrderModel("baseline"),
    *(OrderModel("nearest", k) for k in (3, 5, 8, 12)),
    *(OrderModel("ridge", penalty) for penalty in (10, 30, 100, 300)),
)
"""Every penalty acts on characteristics in standard deviations and shrinks towards the baseline."""


def distances(points: FloatArray, others: FloatArray) -> FloatArray:
    """Root mean squared difference over characteristics, in standard deviations: rows of `points` x `others`."""
    return np.sqrt(((points[:, None, :] - others[None, :, :]) ** 2).mean(axis=2))


def predict(candidate: OrderModel, points: FloatArray, ranks: FloatArray, new: FloatArray) -> FloatArray:
    """The ranks (new datasets x algorithms) predicted from standardised `points` (datasets x characteristics)."""
    if candidate.kind == "baseline":
        return np.repeat(ranks.mean(axis=0)[None], len(new), axis=0)
    if candidate.kind == "nearest":
        near = nearest(distances(new, points), int(candidate.strength))
        return ranks[near].mean(axis=1)
    centre, mean = points.mean(axis=0), ranks.mean(axis=0)
    inner = points - centre
    gram = inner.T @ inner + candidate.strength * np.eye(points.shape[1])
    return mean + (new - centre) @ np.linalg.solve(gram, inner.T @ (ranks - mean))


def nearest(distance: FloatArray, k: int) -> IntArray:
    """Positions of the k smallest of each row, nearest first; ties by position."""
    return np.argsort(distance, axis=1, kind="stable")[:, :k]


def left_out(candidate: OrderModel, points: FloatArray, ranks: FloatArray) -> FloatArray:
    """The prediction for each dataset from the others (for ridge by y - (y - fit) / (1 - leverage), which is exact)."""
    n = len(points)
    if candidate.kind == "baseline":
        return (ranks.sum(axis=0) - ranks) / (n - 1)
    if candidate.kind == "nearest":
        between = distances(points, points)
        np.fill_diagonal(between, np.inf)
        return ranks[nearest(between, min(int(candidate.strength), n - 1))].mean(axis=1)
    inner = points - points.mean(axis=0)
    gram = inner.T @ inner + candidate.strength * np.eye(points.shape[1])
    hat = 1 / n + inner @ np.linalg.solve(gram, inner.T)
    return ranks - (ranks - hat @ ranks) / (1 - np.diag(hat))[:, None]


def best_candidate(points: FloatArray, ranks: FloatArray) -> OrderModel:
    """The candidate with the least squared error of the ranks when each dataset is left out in turn."""
    usable = [each for each in CANDIDATES if each.kind != "nearest" or each.strength < len(points)]
    errors = [float(((left_out(each, points, ranks) - ranks) ** 2).mean()) for each in usable]
    return usable[int(np.argmin(errors))]


def nested_predictions(values: FloatArray, ranks: FloatArray) -> tuple[FloatArray, tuple[OrderModel, ...]]:
    """For each dataset, the prediction of a model chosen, scaled and fitted without it; and which model that was.

    `values` are the raw characteristics (datasets x characteristics). The error of these predictions is honest: the
    dataset that judges has no part in the choice among `CANDIDATES`, which is made by leaving out each of the others.
    """
    predicted = np.empty_like(ranks)
    chosen = []
    for held in range(len(values)):
        rest = np.arange(len(values)) != held
        scale = Standardisation.of(values[rest], log_skewed=True)
        points = scale(values[rest])
        chosen.append(best_candidate(points, ranks[rest]))
        predicted[held] = predict(chosen[-1], points, ranks[rest], bounded(scale, values[[held]], points))[0]
    return predicted, tuple(chosen)


def bounded(scale: Standardisation, new: FloatArray, points: FloatArray) -> FloatArray:
    """`new` on the scale of `points`, no farther outside their range than one standard deviation.

    A linear model may not be carried far beyond the datasets it was fitted on; the same rule holds in the
    leave-one-out error, so that its price is in there.
    """
    return np.clip(scale(new), points.min(axis=0) - 1, points.max(axis=0) + 1)
