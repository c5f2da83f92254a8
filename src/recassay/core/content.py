"""An order of rows and columns that follows from a table's numbers alone: what is drawn by chance is drawn in it.

Names and the order in which a table is written say nothing about algorithms or datasets. Chance that is dealt out by
position would let them have a say: two people with the same numbers under other names would get two answers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recassay.core import ties
from recassay.core.types import FloatArray, IntArray

ROUNDS = 8
"""How often rows and columns are told apart by each other; tables of real numbers need one or two rounds."""


@dataclass(frozen=True, slots=True, eq=False)
class ContentOrder:
    """The order of the rows and of the columns: positions in the table, the first in order first."""

    rows: IntArray
    columns: IntArray

    @property
    def row_places(self) -> IntArray:
        """For each row of the table, its place in the order."""
        return np.argsort(self.rows)

    @property
    def column_places(self) -> IntArray:
        """For each column of the table, its place in the order."""
        return np.argsort(self.columns)

    def sorted(self, values: FloatArray) -> FloatArray:
        """A table of this shape in this order."""
        return np.ascontiguousarray(values[np.ix_(self.rows, self.columns)])


def content_order(values: FloatArray) -> ContentOrder:
    """Rows and columns by their sorted values, and where these are equal by the rows and columns they meet.

    A row's key is the sorted list of its values, each with the class of its column; then the same for columns, until no
    class is parted any more (colour refinement, Weisfeiler and Leman 1968). Rows or columns that are still alike are
    copies, or change places without changing the table but in rare tables of few different numbers. Missing values
    (NaN) are values like others.
    """
    shades = np.unique(values, return_inverse=True)[1].reshape(values.shape)
    rows, columns = np.zeros(len(values), dtype=np.int64), np.zeros(values.shape[1], dtype=np.int64)
    for _ in range(ROUNDS):
        before = rows.max(initial=0) + columns.max(initial=0)
        rows = _classes(rows, shades, columns)
        columns = _classes(columns, shades.T, rows)
        if rows.max(initial=0) + columns.max(initial=0) == before:
            break
    by_columns = shades[:, np.argsort(columns, kind="stable")]
    order = np.lexsort((*by_columns.T[::-1], rows))
    by_rows = shades[order]
    return ContentOrder(order, np.lexsort((*by_rows[::-1], columns)))


def _classes(known: IntArray, shades: IntArray, others: IntArray) -> IntArray:
    """The class of each row, by its class so far and by its values with the classes of the columns they stand in."""
    met = np.sort(shades * (others.max(initial=0) + 1) + others, axis=1)
    return np.unique(np.column_stack([known, met]), axis=0, return_inverse=True)[1].reshape(-1)


def copies(values: FloatArray) -> tuple[IntArray, IntArray]:
    """The first row of each set of rows that tie in every column, and for each row the number of its set.

    Rows that are all the same are kept apart: nothing would be left to compare.
    """
    level = np.stack([ties.level(column) for column in values.T], axis=1)
    rows, member = np.unique(level, axis=0, return_index=True, return_inverse=True)[1:]
    if len(rows) == 1:
        return np.arange(len(values)), np.arange(len(values))
    order = np.argsort(rows)
    return rows[order], np.argsort(order)[member.reshape(-1)]
