"""Newton's method for Bradley-Terry strengths in machine code: thousands of small tables, each on its own way."""

from __future__ import annotations

import numpy as np

from recassay.core.system.compiled import compiled
from recassay.core.types import FloatArray

SHRINKING = 0.2
"""A step at least this much shorter than the last keeps the information matrix of the last."""


@compiled
def climb(
    points: FloatArray, games: FloatArray, scale: FloatArray, virtual: float, strength: FloatArray, steps: int,
    tolerance: float,
) -> None:  # fmt: skip
    """Move every row of `strength` (tables x players) to the maximum of its table's likelihood.

    `points` are those that each player made (tables x players): the likelihood knows no more of them. `games` (tables x
    players x players, or one for all tables, times `scale`) are symmetric; any two play `virtual` ones besides, all
    drawn. The information matrix, of which the lower triangle is filled, is singular along a common shift of all
    strengths; adding 1/k everywhere pins that down and changes nothing else. It is renewed, and factored, where the
    last one no longer shortens the steps: tables that differ little share it.
    """
    k = points.shape[1]
    draws = virtual * (k - 1) / 2
    information, step, odds = np.empty((k, k)), np.empty(k), np.empty(k)
    known = False
    for t in range(len(points)):
        s, played = strength[t], games[t if len(games) > 1 else 0]
        last = np.inf
        for _ in range(steps):
            for i in range(k):
                odds[i] = np.exp(s[i])
            if not known:
                information[:] = 1.0 / k
                for i in range(k):
                    for j in range(i):
                        expected = odds[i] / (odds[i] + odds[j])
                        weight = (scale[t] * played[i, j] + virtual) * expected * (1.0 - expected)
                        information[i, i] += weight
                        information[j, j] += weight
                        information[i, j] -= weight
                _factor(information)
            for i in range(k):
                expected = 0.0
                for j in range(k):
                    expected += (scale[t] * played[i, j] + virtual) * odds[i] / (odds[i] + odds[j])
                step[i] = points[t, i] + draws - (expected - virtual / 2)  # nobody plays against itself
            _solve(information, step)
            largest = 0.0
            for i in range(k):
                s[i] += min(max(step[i], -2.0), 2.0)
                largest = max(largest, abs(step[i]))
            known = largest < SHRINKING * last
            last = largest
            if largest < tolerance:
                break


@compiled
def _factor(matrix: FloatArray) -> None:
    """Cholesky's factor of a positive definite matrix, in its lower triangle."""
    k = len(matrix)
    for j in range(k):
        row = matrix[j]
        for i in range(j, k):
            other, total = matrix[i], matrix[i, j]
            for m in range(j):
                total -= other[m] * row[m]
            other[j] = np.sqrt(total) if i == j else total / row[j]


@compiled
def _solve(matrix: FloatArray, right: FloatArray) -> None:
    """Solve the system whose factor `matrix` holds; the solution replaces `right`."""
    k = len(right)
    for i in range(k):
        row, total = matrix[i], right[i]
        for m in range(i):
            total -= row[m] * right[m]
        right[i] = total / row[i]
    for i in range(k - 1, -1, -1):
        right[i] /= matrix[i, i]
        row = matrix[i]
        for m in range(i):
            right[m] -= row[m] * right[i]
