"""What the hierarchical model says of algorithms, pairs, variances and missing cells."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl

from recassay.analysis.model.scale import Scale
from recassay.core import columns as c
from recassay.core.system.display import Displayed
from recassay.core.tabular import by_name, by_pair, estimates, long_frame, stated
from recassay.core.types import FloatArray


@dataclass(frozen=True, slots=True)
class PredictedCell:
    """A cell that was not run, as the model expects it, in the metric's units."""

    algorithm: str
    dataset: str
    estimate: float
    """The value that is expected."""
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Shares:
    """Variances on the model's scale: between algorithms, between datasets, of their interaction, and of one cell as a
    measurement: over its seeds or folds (`repeats`) and over its users (what two algorithms do not share)."""

    algorithm: float
    """Between algorithms."""
    dataset: float
    """Between datasets."""
    interaction: float
    """Of the interaction of algorithm and dataset."""
    repeats: float
    users: float
    """Of one cell over its users, where they are known."""
    datasets: int
    """How many datasets there are."""

    def of_a_difference(self) -> dict[str, float]:
        """Shares of the variance of the mean difference between two algorithms over the datasets of the table.

        The datasets' common level cancels; interaction, repeats and users are what is left, and each shrinks with the
        number of datasets; repeats also with more seeds, users with larger test parts.
        """
        parts = {"datasets": self.interaction, "repeats": self.repeats, "users": self.users}
        total = sum(parts.values())
        return {name: value / total if total > 0 else 0.0 for name, value in parts.items()}


@dataclass(frozen=True, slots=True, eq=False)
class ModelResult(Displayed):
    """The hierarchical model of one metric. All probabilities are shares of draws."""

    metric: str
    higher_is_better: bool
    algorithms: tuple[str, ...]
    datasets: tuple[str, ...]
    scale: Scale
    """The scale that the model is on (logit, logarithm, or the values as they are); on it higher is always better."""
    level: FloatArray
    """Draws x algorithms: the level of each algorithm over the population of datasets, on `scale`."""
    new: FloatArray
    """Draws x algorithms: its score on a new dataset of this kind, on `scale`."""
    shares: Shares
    """Where the variance of scores comes from."""
    predicted: tuple[PredictedCell, ...]
    """The cells that were not run, as the model expects them, in the metric's units."""
    within: float
    confidence: float
    seed: int

    def probability_best(self) -> FloatArray:
        """For each algorithm, the probability that its level is the highest."""
        return _first_shares(self.level)

    def probability_first(self) -> FloatArray:
        """For each algorithm, the probability of being first on a new dataset of this kind."""
        return _first_shares(self.new)

    def better(self) -> FloatArray:
        """`[a, b]`: the probability that the level of a is above that of b."""
        return _above(self.level)

    def beats(self) -> FloatArray:
        """`[a, b]`: the probability that a beats b on a new dataset of this kind."""
        return _above(self.new)

    def ratios(self) -> FloatArray:
        """Draws of the level of each algorithm relative to the best one of the draw, as ratios of odds (or values): at
        most 1. With a metric whose lower values are better the ratio is best to own."""
        return np.exp(self.level - self.level.max(axis=1, keepdims=True))

    def equal(self) -> FloatArray:
        """`[a, b]`: the probability that the levels differ by less than `within`, relatively."""
        width = np.log1p(self.within)
        if self.scale.transform == "identity":
            width = self.within * float(np.abs(self.level).mean())
        difference = self.level[:, :, None] - self.level[:, None, :]
        return np.asarray((np.abs(difference) < width).mean(axis=0))

    def order(self) -> list[int]:
        """Positions of the algorithms by mean level, best first."""
        mean = self.level.mean(axis=0)
        return sorted(range(len(self.algorithms)), key=lambda a: (-mean[a], self.algorithms[a]))

    def levels(self) -> FloatArray:
        """Median and interval of each level in the metric's units: the score on a dataset of the middle kind."""
        ends = (0.5, 0.5 - self.confidence / 2, 0.5 + self.confidence / 2)
        middle, low, high = self.scale.backward(np.quantile(self.level, ends, axis=0))
        return np.stack([middle, np.minimum(low, high), np.maximum(low, high)], axis=1)

    def to_frame(self) -> pl.DataFrame:
        """One row per algorithm, best level first."""
        return long_frame(
            {c.ALGORITHM: self.algorithms},
            {
                ("level", "low", "high"): self.levels(),
                "probability_best": self.probability_best(),
                "probability_first": self.probability_first(),
            },
            order=self.order(),
        )

    def pairs_frame(self) -> pl.DataFrame:
        """One row per pair, the better first: probabilities of being better, of winning a new dataset, of equality."""
        better, beats, equal, order = self.better(), self.beats(), self.equal(), self.order()
        return pl.DataFrame(
            [
                {"left": self.algorithms[a], "right": self.algorithms[b], "probability_better": better[a, b],
                 "probability_beats": beats[a, b], "probability_equal": equal[a, b]}
                for i, a in enumerate(order)
                for b in order[i + 1 :]
            ]
        )  # fmt: skip

    def frames(self) -> dict[str, pl.DataFrame]:
        """Algorithms, pairs, variances, and the predicted cells where there are any."""
        frames = {
            "model": self.to_frame(),
            "model_pairs": self.pairs_frame(),
            "model_variances": pl.DataFrame(
                [
                    {"source": name, "variance": value}
                    for name, value in asdict(self.shares).items()
                    if name != "datasets"
                ]
            ),
        }
        if self.predicted:
            frames["model_predicted"] = pl.DataFrame([asdict(cell) for cell in self.predicted])
        return frames

    def to_dict(self) -> dict[str, Any]:
        """`levels`, `probability_best`, `probability_first`, `better`, `beats`, `equal`, `variances`, `predicted`."""
        names, levels = self.algorithms, self.levels()
        return {
            **stated(self, "metric", "higher_is_better", "algorithms", "datasets"),
            "scale": self.scale.transform,
            "levels": estimates(names, levels[:, 0], levels[:, 1:]),
            "probability_best": by_name(self.probability_best(), names),
            "probability_first": by_name(self.probability_first(), names),
            "better": by_pair(self.better(), names),
            "beats": by_pair(self.beats(), names),
            "equal": by_pair(self.equal(), names),
            "variances": {**asdict(self.shares), "of_a_difference": self.shares.of_a_difference()},
            "predicted": [
                {c.ALGORITHM: cell.algorithm, c.DATASET: cell.dataset, "estimate": cell.estimate,
                 "interval": [cell.low, cell.high]}
                for cell in self.predicted
            ],
            "settings": {**stated(self, "within", "confidence"), "draws": len(self.level), "seed": self.seed,
                         "moved_off_the_end": self.scale.moved},
        }  # fmt: skip


def _first_shares(draws: FloatArray) -> FloatArray:
    return np.bincount(draws.argmax(axis=1), minlength=draws.shape[1]) / len(draws)


def _above(draws: FloatArray) -> FloatArray:
    """Shares of draws in which the row is above the column."""
    return np.asarray((draws[:, :, None] > draws[:, None, :]).mean(axis=0))
