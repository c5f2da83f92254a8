"""One cycle after the other of the EM algorithm for logistic items, with the limit extrapolated from the last ones."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from recassay.analysis.inference.extrapolation import Extrapolation
from recassay.analysis.logistic_irt.grid import AbilityGrid, expected_counts, grid, posterior_on_grid, precision, window
from recassay.analysis.logistic_irt.items import bounded, maximise_items, slopes
from recassay.analysis.logistic_irt.priors import ItemPriors, ItemState
from recassay.analysis.logistic_irt.start import starting_state
from recassay.core.choices import LogisticModel
from recassay.core.tables.responses import Responses
from recassay.core.types import FloatArray

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
        if self.priors is not None and self.asked is not None and self.model != "1pl":
            self.priors = self.priors.framed(self.reached)
            if self.asked.adaptive and self.cycle in ADAPTING:
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
            found = slopes(where.nodes, right, trials, self.reached.take(part), self.model, self.priors)
            variance[part] = np.linalg.inv(found.positive + 1e-9 * np.eye(3))[:, 0, 0]
        return variance
