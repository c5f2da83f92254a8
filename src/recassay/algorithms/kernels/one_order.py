"""Lists where every user has the same order of the catalogue, less what is to be left out."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from recassay.core.errors import UsageError
from recassay.core.ranking import tie_order
from recassay.core.types import Float32Array, IdArray, TopK

REACH = 8
"""Most lists of k are found among the first 8 k of the order; the rest are looked for as far as need be."""


class OneOrder:
    """Lists by one score an item, the same for everybody; equal scores stand in the order of `select_top`.

    The catalogue is sorted once. With the items to leave out at ranks r_0 < r_1 < ... of the order, r_j comes before
    position p of a user's list exactly if r_j - j <= p: position p holds the item of rank p + #{j: r_j - j <= p}.
    """

    def __init__(self, scores: Float32Array, *, rng: np.random.Generator) -> None:
        self._order = np.lexsort((tie_order(len(scores), rng), -scores)).astype(np.int32)
        self._scores = scores[self._order]

    def recommend(self, users: IdArray, k: int, *, exclude: csr_array | None) -> TopK:
        """The k best items for each of `users`; see `Recommender`."""
        if k < 1:
            raise UsageError(f"lists of {k} items were asked for", fix="ask for at least one item")
        position = np.arange(k, dtype=np.int64)
        rank = np.broadcast_to(position, (len(users), k))
        if exclude is not None:
            rank = rank + self._passed_over(exclude[users], k)
        rank = np.minimum(rank, len(self._order))  # what is beyond the catalogue ends the list
        items = np.append(self._order, np.int32(-1))[rank]
        return TopK(users=users, items=items, scores=np.append(self._scores, np.float32(-np.inf))[rank])

    def _passed_over(self, struck: csr_array, k: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
        """Rows x k: how many of a row's struck items stand before position p of its list."""
        n_rows, n_items = struck.shape
        rank_of = np.empty(n_items, dtype=np.int64)
        rank_of[self._order] = np.arange(n_items)
        length = np.diff(struck.indptr)
        row, rank = np.repeat(np.arange(n_rows, dtype=np.int64), length), rank_of[struck.indices]
        near = rank < min(REACH * k, n_items)
        short = min(REACH * k, n_items) - np.bincount(row[near], minlength=n_rows) < k
        near |= np.repeat(short, length) & (rank < np.repeat(length + k, length))  # no list reaches further
        met = np.unique(row[near] * n_items + rank[near])
        row, rank = np.divmod(met, n_items)
        before = np.searchsorted(row, np.arange(n_rows))
        step = np.minimum(rank - (np.arange(len(met)) - before[row]), k)
        wanted = np.arange(n_rows)[:, None] * (k + 1) + np.arange(k)
        return np.searchsorted(row * (k + 1) + step, wanted, side="right") - before[:, None]
