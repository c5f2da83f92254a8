"""How many users two items have in common, in machine code."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csc_array

from recassay.core.system.compiled import compiled_exactly
from recassay.core.types import BoolArray, IdArray, IntArray


def common_users(columns: csc_array, first: IntArray, second: IntArray) -> IntArray:
    """For each pair of columns of a users x items matrix, the number of users that both have.

    It is fast where pairs of one `first` column follow each other, and the `first` column is the larger one.
    """
    common = np.empty(len(first), dtype=np.int64)
    marked = np.zeros(columns.shape[0], dtype=np.bool_)
    _count_common(columns.indptr.astype(np.int64), columns.indices.astype(np.int32), marked, first, second, common)
    return common


@compiled_exactly
def _count_common(
    start: IntArray, user: IdArray, marked: BoolArray, first: IntArray, second: IntArray, common: IntArray
) -> None:
    """Mark the users of a first column, and count the marks of every second column that stands with it."""
    last = -1
    for pair in range(len(first)):
        if first[pair] != last:
            if last >= 0:
                for p in range(start[last], start[last + 1]):
                    marked[user[p]] = False
            last = first[pair]
            for p in range(start[last], start[last + 1]):
                marked[user[p]] = True
        common[pair] = 0
        for p in range(start[second[pair]], start[second[pair] + 1]):
            common[pair] += marked[np.uint32(user[p])]
