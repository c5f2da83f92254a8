"""The rule of `ties` in machine code, for very many short rows. Import it where it is used: it brings the compiler."""

from __future__ import annotations

import numpy as np

from recassay.core.system.compiled import compiled
from recassay.core.types import FloatArray, IntArray

KEPT = 1 - 1e-9
"""1 - `ties.RELATIVE_TIE`: compiled code takes it as a constant."""


@compiled
def wins(left: float, right: float) -> bool:
    """Whether `left` is larger than `right` and does not tie with it: `ties.beats` of two numbers."""
    low = left * KEPT if left > 0 else left
    high = right * KEPT if right < 0 else right
    return low > high


@compiled
def place_rows(rows: FloatArray, better: IntArray, tied: IntArray) -> None:
    """Write for every value of every row how many are larger, and how many tie with it, itself included; see `ties`."""
    order = np.empty(rows.shape[1], dtype=np.int64)
    for r in range(len(rows)):
        _place(rows[r], order, better[r], tied[r])


@compiled
def _place(row: FloatArray, order: IntArray, better: IntArray, tied: IntArray) -> None:
    """`place_rows` of one row; `order` is room for its positions."""
    count = len(row)
    _descend(row, order)
    start = 0
    while start < count:
        end = start
        while end + 1 < count and not wins(row[order[end]], row[order[end + 1]]):
            end += 1
        if wins(row[order[start]], row[order[end]]):  # the ends of a chain of ties do not tie: all pairs are counted
            for i in range(count):
                ahead, behind = 0, 0
                for other in row:
                    ahead += int(wins(other, row[i]))
                    behind += int(wins(row[i], other))
                better[i], tied[i] = ahead, count - ahead - behind
            return
        for at in range(start, end + 1):
            better[order[at]], tied[order[at]] = start, end - start + 1
        start = end + 1


@compiled
def _descend(row: FloatArray, order: IntArray) -> None:
    """Write the positions of a row into `order`, the largest value first, what is not a number last."""
    # Shell's sort: by insertion where a row is short, and compiled in a tenth of the time that NumPy's sort takes.
    gap = 1
    while gap < len(row) // 9:
        gap = 3 * gap + 1
    for i in range(len(row)):
        order[i] = i
    while gap > 0:
        for i in range(gap, len(row)):
            moved, at = order[i], i
            value = row[moved]
            while at >= gap:
                before = row[order[at - gap]]
                if not (before < value or (np.isnan(before) and not np.isnan(value))):
                    break
                order[at] = order[at - gap]
                at -= gap
            order[at] = moved
        gap //= 3
