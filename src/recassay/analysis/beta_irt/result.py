"""What beta-IRT concluded in both directions, as tables and plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from recassay.analysis.beta_irt.model import characteristic_curve
from recassay.core import columns as c
from recassay.core.choices import PosteriorForm
from recassay.core.errors import UsageError
from recassay.core.system.display import worded
from recassay.core.tables.matrix import MatrixResult
from recassay.core.tabular import by_name, by_pair, estimates, long_frame, stated
from recassay.core.types import FloatArray
from recassay.core.words import listing

if TYPE_CHECKING:
    from recassay.analysis.beta_irt.mode import Density

TRAITS = (("ability", "difficulty", "discrimination"), ("challenge", "difficulty_limit", "consistency"))
"""Names of theta, delta and a in the two directions (Bi-ReIRT, Table 1); in the second, of 1 - theta and 1 - delta."""

ITEM_TRAITS = {1: TRAITS[0][1:], 2: TRAITS[1][1:]}

RELIABLE = 0.5
"""A reliability below which respondents are not said to differ."""

SPREAD = 1e-3
"""Scores within this are alike."""

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
    flat: tuple[str, ...]
    """The items on which all respondents score alike, so that the parameters are the priors'."""
    reached: bool
    """Whether the mode of the posterior was reached."""
    settled: bool
    """Whether the description of the posterior came to rest; if not, its intervals are rough."""

    @property
    def converged(self) -> bool:
        """Whether the whole computation ended."""
        return self.reached and self.settled

    @property
    def warnings(self) -> tuple[str, ...]:
        """Where the assumption of diversity fails, and where the computation did not end."""
        return tuple(worded("beta_irt", "direction_warnings", self))

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
        axes = {"direction": [self.number], "item": self.items, "trait": GRID.tolist()}
        return long_frame(axes, {"expected": value})

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


@dataclass(frozen=True, slots=True, eq=False)
class BetaIRTResult(MatrixResult):
    """The traits of algorithms and datasets from both directions."""

    values: FloatArray
    """Algorithms x datasets: the responses, higher better (1 - value where lower is better), NaN where missing."""
    directions: tuple[Direction, Direction]
    """What each direction found: first the paper's direction 1 (algorithms answer, datasets are the items), then
    direction 2."""
    estimator: Density
    """The density of the responses that was used."""
    log_posteriors: dict[str, float]
    """By density, the log posterior density at the mode, which decided under `auto`; empty where the density was
    named."""
    posterior: PosteriorForm
    """How the posterior was described: by a normal density, or by samples."""
    sigma: float
    """Standard deviation of the prior of slopes."""
    confidence: float

    @property
    def warnings(self) -> tuple[str, ...]:
        """What readers of the traits must know: cells left out, estimates at their bounds, fits that did not settle."""
        return tuple(worded("beta_irt", "warnings", self))

    def trait(self, name: str) -> Trait:
        """A trait by its name in the paper's Table 1: ability, difficulty, discrimination, challenge, ..."""
        for direction in self.directions:
            if name in direction.traits:
                return direction.traits[name]
        raise UsageError(
            f"no trait {name!r}", fix=f"one of {listing((n for names in TRAITS for n in names), most=None)}"
        )

    def to_frame(self) -> pl.DataFrame:
        """One row per trait and name: estimate, interval, mode of the joint posterior, P(a > 0) for slopes."""
        return pl.concat(
            long_frame(
                {"direction": [d.number], "trait": [name], "name": trait.names},
                {
                    "estimate": trait.estimate,
                    "low": trait.low,
                    "high": trait.high,
                    "mode": trait.mode,
                    "probability_positive": d.probability_positive if name == ITEM_TRAITS[d.number][1] else None,
                },
            )
            for d in self.directions
            for name, trait in d.traits.items()
        )

    def frames(self) -> dict[str, pl.DataFrame]:
        """Traits, characteristic curves, ranges of the observed respondents, residuals and pairwise probabilities."""
        ranges = [(d.number, TRAITS[d.number - 1][0], *d.range) for d in self.directions]
        return {
            "irt_traits": self.to_frame(),
            "irt_curves": pl.concat([d.curves() for d in self.directions]),
            "irt_ranges": pl.DataFrame(ranges, schema=["direction", "trait", "low", "high"], orient="row"),
            "irt_residuals": pl.concat([self._residuals(d) for d in self.directions]),
            "irt_exceeds": pl.concat([d.exceeds_frame() for d in self.directions]),
        }

    def _residuals(self, direction: Direction) -> pl.DataFrame:
        expected = direction.expected if direction.number == 1 else direction.expected.T
        return long_frame(
            {"direction": [direction.number], c.ALGORITHM: self.algorithms, c.DATASET: self.datasets},
            {c.VALUE: self.values, "expected": expected, "residual": self.values - expected},
        )

    def to_dict(self) -> dict[str, Any]:
        """`direction_1`, `direction_2`, the probabilities, the resampling shares, `fit`, `settings` and `warnings`."""
        by_number = {f"direction_{d.number}": d for d in self.directions}
        by_trait = {TRAITS[d.number - 1][0]: d for d in self.directions}
        return {
            **stated(self, "metric", "higher_is_better", "algorithms", "datasets"),
            **{key: {n: t.to_dict() for n, t in d.traits.items()} for key, d in by_number.items()},
            "probability_positive": {
                ITEM_TRAITS[d.number][1]: by_name(d.probability_positive, d.items) for d in self.directions
            },
            "probability_greater": {name: by_pair(d.exceeds, d.respondents) for name, d in by_trait.items()},
            "resampling_share": {name: d.ends() for name, d in by_trait.items()},
            "fit": {key: d.fit() for key, d in by_number.items()},
            "settings": {
                "estimator": self.estimator,
                "heights": self.log_posteriors,
                **stated(self, "sigma", "confidence", "posterior"),
            },
            "warnings": list(self.warnings),
        }
