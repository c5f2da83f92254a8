"""Bradley-Terry strengths out of tables of points, many tables at once."""

from __future__ import annotations

import numpy as np

from recassay.analysis.ratings.newton import climb
from recassay.core.types import FloatArray

ELO = 400 / np.log(10)
"""Points of the Elo scale for one unit of log odds: 400 points are odds of 10 to 1."""

VIRTUAL_GAMES = 1.0
"""Drawn games that everybody plays besides, spread over the opponents: whoever loses everything has a finite rating."""

STEPS = 25
TOLERANCE = 1e-5
"""Of the last step in log strength; Newton's next one would be about its square."""


def strengths(points: FloatArray, games: FloatArray, start: FloatArray | None = None) -> FloatArray:
    """The maximum-likelihood log strengths of every table, with mean 0: tables x players.

    P(i beats j) = 1 / (1 + exp(s_j - s_i)) (Bradley and Terry 1952). `points[t, i, j]` are those that i made against j,
    a tie giving half to both, out of `games[t, i, j]`. Newton's method on the concave likelihood.
    """
    tables, k, _ = points.shape
    found = np.zeros((tables, k)) if start is None else np.broadcast_to(start, (tables, k)).copy()
    virtual = VIRTUAL_GAMES / (k - 1) * (1 - np.eye(k))
    climb(np.ascontiguousarray(points), np.ascontiguousarray(games), virtual, found, STEPS, TOLERANCE)
    return found - found.mean(axis=1, keepdims=True)
