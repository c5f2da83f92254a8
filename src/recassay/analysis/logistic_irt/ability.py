"""Abilities given item parameters: maximum likelihood, maximum a posteriori, expected a posteriori."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from recassay.analysis.inference.distributions import normal_quantile
from recassay.analysis.logistic_irt.grid import AbilityGrid, grid, grid_log_likelihood, posterior_on_grid
from recassay.analysis.logistic_irt.model import blocks
from recassay.core import ties
from recassay.core.choices import AbilityMethod
from recassay.core.tables.responses import MISSING, LogisticItems, Responses
from recassay.core.types import BoolArray, FloatArray

BOUND = 6.0
"""A maximum-likelihood ability lies within this many population deviations: all right has no finite one."""


@dataclass(frozen=True, slots=True, eq=False)
class Abilities:
    """Estimates in population standard deviations, their standard errors, and which ran into the bound."""

    method: AbilityMethod
    """How they were estimated: maximum likelihood, the posterior's mode, or its mean."""
    estimate: FloatArray
    """The ability of each respondent; equal answers give equal ones, whatever the rounding."""
    standard_error: FloatArray
    at_bound: BoolArray
    """For each, whether the estimate ran into the end of the scale."""

    def interval(self, confidence: float = 0.95, *, calibrated_on: int | None = None) -> FloatArray:
        """Normal intervals, respondents x 2.

        `calibrated_on` is the number of respondents the items were estimated from: origin and unit of the scale are
        then estimates themselves, with variances 1/n and 1/(2n), which add (1 + theta^2 / 2) / n to the variance.
        """
        variance = self.standard_error**2
        if calibrated_on is not None:
            variance = variance + (1 + self.estimate**2 / 2) / calibrated_on
        half = float(normal_quantile(0.5 + confidence / 2)) * np.sqrt(variance)
        return np.stack([self.estimate - half, self.estimate + half], axis=1)


def estimate_abilities(responses: Responses, items: LogisticItems, method: AbilityMethod) -> Abilities:
    """The ability of each respondent given the items (in the order of the table's).

    ml: argmax of the likelihood within +-`BOUND`, standard error 1 / sqrt(information); map: argmax of likelihood times
    Normal(0, 1), 1 / sqrt(information + 1); eap: mean and standard deviation of the posterior. The 3PL likelihood may
    have several maxima: the highest on a grid is refined by Fisher scoring between its neighbours.
    """
    if method == "eap":
        where = AbilityGrid.of(grid(items), items.slope)
        posterior, _ = posterior_on_grid(responses, items, where)
        return from_posterior(posterior, where.points)
    points = np.linspace(-BOUND, BOUND, max(361, len(grid(items))))
    where = AbilityGrid.of(points, items.slope)
    height = where.to_points(grid_log_likelihood(responses, items, where.nodes))
    pull = 1.0 if method == "map" else 0.0  # of the population's Normal(0, 1)
    step = points[1] - points[0]
    theta = points[(height - pull * points**2 / 2).argmax(axis=1)]
    low, high = np.maximum(theta - step, -BOUND), np.minimum(theta + step, BOUND)
    moved = np.full(len(theta), np.inf)
    for _ in range(60):
        score, information = _score(responses, items, theta)
        score, information = score - pull * theta, information + pull
        low, high = np.where(score > 0, theta, low), np.where(score > 0, high, theta)
        move = theta + score / np.maximum(information, 1e-12)
        # The interval is halved where a step leaves it, and where steps hardly shrink, as guessing makes them do.
        sound = (move >= low) & (move <= high) & (np.abs(move - theta) <= np.maximum(moved / 2, 1e-10))
        following = np.where(sound, move, (low + high) / 2)
        moved, theta = np.abs(following - theta), following
        if moved.max() < 1e-10:
            break
    _, information = _score(responses, items, theta)
    at_bound = np.abs(theta) > BOUND - 1e-6
    theta = np.where(at_bound, np.sign(theta) * BOUND, theta)
    with np.errstate(divide="ignore"):
        error = 1 / np.sqrt(information + pull)
    return Abilities(method, ties.level(theta), error, at_bound)


def from_posterior(posterior: FloatArray, points: FloatArray) -> Abilities:
    """Mean and standard deviation of posteriors on a grid."""
    mean = posterior @ points
    variance = np.maximum(posterior @ points**2 - mean**2, 0.0)
    return Abilities("eap", ties.level(mean), np.sqrt(variance), np.zeros(len(mean), dtype=bool))


def _score(responses: Responses, items: LogisticItems, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Derivative of each respondent's log-likelihood at its own theta, and the expected information."""
    score, information = np.zeros(len(theta)), np.zeros(len(theta))
    for part in blocks(len(items.names), len(theta)):
        codes = responses.codes[:, part]
        z = theta[:, None] * items.slope[part] + items.intercept[part]
        c = items.guessing[part]
        logistic = expit(z)
        right = np.maximum(c + (1 - c) * logistic, 1e-300)
        weight = items.slope[part] * logistic / right
        known = 1.0 if responses.complete else codes != MISSING
        score += (known * weight * ((codes == 1) - right)).sum(axis=1)
        information += (known * weight**2 * right * (1 - c) * expit(-z)).sum(axis=1)
    return score, information
