"""NCE-PLRec: linear regression on embeddings that come from noise-contrastive estimation in closed form."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_array

from recassay.algorithms.kernels.compiled import one_blas_thread
from recassay.algorithms.kernels.scoring import FactorRecommender
from recassay.algorithms.svd import right_singular_vectors
from recassay.core.specs.search import Tunable, real, whole
from recassay.core.types import Interactions


class NCEPLRec(Tunable):
    """Projected linear recommendation with noise-contrastive item embeddings.

    The best noise-contrastive score of an event (u, i) is D_ui = max(0, ln(users / d_i^`beta`)), d_i the item's events
    (equation 11); all other entries are 0. With D = U S V^T of rank `factors`, users are Q = R V S^1/2, and the scores
    Q W solve min |R - Q W|^2 + `reg` |W|^2 (equations 13 and 14).
    """

    name: ClassVar[str] = "NCE-PLRec"
    folds_in: ClassVar[bool] = False
    aliases: ClassVar[tuple[str, ...]] = ("NCEPLRec",)
    source: ClassVar[str] = "Wu, Volkovs, Soon, Sanner & Rai 2019, Noise Contrastive Estimation for One-Class CF, SIGIR"

    factors: int = whole(20, 500, default=100, log=True)
    beta: float = real(0.7, 1.3, default=1.0)
    reg: float = real(1.0, 10_000.0, default=100.0, log=True, above=0)

    def fit(self, train: Interactions, *, rng: np.random.Generator) -> FactorRecommender:
        """Embed, then regress."""
        history = train.csr()
        count = np.maximum(history.sum(axis=0), 1.0)
        worth = np.maximum(np.log(max(train.n_users, 1) / count**self.beta), 0.0).astype(np.float32)
        weighted = csr_array(history * worth[None, :])  # entries of its own: those of the history stay
        weighted.eliminate_zeros()
        with one_blas_thread():
            vectors = right_singular_vectors(weighted, self.factors, rng)
            strength = np.linalg.norm(np.asarray(weighted @ vectors), axis=0)
            users = history @ (vectors * np.sqrt(strength))
            square = (users.T @ users).astype(np.float64)
            np.einsum("ii->i", square)[:] += self.reg
            items = (
                cho_solve(cho_factor(square), (history.T @ users).T.astype(np.float64)).T if len(square) else vectors
            )
        return FactorRecommender(users, items, rng=rng)

    def memory_bytes(self, n_users: int, n_items: int, n_interactions: int) -> int:
        """The history four times, factors of users and items in float32 and float64, and the basis of the SVD."""
        factors = min(self.factors, n_items)
        return 96 * n_interactions + 8 * 5 * factors * (n_users + n_items) + 32 * max(200, factors) ** 2
