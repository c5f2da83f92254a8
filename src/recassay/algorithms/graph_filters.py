"""GF-CF and Turbo-CF: profiles smoothed over the graph of items by a fixed filter, without training."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from recassay.algorithms.kernels.compiled import one_blas_thread
from recassay.algorithms.kernels.device import reproducible, torch
from recassay.algorithms.kernels.device_products import gram_on, weights_recommender
from recassay.algorithms.kernels.products import gram
from recassay.algorithms.kernels.scoring import scoring_bytes
from recassay.algorithms.linear import DenseWeights
from recassay.algorithms.svd import right_singular_vectors
from recassay.core.specs.search import choice, real, whole
from recassay.core.types import Interactions, Recommender


class GFCF(DenseWeights):
    """Graph filter: a linear low pass and an ideal one.

    With R' = D_U^-1/2 R D_I^-1/2 (D the numbers of events), the score of user u is
    r_u (R'^T R' + `ideal` D_I^-1/2 V V^T D_I^1/2), V the first `factors` right singular vectors of R' (equation 14).
    """

    name: ClassVar[str] = "GF-CF"
    aliases: ClassVar[tuple[str, ...]] = ("GFCF",)
    source: ClassVar[str] = "Shen, Wu, Zhang, Shan, Zhang, Letaief & Li 2021, How Powerful is Graph Convolution, CIKM"

    factors: int = whole(16, 512, default=256, log=True)
    ideal: float = real(0.0, 1.0, default=0.3)

    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Recommender:
        """The items x items filter."""
        history, device = train.csr(), self._device(train)
        smooth = scaled(history, 0.5, 0.5)
        root = np.sqrt(np.maximum(history.sum(axis=0), 1.0)).astype(np.float32)[:, None]
        with one_blas_thread():
            vectors = right_singular_vectors(smooth, self.factors if self.ideal else 1, rng)
        before, after = np.float32(self.ideal) * vectors / root, vectors * root
        if device == "cpu":
            weights = gram(smooth)
            with one_blas_thread():
                weights += before @ after.T
        else:
            with reproducible():
                weights = gram_on(smooth, device)
                weights += torch.from_numpy(before).to(device) @ torch.from_numpy(after).to(device).T
        return weights_recommender(history, weights, rng=rng, device=device)

    def memory_bytes(self, n_users: int, n_items: int, n_interactions: int) -> int:
        """Two dense items x items matrices of float32, the history thrice, the singular vectors and their basis."""
        vectors = 4 * 4 * min(self.factors, n_items) * max(n_users, n_items)
        return 2 * 4 * n_items**2 + 64 * n_interactions + vectors + 16 * n_users + scoring_bytes(n_items)


class TurboCF(DenseWeights):
    """Polynomial graph filters, without any decomposition.

    With R' = D_U^-a R D_I^(a - 1), a = `alpha`, and P = R'^T R', each entry to the `power`, the score of user u is r_u
    times P, 2 P - P^2, or P + 0.01 (- P^3 + 10 P^2 - 29 P) for `order` 1, 2, 3 (section 4.2).
    """

    name: ClassVar[str] = "Turbo-CF"
    aliases: ClassVar[tuple[str, ...]] = ("TurboCF",)
    source: ClassVar[str] = "Park, Shin & Shin 2024, Turbo-CF: Matrix Decomposition-Free Graph Filtering, SIGIR"

    alpha: float = real(0.1, 0.9, default=0.6)
    power: float = real(0.4, 1.6, default=1.0)
    order: int = choice((1, 2, 3), default=1, among=(1, 2, 3))

    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Recommender:
        """The items x items filter."""
        history, device = train.csr(), self._device(train)
        smooth = scaled(history, self.alpha, 1 - self.alpha)
        with one_blas_thread() if device == "cpu" else reproducible():
            weights = self._filter(gram(smooth) if device == "cpu" else gram_on(smooth, device))
        return weights_recommender(history, weights, rng=rng, device=device)

    def _filter(self, weights: Any) -> Any:
        """The filter, of arrays or tensors."""
        if self.power != 1:
            weights **= self.power
        if self.order == 1:
            return weights
        square = weights @ weights
        if self.order == 2:
            return 2 * weights - square
        return weights + 0.01 * (10 * square - square @ weights - 29 * weights)

    def memory_bytes(self, n_users: int, n_items: int, n_interactions: int) -> int:
        """Dense items x items matrices of float32 (one, three or five), the history thrice."""
        matrices = 2 * self.order - 1
        return 4 * matrices * n_items**2 + 64 * n_interactions + 16 * (n_users + n_items) + scoring_bytes(n_items)


def scaled(history: csr_array, user_power: float, item_power: float) -> csr_array:
    """D_U^-a R D_I^-b, D the numbers of events of users and items."""
    users, items = (np.maximum(history.sum(axis=axis), 1.0) for axis in (1, 0))
    matrix = history * (users**-user_power)[:, None] * (items**-item_power)[None, :]
    return csr_array(matrix.astype(np.float32))
