"""Who has what, in the form that the kernels read: the items of each user, sorted, without weights."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from recassay.algorithms.kernels.compiled import compiled
from recassay.core.types import IdArray, IntArray, Interactions

States: TypeAlias = NDArray[np.uint64]

POSITIVES_BYTES = 48
"""An upper estimate of the bytes per event at the peak of making `Positives` and their transpose."""


class Positives(NamedTuple):
    """The items of user u are `items[first[u]:first[u + 1]]`, in rising order and each once.

    `first` is always int64 and `items` int32, both writeable: kernels are compiled for these types alone.
    """

    first: IntArray
    items: IdArray
    n_items: int

    @classmethod
    def of(cls, train: Interactions) -> Positives:
        """The pairs that occur in `train`; repeated events count once."""
        return cls.of_matrix(train.csr())

    @classmethod
    def of_matrix(cls, matrix: csr_array) -> Positives:
        """The entries of a matrix of users x items."""
        return cls(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32, copy=False), int(matrix.shape[1]))

    @property
    def n_users(self) -> int:
        """The size of the user id table."""
        return len(self.first) - 1

    def users(self) -> IdArray:
        """The user of every pair, in the order of `items`."""
        return np.repeat(np.arange(self.n_users, dtype=np.int32), np.diff(self.first))

    def transposed(self) -> Positives:
        """The users of each item, in the same form."""
        order = np.argsort(self.items, kind="stable")
        first = np.concatenate([[0], np.cumsum(np.bincount(self.items, minlength=self.n_items))]).astype(np.int64)
        return Positives(first, self.users()[order], self.n_users)


@compiled
def draw(state: States, bound: int) -> np.int64:
    """A whole number below `bound` (under 2**32) by the xorshift generator of Marsaglia (2003), moving `state` on."""
    bits = state[0]
    bits ^= bits << np.uint64(13)
    bits ^= bits >> np.uint64(7)
    bits ^= bits << np.uint64(17)
    state[0] = bits
    return np.int64(((bits >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))


@compiled
def holds(row: IdArray, item: int | np.int64) -> bool:
    """Whether the sorted `row` holds `item`, by halving."""
    low, high = 0, len(row)
    while low < high:
        middle = (low + high) >> 1
        if row[middle] < item:
            low = middle + 1
        else:
            high = middle
    return low < len(row) and row[low] == item
