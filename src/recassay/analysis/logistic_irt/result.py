"""What logistic item response theory concluded: items, abilities and true scores, as tables and plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from recassay.analysis.logistic_irt.ability import Abilities
from recassay.analysis.logistic_irt.grid import REACH
from recassay.analysis.logistic_irt.model import probabilities
from recassay.core.choices import LogisticModel
from recassay.core.system.display import Displayed, worded
from recassay.core.tables.responses import LogisticItems
from recassay.core.tabular import by_name, estimates, long_frame, stated
from recassay.core.types import BoolArray, FloatArray, IntArray

Estimator = Literal["mml", "birnbaum", "given"]
PARAMETERS = ("discrimination", "difficulty", "guessing")


@dataclass(frozen=True, slots=True, eq=False)
class LogisticResult(Displayed):
    """Items and abilities of one response table."""

    model: LogisticModel
    """How many parameters an item has."""
    estimator: Estimator
    """How the items were estimated: marginal maximum likelihood, Birnbaum's procedure, or not at all (`given`)."""
    respondents: tuple[str, ...]
    """Names of the respondents, in the order of the arrays."""
    items: LogisticItems
    """Slope, intercept and guessing of every item, with its name."""
    item_errors: FloatArray
    """Items x 3: the standard errors of discrimination, difficulty and guessing. NaN where the items were given, where
    Birnbaum's procedure has none, and for constant items."""
    item_intervals: FloatArray
    """Items x 3 x 2: the ends of their intervals; NaN likewise."""
    constant: BoolArray
    """For each item, whether everybody answered it alike, so that nothing was estimated."""
    abilities: Abilities
    """The ability of each respondent, in standard deviations of the population, with its standard error."""
    ability_intervals: FloatArray
    """Respondents x 2: the ends of their intervals."""
    true_scores: FloatArray
    """For each respondent, the expected number of right answers at the estimated ability."""
    accuracies: FloatArray
    """For each respondent, the share of right answers among those known."""
    confidence: float
    log_likelihood: float = float("nan")
    """The marginal log-likelihood at the end; NaN for other estimators."""
    converged: bool = True
    """Whether the estimation came to rest."""
    cycles: int = 0
    """How many cycles it took."""
    change: float = 0.0
    """How far the parameters would still move."""
    gradient: float = float("nan")
    """The largest absolute derivative of the penalised marginal log-likelihood at the end; NaN for other estimators."""
    unbounded: BoolArray | None = None
    """For each item, whether its slope has no finite estimate; None for other estimators."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the parameters must know."""
        return tuple(worded("logistic_irt", "notes", self))

    def order(self) -> list[int]:
        """Positions of the respondents, ablest first."""
        return sorted(range(len(self.respondents)), key=lambda r: (-self.abilities.estimate[r], self.respondents[r]))

    def parameters(self) -> FloatArray:
        """Discrimination, difficulty and guessing, items x 3."""
        return np.stack([self.items.slope, self.items.difficulty, self.items.guessing], axis=1)

    def curves(self, abilities: FloatArray, items: IntArray) -> FloatArray:
        """The probability of a right answer at these abilities (rows) to these items (columns, by position)."""
        return probabilities(abilities, self.items.take(items))

    def to_frame(self) -> pl.DataFrame:
        """One row per respondent, ablest first."""
        return long_frame(
            {"respondent": self.respondents},
            {
                "ability": self.abilities.estimate,
                "standard_error": self.abilities.standard_error,
                ("ability_low", "ability_high"): self.ability_intervals,
                "true_score": self.true_scores,
                "accuracy": self.accuracies,
            },
            order=self.order(),
        )

    def items_frame(self) -> pl.DataFrame:
        """One row per item."""
        values = self.parameters()
        columns: dict[str | tuple[str, ...], FloatArray] = {}
        for k, name in enumerate(PARAMETERS):
            columns |= {name: values[:, k], f"{name}_error": self.item_errors[:, k]}
            columns[f"{name}_low", f"{name}_high"] = self.item_intervals[:, k]
        return long_frame({"item": self.items.names}, columns)

    def frames(self) -> dict[str, pl.DataFrame]:
        """Abilities and items."""
        return {"abilities": self.to_frame(), "items": self.items_frame()}

    def summary(self) -> dict[str, float]:
        """Mean and deviation of each parameter over the items that vary, and the share of negative discriminations.

        Difficulties count as at most +-6: the difficulty of an almost flat item is a quotient by almost nothing.
        """
        values = self.parameters()[~self.constant]
        values[:, 1] = np.clip(values[:, 1], -REACH, REACH)
        summary: dict[str, float] = {}
        for k, name in enumerate(PARAMETERS):
            column = values[np.isfinite(values[:, k]), k]
            summary[f"mean_{name}"] = float(column.mean()) if len(column) else float("nan")
            summary[f"{name}_deviation"] = float(column.std()) if len(column) else float("nan")
        summary["negative_share"] = float((values[:, 0] < 0).mean()) if len(values) else 0.0
        return summary

    def to_dict(self) -> dict[str, Any]:
        """`ability`, `true_score`, `items` by name, their errors and intervals, and how the estimation ended."""
        names, items = self.respondents, self.items.names
        errors = by_name(self.abilities.standard_error, names)
        ability = estimates(names, self.abilities.estimate, self.ability_intervals)
        return {
            **stated(self, "model", "estimator"),
            "ability_method": self.abilities.method,
            "ability": {name: {**known, "standard_error": errors[name]} for name, known in ability.items()},
            "true_score": by_name(self.true_scores, names),
            "accuracy": by_name(self.accuracies, names),
            "items": by_name(self.parameters(), items, PARAMETERS),
            "item_intervals": by_name(self.item_intervals, items, PARAMETERS) if self.estimator == "mml" else {},
            "constant_items": [n for n, flat in zip(items, self.constant, strict=True) if flat],
            "summary": self.summary(),
            "fit": stated(self, "converged", "cycles", "change", "gradient", "log_likelihood"),
            **stated(self, "confidence", "notes"),
        }
