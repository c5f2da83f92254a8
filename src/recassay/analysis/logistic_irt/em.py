"""Marginal maximum likelihood of the logistic models by EM on a fixed grid of abilities (Bock and Aitkin 1981)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recassay.analysis.logistic_irt.cycle import EMRun
from recassay.analysis.logistic_irt.grid import FEWEST_POINTS, REACH, AbilityGrid, expected_counts, posterior_on_grid
from recassay.analysis.logistic_irt.items import STEEPEST, slopes
from recassay.analysis.logistic_irt.priors import ItemPriors, ItemState
from recassay.analysis.logistic_irt.start import constant_items, with_constant
from recassay.core.choices import LogisticModel
from recassay.core.tables.responses import LogisticItems, Responses
from recassay.core.types import BoolArray, FloatArray


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
    grid: AbilityGrid
    posterior: FloatArray
    priors: ItemPriors | None


def fit_em(
    responses: Responses,
    model: LogisticModel = "2pl",
    *,
    priors: ItemPriors | None = None,
    tolerance: float = 1e-4,
    max_cycles: int = 500,
) -> LogisticFit:
    """Marginal maximum likelihood (with `priors`: maximum a posteriori) of the items, abilities ~ Normal(0, 1).

    Each cycle: posteriors on the grid (log-sum-exp); Newton's method on every item against its expected counts; then
    the parameter-expanded rescaling (Liu, Rubin and Wu 1998): the population's mean mu and deviation sigma are free
    within the cycle and moved into the items, slope <- sigma slope, intercept <- intercept + mu slope. Once the items
    move little, the limit is extrapolated from the last cycles (Anderson); a guess that lowers the penalised marginal
    log-likelihood is dropped, so that it never falls. Items that everybody or nobody has right say nothing about
    abilities: their slope is 0 and their probability (right + 1/2) / (answers + 1). The sign is such that abilities
    rise with the total score.
    """
    constant = constant_items(responses)
    varied = ~constant
    if not varied.any():
        return _all_constant(responses, constant)
    table = responses if varied.all() else Responses(
        responses.codes[:, varied], responses.respondents,
        tuple(n for n, v in zip(responses.items, varied, strict=True) if v))  # fmt: skip
    run = EMRun(table, model, priors, tolerance)
    while run.cycle < max_cycles and not run.converged:
        run.advance()
    return _finish(responses, varied, run)


def _finish(responses: Responses, varied: BoolArray, run: EMRun) -> LogisticFit:
    state, table, priors = run.reached, run.table, run.priors
    where = AbilityGrid.of(run.points, state.slope)
    posterior, marginal = posterior_on_grid(table, state, where)
    if np.cov(posterior @ where.points, table.score_share(), bias=True)[0, 1] < 0:
        state = ItemState(-state.slope, state.intercept, state.guessing_logit)
        posterior = posterior[:, ::-1]
        priors = None if priors is None else priors.framed(state)
    gradient = 0.0
    for part, right, trials in expected_counts(table, where.to_nodes(posterior)):
        found = slopes(where.nodes, right, trials, state.take(part), run.model, priors)
        gradient = max(gradient, float(np.abs(found.gradient).max()))
    whole = with_constant(responses, varied, state)
    at_bound = np.abs(whole.slope) >= STEEPEST * 0.999
    prior = 0.0 if priors is None else priors.log_total(state, run.model)
    return LogisticFit(
        items=LogisticItems(responses.items, whole.slope, whole.intercept, whole.guessing),
        state=whole,
        constant=~varied,
        at_bound=at_bound,
        log_likelihood=float(marginal.sum()),
        converged=run.converged and not at_bound.any(),
        cycles=run.cycle,
        change=run.ahead,
        gradient=gradient,
        history=(*run.history, float(marginal.sum()) + prior),
        grid=where,
        posterior=posterior,
        priors=priors,
    )


def _all_constant(responses: Responses, constant: BoolArray) -> LogisticFit:
    """No item tells respondents apart: every ability keeps the population's distribution."""
    state = with_constant(responses, ~constant, ItemState(np.zeros(0), np.zeros(0), np.zeros(0)))
    points = np.linspace(-REACH, REACH, FEWEST_POINTS)
    where = AbilityGrid(points, points)
    return LogisticFit(
        items=LogisticItems(responses.items, state.slope, state.intercept, state.guessing),
        state=state,
        constant=constant,
        at_bound=np.zeros(len(constant), dtype=bool),
        log_likelihood=0.0,
        converged=True,
        cycles=0,
        change=0.0,
        gradient=0.0,
        history=(0.0,),
        grid=where,
        posterior=np.tile(np.exp(where.log_weights), (len(responses.respondents), 1)),
        priors=None,
    )
