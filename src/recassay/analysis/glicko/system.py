"""The Glicko-2 rating system (Glickman 2012), for all players of a period, and many tournaments, at once.

Its step 5 is in machine code: every player of every period has an equation of its own to solve.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from recassay.core import ties
from recassay.core.system.compiled import compiled_exactly
from recassay.core.types import FloatArray, IntArray

SCALE = 173.7178
"""Rating points in a unit of Glickman's internal scale: 400 / ln 10."""

START = (1500.0, 350.0, 0.06)
"""Rating, deviation and volatility of a player nobody has seen."""

LEAST_PRECISION = 1e-9
"""A period of foregone games (precision 0 in floating point) counts as this much."""

TAU = 0.5
CALMER = (0.2, 0.1, 0.05, 0.02)
"""What tau falls back to where ratings do not settle."""

SETTLED = 1.0
"""A volatility above this (174 points per period) means that the ratings have run away."""


def rate_period(
    rating: FloatArray, deviation: FloatArray, volatility: FloatArray, scores: FloatArray, tau: float = TAU
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """One rating period (steps 2 to 8 of Glicko-2) for all players at once.

    `scores[..., i, j]` is what i scored against j: 1, 0.5 or 0; NaN where they did not play. Leading axes are
    independent tournaments. A player without a game keeps rating and volatility, and its deviation grows.
    """
    mu, phi = (rating - START[0]) / SCALE, deviation / SCALE
    played = ~np.isnan(scores)
    weight = 1 / np.sqrt(1 + 3 * phi**2 / np.pi**2)
    expected = expit(weight[..., None, :] * (mu[..., :, None] - mu[..., None, :]))
    g = np.where(played, weight[..., None, :], 0.0)
    precision = (g**2 * expected * (1 - expected)).sum(axis=-1)
    surprise = (g * (np.where(played, scores, 0.0) - expected)).sum(axis=-1)
    active = played.any(axis=-1)
    variance = 1 / np.maximum(np.where(active, precision, 1.0), LEAST_PRECISION)
    volatility_after = np.where(
        active, new_volatility(phi, volatility, variance * surprise, variance, tau), volatility
    )  # fmt: skip
    widened = phi**2 + volatility_after**2
    phi_after = np.where(active, 1 / np.sqrt(1 / widened + 1 / variance), np.sqrt(widened))
    mu_after = np.where(active, mu + phi_after**2 * surprise, mu)
    return START[0] + SCALE * mu_after, SCALE * phi_after, volatility_after


def round_robin(values: FloatArray, *, higher_is_better: bool, tie: float = 0.0) -> FloatArray:
    """What each player scored against each on every dataset: datasets x players x players, NaN against itself.

    1 for the better value, 0 for the worse, 0.5 where they tie (`core.ties`) or differ by at most `tie`; no game where
    a value is missing.
    """
    up = (values if higher_is_better else -values).T
    gap = up[:, :, None] - up[:, None, :]
    scores = np.where(np.abs(gap) <= tie, 0.5, (ties.sign(up[:, :, None], up[:, None, :]) + 1) / 2)
    scores[np.isnan(gap)] = np.nan
    scores[:, np.arange(len(values)), np.arange(len(values))] = np.nan
    return scores


def tournament(scores: FloatArray, order: IntArray, *, tau: float = TAU) -> FloatArray:
    """Ratings, deviations and volatilities after each period: orders x (periods + 1) x 3 x players.

    `order[o, t]` is the dataset of period t in the o-th order.
    """
    orders, periods = order.shape
    players = scores.shape[1]
    rating, deviation, volatility = (np.full((orders, players), value) for value in START)
    history = np.empty((orders, periods + 1, 3, players))
    history[:, 0] = np.stack([rating, deviation, volatility], axis=1)
    for t in range(periods):
        rating, deviation, volatility = rate_period(rating, deviation, volatility, scores[order[:, t]], tau)
        history[:, t + 1] = np.stack([rating, deviation, volatility], axis=1)
    return history


def win_probability(rating: FloatArray, deviation: FloatArray) -> FloatArray:
    """P(i beats j), both ratings uncertain: E = 1 / (1 + 10^(-g (r_i - r_j) / 400)), g from the two deviations.

    g = 1 / sqrt(1 + 3 (phi_i^2 + phi_j^2) / pi^2), phi = deviation / 173.7178 (Glickman 1999, Equation 16).
    """
    phi = (deviation / SCALE) ** 2
    g = 1 / np.sqrt(1 + 3 * (phi[:, None] + phi[None, :]) / np.pi**2)
    return expit(g * (rating[:, None] - rating[None, :]) / SCALE)


_EXACT = 1e-9
_MOST_STEPS = 200


def new_volatility(
    deviation: FloatArray, volatility: FloatArray, gain: FloatArray, variance: FloatArray, tau: float
) -> FloatArray:
    """The root of f(x) = e^x (gain^2 - phi^2 - v - e^x) / 2 (phi^2 + v + e^x)^2 - (x - a) / tau^2, as sigma' = e^(x/2).

    a = ln sigma^2. `deviation`, `gain` and `variance` (phi, Delta, v) are on the internal scale.
    """
    spread, square, anchor = (
        np.ascontiguousarray(part, dtype=np.float64).ravel()
        for part in np.broadcast_arrays(deviation**2 + variance, gain**2, 2 * np.log(volatility))
    )
    roots = np.empty_like(anchor)
    _solve(spread, square, anchor, float(tau), roots)
    return np.exp(roots / 2).reshape(np.shape(deviation))


@compiled_exactly
def _f(x: float, spread: float, square: float, anchor: float, tau: float) -> float:
    e = np.exp(x)
    return e * (square - spread - e) / (2 * (spread + e) ** 2) - (x - anchor) / tau**2


@compiled_exactly
def _solve(spread: FloatArray, square: FloatArray, anchor: FloatArray, tau: float, roots: FloatArray) -> None:
    """Illinois algorithm: a false position that halves the stale end."""
    for i in range(len(roots)):
        s, g, a = spread[i], square[i], anchor[i]
        left = a
        if g > s:
            right = np.log(g - s)
        else:
            right = a - tau
            while _f(right, s, g, a, tau) < 0:
                right -= tau
        at_left, at_right = _f(left, s, g, a, tau), _f(right, s, g, a, tau)
        for _ in range(_MOST_STEPS):
            if abs(right - left) <= _EXACT:
                break
            slope = at_right - at_left if at_right != at_left else 1.0
            middle = left + (left - right) * at_left / slope
            at_middle = _f(middle, s, g, a, tau)
            if at_middle * at_right <= 0:
                left, at_left = right, at_right
            else:
                at_left /= 2
            right, at_right = middle, at_middle
        roots[i] = left
