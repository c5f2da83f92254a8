"""Lists by the rows of a sparse product: histories times sparse weights between items, or neighbours times histories.

The cost of a list is the number of products behind it, not the size of the catalogue: where few items have a score,
they are looked at alone, and the rest of the list is filled from the items without one, whose score is 0.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from recassay.algorithms.kernels.compiled import in_parallel
from recassay.algorithms.kernels.fold_in import ProfileRecommender
from recassay.algorithms.kernels.products import SparseRows, add_row, add_row_noting, count_products
from recassay.algorithms.kernels.shortlist import Keys, hand_over, keep_best, key_of, new_shortlist, read_lists, rising
from recassay.core.errors import InputError
from recassay.core.ranking import tie_order
from recassay.core.system.compiled import compiled_exactly
from recassay.core.types import BoolArray, Float32Array, IdArray, IntArray, TopK


class SparseRecommender:
    """Lists by row u of `left @ right`; equal scores stand in the order of `core.ranking.select_top`, or of `place`."""

    def __init__(
        self,
        left: csr_array,
        right: csr_array,
        *,
        rng: np.random.Generator | None = None,
        place: IdArray | None = None,
    ) -> None:
        self._left, self._right = SparseRows.of(left), SparseRows.of(right)
        for values in (self._left.value, self._right.value):
            if not np.isfinite(values).all():
                raise InputError("a weight of the model is not a number", fix="use a larger reg, or a smaller rate")
        self._place = tie_order(self._right.n_columns, rng or np.random.default_rng(0)) if place is None else place
        self._order = np.argsort(self._place).astype(np.int32)

    def recommend(self, users: IdArray, k: int, *, exclude: csr_array | None) -> TopK:
        """The k best items for each of `users`; see `Recommender`."""
        top = TopK.empty(users, k)
        left, right, place, order = self._left, self._right, self._place, self._order
        wanted = np.require(users, np.int32, ["C", "W"])
        seen = SparseRows.empty(len(users), len(place)) if exclude is None else SparseRows.of(exclude[users])

        width = min(k, right.n_columns)

        def fill(part: slice) -> None:
            best = np.empty((part.stop - part.start, width), dtype=np.uint64)
            _best_items(left, right, seen.start[part.start :], seen.column, wanted[part], place, order, best)
            top.items[part, :width], top.scores[part, :width] = read_lists(best, order)

        if len(place):
            in_parallel(fill, len(users))
        return top


def history_recommender(history: csr_array, weights: csr_array, *, rng: np.random.Generator) -> ProfileRecommender:
    """Lists by x_u W, W sparse weights between items, x_u the items of a user or of a history."""
    return ProfileRecommender(lambda rows, rng: SparseRecommender(rows, weights, rng=rng), history, rng=rng)


def sparse_lists_bytes(n_items: int) -> int:
    """The memory of `recommend`, or of `largest_products`, beside model and answer.

    That is the order of ties, and 12 bytes per item for each thread, of which 16 are thought of.
    """
    return (12 * 16 + 8) * n_items


@compiled_exactly
def _best_items(
    left: SparseRows,
    right: SparseRows,
    seen_start: IntArray,
    seen_item: IdArray,
    users: IdArray,
    place: IdArray,
    order: IdArray,
    best: Keys,
) -> None:
    n_items, width = len(place), best.shape[1]
    sums = np.zeros(n_items, dtype=np.float32)
    bits = sums.view(np.uint32)
    struck = np.zeros(n_items, dtype=np.bool_)
    met = np.empty(n_items, dtype=np.int32)
    keys = new_shortlist(width)
    for row in range(len(users)):
        user = users[row]
        work, n_met = count_products(left, right, user), 0
        for p in range(seen_start[row], seen_start[row + 1]):
            struck[seen_item[p]] = True
        size, bound = 0, np.uint32(0)
        if work >= n_items:
            add_row(left, right, user, sums)
        else:
            n_met = add_row_noting(left, right, user, sums, met)
            size = _without_score(sums, struck, order, width, keys)
        for p in range(n_met if work < n_items else n_items):
            item = np.uint32(met[p] if work < n_items else p)
            rank = rising(bits[item])
            if rank >= bound and not struck[item] and (work >= n_items or sums[item] != 0):
                keys[np.uint32(size)] = key_of(rank, place[item])
                size += 1
                if size == len(keys):
                    size = keep_best(keys, size, width)
                    bound = np.uint32(keys[size - 1] >> np.uint64(32))
            if work < n_items:
                sums[item] = 0
        if work >= n_items:
            sums[:] = 0
        hand_over(keys, size, best[row])
        for p in range(seen_start[row], seen_start[row + 1]):
            struck[seen_item[p]] = False


@compiled_exactly
def _without_score(sums: Float32Array, struck: BoolArray, order: IdArray, width: int, keys: Keys) -> int:
    """Put the first `width` items of score 0 into the shortlist; how many there are."""
    size = 0
    nothing = rising(np.uint32(0))
    for spot in range(len(order)):
        if size == width:
            break
        item = order[spot]
        if sums[item] == 0 and not struck[item]:
            keys[size] = key_of(nothing, np.int32(spot))
            size += 1
    return size
