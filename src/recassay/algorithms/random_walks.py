"""RP3beta: random walks of three steps from a user, over an item and another user, to an item."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

from recassay.algorithms.kernels.products import SparseRows
from recassay.algorithms.kernels.similarity import Neighbours
from recassay.algorithms.kernels.sparse_neighbours import largest_products
from recassay.algorithms.kernels.sparse_scoring import history_recommender, sparse_lists_bytes
from recassay.core.ranking import tie_order
from recassay.core.seeds import derived_rng
from recassay.core.specs.search import Tunable, real, whole
from recassay.core.types import Interactions, Recommender


class RP3beta(Tunable):
    """Where a walk of three steps ends, popular items held back.

    w_ij = sum over users v of p_iv^alpha p_vj^alpha / d_j^beta, with p_iv = 1 / d_i and p_vj = 1 / d_v where v has the
    item (d counts events), w_ii = 0, the `k` largest of each row kept; the score of user u is x_u W. `alpha` = 1 and
    `beta` = 0 is the walk itself (P3).
    """

    name: ClassVar[str] = "RP3beta"
    source: ClassVar[str] = (
        "Paudel, Christoffel, Newell & Bernstein 2017, Updatable, Accurate, Diverse, and Scalable Recommendations, TiiS"
    )

    k: int = whole(100, 1000, default=500, log=True)
    alpha: float = real(0.2, 1.2, default=0.5)
    beta: float = real(0.1, 0.8, default=0.5)

    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Recommender:
        """The largest weights of every item."""
        history = train.csr()
        user_degree, item_degree = (np.maximum(history.sum(axis=axis), 1.0) for axis in (1, 0))
        out = history.T.tocsr() * (item_degree**-self.alpha)[:, None]
        back = history * (user_degree**-self.alpha)[:, None] * (item_degree**-self.beta)[None, :]
        outward, home = SparseRows.of(csr_array(out)), SparseRows.of(csr_array(back))
        place = tie_order(train.n_items, derived_rng(0, "walks"))
        walks = Neighbours(*largest_products(outward, home, min(self.k, train.n_items), place))
        return history_recommender(history, walks.matrix(), rng=rng)

    def memory_bytes(self, n_users: int, n_items: int, n_interactions: int) -> int:
        """Lists of k weights in three forms, the history five times, and the sums of each thread."""
        lists = 3 * 8 * n_items * min(self.k, n_items)
        return lists + 96 * n_interactions + 16 * (n_users + n_items) + sparse_lists_bytes(n_items)
