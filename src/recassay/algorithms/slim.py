"""SLIM: sparse linear methods."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from recassay.algorithms.kernels.counts import Counts, cooccurring_pairs
from recassay.algorithms.kernels.elastic_net import regress_items
from recassay.algorithms.kernels.sparse_scoring import history_recommender, sparse_lists_bytes
from recassay.core.specs.search import Tunable, fixed, real
from recassay.core.types import Interactions, Recommender


class SLIM(Tunable):
    """Sparse linear item-item weights W >= 0 with zero diagonal; the score of user u is x_u W, X binary.

    Column i of W is the elastic net of item i on all other items, in the terms of scikit-learn's
    `ElasticNet(alpha, l1_ratio, positive=True, fit_intercept=False)`, with n users:

        min 1/(2n) |x_i - Xw|^2 + alpha l1_ratio |w|_1 + alpha (1 - l1_ratio) / 2 |w|^2

    (equation 4 of the paper with beta = n alpha (1 - l1_ratio) and lambda = n alpha l1_ratio.) The penalty is given as
    `strength` = n alpha = beta + lambda: the value that suits a dataset hardly depends on its number of users, while
    alpha does. `alpha`, where it is given, takes its place. How exact a solution is: see `regress_items`.
    """

    name: ClassVar[str] = "SLIM"
    aliases: ClassVar[tuple[str, ...]] = ("SLIMElastic", "SLIMElasticNet")
    source: ClassVar[str] = "Ning, Karypis: SLIM, sparse linear methods for top-N recommender systems (ICDM 2011)"

    strength: float = real(2.0, 50.0, default=12.0, log=True, above=0)
    l1_ratio: float = real(0.01, 0.5, default=0.1, log=True, least=0, most=1)
    alpha: float | None = fixed(None, above=0)
    tolerance: float = fixed(1e-3, above=0)
    max_sweeps: int = fixed(500, least=1)

    @staticmethod
    def shared(train: Interactions) -> Counts:
        """The Gram matrix X'X: how many users have both items."""
        return Counts.of(train.csr())

    def fit(self, train: Interactions, *, rng: np.random.Generator, shared: Counts | None = None) -> Recommender:
        """Solve one regression per item."""
        counts = self.shared(train) if shared is None else shared
        strength = self.strength if self.alpha is None else self.alpha * train.n_users
        l1, l2 = strength * self.l1_ratio, strength * (1 - self.l1_ratio)
        weights = regress_items(counts, l1, l2, tolerance=self.tolerance, max_sweeps=self.max_sweeps)
        return history_recommender(train.csr(), weights, rng=rng)

    def memory_bytes(self, n_users: int, n_items: int, n_interactions: int) -> int:
        """The sparse Gram matrix, the weights (at most as large; thrice while they are put together), the history."""
        pairs = cooccurring_pairs(n_users, n_items, n_interactions)
        weights = min(pairs, 1000 * n_items)
        return 8 * (pairs + weights) + 64 * (n_interactions + n_items) + sparse_lists_bytes(n_items)
