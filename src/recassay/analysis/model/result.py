"""What the hierarchical model says of algorithms, pairs, variances and missing cells."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl

from recassay.analysis.model.scale import Scale
from recassay.core import columns as c
from recassay.core.tables.matrix import MatrixResult
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
class TippingPoint:
    """What the cells of `algorithm` that were not run would have to be, on average, for another leader: the geometric
    middle of the values that are `expected` of them and of those `needed`, in the metric's units."""

    algorithm: str
    cells: int
    """How many of its cells are missing."""
    expected: float
    needed: float
    leader: str
    """Who would lead then."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How far the draws can be trusted, the worst of all algorithms."""

    r_hat: float
    """Split R-hat of the levels: the chains agree where it is below 1.01."""
    effective: float
    """The independent draws that these are worth."""
    error: float
    """The standard error of P(best) by chance."""


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
class ModelResult(MatrixResult):
    """The hierarchical model of one metric. All probabilities are shares of draws."""

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
    tipping: tuple[TippingPoint, ...]
    """How far the missing cells would have to differ from that to change the leader."""
    identical: tuple[tuple[str, ...], ...]
    """Algorithms with the same value on every dataset."""
    negligible: float
    """Levels and scores that differ by less, on `scale`, are the same."""
    failing: FloatArray
    """What each algorithm's failures cost it on average, on `scale`: where levels are the same, the lower is better."""
    families: int | None
    """How many families of datasets there are; None: all datasets count as independent."""
    sampling: Sampling
    """How far the draws can be trusted."""
    within: float
    confidence: float
    seed: int

    def probability_best(self) -> FloatArray:
        """For each algorithm, the probability that its level is the highest."""
        return first_shares(self.level, self.negligible, self.failing)

    def probability_first(self) -> FloatArray:
        """For each algorithm, the probability of being first on a new dataset of this kind."""
        return first_shares(self.new, self.negligible)

    def better(self) -> FloatArray:
        """`[a, b]`: the probability that the level of a is above that of b."""
        return _above(self.level, self.negligible, self.failing)

    def beats(self) -> FloatArray:
        """`[a, b]`: the probability that a beats b on a new dataset of this kind."""
        return _above(self.new, self.negligible, np.zeros(len(self.algorithms)))

    def ratios(self) -> FloatArray:
        """Draws of the level of each algorithm relative to the best one of the draw, as ratios of odds (or values): at
        most 1. With a metric whose lower values are better the ratio is best to own."""
        return np.exp(self.level - self.level.max(axis=1, keepdims=True))

    def equal(self) -> FloatArray:
        """`[a, b]`: the probability that the levels differ by less than `within`, relatively."""
        width = np.log1p(self.within)
        if self.scale.transform == "identity":
            width = self.within * float(np.abs(self.level).mean())
        return _pair_shares(self.level, width)[1]

    def order(self) -> list[int]:
        """Positions of the algorithms by mean level, best first; those of the same level by what failures cost."""
        step = max(self.negligible, 1e-300)
        mean = np.rint(self.level.mean(axis=0) / step)
        return sorted(range(len(mean)), key=lambda a: (-mean[a], self.failing[a], self.algorithms[a]))

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
        order, names = np.array(self.order()), np.array(self.algorithms, dtype=object)
        left, right = (order[places] for places in np.triu_indices(len(order), 1))
        return pl.DataFrame(
            {
                "left": names[left],
                "right": names[right],
                "probability_better": self.better()[left, right],
                "probability_beats": self.beats()[left, right],
                "probability_equal": self.equal()[left, right],
            }
        )

    def frames(self) -> dict[str, pl.DataFrame]:
        """Algorithms, pairs, variances, and the predicted cells where there are any."""
        variances = {name: value for name, value in asdict(self.shares).items() if name != "datasets"}
        frames = {
            "model": self.to_frame(),
            "model_pairs": self.pairs_frame(),
            "model_variances": pl.DataFrame({"source": list(variances), "variance": list(variances.values())}),
        }
        if self.predicted:
            frames["model_predicted"] = pl.DataFrame([asdict(cell) for cell in self.predicted])
        return frames

    def to_dict(self) -> dict[str, Any]:
        """Levels, probabilities, variances, predicted cells, tipping points and how far the draws can be trusted."""
        names, levels = self.algorithms, self.levels()
        return {
            **stated(self, "metric", "higher_is_better", "algorithms", "datasets"),
            "scale": self.scale.transform,
            "levels": estimates(names, levels[:, 0], levels[:, 1:]),
            "probability_best": by_name(self.probability_best(), names),
            "probability_first": by_name(self.probability_first(), names),
            "better": by_pair(self.better(), names, self.order()),
            "beats": by_pair(self.beats(), names, self.order()),
            "equal": by_pair(self.equal(), names, self.order()),
            "variances": {**asdict(self.shares), "of_a_difference": self.shares.of_a_difference()},
            "predicted": [
                {c.ALGORITHM: cell.algorithm, c.DATASET: cell.dataset, "estimate": cell.estimate,
                 "interval": [cell.low, cell.high]}
                for cell in self.predicted
            ],
            **stated(self, "tipping", "identical", "sampling"),
            "settings": {**stated(self, "within", "confidence", "families"), "draws": len(self.level),
                         "seed": self.seed, "moved_off_the_end": self.scale.moved},
        }  # fmt: skip


def first_shares(draws: FloatArray, negligible: float = 0.0, failing: FloatArray | None = None) -> FloatArray:
    """How often each column is the highest. Columns that are the same within `negligible` are parted by what their
    failures cost, where that is given, and share the draw where that is the same, too."""
    first = draws >= draws.max(axis=1, keepdims=True) - negligible
    if failing is not None:
        cost = np.where(first, failing, np.inf)
        first &= cost <= cost.min(axis=1, keepdims=True) + negligible
    return np.asarray((first / first.sum(axis=1, keepdims=True)).mean(axis=0))


def _above(draws: FloatArray, negligible: float, failing: FloatArray) -> FloatArray:
    """Shares of draws with the row above the column; where both are the same, failures decide, or each counts half."""
    above, near = _pair_shares(draws, negligible)
    cost = failing - failing[:, None]
    return above + near * np.where(np.abs(cost) <= negligible, 0.5, cost > 0)


def _pair_shares(draws: FloatArray, width: float) -> tuple[FloatArray, FloatArray]:
    from recassay.analysis.model.pairs import pair_shares

    return pair_shares(np.ascontiguousarray(draws.T), width)
