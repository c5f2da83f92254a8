"""Intervals of means and of paired differences over the users of a dataset."""

from __future__ import annotations

import numpy as np

from recassay.analysis.inference.bootstrap import expanded_tail
from recassay.analysis.inference.distributions import t_quantile
from recassay.core.types import FloatArray, IntArray

MOST_DRAWS = 10_000_000
"""Users times replicates; with more users there are fewer replicates, at least `LEAST_REPLICATES`."""

LEAST_REPLICATES = 1000
_BLOCK = 1 << 18


def user_intervals(
    values: FloatArray, left: IntArray, right: IntArray, *, confidence: float, replicates: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Intervals of the mean of each algorithm (algorithms x 2) and of each mean difference (pairs x 2).

    Means: percentile intervals of a bootstrap over users with the tail expanded for n users (`expanded_tail`).
    Differences: Student's t with Hall's correction for skewness (`skewed_intervals`). Scores of users are sparse: with
    few users hit, a sample shows too little of what can happen, and plain intervals hold the truth in far fewer cases
    than they say. So two users are added: with differences +m and -m, and for a mean with scores m and 0, m being the
    root mean square of those that are not 0 (1 where all are). For hits that is the interval of Bonett and Price (2012)
    for paired proportions; with thousands of users it changes nothing.
    """
    n = values.shape[1] + 2
    height = max(min(replicates, MOST_DRAWS // n), min(replicates, LEAST_REPLICATES))
    typical = _root_mean_square(values.T)
    means = np.empty((height, len(values)))
    rows = max(_BLOCK // n, 1)
    for start in range(0, height, rows):
        weight = _draws(n, min(rows, height - start), rng)
        means[start : start + len(weight)] = (weight[:, :-2] @ values.T + np.outer(weight[:, -1], typical)) / n
    tail = expanded_tail(confidence, n)
    spans = np.empty((len(left), 2))
    width = max(_BLOCK // n, 1)
    for start in range(0, len(left), width):
        part = slice(start, start + width)
        gaps = values[left[part]] - values[right[part]]
        added = _root_mean_square(gaps.T)[:, None]
        spans[part] = skewed_intervals(np.hstack([gaps, added, -added]), confidence)
    return np.quantile(means, [tail, 1 - tail], axis=0).T, spans


def skewed_intervals(values: FloatArray, confidence: float) -> FloatArray:
    """Intervals of the mean of each row (rows x 2) that allow for skewness (Hall 1992, *JRSS B* 54, 221-228).

    With T = sqrt(n) (mean - truth) / s and a = skewness / sqrt(n), g(T) = T + a T^2 / 3 + a^2 T^3 / 27 + a / 6 is
    nearer to Student's t than T is; g is turned round at both ends of t.
    """
    n = values.shape[1]
    mean, error = values.mean(axis=1), values.std(axis=1, ddof=1) / np.sqrt(n)
    centred = values - mean[:, None]
    deviation = np.sqrt((centred**2).mean(axis=1))
    a = (centred**3).mean(axis=1) / np.maximum(deviation, 1e-300) ** 3 / np.sqrt(n)
    straight = np.abs(a) < 1e-6
    safe = np.where(straight, 1.0, a)
    t = float(t_quantile(0.5 + confidence / 2, n - 1))
    ends = [
        mean - error * np.where(straight, at, 3 / safe * (np.cbrt(1 + safe * (at - safe / 6)) - 1)) for at in (t, -t)
    ]
    return np.stack(ends, axis=1)


def _draws(n: int, replicates: int, rng: np.random.Generator) -> FloatArray:
    """How often each of n users was drawn in each replicate."""
    drawn = rng.integers(0, n, size=(replicates, n))
    drawn += (np.arange(replicates) * n)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=replicates * n)
    return counts.reshape(replicates, n).astype(np.float64)


def _root_mean_square(columns: FloatArray) -> FloatArray:
    nonzero = np.count_nonzero(columns, axis=0)
    squares = (columns**2).sum(axis=0)
    return np.where(nonzero > 0, np.sqrt(squares / np.maximum(nonzero, 1)), 1.0)
