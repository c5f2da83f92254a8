"""Newton's method for Bradley-Terry strengths in machine code: thousands of small tables, each on its own way."""

from __future__ import annotations

import numpy as np

from recassay.core.system.compiled import compiled
from recassay.core.types import FloatArray


@compiled
def climb(
    points: FloatArray, games: FloatArray, virtual: FloatArray, strength: FloatArray, steps: int, tolerance: float
) -> None:
    """Move every row of `strength` (tables x players) to the maximum of its table's likelihood.

    `virtual` are the games that everybody plays besides, all drawn. The information matrix is singular along a common
    shift of all strengths; adding 1/k everywhere pins that down and changes nothing else.
    """
    k = points.shape[1]
    information, gradient = np.empty((k, k)), np.empty(k)
    for t in range(len(points)):
        s = strength[t]
        for _ in range(steps):
            # Gradient and information of the log-likelihood, pair by pair.
            information[:], gradient[:] = 1.0 / k, 0.0
            for i in range(k):
                for j in range(i):
                    played = games[t, i, j] + virtual[i, j]
                    expected = 1.0 / (1.0 + np.exp(min(max(s[j] - s[i], -60.0), 60.0)))
                    surplus = points[t, i, j] + virtual[i, j] / 2 - played * expected
                    gradient[i] += surplus
                    gradient[j] -= surplus
                    weight = played * expected * (1.0 - expected)
                    information[i, i] += weight
                    information[j, j] += weight
                    information[i, j] -= weight
                    information[j, i] -= weight
            # Newton's step, at most 2 at once.
            _solve(information, gradient)
            largest = 0.0
            for i in range(k):
                s[i] += min(max(gradient[i], -2.0), 2.0)
                largest = max(largest, abs(gradient[i]))
            if largest < tolerance:
                break


@compiled
def _solve(matrix: FloatArray, right: FloatArray) -> None:
    """Solve a positive definite system in place: Cholesky's factor in the lower triangle, the solution in `right`."""
    k = len(right)
    for j in range(k):
        row = matrix[j]
        for i in range(j, k):
            other, total = matrix[i], matrix[i, j]
            for m in range(j):
                total -= other[m] * row[m]
            other[j] = np.sqrt(total) if i == j else total / row[j]
    for i in range(k):
        row, total = matrix[i], right[i]
        for m in range(i):
            total -= row[m] * right[m]
        right[i] = total / row[i]
    for i in range(k - 1, -1, -1):
        total = right[i]
        for m in range(i + 1, k):
            total -= matrix[m, i] * right[m]
        right[i] = total / matrix[i, i]
