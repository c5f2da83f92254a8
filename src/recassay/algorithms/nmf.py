"""NMF: matrix factorisation in which nothing is negative."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from recassay.algorithms.kernels.compiled import compiled, one_blas_thread, over_rows
from recassay.algorithms.kernels.positives import POSITIVES_BYTES, Positives
from recassay.algorithms.kernels.scoring import FactorRecommender
from recassay.algorithms.kernels.stages import Iterated, TwoSides
from recassay.core.specs.search import real, whole
from recassay.core.types import Float32Array, Interactions


class NMF(Iterated[FactorRecommender]):
    """Non-negative matrix factorisation (Lee & Seung 1999) of the users x items matrix of ones and zeros.

    Minimises |R - W H'|^2 + reg (|W|^2 + |H|^2) over W, H >= 0, all pairs counting alike, by coordinate descent
    (Cichocki & Phan 2009, hierarchical alternating least squares): each row w of W in turn takes, one factor f after
    the other, the value that is best given the rest, max(0, w_f + (x_f - (G w)_f) / G_ff) with x = H' r and
    G = H'H + reg I; then the same for H. Users and items without events get zeros.
    """

    name: ClassVar[str] = "NMF"
    folds_in: ClassVar[bool] = False
    source: ClassVar[str] = (
        "Lee & Seung 1999, Learning the Parts of Objects by Non-negative Matrix Factorization, Nature 401; "
        "Cichocki & Phan 2009, Fast Local Algorithms for Large Scale NMF, IEICE E92-A"
    )

    factors: int = whole(10, 200, default=192, log=True)
    iterations: int = whole(10, 100, default=30)
    reg: float = real(1e-3, 30.0, default=5.0, log=True)

    def training(self, train: Interactions, rng: np.random.Generator) -> NonNegative:
        """Factors whose products have the mean of the matrix."""
        return NonNegative(self, train, rng)

    def memory_bytes(self, n_users: int, n_items: int, n_interactions: int) -> int:
        """Both factor matrices twice (training and model), one of their products, and the pairs by user and by item."""
        return 4 * self.factors * (2 * (n_users + n_items) + 2 * self.factors) + POSITIVES_BYTES * n_interactions


class NonNegative(TwoSides[FactorRecommender]):
    """The training of `NMF`."""

    def __init__(self, algorithm: NMF, train: Interactions, rng: np.random.Generator) -> None:
        positives = Positives.of(train)
        mean = len(positives.items) / max(1, train.n_users * train.n_items)
        super().__init__(positives, algorithm.factors, 2 * np.sqrt(mean / algorithm.factors), rng)
        self._reg = algorithm.reg

    def improve(self, rows: Positives, fixed: Float32Array, moved: Float32Array) -> None:
        """One pass of coordinate descent."""
        descend(rows, fixed, moved, reg=self._reg)

    def model(self) -> FactorRecommender:
        """The factors as they are now."""
        return FactorRecommender(self._users.copy(), self._items.copy(), rng=self._rng, iterations=self._done)


def descend(rows: Positives, fixed: Float32Array, moved: Float32Array, *, reg: float) -> None:
    """One pass of coordinate descent over every row of `moved`, given the factors `fixed` of the other side."""
    factors = fixed.shape[1]
    with one_blas_thread():
        gram = fixed.T @ fixed
    gram[np.diag_indices(factors)] += np.float32(reg)

    def block(start: int, stop: int) -> None:
        _descend_rows(rows, fixed, gram, moved, start, stop)

    over_rows(block, rows.n_users, work=factors * (len(rows.items) + factors * rows.n_users))


@compiled
def _descend_rows(
    rows: Positives, fixed: Float32Array, gram: Float32Array, moved: Float32Array, start: int, stop: int
) -> None:
    factors = fixed.shape[1]
    target = np.empty(factors, np.float32)
    for row in range(start, stop):
        weights = moved[row]
        target.fill(np.float32(0))
        mine = rows.items[rows.first[row] : rows.first[row + 1]]
        for other in mine:
            vector = fixed[other]
            for f in range(factors):
                target[f] += vector[f]
        if len(mine) == 0:
            weights.fill(np.float32(0))
            continue
        for f in range(factors):
            if gram[f, f] <= 0:
                continue
            slope = target[f]
            for g in range(factors):
                slope -= gram[f, g] * weights[g]
            weights[f] = max(np.float32(0), weights[f] + slope / gram[f, f])
