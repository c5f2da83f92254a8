"""The largest entries of every row of a sparse product, kept without the rest of the row.

Row by row (Gustavson, Two fast algorithms for sparse matrices, TOMS 1978): products are added up in an array as wide as
the catalogue, and the entries that were met are looked at alone. The cost of a row is its number of products, whatever
the number of columns; a row with more products than columns is added up without noting what was met, and looked at as
a whole.
"""

from __future__ import annotations

import numpy as np

from recassay.algorithms.kernels.compiled import in_parallel
from recassay.algorithms.kernels.products import SparseRows, add_row, add_row_noting, count_products
from recassay.algorithms.kernels.shortlist import Keys, hand_over, keep_best, key_of, new_shortlist, read_lists, rising
from recassay.core.system.compiled import compiled_exactly
from recassay.core.types import Float32Array, IdArray

KINDS = {"dot": 0, "cosine": 1, "jaccard": 2}

ROWS_AT_ONCE = 2048
"""Rows whose lists are sorted together."""


def largest_products(
    left: SparseRows,
    right: SparseRows,
    width: int,
    place: IdArray,
    *,
    similarity: str = "dot",
    shrink: float = 0.0,
    squares: Float32Array | None = None,
) -> tuple[IdArray, Float32Array]:
    """The `width` largest entries above 0 of every row of `left @ right`, best first: columns and values, rows x width.

    The product is square, and its diagonal left out. Equal values stand in the order of `place`; a shorter list ends
    in -1 with value -inf. With a `similarity` a product x becomes x / (|a| |b| + shrink) (cosine) or
    x / (|a|^2 + |b|^2 - x + shrink) (jaccard), the `squares` of the rows being |a|^2.
    """
    rows = len(left.start) - 1
    column, value = np.empty((rows, width), dtype=np.int32), np.empty((rows, width), dtype=np.float32)
    kind = KINDS[similarity]
    norms = np.zeros(rows, dtype=np.float32) if squares is None else squares
    if similarity == "cosine":
        norms = np.sqrt(norms)

    order = np.argsort(place).astype(np.int32)

    def fill(part: slice) -> None:
        for start in range(part.start, part.stop, ROWS_AT_ONCE):
            stop = min(start + ROWS_AT_ONCE, part.stop)
            best = np.empty((stop - start, width), dtype=np.uint64)
            _largest_products(left, right, start, stop, norms, kind, np.float32(shrink), place, best)
            column[start:stop], value[start:stop] = read_lists(best, order)

    in_parallel(fill, rows)
    return column, value


@compiled_exactly
def _largest_products(
    left: SparseRows,
    right: SparseRows,
    first: int,
    stop: int,
    norms: Float32Array,
    kind: int,
    shrink: np.float32,
    place: IdArray,
    best: Keys,
) -> None:
    n_columns, width = len(place), best.shape[1]
    sums = np.zeros(n_columns, dtype=np.float32)
    met = np.empty(n_columns, dtype=np.int32)
    values = np.empty(n_columns, dtype=np.float32)
    value_bits = values.view(np.uint32)
    keys = new_shortlist(width)
    for row in range(first, stop):
        work, n_met = count_products(left, right, row), 0
        if work < n_columns:
            n_met = add_row_noting(left, right, row, sums, met)
            sums[row] = 0
            for p in range(n_met):
                other = np.uint32(met[p])
                values[p] = _similarity(sums[other], norms[row], norms[other], kind, shrink)
                sums[other] = 0
        else:
            add_row(left, right, row, sums)
            sums[row] = 0
            for p in range(n_columns):
                values[p] = _similarity(sums[p], norms[row], norms[p], kind, shrink)
            sums[:] = 0
        size, bound = 0, np.uint32(0)
        for p in range(n_met if work < n_columns else n_columns):
            if values[p] > 0 and rising(value_bits[p]) >= bound:
                spot = np.uint32(met[p] if work < n_columns else p)
                keys[np.uint32(size)] = key_of(rising(value_bits[p]), place[spot])
                size += 1
                if size == len(keys):
                    size = keep_best(keys, size, width)
                    bound = np.uint32(keys[size - 1] >> np.uint64(32))
        hand_over(keys, size, best[row - first])


@compiled_exactly
def _similarity(product: np.float32, mine: np.float32, other: np.float32, kind: int, shrink: np.float32) -> np.float32:
    if kind == 0:
        return product
    denominator = mine * other + shrink if kind == 1 else mine + other - product + shrink
    return product / denominator if denominator > 0 else product
