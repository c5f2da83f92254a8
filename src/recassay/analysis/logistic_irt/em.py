"""Marginal maximum likelihood of the logistic models by EM on a fixed grid of abilities (Bock and Aitkin 1981)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from recassay.analysis.inference.extrapolation import Extrapolation
from recassay.analysis.logistic_irt.grid import (
    FEWEST_POINTS,
    REACH,
    AbilityGrid,
    expected_counts,
    grid,
    posterior_on_grid,
    precision,
    window,
)
from recassay.analysis.logistic_irt.items import STEEPEST, bounded, maximise_items, slopes
from recassay.analysis.logistic_irt.priors import ItemPriors, ItemState
from recassay.analysis.logistic_irt.start import constant_items, starting_state, with_constant
from recassay.core.choices import LogisticModel
from recassay.core.tables.responses import LogisticItems, Responses
from recassay.core.types import BoolArray, FloatArray

ADAPTING = (2, 4, 6)
"""The cycles after which adaptive priors take the spread of the slopes; from the last on they stay."""

REGRIDDING = (4, 12, 40)
"""The cycles before which a grid that has become too coarse is made finer."""

_TYPICAL, _NEAR, _JUMP = 0.99, 0.05, 30.0
"""Cycles are extrapolated once 99 % of the items move less than 0.05, from items that move less than 30 times that."""

_NARROWEST = 1e-6
_FARTHEST = 1.0
_INNER_STEPS = (2, 40)


@dataclass(slots=True)
class EMRun:
    """The EM algorithm under way: `reached` is where the last cycle ended, `state` where the next one starts."""

    table: Responses
    model: LogisticModel
    asked: ItemPriors | None
    tolerance: float
    state: ItemState = field(init=False)
    reached: ItemState = field(init=False)
    priors: ItemPriors | None = field(init=False)
    points: FloatArray = field(init=False)
    shown: slice = field(default_factory=lambda: slice(None))
    cycle: int = 0
    change: float = np.inf
    ahead: float = np.inf
    near: bool = False
    converged: bool = False
    history: list[float] = field(default_factory=list)
    extrapolation: Extrapolation = field(default_factory=Extrapolation)
    guessed: bool = False

    def __post_init__(self) -> None:
        self.state = self.reached = starting_state(self.table, self.model, self.asked)
        self.priors = None if self.asked is None else self.asked.framed(self.state)
        self.points = grid(self.state)

    @property
    def adapting(self) -> bool:
        """Whether the priors still change."""
        return self.asked is not None and self.model != "1pl" and self.cycle <= ADAPTING[-1]

    def advance(self) -> None:
        """One cycle."""
        self.cycle += 1
        if self.cycle in REGRIDDING:
            finer = grid(self.state)
            if len(finer) > 1.1 * len(self.points):
                self.points, self.shown = finer, slice(None)
        where, posterior, value = self._expect()
        if self.guessed and value < self.history[-1] - precision(self.table) * abs(value):
            self.extrapolation.forget()
            self.state = self.reached
            where, posterior, value = self._expect()
        mass = posterior.sum(axis=0)
        self.shown = window(self.points, where.points, mass)
        weights = where.to_nodes(posterior)
        inner = _INNER_STEPS[0] if self.cycle < ADAPTING[-1] else _INNER_STEPS[1]
        close = max(self.tolerance / 30, 0.02 * min(self.change, 0.05))
        moved = self.state.copy()
        for part, right, trials in expected_counts(self.table, weights):
            moved.put(part, maximise_items(where.nodes, right, trials, self.state.take(part), self.model, self.priors,
                                           steps=inner, tolerance=close))  # fmt: skip
        mean = float(mass @ where.points / len(posterior))
        variance = max(float(mass @ (where.points - mean) ** 2 / len(posterior)), _NARROWEST)
        held = self.priors if self.model != "1pl" else None
        spread = float(np.sqrt(variance)) if held is None else held.spread(variance, len(posterior))
        self.reached = bounded(
            ItemState(moved.slope * spread, moved.intercept + mean * moved.slope, moved.guessing_logit)
        )
        self.history.append(value)
        self._look_ahead()
        if held is not None and self.asked is not None:
            self.priors = held.framed(self.reached)
            if held.adaptive and self.cycle in ADAPTING:
                self.priors = self.priors.adapted(
                    self.reached.slope, self._slope_variances(where, weights), self.asked.slope_deviation
                )

    def _expect(self) -> tuple[AbilityGrid, FloatArray, float]:
        """Posteriors at the points that hold any mass, and the penalised log-likelihood."""
        where = AbilityGrid.of(self.points[self.shown], self.state.slope)
        posterior, marginal = posterior_on_grid(self.table, self.state, where)
        prior = 0.0 if self.priors is None else self.priors.log_total(self.state, self.model)
        return where, posterior, float(marginal.sum()) + prior

    def _look_ahead(self) -> None:
        """Choose where the next cycle starts, and judge how far the limit is.

        The next start is where this cycle ended, or where the last ones point to. How far the items would still move is
        the distance to there; before several cycles can be compared, change r / (1 - r) with r the ratio of the last
        two changes. A limit that is guessed must be near twice in a row.
        """
        start, self.state, self.guessed = self.state, self.reached, False
        changes = self.reached.change(start)
        before, self.change = self.change, float(changes.max())
        rate = min(self.change / before, 0.99) if before > 0 else 0.0
        self.ahead = self.change * max(rate / (1 - rate), 0.1)
        typical = float(np.quantile(changes, _TYPICAL))
        if self.adapting or self.cycle < REGRIDDING[0] or typical > _NEAR:
            self.extrapolation.forget()
        else:
            calm = np.tile(changes < max(_JUMP * typical, self.tolerance), self._parts)
            guess = self._bounded(self.extrapolation.ahead(self._flat(start), self._flat(self.reached), calm))
            distance = float(guess.change(self.reached).max())
            if self.extrapolation.steps > 2:
                self.ahead = max(distance, 0.1 * self.change)
            if distance < _FARTHEST:
                self.state, self.guessed = guess, True
        near = self.ahead < self.tolerance and not self.adapting
        self.converged, self.near = near and (self.near or not self.guessed), near

    @property
    def _parts(self) -> int:
        return 3 if self.model == "3pl" else 2

    def _flat(self, state: ItemState) -> FloatArray:
        return np.concatenate([state.slope, state.intercept, state.guessing_logit][: self._parts])

    def _bounded(self, flat: FloatArray) -> ItemState:
        slope, intercept, *guessing = np.split(flat, self._parts)
        return bounded(ItemState(slope, intercept, guessing[0] if guessing else self.reached.guessing_logit))

    def _slope_variances(self, where: AbilityGrid, weights: FloatArray) -> FloatArray:
        """The error variance of each slope as if abilities were known."""
        variance = np.empty(len(self.reached.slope))
        for part, right, trials in expected_counts(self.table, weights):
            curvature = slopes(where.nodes, right, trials, self.reached.take(part), self.model, self.priors).positive
            variance[part] = np.linalg.inv(curvature + 1e-9 * np.eye(3))[:, 0, 0]
        return variance


@dataclass(frozen=True, slots=True, eq=False)
class LogisticFit:
    """What the EM algorithm ended with; by default what it says of a table on which nothing varies."""

    items: LogisticItems
    state: ItemState
    constant: BoolArray
    """Items that everybody or nobody has right."""
    grid: AbilityGrid
    posterior: FloatArray
    priors: ItemPriors | None = None
    log_likelihood: float = 0.0
    converged: bool = True
    cycles: int = 0
    change: float = 0.0
    """How far the parameters would still move (the last change r / (1 - r), r the ratio of the last two changes)."""
    gradient: float = 0.0
    """The largest absolute derivative of the penalised marginal log-likelihood at the end."""

    @property
    def at_bound(self) -> BoolArray:
        """Items whose slope ran into its bound."""
        return np.abs(self.items.slope) >= STEEPEST * 0.999


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
    if constant.all():
        # No item tells respondents apart: every ability keeps the population's distribution.
        points = np.linspace(-REACH, REACH, FEWEST_POINTS)
        where = AbilityGrid(points, points)
        state = with_constant(responses, ~constant, ItemState(np.zeros(0), np.zeros(0), np.zeros(0)))
        posterior = np.tile(np.exp(where.log_weights), (len(responses.respondents), 1))
        return LogisticFit(state.named(responses.items), state, constant, where, posterior)
    run = EMRun(
        responses.on_items(np.flatnonzero(~constant)) if constant.any() else responses, model, priors, tolerance
    )
    while run.cycle < max_cycles and not run.converged:
        run.advance()
    state, table, fitted = run.reached, run.table, run.priors
    where = AbilityGrid.of(run.points, state.slope)
    posterior, marginal = posterior_on_grid(table, state, where)
    if np.cov(posterior @ where.points, table.score_share(), bias=True)[0, 1] < 0:
        state = ItemState(-state.slope, state.intercept, state.guessing_logit)
        posterior = posterior[:, ::-1]
        fitted = None if fitted is None else fitted.framed(state)
    gradient = 0.0
    for part, right, trials in expected_counts(table, where.to_nodes(posterior)):
        at_end = slopes(where.nodes, right, trials, state.take(part), model, fitted)
        gradient = max(gradient, float(np.abs(at_end.gradient).max()))
    whole = with_constant(responses, ~constant, state)
    fit = LogisticFit(
        items=whole.named(responses.items),
        state=whole,
        constant=constant,
        grid=where,
        posterior=posterior,
        priors=fitted,
        log_likelihood=float(marginal.sum()),
        cycles=run.cycle,
        change=run.ahead,
        gradient=gradient,
    )
    return replace(fit, converged=run.converged and not fit.at_bound.any())
