"""Largest first: the order of work, by costs that are learned from the cells already done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from recassay.core.predicted_seconds import predict_seconds
from recassay.core.types import FloatArray
from recassay.runner.work import WorkCell

EXPECTED = {"baseline": -3.0, "closed form": -1.0, "factor model": 0.0, "other": 0.0, "neural": 2.0}
"""By class of algorithms, the natural logarithm of the seconds by which it is expected to differ from factor models
before any of its cells was run: orders of magnitude, that a few cells outweigh.
"""

AGAIN = 0.05
"""Costs are learned again when the number of finished cells has grown by this share."""


class LearnedCosts:
    """Expected seconds of the cells of a plan: a function of the cells that were done when it last learned.

    A cell is an algorithm on a dataset (seeds and folds are taken together), `sizes` are by dataset, where they are
    known.
    """

    def __init__(self, cells: Sequence[WorkCell], classes: Mapping[str, str], sizes: Mapping[str, float]) -> None:
        names = tuple(dict.fromkeys(cell.row.algorithm for cell in cells))
        datasets = tuple(dict.fromkeys(cell.row.dataset for cell in cells))
        self._algorithms = {name: n for n, name in enumerate(names)}
        self._datasets = {name: n for n, name in enumerate(datasets)}
        self._classes = [classes.get(name, "other") for name in names] if classes else None
        known = np.array([sizes.get(name, np.nan) for name in datasets], dtype=np.float64)
        filled = np.where(np.isfinite(known), known, np.nanmean(known) if np.isfinite(known).any() else 1.0)
        self._log_size: FloatArray | None = np.log(np.maximum(filled, 1.0)) if sizes else None
        shape = (len(names), len(datasets))
        self._sum, self._count = np.zeros(shape), np.zeros(shape)
        self._learned_at = 0
        self._predicted = self._predict()

    def add(self, cell: WorkCell, seconds: float) -> None:
        """Note what a cell took."""
        place = self._algorithms[cell.row.algorithm], self._datasets[cell.row.dataset]
        self._sum[place] += seconds
        self._count[place] += 1

    def learn(self) -> bool:
        """Learn where enough is new; whether it did."""
        done = int(self._count.sum())
        if done <= self._learned_at * (1 + AGAIN):
            return False
        self._learned_at, self._predicted = done, self._predict()
        return True

    def seconds(self, cell: WorkCell) -> float:
        """What a cell is expected to take."""
        return float(self._predicted[self._algorithms[cell.row.algorithm], self._datasets[cell.row.dataset]])

    def _predict(self) -> FloatArray:
        with np.errstate(invalid="ignore"):
            mean = np.where(self._count > 0, self._sum / np.maximum(self._count, 1), np.nan)
        return predict_seconds(mean, self._log_size, self._classes, EXPECTED)


def chain_seconds(cell: WorkCell, seconds: float, known: int = 0) -> float:
    """How long a cell of `seconds` in all is still at work at least, when so many of its trials are known.

    In one piece: all of it. In trials as jobs of their own: a share for each round to come, and one for the last fit.
    """
    if not cell.rounds.trials:
        return seconds
    return seconds * (cell.rounds.left(known) + 1) / (cell.rounds.trials + 1)
