"""When two results are equal: one rule for every rank, duel, test and profile.

Two numbers tie when they differ by at most `RELATIVE_TIE` times the larger of their two magnitudes:
|a - b| <= 1e-9 max(|a|, |b|). They then differ by rounding, not by merit: sums of the same numbers in another order
differ in their last bits. The rule looks at the two numbers alone, so that others in the table have no part in it (1e-6
and 2e-6 do not tie because somebody has 1e4), and it has no unit: fractions and percentages tie alike. A number other
than 0 never ties with 0. The page's script (`reporting/templates/ties.js`) has the same rule.
"""

from __future__ import annotations

import numpy as np

from recassay.core.blocks import number_blocks
from recassay.core.types import BoolArray, FloatArray, IntArray

RELATIVE_TIE = 1e-9
_KEPT = 1 - RELATIVE_TIE

NARROW = 50
"""Rows of so many values are ranked by comparing all pairs, wider ones by sorting."""

COMPARED_AT_ONCE = 1_000_000
"""Pairs of values that are compared together."""

ROUNDING = 1e-12
"""Slack between two correlations, or other numbers whose scale is 1, that were computed along different ways."""


def beats(left: FloatArray | float, right: FloatArray | float) -> BoolArray:
    """Where `left` is larger than `right` and does not tie with it; the two broadcast.

    For a > b the rule reads a (1 - t) > b where a is the larger magnitude (a > 0), and a > b (1 - t) where b is
    (b < 0); with different signs they never tie. So each number is moved once, by itself, before one comparison.
    """
    low, high = np.minimum(left, np.multiply(left, _KEPT)), np.maximum(right, np.multiply(right, _KEPT))
    return np.asarray(low > high)


def sign(left: FloatArray | float, right: FloatArray | float) -> IntArray:
    """1 where `left` is larger, -1 where `right` is, 0 where they tie."""
    return beats(left, right).astype(np.int64) - beats(right, left)


def places(values: FloatArray, *, higher_is_better: bool, axis: int = -1) -> tuple[IntArray, IntArray]:
    """For each value along an axis, how many are better, and how many tie with it, itself included."""
    rows, shape = _rows(values, higher_is_better, axis)
    better, worse = _counts(rows)
    counts = better.astype(np.int64), np.subtract(rows.shape[1], better + worse, dtype=np.int64)
    better, tied = (np.ascontiguousarray(np.moveaxis(part.reshape(shape), -1, axis)) for part in counts)
    return better, tied


def ranks(values: FloatArray, *, higher_is_better: bool, axis: int = -1) -> FloatArray:
    """Ranks along an axis, 1 the best; those that tie share the mean of their positions.

    In a chain of ties whose ends do not tie, the rank is one more than the mean of those that beat and do not lose:
    (n + 1 + beaten by - beating) / 2, which is the shared position wherever ties are transitive.
    """
    rows, shape = _rows(values, higher_is_better, axis)
    better, worse = _counts(rows)
    ranked: FloatArray = ((better - worse + rows.shape[1] + 1) / 2).reshape(shape)
    return ranked if axis == -1 else np.moveaxis(ranked, -1, axis)


def _rows(values: FloatArray, higher_is_better: bool, axis: int) -> tuple[FloatArray, tuple[int, ...]]:
    """The values along an axis as rows, higher the better, and the shape with that axis last."""
    up = values if higher_is_better else -values
    up = up if axis == -1 else np.moveaxis(up, axis, -1)
    return up.reshape(-1, up.shape[-1]), up.shape


def _counts(rows: FloatArray) -> tuple[IntArray, IntArray]:
    """For each value of each row, how many of its row are larger, and how many are smaller."""
    return _compared(rows) if rows.shape[1] <= NARROW else _sorted(rows)


def _compared(rows: FloatArray) -> tuple[IntArray, IntArray]:
    """`_counts` by all pairs of values."""
    columns = np.ascontiguousarray(rows.T)
    moved = columns * _KEPT
    low, high = np.minimum(columns, moved), np.maximum(columns, moved, out=moved)
    better, worse = np.zeros((2, *columns.shape), dtype=np.int8 if len(columns) <= NARROW else np.int64)
    for part in number_blocks(len(columns), columns.size, COMPARED_AT_ONCE):
        ahead = (low > high[part, None]).view(np.int8)
        np.add.reduce(ahead, axis=1, dtype=better.dtype, out=better[part])
        worse += np.add.reduce(ahead, axis=0, dtype=better.dtype)
    return better.T, worse.T


def _sorted(rows: FloatArray) -> tuple[IntArray, IntArray]:
    """`_counts` by the order of values; all pairs are compared where the ends of a chain of ties do not tie."""
    order = np.argsort(-rows, axis=1, kind="stable")
    ordered = np.take_along_axis(rows, order, axis=1)
    start, end = runs(beats(ordered[:, :-1], ordered[:, 1:]))
    better, worse = np.empty((2, *rows.shape), dtype=np.int64)
    np.put_along_axis(better, order, start, axis=1)
    np.put_along_axis(worse, order, rows.shape[1] - 1 - end, axis=1)
    chained = beats(np.take_along_axis(ordered, start, axis=1), np.take_along_axis(ordered, end, axis=1)).any(axis=1)
    if chained.any():
        better[chained], worse[chained] = _compared(rows[chained])
    return better, worse


def runs(parted: BoolArray) -> tuple[IntArray, IntArray]:
    """For each place of each row, the first and the last of the run that it is in; `parted[i, j]`: one ends at j."""
    edge = np.ones((len(parted), parted.shape[1] + 2), dtype=bool)
    edge[:, 1:-1] = parted
    at = np.arange(parted.shape[1] + 1)
    start = np.maximum.accumulate(np.where(edge[:, :-1], at, 0), axis=1)
    end = np.minimum.accumulate(np.where(edge[:, 1:], at, len(at))[:, ::-1], axis=1)[:, ::-1]
    return start, end


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
