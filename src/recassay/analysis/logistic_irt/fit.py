"""Logistic item response theory on a binary table: items, abilities and true scores with their uncertainty."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import expit

from recassay.analysis.inference.distributions import normal_quantile
from recassay.analysis.logistic_irt.ability import Abilities, estimate_abilities, from_posterior
from recassay.analysis.logistic_irt.em import fit_em
from recassay.analysis.logistic_irt.errors import item_covariance
from recassay.analysis.logistic_irt.items import maximise_items
from recassay.analysis.logistic_irt.model import blocks, true_score
from recassay.analysis.logistic_irt.priors import ItemPriors
from recassay.analysis.logistic_irt.result import LogisticResult
from recassay.analysis.logistic_irt.start import constant_items, standardised, starting_state, with_constant
from recassay.core.choices import AbilityMethod, LogisticEstimator, LogisticModel
from recassay.core.errors import InputError, UsageError
from recassay.core.tables.responses import MISSING, LogisticItems, Responses
from recassay.core.types import BoolArray, FloatArray
from recassay.core.words import listing

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
    if len(responses.respondents) < 2:
        raise InputError("one respondent cannot calibrate items", fix="give at least two, or known items")
    few = len(responses.respondents) < FEW_RESPONDENTS
    needed = model == "3pl" or (model == "2pl" and few)
    prior = ItemPriors() if priors is True or (priors is None and needed) else priors or None
    if estimator == "birnbaum":
        items, constant, change = birnbaum_items(responses, model, prior)
        abilities = estimate_abilities(responses, items, ability or "ml")
        result = _of_items(responses, model, items, abilities, confidence=confidence)
        return replace(result, estimator=estimator, constant=constant, cycles=1, change=change)
    fit = fit_em(responses, model, priors=prior, tolerance=tolerance, max_cycles=max_cycles)
    if ability is None or ability == "eap":
        abilities = from_posterior(fit.posterior, fit.grid.points)
    else:
        abilities = estimate_abilities(responses, fit.items, ability)
    errors, intervals = _item_intervals(item_covariance(responses, fit, model), fit.items, confidence=confidence)
    return replace(
        _of_items(responses, model, fit.items, abilities, confidence=confidence),
        estimator=estimator,
        item_errors=errors,
        item_intervals=intervals,
        constant=fit.constant,
        ability_intervals=abilities.interval(confidence, calibrated_on=len(responses.respondents)),
        log_likelihood=fit.log_likelihood,
        converged=fit.converged,
        cycles=fit.cycles,
        change=fit.change,
        gradient=fit.gradient,
        unbounded=fit.at_bound,
    )


def score_logistic(
    responses: Responses,
    items: LogisticItems,
    model: LogisticModel = "3pl",
    *,
    ability: AbilityMethod | None = None,
    confidence: float = 0.95,
) -> LogisticResult:
    """Abilities (by default maximum likelihood) and true scores from known items, matched by name."""
    place = {name: i for i, name in enumerate(items.names)}
    unknown = [name for name in responses.items if name not in place]
    if unknown:
        raise InputError(
            f"{len(unknown)} items have no parameters: {listing(unknown)}", fix="add them to the table of items"
        )
    known = items.take(np.array([place[name] for name in responses.items], dtype=np.int64))
    if model != "3pl" and known.guessing.any():
        raise UsageError(f"the items have guessing and the model is {model}", fix="use `model='3pl'`")
    if model == "1pl" and np.ptp(known.slope) > 0:
        raise UsageError(
            "the items have different discriminations and the model is 1pl", fix="use `model='2pl'` or `model='3pl'`"
        )
    return _of_items(
        responses, model, known, estimate_abilities(responses, known, ability or "ml"), confidence=confidence
    )


def _of_items(
    responses: Responses, model: LogisticModel, items: LogisticItems, abilities: Abilities, confidence: float
) -> LogisticResult:
    """What known items say of the respondents: of the items themselves there is no error, and nothing was estimated."""
    m = len(items.names)
    return LogisticResult(
        model=model,
        estimator="given",
        respondents=responses.respondents,
        items=items,
        item_errors=np.full((m, 3), np.nan),
        item_intervals=np.full((m, 3, 2), np.nan),
        constant=np.zeros(m, dtype=bool),
        abilities=abilities,
        ability_intervals=abilities.interval(confidence),
        true_scores=true_score(abilities.estimate, items),
        accuracies=responses.score_share(),
        confidence=confidence,
    )


def _item_intervals(covariance: FloatArray, items: LogisticItems, confidence: float) -> tuple[FloatArray, FloatArray]:
    """Standard errors (items x 3) and intervals (items x 3 x 2) of discrimination, difficulty and guessing.

    Difficulty b = -d / a by the delta method: var b = (var d + 2 b cov(a, d) + b^2 var a) / a^2.
    """
    width = float(normal_quantile(0.5 + confidence / 2))
    b, c = items.difficulty, items.guessing
    with np.errstate(divide="ignore", invalid="ignore"):
        difficulty = covariance[:, 1, 1] + 2 * b * covariance[:, 0, 1] + b**2 * covariance[:, 0, 0]
        difficulty_error = np.sqrt(np.maximum(difficulty, 0)) / np.abs(items.slope)
        slope_error, logit_error = np.sqrt(covariance[:, 0, 0]), np.sqrt(covariance[:, 2, 2])
        errors = np.stack([slope_error, difficulty_error, c * (1 - c) * logit_error], axis=1)
        values = np.stack([items.slope, b, c], axis=1)
        intervals = np.stack([values - width * errors, values + width * errors], axis=2)
        logit = np.log(c) - np.log1p(-c)
        intervals[:, 2] = expit(np.stack([logit - width * logit_error, logit + width * logit_error], axis=1))
    return errors, intervals


def birnbaum_items(
    responses: Responses, model: LogisticModel, priors: ItemPriors | None
) -> tuple[LogisticItems, BoolArray, float]:
    """Step 1 of Cardoso et al., sections 4.1 and 4.2.3 (after Birnbaum 1968): the items, which of them are constant,
    and how far the others moved from where they started.

    The abilities are the accuracies, standardised; each item is fitted by maximum likelihood (with `priors` penalised)
    as if they were known. Joint estimates are not consistent in the number of respondents: use the marginal ones unless
    the paper's are wanted. Step 2 gives abilities from ever more items; the last one, from all items, is the result:
    that is `estimate_abilities`.
    """
    constant = constant_items(responses)
    at = np.flatnonzero(~constant)
    start = starting_state(responses, model, priors).take(at)
    theta, state = standardised(responses.score_share()), start.copy()
    for part in blocks(len(at), len(theta)):
        codes = responses.codes[:, at[part]].T
        trials = np.ones((1, len(theta))) if responses.complete else (codes != MISSING).astype(np.float64)
        right = (codes == 1).astype(np.float64)
        state.put(part, maximise_items(theta, right, trials, start.take(part), model, priors, steps=100))
    whole = with_constant(responses, ~constant, state)
    return whole.named(responses.items), constant, float(state.change(start).max(initial=0.0))
