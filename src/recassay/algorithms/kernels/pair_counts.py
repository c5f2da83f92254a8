"""How many users two items have in common, each pair once, with the rarer item.

Items are numbered by their users, rarest first. The row of an item holds the pairs with items of a higher number alone:
a popular item has few items above it, and a rare one few pairs. Reading the rows of a set of items, to find the pairs
within it, then costs far less than rows of all pairs would (the order by degree of triangle counting: Latapy,
Main-memory triangle computations, TCS 2008).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from recassay.algorithms.kernels.positives import Positives
from recassay.algorithms.kernels.products import in_parallel
from recassay.core.system.compiled import compiled_exactly
from recassay.core.types import Float32Array, IdArray, IntArray


class PairCounts(NamedTuple):
    """The items that item i has users in common with, `other[start[i]:start[i + 1]]`, and how many users."""

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
                one = np.uint32(items[q])
                met[np.uint32(n_met)] = items[q]
                n_met += common[one] == 0
                common[one] += 1
        if len(other):
            for p in range(n_met):
                other[start[item] + p] = met[p]
                users[start[item] + p] = common[met[p]]
        else:
            length[item] = n_met
        for p in range(n_met):
            common[met[p]] = 0
