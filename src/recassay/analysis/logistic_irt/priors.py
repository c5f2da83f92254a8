"""Logistic items while they are estimated, and what is believed of them before."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from recassay.core.choices import LogisticModel
from recassay.core.tables.responses import LogisticItems
from recassay.core.types import BoolArray, FloatArray, IntArray

UNITS = (0.05, 25.0)
"""The range of the unit of slopes."""


@dataclass(frozen=True, slots=True, eq=False)
class ItemState:
    """Parameters of items while they are estimated: slope, intercept, logit of guessing (-inf: none)."""

    slope: FloatArray
    intercept: FloatArray
    guessing_logit: FloatArray

    @property
    def guessing(self) -> FloatArray:
        """As a probability."""
        return expit(self.guessing_logit)

    def named(self, names: tuple[str, ...]) -> LogisticItems:
        """As items of these names."""
        return LogisticItems(names, self.slope, self.intercept, self.guessing)

    def take(self, which: slice | BoolArray | IntArray) -> ItemState:
        """The items of a slice or mask."""
        return ItemState(self.slope[which], self.intercept[which], self.guessing_logit[which])

    def put(self, which: slice | BoolArray | IntArray, part: ItemState) -> None:
        """Write `part` back at its place."""
        self.slope[which], self.intercept[which] = part.slope, part.intercept
        self.guessing_logit[which] = part.guessing_logit

    def copy(self) -> ItemState:
        """A state that can be written to."""
        return ItemState(self.slope.copy(), self.intercept.copy(), self.guessing_logit.copy())

    def change(self, other: ItemState) -> FloatArray:
        """The largest change of a parameter of each item; guessing counts as a probability."""
        moved = np.maximum(np.abs(self.slope - other.slope), np.abs(self.intercept - other.intercept))
        return np.maximum(moved, np.abs(self.guessing - other.guessing))


@dataclass(frozen=True, slots=True)
class ItemPriors:
    """Normal priors that keep items with little information in place.

    Slopes (signed) are Normal(1, 1) in units of the test's own slope (`unit`); the logit of guessing is
    Normal(-1.39, 0.5): 0.2, and mostly between 0.09 and 0.4; the logit of the logistic part at the test's own `origin`
    is Normal(0, 5) in the 3PL, where an item that nobody does better on than by guessing has no finite intercept. Unit
    and origin are those that fit the items best: the scale of the ability comes from the population, not from the
    priors, so that many items cannot outvote it. With `adaptive` the deviation of the slopes is estimated (empirical
    Bayes: the mean of (slope - unit)^2 + its error variance), between a quarter of the unit and `slope_deviation`: with
    few respondents the slopes of many items would else stretch the scale of the ability. The logarithm of the unit is
    Normal(0, `unit_deviation`): where respondents agree almost wholly, as classifiers do, the likelihood rises with the
    unit without end. With `anchored` the unit stays 1 and the origin 0: for tables of so few respondents that the items
    have no scale of their own.
    """

    slope_mean: float = 1.0
    """Mean of the slopes, in units of the test's own."""
    slope_deviation: float = 1.0
    guessing_mean: float = -1.39
    """Mean of the logit of guessing."""
    guessing_deviation: float = 0.5
    """Its standard deviation."""
    intercept_deviation: float = 5.0
    """Standard deviation of the logit of the logistic part at the origin."""
    adaptive: bool = True
    anchored: bool = False
    unit_deviation: float = 0.5
    unit: float = 1.0
    origin: float = 0.0

    def framed(self, state: ItemState) -> ItemPriors:
        """With the unit and the origin that maximise the density of these items.

        The origin is -sum a d / sum a^2; the unit u solves sum (a / u) (a / u - m) = s^2 log u / t^2, m and s the mean
        and deviation of the slopes in units, t that of log u: without the right-hand side it is sum a^2 / (m sum a).
        """
        if self.anchored:
            return self
        squares, total = float((state.slope**2).sum()), self.slope_mean * float(state.slope.sum())
        origin = -float(state.slope @ state.intercept) / max(squares, 1e-9)
        if total <= 0:
            return replace(self, origin=origin)
        pull = (self.slope_deviation / self.unit_deviation) ** 2
        log_unit = np.log(np.clip(squares / total, *UNITS))
        for _ in range(20):
            inverse = np.exp(-log_unit)
            excess = squares * inverse**2 - total * inverse - pull * log_unit
            slope = -2 * squares * inverse**2 + total * inverse - pull
            log_unit -= np.clip(excess / min(slope, -1e-9), -0.5, 0.5)
        return replace(self, unit=float(np.clip(np.exp(log_unit), *UNITS)), origin=origin)

    def spread(self, variance: float, respondents: int) -> float:
        """The population's deviation sigma within a cycle of EM, from the variance v of the posteriors.

        It maximises -n log sigma - n v / (2 sigma^2) + log p(sigma unit): sqrt(v) but for the prior of the unit.
        """
        if self.anchored:
            return float(np.sqrt(variance))
        log_spread, weight = np.log(variance) / 2, 1 / (respondents * self.unit_deviation**2)
        for _ in range(20):
            part = variance * np.exp(-2 * log_spread)
            log_spread += (part - 1 - weight * (np.log(self.unit) + log_spread)) / (2 * part + weight)
        return float(np.exp(log_spread))

    def log_total(self, state: ItemState, model: LogisticModel) -> float:
        """Of all items and the unit, up to a constant."""
        unit = 0.0 if model == "1pl" else (np.log(self.unit) / self.unit_deviation) ** 2 / 2
        return float(self.log_density(state, model).sum() - unit)

    def adapted(self, slope: FloatArray, error_variance: FloatArray, widest: float) -> ItemPriors:
        """With the deviation that these slopes have around the unit, at most `widest`."""
        squares = np.mean((slope - self.unit * self.slope_mean) ** 2 + error_variance)
        return replace(self, slope_deviation=float(np.clip(np.sqrt(squares) / self.unit, min(0.25, widest), widest)))

    def log_density(self, state: ItemState, model: LogisticModel) -> FloatArray:
        """Of each item, up to a constant."""
        total = np.zeros(len(state.slope))
        if model != "1pl":
            total -= ((state.slope / self.unit - self.slope_mean) / self.slope_deviation) ** 2 / 2
        if model == "3pl":
            total -= ((state.intercept + state.slope * self.origin) / self.intercept_deviation) ** 2 / 2
            total -= ((state.guessing_logit - self.guessing_mean) / self.guessing_deviation) ** 2 / 2
        return total

    def derivatives(self, state: ItemState, model: LogisticModel) -> tuple[FloatArray, FloatArray]:
        """Gradient (items x 3) and minus the second derivative (3 x 3, the same for all items)."""
        gradient, curvature = np.zeros((len(state.slope), 3)), np.zeros((3, 3))
        if model != "1pl":
            scale = (self.unit * self.slope_deviation) ** 2
            gradient[:, 0] -= (state.slope - self.unit * self.slope_mean) / scale
            curvature[0, 0] += 1 / scale
        if model == "3pl":
            place = np.array([self.origin, 1.0, 0.0])
            precision = 1 / self.intercept_deviation**2
            gradient -= precision * (state.intercept + state.slope * self.origin)[:, None] * place
            curvature += precision * np.outer(place, place)
            gradient[:, 2] -= (state.guessing_logit - self.guessing_mean) / self.guessing_deviation**2
            curvature[2, 2] += 1 / self.guessing_deviation**2
        return gradient, curvature
