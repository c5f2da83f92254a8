"""Logistic IRT on users: algorithms are the respondents, users the items, and a hit is a right answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from recassay.analysis.logistic_grid import REACH
from recassay.analysis.logistic_irt import check_model, fit_logistic
from recassay.analysis.logistic_priors import ItemPriors, LogisticModel
from recassay.analysis.logistic_result import LogisticResult
from recassay.analysis.logistic_start import constant_items
from recassay.core import columns as c
from recassay.core.analysis import Analysis, AnalysisSpec
from recassay.core.display import Displayed
from recassay.core.errors import NotApplicableError
from recassay.core.responses import MISSING, Responses
from recassay.core.results import Results
from recassay.core.types import FloatArray

ALL = "all datasets"
LEAST_ALGORITHMS = 3
LEAST_USERS = 20
FEW = 20
MOST_USERS = 20_000
"""Of more users that tell algorithms apart, an even selection is fitted."""

USER_PRIORS = ItemPriors(slope_deviation=0.5, intercept_deviation=2.0, adaptive=False, anchored=True)
"""With 5 to 30 algorithms the slopes of many users have no scale of their own: left free they run away together."""


@dataclass(frozen=True, slots=True, eq=False)
class UserFit:
    """One dataset: how many users there are, and the fit on those that some algorithms serve and others do not."""

    users: int
    hit_by_all: int
    hit_by_none: int
    hit_rate: dict[str, float]
    fit: LogisticResult

    @property
    def telling(self) -> int:
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
        from scipy.stats import norm

        first, second = self.fit.order()[:2]
        ability, error = self.fit.abilities.estimate, self.fit.abilities.standard_error
        gap = (ability[first] - ability[second]) / np.hypot(error[first], error[second])
        return self.fit.respondents[first], self.fit.respondents[second], float(norm.cdf(gap))

    def to_dict(self) -> dict[str, Any]:
        """Counts, abilities, hit rates, reliabilities, and the users in summary."""
        whole = self.fit.to_dict()
        return {
            "users": self.users,
            "telling_users": self.telling,
            "hit_by_all": self.hit_by_all,
            "hit_by_none": self.hit_by_none,
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
    """A fit for each dataset and, where there are several, one on the users of all (`ALL`, first)."""

    metric: str
    model: LogisticModel
    fits: dict[str, UserFit]
    notes: tuple[str, ...]
    confidence: float

    @property
    def main(self) -> UserFit:
        """The fit on all users."""
        return next(iter(self.fits.values()))

    def to_frame(self) -> pl.DataFrame:
        """One row a dataset and algorithm, ablest first."""
        return pl.concat(
            [
                found.fit.to_frame()
                .drop("true_score", "accuracy")
                .rename({"respondent": c.ALGORITHM, "ability_low": "low", "ability_high": "high"})
                .with_columns(
                    pl.lit(name).alias(c.DATASET),
                    pl.col(c.ALGORITHM).replace_strict(found.hit_rate, return_dtype=pl.Float64).alias("hit_rate"),
                )
                .select(c.DATASET, c.ALGORITHM, "ability", "standard_error", "low", "high", "hit_rate")
                for name, found in self.fits.items()
            ]
        )

    def datasets_frame(self) -> pl.DataFrame:
        """One row a dataset: how many users, what they are like, and how well that is known."""
        return pl.DataFrame(
            [
                {
                    c.DATASET: name,
                    "users": found.users,
                    "telling_users": found.telling,
                    "hit_by_all": found.hit_by_all,
                    "hit_by_none": found.hit_by_none,
                    **found.fit.summary(),
                    **{f"{trait}_reliability": value for trait, value in found.reliability().items()},
                }
                for name, found in self.fits.items()
            ]
        )

    def frames(self) -> dict[str, pl.DataFrame]:
        """Abilities, datasets, and the users of every dataset."""
        users = [
            found.fit.items_frame().rename({"item": c.USER}).select(pl.lit(name).alias(c.DATASET), pl.all())
            for name, found in self.fits.items()
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
            "metric": self.metric,
            "model": self.model,
            "datasets": {name: found.to_dict() for name, found in self.fits.items()},
            "confidence": self.confidence,
            "notes": list(self.notes),
        }


def fit_user_irt(
    tables: Mapping[str, Responses],
    model: LogisticModel = "1pl",
    *,
    metric: str = "hitrate",
    priors: ItemPriors | None = USER_PRIORS,
    confidence: float = 0.95,
    most_users: int = MOST_USERS,
) -> UserIRTResult:
    """Fit the users of each dataset, and those of all datasets together (abilities ~ Normal(0, 1) in each).

    Users whom every algorithm serves, or none, tell nothing apart and are counted only. With few algorithms a user's
    own parameters are weakly determined, and `reliability` says how weakly. The 1PL has one discrimination for all
    users and its intervals hold with 5 algorithms already; the 2PL and 3PL need the tight `USER_PRIORS`, and their
    intervals are too narrow below some 20 algorithms. Datasets with fewer than 3 algorithms or 20 telling users are
    left out with a note.
    """
    chosen = check_model(model)
    kept: dict[str, UserFit] = {}
    notes = []
    used: dict[str, Responses] = {}
    for name, table in tables.items():
        telling = ~constant_items(table)
        if len(table.respondents) < LEAST_ALGORITHMS or telling.sum() < LEAST_USERS:
            notes.append(
                f"{name}: {len(table.respondents)} algorithms and {int(telling.sum())} users that tell them apart are "
                f"too few (at least {LEAST_ALGORITHMS} and {LEAST_USERS})"
            )
            continue
        used[name] = table
        kept[name] = _fit(table, chosen, priors, confidence, most_users)
    if not kept:
        raise NotApplicableError("no dataset has enough users: " + "; ".join(notes), fix="use a study with more users")
    if len(kept) > 1:
        kept = {ALL: _fit(pooled(used), chosen, priors, confidence, most_users), **kept}
    count = len(next(iter(kept.values())).fit.respondents)
    if chosen != "1pl" and count < FEW:
        notes.append(
            f"{count} algorithms are few for the {chosen.upper()}: its intervals are too narrow, those of the 1PL hold"
        )
    for name, found in kept.items():
        if found.telling > most_users:
            notes.append(f"{name}: an even selection of {most_users} of {found.telling} users was fitted")
        if not found.fit.converged:
            notes.append(f"{name}: the estimation did not converge")
    return UserIRTResult(metric, chosen, kept, tuple(notes), confidence)


def pooled(tables: Mapping[str, Responses]) -> Responses:
    """The users of all datasets as items; an algorithm without a dataset has no response there."""
    respondents = sorted({name for table in tables.values() for name in table.respondents})
    place = {name: i for i, name in enumerate(respondents)}
    parts = []
    for table in tables.values():
        codes = np.full((len(respondents), len(table.items)), MISSING, dtype=np.uint8)
        codes[[place[name] for name in table.respondents]] = table.codes
        parts.append(codes)
    items = tuple(f"{name}/{user}" for name, table in tables.items() for user in table.items)
    return Responses(np.concatenate(parts, axis=1), tuple(respondents), items)


def _fit(table: Responses, model: LogisticModel, priors: ItemPriors | None, confidence: float, most: int) -> UserFit:
    telling = np.flatnonzero(~constant_items(table))
    right, known = table.right(), table.observed()
    by_all = int(((right.sum(axis=0) == known.sum(axis=0)) & right.any(axis=0)).sum())
    chosen = telling
    if len(telling) > most:
        chosen = telling[np.linspace(0, len(telling) - 1, most).round().astype(np.int64)]
    part = Responses(table.codes[:, chosen], table.respondents, tuple(table.items[i] for i in chosen))
    return UserFit(
        users=len(table.items),
        hit_by_all=by_all,
        hit_by_none=len(table.items) - by_all - len(telling),
        hit_rate=dict(zip(table.respondents, table.score_share().tolist(), strict=True)),
        fit=fit_logistic(part, model, priors=priors or False, confidence=confidence),
    )


def _run(results: Results, spec: AnalysisSpec) -> UserIRTResult:
    load = spec.need("user_responses", "only the folder of a study knows which user got a hit")
    metric, tables = load(spec.metric)
    return fit_user_irt(tables, metric=metric, confidence=1 - spec.alpha)


ANALYSIS = Analysis(
    name="user_irt",
    question="Which algorithm serves users that others fail, and how much do users differ?",
    source="logistic IRT with users as items; Cardoso et al. 2020",
    run=_run,
)
