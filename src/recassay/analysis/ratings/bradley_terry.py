"""Bradley-Terry strengths out of tables of points, many tables at once."""

from __future__ import annotations

import numpy as np

from recassay.core.types import FloatArray

ELO = 400 / np.log(10)
"""Points of the Elo scale for one unit of log odds: 400 points are odds of 10 to 1."""

VIRTUAL_GAMES = 1.0
"""Drawn games that everybody plays besides, spread over the opponents: whoever loses everything has a finite rating."""

STEPS = 25
TOLERANCE = 1e-5
"""Of the last step in log strength; Newton's next one would be about its square."""

BLOCK = 250_000
"""Numbers handled at once: they stay in the processor's cache."""


def strengths(points: FloatArray, games: FloatArray, start: FloatArray | None = None) -> FloatArray:
    """The maximum-likelihood log strengths of every table, with mean 0: tables x players.

    P(i beats j) = 1 / (1 + exp(s_j - s_i)) (Bradley and Terry 1952). `points[t, i, j]` are those that i made against j,
    a tie giving half to both, out of `games[t, i, j]`. Newton's method on the concave likelihood.
    """
    tables, k, _ = points.shape
    found = np.zeros((tables, k)) if start is None else np.broadcast_to(start, (tables, k)).copy()
    virtual = VIRTUAL_GAMES / (k - 1) * (1 - np.eye(k))
    size = max(1, BLOCK // (k * k))
    for first in range(0, tables, size):
        part = slice(first, first + size)
        found[part] = _newton(points[part] + virtual / 2, games[part] + virtual, found[part])
    return found


def _newton(points: FloatArray, games: FloatArray, strength: FloatArray) -> FloatArray:
    k = points.shape[1]
    diagonal = np.arange(k)
    for _ in range(STEPS):
        expected = 1 / (1 + np.exp(np.clip(strength[:, None, :] - strength[:, :, None], -60, 60)))
        gradient = (points - games * expected).sum(axis=2)
        weight = games * expected * (1 - expected)
        information = -weight + 1.0 / k
        information[:, diagonal, diagonal] += weight.sum(axis=2)
        step = np.linalg.solve(information, gradient[:, :, None])[:, :, 0]
        strength = strength + np.clip(step, -2.0, 2.0)
        if np.abs(step).max() < TOLERANCE:
            break
    return strength - strength.mean(axis=1, keepdims=True)
