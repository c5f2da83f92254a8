"""An order of rows and columns that follows from a table's numbers alone: what is drawn by chance is drawn in it.

Names and the order in which a table is written say nothing about algorithms or datasets. Chance that is dealt out by
position would let them have a say: two people with the same numbers under other names would get two answers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recassay.core import ties
from recassay.core.types import FloatArray, IntArray

TRIES = 500
"""So many rows are put before those that are like them. Only tables of 0 and 1 that are symmetric throughout need more;
from there on, the first row is taken."""


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
    class is parted any more (colour refinement, Weisfeiler and Leman 1968). Where rows that differ are still alike,
    each is put before the others in turn, and the one that leads to the first table in order stays there. What is left
    are copies, or rows that change places without changing the table. Missing values (NaN) are values like others.
    """
    shades = np.unique(values, return_inverse=True)[1].reshape(values.shape)
    rows, columns = np.zeros(len(values), dtype=np.int64), np.zeros(values.shape[1], dtype=np.int64)
    rows, columns = _parted(shades, rows, columns)
    left = TRIES
    while len(alike := _alike(shades, rows)):
        alike, left = alike[: max(left, 1)], left - len(alike)
        tried = (_parted(shades, 2 * rows + (np.arange(len(rows)) != one), columns) for one in alike)
        rows, columns = min(tried, key=lambda classes: _keys(classes[0], shades, classes[1]).tolist())
    by_columns = shades[:, np.argsort(columns, kind="stable")]
    order = np.lexsort((*by_columns.T[::-1], rows))
    by_rows = shades[order]
    return ContentOrder(order, np.lexsort((*by_rows[::-1], columns)))


def _parted(shades: IntArray, rows: IntArray, columns: IntArray) -> tuple[IntArray, IntArray]:
    """The classes of rows and columns, parted by each other until none is parted any more."""
    known = -1
    while (found := int(rows.max(initial=0) + columns.max(initial=0))) != known:
        known = found
        rows = _numbered(_classes(rows, shades, columns))
        columns = _numbered(_classes(columns, shades.T, rows))
    return rows, columns


def _alike(shades: IntArray, rows: IntArray) -> IntArray:
    """The rows of the first class whose rows are not all copies; none where there is no such class."""
    for number in np.flatnonzero(np.bincount(rows) > 1):
        alike = np.flatnonzero(rows == number)
        if (shades[alike] != shades[alike[0]]).any():
            return np.asarray(alike)
    return np.empty(0, dtype=np.int64)


def _classes(known: IntArray, shades: IntArray, others: IntArray) -> IntArray:
    """By row, its class so far, and its values with the classes of the columns they stand in."""
    met = np.sort(shades * (others.max(initial=0) + 1) + others, axis=1)
    return np.column_stack([known, met])


def _numbered(keys: IntArray) -> IntArray:
    """The number of each row's key in their order."""
    return np.asarray(np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1))


def _keys(rows: IntArray, shades: IntArray, columns: IntArray) -> IntArray:
    """The keys of all rows in order: the same for tables that differ by the order of rows and columns alone."""
    return np.asarray(np.unique(_classes(rows, shades, columns), axis=0))


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
