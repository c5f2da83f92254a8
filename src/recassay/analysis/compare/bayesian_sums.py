"""The sums of the Bayesian signed-rank test in machine code: tens of thousands of draws for every pair."""

from __future__ import annotations

import numpy as np

from recassay.core.ranked import wins
from recassay.core.system.compiled import compiled
from recassay.core.types import Float32Array, FloatArray, IntArray

BLOCK = 128
"""Draws handled at once: their running sums stay in the cache, and each step is one over neighbouring numbers."""


@compiled
def count_winners(
    weights: Float32Array, order: IntArray, values: FloatArray, rope: float, slack: float, winners: FloatArray
) -> None:
    """Add to `winners` (pairs x 3) in how many draws (columns of `weights`) left, neither and right have the largest
    theta; ties share a draw.

    The observations of a pair stand in the `order` of their ascending `values`. Observation i pairs with those from
    `above[i]` on for left, whose sum with it exceeds 2 rope, and with the first `below[i]` for right.
    """
    size = order.shape[1]
    above, below = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    for pair in range(len(order)):
        z = values[pair]
        edge, end = size, size
        for i in range(size):
            while edge > 0 and wins(z[edge - 1], 2 * rope - z[i]):
                edge -= 1
            while end > 0 and not wins(-2 * rope - z[i], z[end - 1]):
                end -= 1
            above[i], below[i] = edge, end
        _count_pair(weights, order[pair], above, below, slack, winners[pair])


@compiled
def _count_pair(
    weights: Float32Array, order: IntArray, first_above: IntArray, count_below: IntArray, slack: float,
    winners: FloatArray,
) -> None:  # fmt: skip
    size, draws = weights.shape
    below = np.zeros((size + 1, BLOCK), dtype=np.float32)
    left, right = np.empty(BLOCK, dtype=np.float32), np.empty(BLOCK, dtype=np.float32)
    for start in range(0, draws, BLOCK):
        count = min(BLOCK, draws - start)
        for i in range(size):
            row, last, here = weights[order[i], start : start + count], below[i], below[i + 1]
            for b in range(count):
                here[b] = last[b] + row[b]
        left[:], right[:] = 0.0, 0.0
        for i in range(size):
            row, last = weights[order[i], start : start + count], below[size]
            above, under = below[first_above[i]], below[count_below[i]]
            for b in range(count):
                left[b] += row[b] * (last[b] - above[b])
                right[b] += row[b] * under[b]
        for b in range(count):
            middle = 1.0 - left[b] - right[b]
            top = max(left[b], middle, right[b]) - slack
            share = 1.0 / (int(left[b] >= top) + int(middle >= top) + int(right[b] >= top))
            winners[0] += share * int(left[b] >= top)
            winners[1] += share * int(middle >= top)
            winners[2] += share * int(right[b] >= top)
