"""ALS: weighted matrix factorisation for implicit feedback by alternating least squares."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

from recassay.algorithms.kernels.compiled import compiled, one_blas_thread, over_rows
from recassay.algorithms.kernels.positives import POSITIVES_BYTES, Positives
from recassay.algorithms.kernels.scoring import FactorRecommender
from recassay.algorithms.kernels.stages import Iterated, TwoSides
from recassay.core.histories import Histories
from recassay.core.specs.search import fixed, real, whole
from recassay.core.types import Float32Array, FloatArray, IdArray, Interactions, TopK

FOLD_IN_STEPS = 32
"""Steps for a history: from zero, so many bring the solution within rounding of the exact one."""

GRADIENT_STEPS = 3
"""Steps of conjugate gradients for each row: from the last solution, three are as good as solving exactly."""


class ALS(Iterated[FactorRecommender]):
    """Weighted regularised matrix factorisation (Hu, Koren & Volinsky 2008).

    Minimises sum_ui c_ui (r_ui - x_u . y_i)^2 + reg (sum_u |x_u|^2 + sum_i |y_i|^2) over all pairs of users and items,
    with r_ui = 1 and c_ui = `alpha` where u has i, else r_ui = 0 and c_ui = 1 (the paper's 1 + alpha r is `alpha` - 1
    here; `alpha` = 1 weighs every pair alike). In turn, all x_u and all y_i are set to the solution of their normal
    equations (Y'Y + (alpha - 1) Y_u'Y_u + reg I) x_u = alpha sum_{i in u} y_i, by a few steps of conjugate gradients
    from the last value (Takács, Pilászy & Tikk 2011). Users and items without events get the zero vector.

    On dense data a missing pair says more: where a share d above `dense_above` of all pairs are events, `alpha` is
    multiplied by sqrt(`dense_above` / d), but stays at least 1. `dense_above` = 1 is the paper's definition.

    With `reg_power` above 0 a row is regularised by its frequency, as Rendle et al. found to matter most: reg is
    multiplied by (w / mean w)^`reg_power`, w the sum of the row's c_ui (their lambda (|I_u| + alpha_0 |I|)^nu with
    alpha_0 = 1 / (`alpha` - 1), on a scale where `reg` keeps its meaning). `iterations` is the most that is tried: in a
    study the validation part decides.
    """

    name: ClassVar[str] = "ALS"
    aliases: ClassVar[tuple[str, ...]] = ("iALS", "WRMF")
    source: ClassVar[str] = (
        "Hu, Koren & Volinsky 2008, Collaborative Filtering for Implicit Feedback Datasets, ICDM; "
        "Rendle, Krichene, Zhang & Koren 2022, Revisiting the Performance of iALS, RecSys"
    )
    stopped_by: ClassVar[str] = "iterations"
    folds_in_exactly: ClassVar[bool] = False  # a user's factors in training are a few steps from their solution

    factors: int = whole(64, 256, default=256, step=64)
    alpha: float = real(4.0, 60.0, default=20.0, log=True)
    reg: float = real(10.0, 200.0, default=50.0, log=True)
    reg_power: float = real(0.0, 1.0, default=0.5)
    dense_above: float = 0.01
    iterations: int = fixed(16, least=1)

    def training(self, train: Interactions, rng: np.random.Generator) -> LeastSquares:
        """Factors near zero."""
        return LeastSquares(self, train, rng)

    def memory_bytes(self, n_users: int, n_items: int, n_interactions: int) -> int:
        """Both factor matrices twice (training and model), one of their products, and the pairs by user and by item."""
        return 4 * self.factors * (2 * (n_users + n_items) + 2 * self.factors) + POSITIVES_BYTES * n_interactions


class LeastSquares(TwoSides):
    """The training of `ALS`."""

    def __init__(self, algorithm: ALS, train: Interactions, rng: np.random.Generator) -> None:
        super().__init__(Positives.of(train), algorithm.factors, 0.01, rng)
        self._algorithm, self._alpha = algorithm, event_weight(algorithm, train)
        self._mean_weight = float(row_weights(self._by_user, self._alpha).mean()) if self._by_user.n_users else 0.0

    def improve(self, rows: Positives, fixed: Float32Array, moved: Float32Array) -> None:
        """A few steps towards the least squares of every row."""
        reg = frequency_scaled(rows, self._alpha, self._algorithm.reg, self._algorithm.reg_power)
        solve(rows, fixed, moved, alpha=self._alpha, reg=reg)

    def model(self) -> LeastSquaresFactors:
        """The factors as they are now, and what solves for the factors of a history."""
        algorithm, known = self._algorithm, super().model()
        solved = partial(
            folded_in, alpha=self._alpha, reg=algorithm.reg, power=algorithm.reg_power, mean=self._mean_weight
        )
        return LeastSquaresFactors(
            known.user_factors, known.item_factors, rng=self._rng, iterations=known.iterations, solved=solved
        )


class LeastSquaresFactors(FactorRecommender):
    """Factors that fold in: those of a history are one solution of its normal equations."""

    def __init__(
        self,
        users: Float32Array,
        items: Float32Array,
        *,
        rng: np.random.Generator,
        iterations: int,
        solved: Callable[[Positives, Float32Array], Float32Array],
    ) -> None:
        super().__init__(users, items, rng=rng, iterations=iterations)
        self._solved = solved

    def recommend_from(self, histories: Histories, k: int, *, exclude: csr_array | None) -> TopK:
        """The k best items after each history; see `FoldsIn`."""
        matrix = histories.csr(len(self.item_factors))
        rows = Positives(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32, copy=False), matrix.shape[1])
        lists = FactorRecommender(self._solved(rows, self.item_factors), self.item_factors, rng=self._ties)
        return lists.recommend(np.arange(len(histories), dtype=np.int32), k, exclude=exclude)


def folded_in(
    rows: Positives, items: Float32Array, *, alpha: float, reg: float, power: float, mean: float
) -> Float32Array:
    """The factors of users who have `rows`, given those of the items; `mean` is the mean weight of training users."""
    factors = np.zeros((rows.n_users, items.shape[1]), dtype=np.float32)
    scaled = frequency_scaled(rows, alpha, reg, power, mean=mean)
    solve(rows, items, factors, alpha=alpha, reg=scaled, steps=FOLD_IN_STEPS)
    return factors


def event_weight(algorithm: ALS, train: Interactions) -> float:
    """`alpha` on these data: less where more than `dense_above` of all pairs are events."""
    share = train.csr().nnz / max(train.n_users * train.n_items, 1)
    scaled = algorithm.alpha * min(1.0, algorithm.dense_above / max(share, 1e-12)) ** 0.5
    return max(scaled, min(algorithm.alpha, 1.0))


def frequency_scaled(
    rows: Positives, alpha: float, reg: float, power: float, *, mean: float | None = None
) -> Float32Array:
    """The regularisation of every row: `reg`, times (sum of its confidences / `mean`)^`power`.

    By default the mean is that of the rows.
    """
    weight = row_weights(rows, alpha)
    scale = weight.mean() if mean is None else mean
    return (reg * (weight / max(scale, 1e-12)) ** power).astype(np.float32)


def row_weights(rows: Positives, alpha: float) -> FloatArray:
    """The sum of the confidences of every row."""
    weights: FloatArray = (alpha - 1) * np.diff(rows.first) + rows.n_items
    return weights


def solve(
    rows: Positives,
    fixed: Float32Array,
    solved: Float32Array,
    *,
    alpha: float,
    reg: float | Float32Array,
    steps: int = GRADIENT_STEPS,
) -> None:
    """Bring every row of `solved` nearer to the least-squares solution given the factors `fixed` of the other side.

    `reg` is one number for all rows, or one for each.

    Conjugate gradients on a block of rows in step: the part of the matrix that all rows share is one product of BLAS,
    the part of each row's own events is added by the kernel, and no matrix but the shared one is ever formed.
    """
    factors = fixed.shape[1]
    with one_blas_thread():
        gram = fixed.T @ fixed
    ridge = np.broadcast_to(np.asarray(reg, dtype=np.float32), rows.n_users)
    confidence = np.float32(alpha)

    def block(start: int, stop: int) -> None:
        direction = solved[start:stop].copy()
        residual, norm = np.zeros_like(direction), np.zeros(stop - start, dtype=np.float32)
        for step in range(steps + 1):
            image = direction @ gram
            image += ridge[start:stop, None] * direction
            _conjugate_step(rows, fixed, confidence, solved, direction, residual, image, norm, start, step == 0)

    over_rows(block, rows.n_users, work=(steps + 1) * factors * (2 * len(rows.items) + factors * rows.n_users))


@compiled
def _conjugate_step(
    rows: Positives,
    fixed: Float32Array,
    confidence: np.float32,
    solved: Float32Array,
    direction: Float32Array,
    residual: Float32Array,
    image: Float32Array,
    norm: Float32Array,
    start: int,
    begins: bool,
) -> None:
    """One step for the rows from `start` on; `image` comes as direction times the shared matrix.

    The step that `begins` takes the current solution for its direction, and makes the first residual of it.
    """
    factors = fixed.shape[1]
    extra = confidence - np.float32(1)
    for place in range(len(direction)):
        solution, along = solved[start + place], direction[place]
        mine = rows.items[rows.first[start + place] : rows.first[start + place + 1]]
        left, mapped = residual[place], image[place]
        if len(mine) == 0:
            solution.fill(np.float32(0))
            continue
        remaining = np.float32(0)
        if begins:
            _add_events(fixed, mine, along, -extra, confidence, left)
            for f in range(factors):
                left[f] -= mapped[f]
                along[f] = left[f]
                remaining += left[f] * left[f]
        elif norm[place] >= np.float32(1e-20):
            if extra != 0:
                _add_events(fixed, mine, along, extra, np.float32(0), mapped)
            curvature = np.float32(0)
            for f in range(factors):
                curvature += along[f] * mapped[f]
            length = norm[place] / curvature if curvature > 0 else np.float32(0)
            for f in range(factors):
                solution[f] += length * along[f]
                left[f] -= length * mapped[f]
                remaining += left[f] * left[f]
            ratio = remaining / norm[place]
            for f in range(factors):
                along[f] = left[f] + ratio * along[f]
        norm[place] = remaining


@compiled
def _add_events(
    fixed: Float32Array, mine: IdArray, along: Float32Array, slope: np.float32, level: np.float32, total: Float32Array
) -> None:
    """Add (slope * (y . along) + level) y to `total` for the factors y of each event, four events at a time."""
    factors = fixed.shape[1]
    whole = len(mine) - len(mine) % 4
    for place in range(0, whole, 4):
        a, b, c, d = fixed[mine[place]], fixed[mine[place + 1]], fixed[mine[place + 2]], fixed[mine[place + 3]]
        of_a = of_b = of_c = of_d = np.float32(0)
        for f in range(factors):
            of_a += a[f] * along[f]
            of_b += b[f] * along[f]
            of_c += c[f] * along[f]
            of_d += d[f] * along[f]
        of_a, of_b = slope * of_a + level, slope * of_b + level
        of_c, of_d = slope * of_c + level, slope * of_d + level
        for f in range(factors):
            total[f] += (of_a * a[f] + of_b * b[f]) + (of_c * c[f] + of_d * d[f])
    for place in range(whole, len(mine)):
        a = fixed[mine[place]]
        of_a = np.float32(0)
        for f in range(factors):
            of_a += a[f] * along[f]
        of_a = slope * of_a + level
        for f in range(factors):
            total[f] += of_a * a[f]
