"""Marginal maximum likelihood of the logistic models by EM on a fixed grid of abilities (Bock and Aitkin 1981)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logsumexp

from recassay.analysis.logistic_items import STEEPEST, maximise_items, score_and_information
from recassay.analysis.logistic_model import blocks, grid_log_likelihood
from recassay.analysis.logistic_priors import ItemPriors, ItemState, LogisticModel
from recassay.analysis.logistic_start import (
    FEWEST_POINTS,
    REACH,
    constant_items,
    grid,
    starting_state,
    with_constant,
)
from recassay.core.responses import MISSING, LogisticItems, Responses
from recassay.core.types import BoolArray, FloatArray, IntArray

ADAPTING = (2, 4, 6)
"""The cycles after which adaptive priors take the spread of the slopes; from the last on they stay."""

_NO_MASS = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class LogisticFit:
    """What the EM algorithm ended with.

    `gradient` is the largest absolute derivative of the penalised marginal log-likelihood at the end; `change` how far
    the parameters would still move (the last change r / (1 - r), r the ratio of the last two changes); `history` the
    penalised log-likelihood of every cycle (it does not fall); `constant[i]` marks items that everybody or nobody has
    right, `at_bound[i]` those whose slope ran into its bound.
    """

    items: LogisticItems
    state: ItemState
    constant: BoolArray
    at_bound: BoolArray
    log_likelihood: float
    converged: bool
    cycles: int
    change: float
    gradient: float
    history: tuple[float, ...]
    points: FloatArray
    posterior: FloatArray
    priors: ItemPriors | None


def _log_weights(points: FloatArray) -> FloatArray:
    raw = -(points**2) / 2
    return raw - logsumexp(raw)


def posterior_on_grid(
    responses: Responses, items: LogisticItems, points: FloatArray
) -> tuple[FloatArray, FloatArray]:  # fmt: skip
    """The posterior of each respondent over the points (Normal(0, 1) population), and each marginal log-likelihood."""
    joint = grid_log_likelihood(responses, items, points) + _log_weights(points)
    marginal = logsumexp(joint, axis=1)
    joint -= marginal[:, None]
    return np.exp(joint, out=joint), marginal


def _named(names: tuple[str, ...], state: ItemState) -> LogisticItems:
    return LogisticItems(names, state.slope, state.intercept, expit(state.guessing_logit))


def fit_em(
    responses: Responses,
    model: LogisticModel = "2pl",
    *,
    priors: ItemPriors | None = None,
    tolerance: float = 1e-4,
    max_cycles: int = 500,
) -> LogisticFit:
    """Marginal maximum likelihood (with `priors`: maximum a posteriori) of the items, abilities ~ Normal(0, 1).

    Each cycle: posteriors on the grid (log-sum-exp); Fisher scoring of every item against its expected counts; then the
    parameter-expanded rescaling (Liu, Rubin and Wu 1998): the population's mean mu and deviation sigma are free within
    the cycle and moved into the items, slope <- sigma slope, intercept <- intercept + mu slope. The penalised marginal
    log-likelihood never falls. Items that everybody or nobody has right say nothing about abilities: their slope is 0
    and their probability (right + 1/2) / (answers + 1). The sign is such that abilities rise with the total score.
    """
    constant = constant_items(responses)
    varied = ~constant
    if not varied.any():
        return _all_constant(responses, constant)
    table = responses if varied.all() else Responses(
        responses.codes[:, varied], responses.respondents,
        tuple(n for n, v in zip(responses.items, varied, strict=True) if v))  # fmt: skip
    asked, state = priors, starting_state(table, model, priors)
    priors = None if asked is None else asked.framed(state)
    points = grid(_named(table.items, state))
    history: list[float] = []
    still = np.ones(len(table.items), dtype=bool)
    converged, change, ahead, cycle, window = False, np.inf, np.inf, 0, slice(None)
    for cycle in range(1, max_cycles + 1):
        if cycle in {4, 12, 40}:
            finer = grid(_named(table.items, state))
            if len(finer) > 1.1 * len(points):
                points, window = finer, slice(None)
        shown = points[window]
        posterior, marginal = posterior_on_grid(table, _named(table.items, state), shown)
        offset = logsumexp(-(shown**2) / 2) - logsumexp(-(points**2) / 2)
        value = float((marginal + offset).sum() + _log_prior(state, model, priors))
        mass = posterior.sum(axis=0)
        window = _window(points, shown, mass)
        inner = (2, tolerance / 30) if cycle < 6 else (15, tolerance / 30)
        awake = np.ones_like(still) if cycle % 4 == 0 else still
        moved = _step(table, state, model, priors, shown, posterior, awake, inner)
        mean = float(mass @ shown / len(posterior))
        spread = float(np.sqrt(mass @ (shown - mean) ** 2 / len(posterior)))
        rescaled = ItemState(moved.slope * spread, moved.intercept + mean * moved.slope, moved.guessing_logit)
        changes = rescaled.change(state)
        still = changes > tolerance / 20
        before, change = change, float(changes.max())
        rate = min(change / before, 0.99)
        ahead = change * max(rate / (1 - rate), 0.1)
        state = rescaled
        if asked is not None and priors is not None and model != "1pl":
            priors = priors.framed(state)
            if asked.adaptive and cycle in ADAPTING:
                errors = _slope_variances(table, state, model, priors, shown, posterior)
                priors = priors.adapted(state.slope, errors, asked.slope_deviation)
        history.append(value)
        near = min(ahead, 50 * change) < tolerance
        if near and awake.all() and (asked is None or cycle > ADAPTING[-1]):
            ahead, converged = min(ahead, 50 * change), True
            break
        if near:
            still[:] = True
    return _finish(responses, table, varied, model, priors, state, points, history, converged, cycle, ahead)


def _log_prior(state: ItemState, model: LogisticModel, priors: ItemPriors | None) -> float:
    return 0.0 if priors is None else float(priors.log_density(state, model).sum())


def _window(points: FloatArray, shown: FloatArray, mass: FloatArray) -> slice:
    """The part of the grid that holds any posterior mass, with a margin; all of it when mass reaches the margin."""
    held = shown[mass > _NO_MASS]
    low, high = held[0], held[-1]
    if len(shown) < len(points) and (low <= shown[1] or high >= shown[-2]):
        return slice(None)
    margin = 0.25
    return slice(
        int(np.searchsorted(points, low - margin)), int(np.searchsorted(points, high + margin, side="right"))
    )  # fmt: skip


def _step(
    table: Responses,
    state: ItemState,
    model: LogisticModel,
    priors: ItemPriors | None,
    points: FloatArray,
    posterior: FloatArray,
    awake: BoolArray,
    inner: tuple[int, float],
) -> ItemState:
    """Fisher scoring of the items that still move: at most `inner[0]` steps, to a change of `inner[1]`."""
    moved = state.copy()
    for part, right, trials in expected_counts(table, posterior, np.flatnonzero(awake)):
        part_state = state.take(part)
        steps, tolerance = inner
        best = maximise_items(
            points, right, trials, part_state, model, priors, steps=steps, tolerance=tolerance
        )  # fmt: skip
        moved.put(part, best)
    return moved


def _slope_variances(
    table: Responses,
    state: ItemState,
    model: LogisticModel,
    priors: ItemPriors,
    points: FloatArray,
    posterior: FloatArray,
) -> FloatArray:
    """The error variance of each slope as if abilities were known."""
    variance = np.empty(len(state.slope))
    for part, right, trials in expected_counts(table, posterior, np.arange(len(state.slope))):
        _, information = score_and_information(points, right, trials, state.take(part), model, priors)
        variance[part] = np.linalg.inv(information + 1e-9 * np.eye(3))[:, 0, 0]
    return variance


def expected_counts(
    table: Responses, posterior: FloatArray, which: IntArray
) -> Iterator[tuple[IntArray, FloatArray, FloatArray]]:
    """Blocks of the items `which`: their positions, and the expected right answers and answers at every point."""
    shared = posterior.sum(axis=0)[None, :]
    for part in blocks(len(which), max(posterior.shape)):
        at = which[part]
        codes = table.codes[:, at]
        right = (codes == 1).astype(np.float64).T @ posterior
        yield at, right, shared if table.complete else (codes != MISSING).astype(np.float64).T @ posterior


def _finish(
    responses: Responses,
    table: Responses,
    varied: BoolArray,
    model: LogisticModel,
    priors: ItemPriors | None,
    state: ItemState,
    points: FloatArray,
    history: list[float],
    converged: bool,
    cycles: int,
    change: float,
) -> LogisticFit:
    posterior, marginal = posterior_on_grid(table, _named(table.items, state), points)
    if np.cov(posterior @ points, table.score_share(), bias=True)[0, 1] < 0:
        state = ItemState(-state.slope, state.intercept, state.guessing_logit)
        posterior = posterior[:, ::-1]
        priors = None if priors is None else priors.framed(state)
    gradient = 0.0
    for part, right, trials in expected_counts(table, posterior, np.arange(len(table.items))):
        score, _ = score_and_information(points, right, trials, state.take(part), model, priors)
        gradient = max(gradient, float(np.abs(score).max()))
    whole = with_constant(responses, varied, state)
    at_bound = np.abs(whole.slope) >= STEEPEST * 0.999
    history.append(float(marginal.sum() + _log_prior(state, model, priors)))
    return LogisticFit(
        items=_named(responses.items, whole),
        state=whole,
        constant=~varied,
        at_bound=at_bound,
        log_likelihood=float(marginal.sum()),
        converged=converged and not at_bound.any(),
        cycles=cycles,
        change=change,
        gradient=gradient,
        history=tuple(history),
        points=points,
        posterior=posterior,
        priors=priors,
    )


def _all_constant(responses: Responses, constant: BoolArray) -> LogisticFit:
    """No item tells respondents apart: every ability keeps the population's distribution."""
    state = with_constant(responses, ~constant, ItemState(np.zeros(0), np.zeros(0), np.zeros(0)))
    points = np.linspace(-REACH, REACH, FEWEST_POINTS)
    return LogisticFit(
        items=_named(responses.items, state),
        state=state,
        constant=constant,
        at_bound=np.zeros(len(constant), dtype=bool),
        log_likelihood=0.0,
        converged=True,
        cycles=0,
        change=0.0,
        gradient=0.0,
        history=(0.0,),
        points=points,
        posterior=np.tile(np.exp(_log_weights(points)), (len(responses.respondents), 1)),
        priors=None,
    )
