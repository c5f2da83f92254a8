"""From a fitted model to lists: users are scored block by block, and the best items of each row are kept."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from recassay.algorithms.kernels.compiled import in_parallel, one_blas_thread
from recassay.algorithms.kernels.dense_lists import best_of_rows
from recassay.core.ranking import select_placed, tie_order
from recassay.core.types import Float32Array, IdArray, TopK

USERS_AT_ONCE = 128
"""Users that are scored together: enough for BLAS to be fast, few enough for the scores to stay in the cache."""

SCORE_BYTES = 64 << 20
"""What the scores of one block may take; a catalogue of more than 131,072 items gets smaller blocks."""

MANY_SCORES = 1 << 20
"""Blocks of so many scores are worth a compiled search on several threads."""

ITEMS_AT_ONCE = 4096
"""Items that a thread scores together."""

LONG = 64
"""Lists of more than one in so many items are not chosen in one pass."""


class ScoreRecommender:
    """Lists from a function that scores every item for a block of users.

    `score(users)` answers with float32 scores, users x items, -inf for an item that must not be listed. Equal scores
    stand in one random order of the catalogue, drawn from a copy of `rng` as it is now (`rng` does not move on).

    The blocks always have the same number of users (the last one is filled up by repeating its last user), so that a
    product of matrices rounds alike however the users are asked for: lists do not depend on the batch.
    """

    def __init__(self, score: Callable[[IdArray], Float32Array], *, n_items: int, rng: np.random.Generator) -> None:
        self._score, self._n_items = score, n_items
        self._ties = copy.deepcopy(rng)

    def recommend(self, users: IdArray, k: int, *, exclude: csr_array | None) -> TopK:
        """The k best items for each of `users`; see `Recommender`."""
        top, place = TopK.empty(users, k), self._place
        rows = block_rows(self._n_items)
        for start in range(0, len(users), rows):
            part = slice(start, start + rows)
            block = users[part]
            filled = np.concatenate([block, np.repeat(block[-1:], rows - len(block))])
            barred = None if exclude is None else exclude[block]
            _select(self._score(filled)[: len(block)], barred, place, top.items[part], top.scores[part])
        return top

    @cached_property
    def _place(self) -> IdArray:
        return tie_order(self._n_items, self._ties)


class FactorRecommender(ScoreRecommender):
    """Lists by the inner product of user and item factors, plus an item bias where there is one.

    score(u, i) = p_u . q_i + b_i, in float32; both factor matrices have one row per id. `iterations` counts the
    iterations of training after which the factors were taken.
    """

    def __init__(
        self,
        user_factors: Float32Array,
        item_factors: Float32Array,
        item_bias: Float32Array | None = None,
        *,
        rng: np.random.Generator,
        iterations: int = 0,
    ) -> None:
        self.iterations = iterations
        self.user_factors = np.ascontiguousarray(user_factors, dtype=np.float32)
        self.item_factors = np.ascontiguousarray(item_factors, dtype=np.float32)
        self.item_bias = None if item_bias is None else np.asarray(item_bias, dtype=np.float32)
        super().__init__(self._products, n_items=len(item_factors), rng=rng)

    def _products(self, users: IdArray) -> Float32Array:
        mine = self.user_factors[users]
        scores = np.empty((len(mine), len(self.item_factors)), dtype=np.float32)

        def multiply(items: slice) -> None:
            np.matmul(mine, self.item_factors[items].T, out=scores[:, items])
            if self.item_bias is not None:
                scores[:, items] += self.item_bias[items]

        if scores.size < MANY_SCORES:
            multiply(slice(None))
            return scores
        with one_blas_thread():
            in_parallel(multiply, len(self.item_factors), size=ITEMS_AT_ONCE)
        return scores


def _select(scores: Float32Array, barred: csr_array | None, place: IdArray, items: IdArray, best: Float32Array) -> None:
    """Fill the lists of a block."""
    k, lists = items.shape[1], None
    if scores.size >= MANY_SCORES and LONG * k <= scores.shape[1]:
        lists = best_of_rows(scores, barred, place, k)
    # Of a score that is not a number, the following says where it is.
    items[:], best[:] = lists or select_placed(scores, k, place, exclude=barred)


def block_rows(n_items: int) -> int:
    """How many users are scored together over a catalogue of `n_items`."""
    return max(1, min(USERS_AT_ONCE, SCORE_BYTES // max(4 * n_items, 1)))


def scoring_bytes(n_items: int) -> int:
    """The memory of `recommend` beside the model: a block of scores, its copy, and masks of the same shape."""
    return 4 * 4 * block_rows(n_items) * max(n_items, 1)
