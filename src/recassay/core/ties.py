"""When two results are equal: one rule for every rank, duel, test and profile.

Two numbers tie when they differ by at most `RELATIVE_TIE` times the larger of their two magnitudes:
|a - b| <= 1e-9 max(|a|, |b|). They then differ by rounding, not by merit: sums of the same numbers in another order
differ in their last bits. The rule looks at the two numbers alone, so that others in the table have no part in it (1e-6
and 2e-6 do not tie because somebody has 1e4), and it has no unit: fractions and percentages tie alike. A number other
than 0 never ties with 0. The page's script (`reporting/templates/ties.js`) has the same rule.
"""

from __future__ import annotations

import sys

import numpy as np

from recassay.core.types import BoolArray, FloatArray, IntArray

RELATIVE_TIE = 1e-9

FEW_PAIRS = 1_000_000
"""Up to so many comparisons are made here, and more in machine code."""

_MACHINE_CODE = "recassay.core.ranked"

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


def places(values: FloatArray, *, higher_is_better: bool, axis: int = -1) -> tuple[IntArray, IntArray]:
    """For each value along an axis, how many are better, and how many tie with it, itself included."""
    up = np.moveaxis(values if higher_is_better else -values, axis, -1)
    rows = np.ascontiguousarray(up.reshape(-1, up.shape[-1]), dtype=np.float64)
    if rows.size * rows.shape[1] <= FEW_PAIRS and _MACHINE_CODE not in sys.modules:
        # Loading the compiler would take longer than the work, and 70 MB.
        ahead = beats(rows[:, None, :], rows[:, :, None])
        better = ahead.sum(axis=2, dtype=np.int64)
        tied = rows.shape[1] - better - ahead.sum(axis=1, dtype=np.int64)
    else:
        from recassay.core.ranked import place_rows

        better, tied = np.empty((2, *rows.shape), dtype=np.int64)
        place_rows(rows, better, tied)
    better, tied = (np.ascontiguousarray(np.moveaxis(part.reshape(up.shape), -1, axis)) for part in (better, tied))
    return better, tied


def ranks(values: FloatArray, *, higher_is_better: bool, axis: int = -1) -> FloatArray:
    """Ranks along an axis, 1 the best; those that tie share the mean of their positions.

    In a chain of ties whose ends do not tie, the rank is one more than the mean of those that beat and do not lose:
    (n + 1 + beaten by - beating) / 2, which is the shared position wherever ties are transitive.
    """
    better, tied = places(values, higher_is_better=higher_is_better, axis=axis)
    return better + (tied + 1) / 2


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
