"""What one direction of beta-IRT concluded: traits with intervals, curves and fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from recassay.analysis.beta_irt.model import characteristic_curve
from recassay.core.tabular import by_name, estimates, long_frame, stated
from recassay.core.types import FloatArray

TRAITS = (("ability", "difficulty", "discrimination"), ("challenge", "difficulty_limit", "consistency"))
"""Names of theta, delta and a in the two directions (Bi-ReIRT, Table 1); in the second, of 1 - theta and 1 - delta."""

ITEM_TRAITS = {1: TRAITS[0][1:], 2: TRAITS[1][1:]}

GRID = np.linspace(0.0, 1.0, 101)


@dataclass(frozen=True, slots=True, eq=False)
class Trait:
    """A trait by name: estimate (posterior median), interval, and the mode of the joint posterior."""

    names: tuple[str, ...]
    """Whose trait it is, in the order of the arrays."""
    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    mode: FloatArray
    """The place where the joint posterior is highest."""

    def order(self) -> list[int]:
        """Positions from the largest estimate to the smallest."""
        return sorted(range(len(self.names)), key=lambda i: (-self.estimate[i], self.names[i]))

    def to_dict(self) -> dict[str, Any]:
        """Estimate and interval of each name."""
        return estimates(self.names, self.estimate, np.stack([self.low, self.high], axis=1))


@dataclass(frozen=True, slots=True, eq=False)
class Direction:
    """What one direction found.

    `exceeds[i, j]` is the probability that respondent i has more of the trait (ability, challenge) than j; `highest[i]`
    and `lowest[i]` the share of bootstrap replicates over the items in which i has most and least of it; `expected`
    (respondents x items) the ICC at the estimates; `mse` its mean squared error there, `mse_mode` at the mode and
    `mse_least` at that of the squared-error fit; `noise` the standard deviation of the squared-error fit, `precision`
    the phi of a Beta density with a precision of its own.
    """

    number: int
    """1 or 2."""
    respondents: tuple[str, ...]
    """Who answers: algorithms in direction 1, datasets in direction 2."""
    items: tuple[str, ...]
    """What is answered: datasets in direction 1, algorithms in direction 2."""
    traits: dict[str, Trait]
    """By name, the traits of respondents and items."""
    probability_positive: FloatArray
    """For each item, the probability that its slope is above 0."""
    exceeds: FloatArray
    highest: FloatArray
    lowest: FloatArray
    expected: FloatArray
    mse: float
    mse_mode: float
    mse_least: float
    log_likelihood: float
    """The log-likelihood of the responses at the mode."""
    reliability: float
    """The share of the spread of the respondents' trait that is not uncertainty, on the logit scale."""
    squeezed: int
    """How many responses of 0 or 1 were moved off the end."""
    noise: float | None
    precision: float | None
    r_hat: float | None
    """How well the chains of samples agree (1: wholly); None without samples."""
    converged: bool
    warnings: tuple[str, ...]
    """What a reader of the traits must know, in sentences."""

    @property
    def range(self) -> tuple[float, float]:
        """The range of the respondents' trait: the shaded area of the paper's Figures 2 and 3."""
        estimate = self.traits[TRAITS[self.number - 1][0]].estimate
        return float(estimate.min()), float(estimate.max())

    def curves(self) -> pl.DataFrame:
        """The ICC of each item at 101 values of the respondents' trait (equations 3 and 4)."""
        level, slope = (self.traits[name].estimate for name in ITEM_TRAITS[self.number])
        trait = np.clip(GRID, 1e-6, 1 - 1e-6)
        sign = 1 if self.number == 1 else -1
        value = characteristic_curve(trait, level[:, None], sign * slope[:, None])
        return pl.DataFrame(
            {
                "direction": np.full(value.size, self.number),
                "item": np.repeat(self.items, len(GRID)),
                "trait": np.tile(GRID, len(self.items)),
                "expected": value.ravel(),
            }
        )

    def exceeds_frame(self) -> pl.DataFrame:
        """Pairs of respondents with the probability that the left one has more of the trait."""
        axes = {"direction": [self.number], "left": self.respondents, "right": self.respondents}
        return long_frame(axes, {"probability_greater": self.exceeds}).filter(pl.col("left") != pl.col("right"))

    def ends(self) -> dict[str, dict[str, float]]:
        """`highest` and `lowest`: by respondent the share of bootstrap replicates over the items that has it there."""
        return {end: by_name(getattr(self, end), self.respondents) for end in ("highest", "lowest")}

    def fit(self) -> dict[str, Any]:
        """How well the ICC fits."""
        return stated(self, "mse", "mse_mode", "mse_least", "log_likelihood", "reliability", "noise", "precision",
                      "r_hat", "squeezed", "converged")  # fmt: skip
