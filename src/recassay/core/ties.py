"""When two results are equal: one rule for every rank, duel, test and profile.

Two numbers tie when they differ by at most `RELATIVE_TIE` times the larger of their two magnitudes:
|a - b| <= 1e-9 max(|a|, |b|). They then differ by rounding, not by merit: sums of the same numbers in another order
differ in their last bits. The rule looks at the two numbers alone, so that others in the table have no part in it (1e-6
and 2e-6 do not tie because somebody has 1e4), and it has no unit: fractions and percentages tie alike. A number other
than 0 never ties with 0. The page's script (`reporting/templates/ties.js`) has the same rule.
"""

from __future__ import annotations

import numpy as np

from recassay.core.types import BoolArray, FloatArray, IntArray

RELATIVE_TIE = 1e-9

ROUNDING = 1e-12
"""Slack between two correlations, or other numbers whose scale is 1, that were computed along different ways."""


def beats(left: FloatArray | float, right: FloatArray | float) -> BoolArray:
    """Where `left` is larger than `right` and does not tie with it; the two broadcast.

    For a > b the rule reads a (1 - t) > b where a is the larger magnitude (a > 0), and a > b (1 - t) where b is
    (b < 0); with different signs they never tie. So each number is moved once, by itself, before one comparison.
    """
    low = np.where(np.greater(left, 0), np.multiply(left, 1 - RELATIVE_TIE), left)
    high = np.where(np.less(right, 0), np.multiply(right, 1 - RELATIVE_TIE), right)
    return np.asarray(low > high)


def sign(left: FloatArray | float, right: FloatArray | float) -> IntArray:
    """1 where `left` is larger, -1 where `right` is, 0 where they tie."""
    return beats(left, right).astype(np.int64) - beats(right, left)


def ranks(values: FloatArray, *, higher_is_better: bool, axis: int = -1) -> FloatArray:
    """Ranks along an axis, 1 the best; those that tie share the mean of their positions."""
    up = np.moveaxis(values if higher_is_better else -values, axis, -1)
    rows = up.reshape(-1, up.shape[-1])
    order = np.argsort(-rows, axis=1, kind="stable")
    descending = np.take_along_axis(rows, order, axis=1)
    apart = beats(descending[:, :-1], descending[:, 1:])
    places = np.tile(np.arange(1.0, rows.shape[1] + 1), (len(rows), 1))
    shared = ~apart.all(axis=1)
    places[shared] = _shared_places(descending[shared], apart[shared])
    rank = np.empty(rows.shape)
    np.put_along_axis(rank, order, places, axis=1)
    return np.moveaxis(rank.reshape(up.shape), -1, axis)


def _shared_places(descending: FloatArray, apart: BoolArray) -> FloatArray:
    """The places of rows in falling order, `apart` saying which neighbours do not tie: groups of ties share theirs.

    Where the ends of such a group do not tie (a chain of ties), the row is ranked by all its pairs.
    """
    n = descending.shape[1]
    edge, position = np.ones((len(apart), 1), dtype=bool), np.arange(n)
    start = np.maximum.accumulate(np.where(np.hstack([edge, apart]), position, 0), axis=1)
    end = np.minimum.accumulate(np.where(np.hstack([apart, edge]), position, n)[:, ::-1], axis=1)[:, ::-1]
    places = (start + end) / 2 + 1
    first, last = (np.take_along_axis(descending, at, axis=1) for at in (start, end))
    chained = beats(first, last).any(axis=1)
    if chained.any():
        ahead = beats(descending[chained][:, None, :], descending[chained][:, :, None])
        places[chained] = (n + 1 + ahead.sum(axis=2) - ahead.sum(axis=1)) / 2
    return places


def level(values: FloatArray) -> FloatArray:
    """The values of one row with those that tie made equal (to the lowest of them), for code that compares exactly.

    Neighbours in order are compared, so that a chain of ties becomes one.
    """
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    first = np.concatenate([[True], beats(ascending[1:], ascending[:-1])]) if len(values) else np.zeros(0, dtype=bool)
    levelled = np.empty_like(values)
    levelled[order] = ascending[np.flatnonzero(first)][np.cumsum(first) - 1]
    return levelled
