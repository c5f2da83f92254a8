"""PureSVD: the truncated singular value decomposition of the users x items matrix."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import svds

from recassay.algorithms.kernels.compiled import one_blas_thread
from recassay.algorithms.kernels.scoring import FactorRecommender
from recassay.core.specs.search import Tunable, whole
from recassay.core.types import Float32Array, Interactions

SMALL_SIDE = 200
"""Up to this many users or items (or `factors`, if more), the square matrix of that side is decomposed in full."""


class PureSVD(Tunable):
    """Scores R V V', V the first right singular vectors of R (Cremonesi, Koren & Turrin 2010, section 3.3.2).

    R has a 1 where the user has the item and 0 elsewhere; `factors` above what the matrix has are left out. Users
    without events score 0 everywhere. The vectors come from ARPACK's Lanczos iterations (a random start from `rng`, to
    which the converged answer owes nothing but rounding), on one thread; their sign does not matter to the scores.
    """

    name: ClassVar[str] = "PureSVD"
    folds_in: ClassVar[bool] = False
    source: ClassVar[str] = (
        "Cremonesi, Koren & Turrin 2010, Performance of Recommender Algorithms on Top-N Recommendation Tasks, RecSys"
    )

    factors: int = whole(10, 300, default=16, log=True)

    def fit(self, train: Interactions, *, rng: np.random.Generator) -> FactorRecommender:
        """The item vectors, and each user's place among them."""
        matrix = train.csr()
        with one_blas_thread():
            items = right_singular_vectors(matrix, self.factors, rng)
        return FactorRecommender(matrix @ items, items, rng=rng)

    def memory_bytes(self, n_users: int, n_items: int, n_interactions: int) -> int:
        """The matrix with its transpose, both factor matrices, and what the smaller side takes: ARPACK's basis."""
        smaller = min(n_users, n_items)
        factors = min(self.factors, smaller)
        if smaller <= max(SMALL_SIDE, self.factors):
            side = 8 * 4 * smaller * smaller
        else:
            side = 4 * 3 * smaller * min(smaller, max(2 * factors + 1, 20))
        return side + 4 * 3 * factors * (n_users + n_items) + 40 * n_interactions


def right_singular_vectors(matrix: csr_array, factors: int, rng: np.random.Generator) -> Float32Array:
    """The right singular vectors of the largest singular values, as columns, largest first; those of zero left out."""
    smaller = min(matrix.shape)
    if matrix.nnz == 0:
        return np.zeros((matrix.shape[1], 0), dtype=np.float32)
    if smaller <= max(SMALL_SIDE, factors):
        return _by_small_side(matrix, factors)
    start = rng.standard_normal(smaller).astype(np.float32)
    _, values, vectors = svds(matrix, k=factors, v0=start, solver="arpack")
    return np.ascontiguousarray(vectors[np.argsort(-values)].T, dtype=np.float32)


def _by_small_side(matrix: csr_array, factors: int) -> Float32Array:
    """The eigenvectors of R'R; or those of RR', carried over by R'."""
    exact = matrix.astype(np.float64)
    fewer_users = matrix.shape[0] < matrix.shape[1]
    square = (exact @ exact.T if fewer_users else exact.T @ exact).toarray()
    values, vectors = np.linalg.eigh(square)
    kept = np.argsort(-values)[:factors]
    kept = kept[values[kept] > 1e-10 * max(values.max(initial=0.0), 1e-300)]
    chosen = vectors[:, kept]
    if fewer_users:
        chosen = (exact.T @ chosen) / np.sqrt(values[kept])
    return np.ascontiguousarray(chosen, dtype=np.float32)
