"""ALS: weighted matrix factorisation for implicit feedback by alternating least squares."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from recassay.algorithms.compiled import compiled, one_blas_thread, over_rows
from recassay.algorithms.positives import POSITIVES_BYTES, Positives
from recassay.algorithms.scoring import FactorRecommender
from recassay.algorithms.stages import finish, in_stages
from recassay.core.search import Real, SearchSpace, Whole
from recassay.core.types import Float32Array, Interactions, IntArray

GRADIENT_STEPS = 3
"""Steps of conjugate gradients for each row: from the last solution, three are as good as solving exactly."""


class ALS:
    """Weighted regularised matrix factorisation (Hu, Koren & Volinsky 2008).

    Minimises sum_ui c_ui (r_ui - x_u . y_i)^2 + reg (sum_u |x_u|^2 + sum_i |y_i|^2) over all pairs of users and items,
    with r_ui = 1 and c_ui = `alpha` where u has i, else r_ui = 0 and c_ui = 1 (the paper's 1 + alpha r is `alpha` - 1
    here; `alpha` = 1 weighs every pair alike). In turn, all x_u and all y_i are set to the solution of their normal
    equations (Y'Y + (alpha - 1) Y_u'Y_u + reg I) x_u = alpha sum_{i in u} y_i, by a few steps of conjugate gradients
    from the last value (Takács, Pilászy & Tikk 2011). Users and items without events get the zero vector.
    """

    name: ClassVar[str] = "ALS"
    source: ClassVar[str] = "Hu, Koren & Volinsky 2008, Collaborative Filtering for Implicit Feedback Datasets, ICDM"
    space: ClassVar[SearchSpace] = {
        "factors": Whole(50, 200, 64),
        "iterations": Whole(10, 100, 15),
        "alpha": Real(1.0, 50.0, 2.0),
        "reg": Real(1e-4, 100.0, 1.0, log=True),
    }

    def __init__(self, *, factors: int = 64, iterations: int = 15, alpha: float = 2.0, reg: float = 1.0) -> None:
        self.factors, self.iterations, self.alpha, self.reg = factors, iterations, alpha, reg

    def fit(self, train: Interactions, *, rng: np.random.Generator) -> FactorRecommender:
        """The factors after all iterations."""
        return finish(_AlternatingTraining(self, train, rng), self.iterations)

    def fit_steps(self, train: Interactions, *, rng: np.random.Generator) -> Iterator[FactorRecommender]:
        """The factors after each of several stages."""
        return in_stages(_AlternatingTraining(self, train, rng), self.iterations)

    def memory_bytes(self, n_users: int, n_items: int, n_interactions: int) -> int:
        """Both factor matrices twice (training and model), one of their products, and the pairs by user and by item."""
        return 4 * self.factors * (2 * (n_users + n_items) + 2 * self.factors) + POSITIVES_BYTES * n_interactions


class _AlternatingTraining:
    def __init__(self, algorithm: ALS, train: Interactions, rng: np.random.Generator) -> None:
        self._by_user = Positives.of(train)
        self._by_item = self._by_user.transposed()
        self._algorithm, self._rng = algorithm, rng
        self._users = _small_numbers(train.n_users, algorithm.factors, rng)
        self._items = _small_numbers(train.n_items, algorithm.factors, rng)

    def advance(self, iterations: int) -> None:
        alpha, reg = self._algorithm.alpha, self._algorithm.reg
        for _ in range(iterations):
            solve(self._by_user, self._items, self._users, alpha=alpha, reg=reg)
            solve(self._by_item, self._users, self._items, alpha=alpha, reg=reg)

    def model(self) -> FactorRecommender:
        return FactorRecommender(self._users.copy(), self._items.copy(), rng=self._rng)


def solve(
    rows: Positives, fixed: Float32Array, solved: Float32Array, *, alpha: float, reg: float, steps: int = GRADIENT_STEPS
) -> None:
    """Bring every row of `solved` nearer to the least-squares solution given the factors `fixed` of the other side."""
    factors = fixed.shape[1]
    with one_blas_thread():
        gram = fixed.T @ fixed
    gram[np.diag_indices(factors)] += np.float32(reg)
    confidence = np.float32(alpha)

    def block(start: int, stop: int) -> None:
        _conjugate_gradients(rows.first, rows.items, fixed, gram, confidence, solved, steps, start, stop)

    over_rows(block, rows.first, (steps + 1) * factors)


def _small_numbers(rows: int, factors: int, rng: np.random.Generator) -> Float32Array:
    return rng.random((rows, factors), dtype=np.float32) * np.float32(0.01)


@compiled
def _conjugate_gradients(
    first: IntArray,
    others: np.ndarray,
    fixed: np.ndarray,
    gram: np.ndarray,
    confidence: float,
    solved: np.ndarray,
    steps: int,
    start: int,
    stop: int,
) -> None:
    factors = fixed.shape[1]
    extra = confidence - np.float32(1)
    residual = np.empty(factors, np.float32)
    direction = np.empty(factors, np.float32)
    image = np.empty(factors, np.float32)
    for row in range(start, stop):
        solution = solved[row]
        if first[row] == first[row + 1]:
            solution[:] = np.float32(0)
            continue
        mine = others[first[row] : first[row + 1]]
        direction[:] = solution
        residual[:] = np.float32(0)
        for other in mine:
            vector = fixed[other]
            for f in range(factors):
                residual[f] += confidence * vector[f]
        for step in range(steps + 1):
            # image = (gram + extra * sum of outer products) direction, without forming the matrix
            for f in range(factors):
                total = np.float32(0)
                for g in range(factors):
                    total += gram[f, g] * direction[g]
                image[f] = total
            if extra != 0:
                for other in mine:
                    vector = fixed[other]
                    total = np.float32(0)
                    for f in range(factors):
                        total += vector[f] * direction[f]
                    total *= extra
                    for f in range(factors):
                        image[f] += total * vector[f]
            if step == 0:
                norm = np.float32(0)
                for f in range(factors):
                    residual[f] -= image[f]
                    direction[f] = residual[f]
                    norm += residual[f] * residual[f]
            else:
                curvature = np.float32(0)
                for f in range(factors):
                    curvature += direction[f] * image[f]
                if not curvature > 0:
                    break
                length = norm / curvature
                smaller = np.float32(0)
                for f in range(factors):
                    solution[f] += length * direction[f]
                    residual[f] -= length * image[f]
                    smaller += residual[f] * residual[f]
                ratio = smaller / norm
                for f in range(factors):
                    direction[f] = residual[f] + ratio * direction[f]
                norm = smaller
            if norm < np.float32(1e-20):
                break
