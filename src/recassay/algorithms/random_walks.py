"""RP3beta: random walks of three steps from a user, over an item and another user, to an item."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

from recassay.algorithms.kernels.products import SparseRows, row_products
from recassay.algorithms.kernels.scoring import ScoreRecommender, scoring_bytes
from recassay.algorithms.kernels.similarity import BLOCK_BYTES, Neighbours
from recassay.core.errors import UsageError
from recassay.core.ranking import batches, select_top
from recassay.core.seeds import derived_rng
from recassay.core.specs.search import Real, SearchSpace, Whole
from recassay.core.types import Interactions, Recommender


class RP3beta:
    """Where a walk of three steps ends, popular items held back.

    w_ij = sum over users v of p_iv^alpha p_vj^alpha / d_j^beta, with p_iv = 1 / d_i and p_vj = 1 / d_v where v has the
    item (d counts events), w_ii = 0, the `k` largest of each row kept; the score of user u is x_u W. `alpha` = 1 and
    `beta` = 0 is the walk itself (P3).
    """

    name: ClassVar[str] = "RP3beta"
    source: ClassVar[str] = (
        "Paudel, Christoffel, Newell & Bernstein 2017, Updatable, Accurate, Diverse, and Scalable Recommendations, TiiS"
    )
    space: ClassVar[SearchSpace] = {
        "k": Whole(10, 1000, 200, log=True),
        "alpha": Real(0.0, 2.0, 1.0),
        "beta": Real(0.0, 2.0, 0.4),
    }

    def __init__(self, *, k: int = 200, alpha: float = 1.0, beta: float = 0.4) -> None:
        if k < 1:
            raise UsageError(f"RP3beta cannot work with {k} neighbours", fix="give at least 1")
        self.k, self.alpha, self.beta = k, alpha, beta

    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Recommender:
        """The largest weights of every item."""
        history = train.csr()
        weights = SparseRows.of(self._walks(history).matrix())
        rows = SparseRows.of(history)
        return ScoreRecommender(lambda users: row_products(rows, weights, users), n_items=train.n_items, rng=rng)

    def _walks(self, history: csr_array) -> Neighbours:
        n_items = history.shape[1]
        user_degree, item_degree = (np.maximum(history.sum(axis=axis), 1.0) for axis in (1, 0))
        out = history.T.tocsr() * (item_degree**-self.alpha)[:, None]
        back = history * (user_degree**-self.alpha)[:, None] * (item_degree**-self.beta)[None, :]
        there, home = SparseRows.of(csr_array(out)), SparseRows.of(csr_array(back))
        width = min(self.k, n_items)
        near = np.full((n_items, width), -1, dtype=np.int32)
        value = np.full((n_items, width), -np.inf, dtype=np.float32)
        items = np.arange(n_items, dtype=np.int32)
        for part in batches(n_items, n_items, BLOCK_BYTES):
            block = row_products(there, home, items[part])
            block[np.arange(len(block)), items[part]] = -np.inf
            block[block <= 0] = -np.inf
            near[part], value[part] = select_top(block, width, rng=derived_rng(0, "walks"))
        return Neighbours(near, value)

    def memory_bytes(self, n_users: int, n_items: int, n_interactions: int) -> int:
        """Lists of k weights in three forms, the history five times, and a block of weights with its copies."""
        lists = 3 * 8 * n_items * min(self.k, n_items)
        return lists + 96 * n_interactions + 16 * (n_users + n_items) + scoring_bytes(n_items) + 4 * BLOCK_BYTES
