"""How many users two items have in common, dense or sparse by which is smaller and faster."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from recassay.algorithms.kernels.compiled import in_parallel
from recassay.algorithms.kernels.positives import Positives
from recassay.algorithms.kernels.products import SparseRows, gram
from recassay.core.system.compiled import compiled_exactly
from recassay.core.types import Float32Array, FloatArray, IdArray, IntArray

SMALL_CATALOGUE = 4096
LARGE_CATALOGUE = 16384
"""Counts are dense for a small catalogue, sparse for a large one, and between them by how many pairs occur."""


class Counts(NamedTuple):
    """How many users have both items: dense (`table`), or sparse (`rows`), the other one empty."""

    table: Float32Array
    rows: SparseRows
    diagonal: FloatArray

    @classmethod
    def of(cls, history: csr_array) -> Counts:
        """X'X of a binary users x items matrix."""
        n_items = history.shape[1]
        if is_crowded(history):
            table = gram(history)
            return cls(table, SparseRows.of(csr_array((n_items, n_items))), table.diagonal().astype(np.float64))
        counts = (history.T.tocsr() @ history).tocsr()
        return cls(np.zeros((0, 0), dtype=np.float32), SparseRows.of(counts), counts.diagonal().astype(np.float64))


def is_crowded(history: csr_array) -> bool:
    """Whether a dense table of a binary users x items matrix is the better form."""
    n_items = history.shape[1]
    products = float(np.square(np.diff(history.indptr).astype(np.float64)).sum())
    return n_items <= SMALL_CATALOGUE or (n_items <= LARGE_CATALOGUE and products > n_items**2 / 4)


def cooccurring_pairs(n_users: int, n_items: int, n_interactions: int) -> int:
    """How many pairs of items may have a user in common: sum of n_u^2 at most, never more than all pairs.

    The sum is not known from the totals; six times (mean n_u)^2 for every user is a length distribution with a
    coefficient of variation above 2, more than that of the usual public datasets.
    """
    mean = n_interactions / max(n_users, 1)
    return int(min(n_items**2, 6 * n_users * mean**2 + n_items))


class PairCounts(NamedTuple):
    """The items that item i has users in common with, `other[start[i]:start[i + 1]]`, and how many users.

    Each pair stands once, with the rarer item. Items are numbered by their users, rarest first. The row of an item
    holds the pairs with items of a higher number alone: a popular item has few items above it, and a rare one few
    pairs. Reading the rows of a set of items, to find the pairs within it, then costs far less than rows of all pairs
    would (the order by degree of triangle counting: Latapy, Main-memory triangle computations, TCS 2008).
    """

    start: IntArray
    other: IdArray
    users: Float32Array
    number: IdArray
    """The number of every item; rows and `other` are numbers."""
    degree: Float32Array
    """The users of every item, by number."""

    @classmethod
    def of(cls, history: csr_array) -> PairCounts:
        """The pairs of a binary users x items matrix."""
        n_items = history.shape[1]
        degree = np.bincount(history.indices, minlength=n_items)
        order = np.argsort(degree, kind="stable")
        number = np.empty(n_items, dtype=np.int32)
        number[order] = np.arange(n_items, dtype=np.int32)
        renamed = csr_array((history.data, number[history.indices], history.indptr), shape=history.shape)
        renamed.sort_indices()
        rows = Positives(renamed.indptr.astype(np.int64), renamed.indices.astype(np.int32), n_items)
        columns = rows.transposed()
        length = np.zeros(n_items, dtype=np.int64)
        start, other, users = np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32)

        def count_or_write(part: slice) -> None:
            _pairs(rows, columns, part.start, part.stop, length, start, other, users)

        in_parallel(count_or_write, n_items)
        start = np.concatenate([[0], np.cumsum(length)])
        other, users = np.empty(start[-1], dtype=np.int32), np.empty(start[-1], dtype=np.float32)
        in_parallel(count_or_write, n_items)
        return cls(start, other, users, number, degree[order].astype(np.float32))


@compiled_exactly
def _pairs(
    rows: Positives,
    columns: Positives,
    begin: int,
    stop: int,
    length: IntArray,
    start: IntArray,
    other: IdArray,
    users: Float32Array,
) -> None:
    """Count the pairs of the items `begin` to `stop` into `length`; where `other` has room, write them there."""
    first, items, first_of_item, users_of_item = rows.first, rows.items, columns.first, columns.items
    n_items = len(first_of_item) - 1
    common = np.zeros(n_items, dtype=np.int32)
    met = np.empty(n_items + 1, dtype=np.int32)
    for item in range(begin, stop):
        n_met = 0
        for p in range(first_of_item[item], first_of_item[item + 1]):
            user = users_of_item[p]
            # The items of a user rise: those above come last.
            for q in range(first[user + 1] - 1, first[user] - 1, -1):
                if items[q] <= item:
                    break
                above = np.uint32(items[q])
                met[np.uint32(n_met)] = items[q]
                n_met += common[above] == 0
                common[above] += 1
        if len(other):
            for p in range(n_met):
                other[start[item] + p] = met[p]
                users[start[item] + p] = common[met[p]]
        else:
            length[item] = n_met
        for p in range(n_met):
            common[met[p]] = 0
