"""What ComPer concludes: scores, what they are made of, and how far their order can be relied on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, get_type_hints

import polars as pl

from recassay.analysis.comper.matrix import DIMENSIONS, CorrelationMatrix, Derivation
from recassay.analysis.comper.sensitivity import SCHEMES, OrderAgreement, Scheme, WeightSensitivity
from recassay.analysis.comper.table import DimensionTable
from recassay.core import columns as c
from recassay.core import ties
from recassay.core.choices import Normalisation
from recassay.core.system.display import Displayed, worded
from recassay.core.system.plain import plain
from recassay.core.tabular import by_name, long_frame
from recassay.core.types import FloatArray

__all__ = ["MEAN", "ComPerResult", "Derivation"]

MEAN = "mean over settings"


@dataclass(frozen=True, slots=True, eq=False)
class ComPerResult(Displayed):
    """ComPer's scores and what they are made of.

    Arrays are algorithms x settings [x dimensions]; a setting is a dataset under one split.
    """

    table: DimensionTable
    """The five dimensions as measured, with the names of algorithms and settings."""
    matrix: CorrelationMatrix
    """How strongly each dimension stands for each learning objective: the weights of the score."""
    normalisation: Normalisation
    """How the dimensions were brought to one scale."""
    normalised: FloatArray
    """The dimensions on that scale (the paper's d'), higher better."""
    agreements: tuple[OrderAgreement, ...]
    """For ComPer and other measures, how well the settings agree on the order of the algorithms."""
    sensitivities: tuple[WeightSensitivity, ...]
    """How often the order changes when the matrix is drawn at random, by way of drawing."""
    resampling_share: FloatArray | None = None
    """How often each algorithm has the highest mean score when the datasets are drawn again with all their settings;
    None with fewer than five datasets."""

    @property
    def scores(self) -> FloatArray:
        """Algorithm 1: algorithms x settings."""
        return self.normalised @ self.matrix.weights

    @property
    def sums(self) -> FloatArray:
        """The plain sum of the five dimensions as measured (section V.C.4, Figure 9a): units and directions mixed."""
        return self.table.values.sum(axis=2)

    @property
    def means(self) -> FloatArray:
        """The plain mean of the five dimensions as measured (Figure 9b)."""
        return self.table.values.mean(axis=2)

    @property
    def by_dimension(self) -> FloatArray:
        """What each dimension adds to the score: d' times the sum of its row."""
        return self.normalised * self.matrix.weights

    @property
    def by_objective(self) -> FloatArray:
        """What each learning objective adds to the score (step 2 of Algorithm 1): sum over d of d' Corr(d, o)."""
        return self.normalised @ self.matrix.values

    @property
    def notes(self) -> list[str]:
        """What a reader must know before reading the scores."""
        return list(worded("comper", "notes", self))

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The five dimensions, in the order of every array."""
        return DIMENSIONS

    @property
    def schemes(self) -> Mapping[Scheme, str]:
        """How weights were drawn at random, by name and in words."""
        return SCHEMES

    def order(self) -> list[int]:
        """Positions of the algorithms, highest mean score first."""
        mean = self.scores.mean(axis=1)
        return sorted(range(len(mean)), key=lambda a: (-mean[a], self.table.algorithms[a]))

    def agreement(self, measure: str = "comper") -> OrderAgreement | None:
        """Of one measure over all settings; None where there is one setting or one algorithm."""
        return next((each for each in self.agreements if each.measure == measure), None)

    def conclusions(self) -> list[str]:
        """What the numbers support, in sentences; none for a single algorithm."""
        return list(worded("comper", "sentences", self))

    def to_frame(self) -> pl.DataFrame:
        """One row per setting and algorithm: score, rank, plain sum and mean, dimensions as measured and as d'."""
        ranks = ties.ranks(self.scores, higher_is_better=True, axis=0)
        columns = {c.SCORE: self.scores, c.RANK: ranks, "sum": self.sums, "mean": self.means}
        for d, name in enumerate(DIMENSIONS):
            columns |= {name: self.table.values[:, :, d], f"{name}_normalised": self.normalised[:, :, d]}
        return long_frame(
            {c.DATASET: self.table.datasets, c.ALGORITHM: self.table.algorithms},
            {name: values.T for name, values in columns.items()},
        )

    def contributions_frame(self) -> pl.DataFrame:
        """Long: dataset, algorithm, kind (dimension or objective), name, contribution; each kind sums to the score."""
        kinds = (("dimension", DIMENSIONS, self.by_dimension), ("objective", self.matrix.objectives, self.by_objective))
        settings = {c.DATASET: self.table.datasets, c.ALGORITHM: self.table.algorithms}
        return pl.concat(
            long_frame(
                {**settings, "kind": [kind], "name": names},
                {"contribution": values.transpose(1, 0, 2)[:, :, None]},
            )
            for kind, names, values in kinds
        )

    def agreement_frame(self) -> pl.DataFrame:
        """One row per scope and measure."""
        rows = [asdict(agreement) for agreement in self.agreements]
        return pl.DataFrame(rows, schema=get_type_hints(OrderAgreement)).fill_nan(None)

    def sensitivity_frame(self) -> pl.DataFrame:
        """One row per scheme, setting (and the mean over settings) and algorithm: how often it is first."""
        return pl.concat(
            long_frame(
                {"scheme": [s.scheme], "setting": (*self.table.datasets, MEAN), c.ALGORITHM: self.table.algorithms},
                {
                    "order_changed": s.order_changed[:, None],
                    "first_changed": s.first_changed[:, None],
                    "probability_first": s.probability_first.T,
                    "draws": s.draws,
                },
            )
            for s in self.sensitivities
        )

    def frames(self) -> dict[str, pl.DataFrame]:
        """Scores with their dimensions, contributions, agreement, sensitivity and the matrix."""
        return {
            "comper_scores": self.to_frame(),
            "comper_contributions": self.contributions_frame(),
            "comper_agreement": self.agreement_frame(),
            "comper_sensitivity": self.sensitivity_frame(),
            "comper_matrix": self.matrix.to_frame(),
        }

    def to_dict(self) -> dict[str, Any]:
        """`scores[dataset][algorithm]`, and beside them dimensions, contributions, agreement and sensitivity."""
        table, objectives = self.table, self.matrix.objectives

        def nested(values: FloatArray, *inner: tuple[str, ...]) -> Any:
            return by_name(values.swapaxes(0, 1), table.datasets, table.algorithms, *inner)

        return plain(
            {
                "scores": nested(self.scores),
                "mean_scores": by_name(self.scores.mean(axis=1), table.algorithms),
                "resampling_share": by_name(self.resampling_share, table.algorithms),
                "normalisation": self.normalisation,
                "time_unit": table.time_unit,
                "metrics": dict(zip(DIMENSIONS, table.metrics, strict=True)),
                "negative_dimensions": [name for name, lower in zip(DIMENSIONS, table.negative, strict=True) if lower],
                "matrix": self.matrix,
                "weights": by_name(self.matrix.weights, DIMENSIONS),
                "dimensions": nested(table.values, DIMENSIONS),
                "normalised": nested(self.normalised, DIMENSIONS),
                "contributions": {
                    "dimensions": nested(self.by_dimension, DIMENSIONS),
                    "objectives": nested(self.by_objective, objectives),
                },
                "sum": nested(self.sums),
                "mean": nested(self.means),
                "agreement": self.agreements,
                "sensitivity": {drawn.scheme: self._sensitivity(drawn) for drawn in self.sensitivities},
                "notes": self.notes,
            }
        )

    def _sensitivity(self, drawn: WeightSensitivity) -> dict[str, Any]:
        settings = (*self.table.datasets, MEAN)
        return {
            "meaning": SCHEMES[drawn.scheme],
            "draws": drawn.draws,
            "order_changed": by_name(drawn.order_changed, settings),
            "first_changed": by_name(drawn.first_changed, settings),
            "probability_first": by_name(drawn.probability_first[:, -1], self.table.algorithms),
        }
