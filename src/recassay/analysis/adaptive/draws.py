"""Draws and triangular matrices that `sampler.py` is made of, in machine code.

In both files loops stand for products, `np.linalg`, slices and operations on whole arrays: with those the first run
compiles for 34 s instead of 12.
"""

from __future__ import annotations

import numpy as np

from recassay.core.system.compiled import compiled
from recassay.core.types import FloatArray

MOST_TRIES = 10_000
"""Points that a draw may refuse in a row before the numbers are known to be at fault."""


@compiled
def cut_normal(low: float, high: float, rng: np.random.Generator) -> float:
    """A standard normal draw between `low` and `high` (Robert 1995, Statistics and Computing 5, 121-125).

    Nearly every try is taken. Where the numbers are so large that none is, it is the point of the highest density.
    """
    if not low < high:
        return low
    if low > 0.0 or high < 0.0:
        mirrored = high < 0.0
        a, b = (-high, -low) if mirrored else (low, high)
        rate = 0.5 * (a + np.sqrt(a * a + 4.0))
        if b - a < 1.0 / rate:
            for _ in range(MOST_TRIES):
                x = a + (b - a) * rng.random()
                if rng.random() < np.exp(0.5 * (a * a - x * x)):
                    return -x if mirrored else x
            return -a if mirrored else a
        for _ in range(MOST_TRIES):
            x = a - np.log(1.0 - rng.random()) / rate
            if x < b and rng.random() < np.exp(-0.5 * (x - rate) ** 2):
                return -x if mirrored else x
        return -a if mirrored else a
    if high - low < 2.5:
        for _ in range(MOST_TRIES):
            x = low + (high - low) * rng.random()
            if rng.random() < np.exp(-0.5 * x * x):
                return x
        return 0.0
    for _ in range(MOST_TRIES):
        x = rng.standard_normal()
        if low < x < high:
            return x
    return 0.0


@compiled
def cholesky(matrix: FloatArray) -> FloatArray:
    """The lower triangle L with L L' = `matrix`."""
    root = np.zeros(matrix.shape)
    for a in range(len(matrix)):
        for b in range(a + 1):
            total = matrix[a, b]
            for c in range(b):
                total -= root[a, c] * root[b, c]
            root[a, b] = np.sqrt(total) if a == b else total / root[b, b]
    return root


@compiled
def solve_transposed(root: FloatArray, right: FloatArray) -> None:
    """Replace `right` by x with L'x = `right`, for the lower triangle L = `root`."""
    for a in range(len(right) - 1, -1, -1):
        for c in range(a + 1, len(right)):
            right[a] -= root[c, a] * right[c]
        right[a] /= root[a, a]


@compiled
def draw_bartlett(m: int, degrees: float, rng: np.random.Generator) -> FloatArray:
    """A lower triangle B with B B' ~ Wishart(degrees, I) of m x m (Bartlett's decomposition)."""
    bartlett = np.zeros((m, m))
    for i in range(m):
        bartlett[i, i] = np.sqrt(rng.chisquare(degrees - i))
        for k in range(i):
            bartlett[i, k] = rng.standard_normal()
    return bartlett


@compiled
def pick(score: FloatArray, rng: np.random.Generator) -> int:
    """A place drawn with the probabilities whose logarithms, up to a constant, are `score`."""
    largest, total = -np.inf, 0.0
    for i in range(len(score)):
        largest = max(largest, score[i])
    up_to = np.empty(len(score))
    for i in range(len(score)):
        total += np.exp(score[i] - largest)
        up_to[i] = total
    drawn = rng.random() * total
    place = 0
    while place < len(score) - 1 and up_to[place] < drawn:
        place += 1
    return place
