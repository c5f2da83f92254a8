"""Intervals of means and of paired differences: the users of a dataset drawn anew."""

from __future__ import annotations

import numpy as np

from recassay.analysis.inference.bootstrap import expanded_tail
from recassay.core.types import FloatArray, IntArray

MOST_DRAWS = 10_000_000
"""Users times replicates; with more users there are fewer replicates, at least `LEAST_REPLICATES`."""

LEAST_REPLICATES = 1000
_BLOCK = 1 << 18


def user_intervals(
    values: FloatArray, left: IntArray, right: IntArray, *, confidence: float, replicates: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Intervals of the mean of each algorithm (algorithms x 2) and of each mean difference (pairs x 2).

    Percentile intervals of a bootstrap over users, drawn jointly for all algorithms, with the tail expanded for n users
    (`expanded_tail`). Scores of users are sparse: with few users hit, a resample shows too little of what can happen,
    and plain intervals hold the truth in far fewer cases than they say. So two users are added before the draw: with
    differences +m and -m, and for a mean with scores m and 0, m being the root mean square of those that are not 0 (1
    where all are). For hits that is the interval of Bonett and Price (2012) for paired proportions; with thousands of
    users it changes nothing.
    """
    n = values.shape[1] + 2
    height = max(min(replicates, MOST_DRAWS // n), min(replicates, LEAST_REPLICATES))
    gaps = _typical_gaps(values, left, right)
    typical = _root_mean_square(values.T)
    means = np.empty((height, len(values)))
    differences = np.empty((height, len(left)))
    rows = max(_BLOCK // n, 1)
    for start in range(0, height, rows):
        weight = _draws(n, min(rows, height - start), rng)
        part = slice(start, start + len(weight))
        sums = weight[:, :-2] @ values.T
        differences[part] = (sums[:, left] - sums[:, right] + np.outer(weight[:, -1] - weight[:, -2], gaps)) / n
        means[part] = (sums + np.outer(weight[:, -1], typical)) / n
    tail = expanded_tail(confidence, n)
    spans = [np.quantile(drawn, [tail, 1 - tail], axis=0).T for drawn in (means, differences)]
    return spans[0], spans[1]


def _draws(n: int, replicates: int, rng: np.random.Generator) -> FloatArray:
    """How often each of n users was drawn in each replicate."""
    drawn = rng.integers(0, n, size=(replicates, n))
    drawn += (np.arange(replicates) * n)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=replicates * n)
    return counts.reshape(replicates, n).astype(np.float64)


def _typical_gaps(values: FloatArray, left: IntArray, right: IntArray) -> FloatArray:
    """For each pair the root mean square of its differences, without those that are 0; block by block."""
    found = np.empty(len(left))
    width = max(_BLOCK // max(values.shape[1], 1), 1)
    for start in range(0, len(left), width):
        part = slice(start, start + width)
        found[part] = _root_mean_square((values[left[part]] - values[right[part]]).T)
    return found


def _root_mean_square(columns: FloatArray) -> FloatArray:
    nonzero = np.count_nonzero(columns, axis=0)
    squares = (columns**2).sum(axis=0)
    return np.where(nonzero > 0, np.sqrt(squares / np.maximum(nonzero, 1)), 1.0)
