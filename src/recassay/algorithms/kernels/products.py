"""Products of sparse matrices, row by row into dense blocks, on several threads.

The kernels release the interpreter's lock and run on plain threads, as many as `NUMBA_NUM_THREADS` allows. Every row
is computed by one thread in one order, so that the numbers do not depend on how many threads there are. A kernel has
exactly one signature (`SparseRows` sees to it): processes that compile it at the same time then write the same cache
file.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from recassay.algorithms.kernels.compiled import in_parallel
from recassay.core.errors import UsageError
from recassay.core.system.compiled import compiled_exactly
from recassay.core.system.machine import machine_bytes
from recassay.core.types import Float32Array, IdArray, IntArray


class SparseRows(NamedTuple):
    """A sparse matrix by rows, in the types that the kernels are compiled for."""

    start: IntArray
    column: IdArray
    value: Float32Array
    n_columns: int

    @classmethod
    def of(cls, matrix: csr_array) -> SparseRows:
        """The rows of `matrix`; arrays of other types, or that cannot be written to, are copied."""
        arrays = ((matrix.indptr, np.int64), (matrix.indices, np.int32), (matrix.data, np.float32))
        start, column, value = (np.require(array, kind, ["C", "W"]) for array, kind in arrays)
        return cls(start, column, value, int(matrix.shape[1]))

    @classmethod
    def empty(cls, rows: int, n_columns: int) -> SparseRows:
        """A matrix without entries."""
        return cls(np.zeros(rows + 1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32), n_columns)


def gram(matrix: csr_array) -> Float32Array:
    """`matrix.T @ matrix`, dense: how often two items occur together, where `matrix` holds ones."""
    columns, rows = SparseRows.of(matrix.T.tocsr()), SparseRows.of(matrix)
    square = np.zeros((rows.n_columns, rows.n_columns), dtype=np.float32)

    def fill(part: slice) -> None:
        _add_rows(columns, rows, part.start, square[part])

    in_parallel(fill, len(square))
    return square


@compiled_exactly
def count_products(left: SparseRows, right: SparseRows, row: int) -> int:
    """How many products a row of `left @ right` is the sum of."""
    products = 0
    for p in range(left.start[row], left.start[row + 1]):
        products += right.start[left.column[p] + 1] - right.start[left.column[p]]
    return products


@compiled_exactly
def add_row(left: SparseRows, right: SparseRows, row: int, sums: Float32Array) -> None:
    """Add a row of `left @ right` to `sums`."""
    for p in range(left.start[row], left.start[row + 1]):
        middle, factor = left.column[p], left.value[p]
        for q in range(right.start[middle], right.start[middle + 1]):
            # An unsigned index spares the test for negative ones in the innermost loop.
            sums[np.uint32(right.column[q])] += factor * right.value[q]


@compiled_exactly
def add_row_noting(left: SparseRows, right: SparseRows, row: int, sums: Float32Array, met: IdArray) -> int:
    """As `add_row`, and write the columns that were met into `met`; how many these are.

    A column whose products are 0 so far is noted again: there is room where products are fewer than columns, and the
    second time it is read it is 0.
    """
    n_met = 0
    for p in range(left.start[row], left.start[row + 1]):
        middle, factor = left.column[p], left.value[p]
        for q in range(right.start[middle], right.start[middle + 1]):
            column = np.uint32(right.column[q])
            before = sums[column]
            met[np.uint32(n_met)] = right.column[q]
            n_met += before == 0
            sums[column] = before + factor * right.value[q]
    return n_met


@compiled_exactly
def _add_rows(left: SparseRows, right: SparseRows, first: int, sums: Float32Array) -> None:
    for place in range(len(sums)):
        add_row(left, right, first + place, sums[place])


INSTEAD = "it holds dense items x items matrices; LocalEASE and ItemKNN do not"


def refuse_dense(algorithm: str, n_items: int, needed: int) -> None:
    """Raise where `needed` bytes for matrices of `n_items` x `n_items` are more than this machine has."""
    machine = machine_bytes()
    if machine is not None and needed > machine:
        raise UsageError(
            f"{algorithm} holds dense matrices of {n_items:,} x {n_items:,} items, about {needed / 1e9:,.3g} GB, and "
            f"this machine has {machine / 1e9:,.3g}",
            fix="use LocalEASE or ItemKNN, which hold no such matrix, or a filter that leaves fewer items",
        )
