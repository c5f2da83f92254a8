"""What logistic IRT on users concluded: abilities by dataset, and how well the users themselves are known."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from recassay.analysis.inference.distributions import normal_cdf
from recassay.analysis.logistic_irt.grid import REACH
from recassay.analysis.logistic_irt.result import LogisticResult
from recassay.core import columns as c
from recassay.core.choices import LogisticModel
from recassay.core.system.display import Displayed, worded
from recassay.core.tabular import stated
from recassay.core.types import FloatArray

ALL = "all datasets"
LEAST_ALGORITHMS = 3
LEAST_USERS = 20
"""Users that tell algorithms apart."""

FEW = 20
"""Algorithms below which intervals of the 2PL and 3PL are too narrow."""

MOST_USERS = 20_000
"""Of more users that tell algorithms apart, an even selection is fitted."""
COUNTS = ("users", "telling_users", "hit_by_all", "hit_by_none")


@dataclass(frozen=True, slots=True, eq=False)
class UserFit:
    """One dataset: how many users there are, and the fit on those that some algorithms serve and others do not."""

    users: int
    """How many users there are."""
    hit_by_all: int
    """Users whom every algorithm serves."""
    hit_by_none: int
    """Users whom none serves."""
    hit_rate: dict[str, float]
    """By algorithm, the share of users whom it serves."""
    fit: LogisticResult
    """Logistic IRT of the users that tell algorithms apart; its items are users."""

    @property
    def telling_users(self) -> int:
        """Users that tell algorithms apart."""
        return self.users - self.hit_by_all - self.hit_by_none

    def reliability(self) -> dict[str, float]:
        """The share V / (V + U) of spread that is not uncertainty, of abilities and of the users' parameters.

        V is the variance of the estimates, U the mean of their squared standard errors.
        """
        errors, values = self.fit.item_errors, self.fit.parameters()
        pairs = {
            "ability": (self.fit.abilities.estimate, self.fit.abilities.standard_error),
            "difficulty": (np.clip(values[:, 1], -REACH, REACH), errors[:, 1]),
        }
        if self.fit.model != "1pl":
            pairs["discrimination"] = values[:, 0], errors[:, 0]
        return {name: _reliability(*pair) for name, pair in pairs.items()}

    def lead(self) -> tuple[str, str, float]:
        """The ablest two, and the probability that the first is abler (normal, given the users' parameters)."""
        first, second = self.fit.order()[:2]
        ability, error = self.fit.abilities.estimate, self.fit.abilities.standard_error
        gap = (ability[first] - ability[second]) / np.hypot(error[first], error[second])
        return self.fit.respondents[first], self.fit.respondents[second], float(normal_cdf(gap))

    def to_dict(self) -> dict[str, Any]:
        """Counts, abilities, hit rates, reliabilities, and the users in summary."""
        whole = self.fit.to_dict()
        return {
            "lead": dict(zip(("first", "second", "probability"), self.lead(), strict=True)),
            **stated(self, *COUNTS),
            "ability": whole["ability"],
            "hit_rate": self.hit_rate,
            "reliability": self.reliability(),
            "summary": whole["summary"],
            "fit": whole["fit"],
        }


def _reliability(values: FloatArray, errors: FloatArray) -> float:
    known = np.isfinite(values) & np.isfinite(errors)
    between, within = float(np.var(values[known])), float(np.mean(errors[known] ** 2))
    return between / (between + within) if between + within > 0 else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class UserIRTResult(Displayed):
    """Logistic IRT with algorithms as respondents and users as items."""

    metric: str
    """The metric that tells a hit: a user is served where it is above 0."""
    model: LogisticModel
    """How many parameters a user has."""
    fits: dict[str, UserFit]
    """The fit of each dataset by name; where there are several, first the one on the users of all (`all datasets`)."""
    confidence: float
    too_few: dict[str, tuple[int, int]] = field(default_factory=dict)
    """By dataset that was left out, how many algorithms it has, and how many users that tell them apart."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out, and what a reader of the abilities must know."""
        return tuple(worded("user_irt", "notes", self))

    @property
    def main(self) -> UserFit:
        """The fit on all users."""
        return next(iter(self.fits.values()))

    def to_frame(self) -> pl.DataFrame:
        """One row per dataset and algorithm, ablest first."""
        return pl.concat(
            users.fit.to_frame()
            .drop("true_score", "accuracy")
            .rename({"respondent": c.ALGORITHM, "ability_low": "low", "ability_high": "high"})
            .with_columns(
                pl.lit(name).alias(c.DATASET),
                pl.col(c.ALGORITHM).replace_strict(users.hit_rate, return_dtype=pl.Float64).alias("hit_rate"),
            )
            .select(c.DATASET, c.ALGORITHM, "ability", "standard_error", "low", "high", "hit_rate")
            for name, users in self.fits.items()
        )

    def datasets_frame(self) -> pl.DataFrame:
        """One row per dataset: how many users, what they are like, and how well that is known."""
        return pl.DataFrame(
            [
                {
                    c.DATASET: name,
                    **stated(users, *COUNTS),
                    **users.fit.summary(),
                    **{f"{trait}_reliability": value for trait, value in users.reliability().items()},
                }
                for name, users in self.fits.items()
            ]
        )

    def frames(self) -> dict[str, pl.DataFrame]:
        """Abilities, datasets, and the users of every dataset."""
        users = [
            users_fit.fit.items_frame().rename({"item": c.USER}).select(pl.lit(name).alias(c.DATASET), pl.all())
            for name, users_fit in self.fits.items()
            if name != ALL
        ]
        return {
            "user_irt_abilities": self.to_frame(),
            "user_irt_datasets": self.datasets_frame(),
            "user_irt_users": pl.concat(users),
        }

    def to_dict(self) -> dict[str, Any]:
        """`datasets` by name (the users themselves are in the tables), and `notes`."""
        return {
            **stated(self, "metric", "model"),
            "datasets": {name: fit.to_dict() for name, fit in self.fits.items()},
            **stated(self, "confidence", "notes"),
        }
