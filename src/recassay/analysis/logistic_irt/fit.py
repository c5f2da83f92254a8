"""Logistic item response theory on a binary table: items, abilities and true scores with their uncertainty."""

from __future__ import annotations

from typing import get_args

import numpy as np
from scipy.special import expit

from recassay.analysis.inference.distributions import normal_quantile
from recassay.analysis.logistic_irt.ability import Abilities, check_method, estimate_abilities, from_posterior
from recassay.analysis.logistic_irt.birnbaum import fit_birnbaum
from recassay.analysis.logistic_irt.em import fit_em
from recassay.analysis.logistic_irt.errors import item_covariance
from recassay.analysis.logistic_irt.model import true_score
from recassay.analysis.logistic_irt.priors import ItemPriors
from recassay.analysis.logistic_irt.result import Estimator, LogisticResult
from recassay.core.choices import AbilityMethod, LogisticEstimator, LogisticModel
from recassay.core.errors import InputError, UsageError, listing
from recassay.core.tables.responses import LogisticItems, Responses
from recassay.core.types import BoolArray, FloatArray

FEW_RESPONDENTS = 50
"""Below so many respondents the 2PL has priors unless they are refused: without them it seldom converges."""


def fit_logistic(
    responses: Responses,
    model: LogisticModel = "2pl",
    *,
    estimator: LogisticEstimator = "mml",
    priors: ItemPriors | bool | None = None,
    ability: AbilityMethod | None = None,
    confidence: float = 0.95,
    tolerance: float = 1e-4,
    max_cycles: int = 500,
) -> LogisticResult:
    """Fit the 1PL (one slope for all items), 2PL or 3PL to a binary table; abilities ~ Normal(0, 1).

    `priors` default to on for the 3PL and, below `FEW_RESPONDENTS`, for the 2PL, whose slopes so few do not determine
    (True: `ItemPriors()`). `ability` is `eap` for the
    marginal estimator and `ml` for Birnbaum's. Intervals of abilities allow for the estimated origin and unit of the
    scale; intervals of guessing are those of its logit.
    """
    chosen = check_model(model)
    if len(responses.respondents) < 2:
        raise InputError("one respondent cannot calibrate items", fix="give at least two, or known items")
    few = len(responses.respondents) < FEW_RESPONDENTS
    needed = chosen == "3pl" or (chosen == "2pl" and few)
    prior = ItemPriors() if priors is True or (priors is None and needed) else priors or None
    if estimator == "birnbaum":
        found = fit_birnbaum(responses, chosen, priors=prior)
        abilities = found.abilities if ability in {None, "ml"} else estimate_abilities(
            responses, found.items, check_method(str(ability)))  # fmt: skip
        return _result(
            responses, chosen, "birnbaum", found.items, found.constant, abilities, confidence,
            converged=found.converged, cycles=found.cycles, change=found.change,
        )  # fmt: skip
    if estimator != "mml":
        raise UsageError(f"{estimator!r} is no estimator", fix="use mml or birnbaum")
    fit = fit_em(responses, chosen, priors=prior, tolerance=tolerance, max_cycles=max_cycles)
    if ability in {None, "eap"}:
        abilities = from_posterior(fit.posterior, fit.grid.points)
    else:
        abilities = estimate_abilities(responses, fit.items, check_method(str(ability)))
    errors, intervals = _item_intervals(item_covariance(responses, fit, chosen, fit.priors), fit.items, confidence)
    return _result(
        responses, chosen, "mml", fit.items, fit.constant, abilities, confidence, errors, intervals,
        converged=fit.converged, cycles=fit.cycles, change=fit.change, gradient=fit.gradient,
        log_likelihood=fit.log_likelihood, at_bound=fit.at_bound,
    )  # fmt: skip


def score_logistic(
    responses: Responses,
    items: LogisticItems,
    model: LogisticModel = "3pl",
    *,
    ability: AbilityMethod | None = None,
    confidence: float = 0.95,
) -> LogisticResult:
    """Abilities (by default maximum likelihood) and true scores from known items, matched by name."""
    chosen = check_model(model)
    place = {name: i for i, name in enumerate(items.names)}
    unknown = [name for name in responses.items if name not in place]
    if unknown:
        raise InputError(
            f"{len(unknown)} items have no parameters: {listing(unknown)}", fix="add them to the table of items"
        )
    known = items.take(np.array([place[name] for name in responses.items], dtype=np.int64))
    if chosen != "3pl" and known.guessing.any():
        raise UsageError(f"the items have guessing and the model is {chosen}", fix="use `model='3pl'`")
    if chosen == "1pl" and np.ptp(known.slope) > 0:
        raise UsageError(
            "the items have different discriminations and the model is 1pl", fix="use `model='2pl'` or `model='3pl'`"
        )
    abilities = estimate_abilities(responses, known, check_method(ability or "ml"))
    constant = np.zeros(len(known.names), dtype=bool)
    return _result(responses, chosen, "given", known, constant, abilities, confidence)


def check_model(model: str) -> LogisticModel:
    """The model, or an error that names the three."""
    if model.lower() not in get_args(LogisticModel):
        raise UsageError(
            f"{model!r} is no logistic model", fix=f"use one of {listing(get_args(LogisticModel), most=None)}"
        )
    return model.lower()  # type: ignore[return-value]


def _item_intervals(
    covariance: FloatArray, items: LogisticItems, confidence: float
) -> tuple[FloatArray, FloatArray]:  # fmt: skip
    """Standard errors (items x 3) and intervals (items x 3 x 2) of discrimination, difficulty and guessing.

    Difficulty b = -d / a by the delta method: var b = (var d + 2 b cov(a, d) + b^2 var a) / a^2.
    """
    width = float(normal_quantile(0.5 + confidence / 2))
    b, c = items.difficulty, items.guessing
    with np.errstate(divide="ignore", invalid="ignore"):
        difficulty = covariance[:, 1, 1] + 2 * b * covariance[:, 0, 1] + b**2 * covariance[:, 0, 0]
        logit_error = np.sqrt(covariance[:, 2, 2])
        errors = np.stack(
            [
                np.sqrt(covariance[:, 0, 0]),
                np.sqrt(np.maximum(difficulty, 0)) / np.abs(items.slope),
                c * (1 - c) * logit_error,
            ],
            axis=1,
        )
        values = np.stack([items.slope, b, c], axis=1)
        intervals = np.stack([values - width * errors, values + width * errors], axis=2)
        logit = np.log(c) - np.log1p(-c)
        intervals[:, 2] = expit(np.stack([logit - width * logit_error, logit + width * logit_error], axis=1))
    return errors, intervals


def _result(
    responses: Responses,
    model: LogisticModel,
    estimator: Estimator,
    items: LogisticItems,
    constant: BoolArray,
    abilities: Abilities,
    confidence: float,
    errors: FloatArray | None = None,
    intervals: FloatArray | None = None,
    *,
    converged: bool = True,
    cycles: int = 0,
    change: float = 0.0,
    gradient: float = float("nan"),
    log_likelihood: float = float("nan"),
    at_bound: BoolArray | None = None,
) -> LogisticResult:
    m = len(items.names)
    calibrated = len(responses.respondents) if estimator == "mml" else None
    return LogisticResult(
        model=model,
        estimator=estimator,
        respondents=responses.respondents,
        items=items,
        item_errors=np.full((m, 3), np.nan) if errors is None else errors,
        item_intervals=np.full((m, 3, 2), np.nan) if intervals is None else intervals,
        constant=constant,
        abilities=abilities,
        ability_intervals=abilities.interval(confidence, calibrated_on=calibrated),
        true_scores=true_score(abilities.estimate, items),
        accuracies=responses.score_share(),
        log_likelihood=log_likelihood,
        converged=converged,
        cycles=cycles,
        change=change,
        gradient=gradient,
        notes=tuple(_notes(items, constant, abilities, responses, converged, at_bound, intervals)),
        confidence=confidence,
    )


def _notes(
    items: LogisticItems,
    constant: BoolArray,
    abilities: Abilities,
    responses: Responses,
    converged: bool,
    at_bound: BoolArray | None,
    intervals: FloatArray | None,
) -> list[str]:
    notes = []

    def named(mask: BoolArray, names: tuple[str, ...]) -> str:
        return f"{int(mask.sum())} of {len(names)} ({listing((names[i] for i in np.flatnonzero(mask)), most=3)})"

    if not converged:
        notes.append("The estimation did not converge: read the parameters with care.")
    if at_bound is not None and at_bound.any():
        notes.append(f"The slopes of {named(at_bound, items.names)} items have no finite estimate: use priors.")
    if constant.any():
        notes.append(
            f"Everybody or nobody has {named(constant, items.names)} items right: they say nothing of ability."
        )
    negative = items.slope < 0
    if negative.any():
        sure = "" if intervals is None else (
            f"; of {int((intervals[:, 0, 1] < 0).sum())} clearly, the whole interval lies below 0")  # fmt: skip
        notes.append(
            f"The discrimination of {named(negative, items.names)} items is negative (abler respondents fail them more "
            f"often: noise, or a wrong answer key){sure}."
        )
    if abilities.at_bound.any():
        notes.append(
            f"{named(abilities.at_bound, responses.respondents)} respondents have no finite maximum-likelihood "
            "ability: they stand at the bound."
        )
    return notes
