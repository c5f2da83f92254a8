"""ALS: weighted matrix factorisation for implicit feedback by alternating least squares."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from recassay.algorithms.kernels.compiled import compiled, in_parallel, one_blas_thread, over_rows
from recassay.algorithms.kernels.device import DEVICES, TORCH_BYTES, require_gpu_memory, settled_device, torch
from recassay.algorithms.kernels.device_least_squares import DeviceFactors, DeviceRows, least_squares_bytes
from recassay.algorithms.kernels.device_lists import gpu_scoring_bytes
from recassay.algorithms.kernels.positives import POSITIVES_BYTES, Positives
from recassay.algorithms.kernels.scoring import FactorRecommender
from recassay.algorithms.kernels.stages import Iterated, TwoSides
from recassay.core.histories import Histories
from recassay.core.specs.search import fixed, real, whole
from recassay.core.types import Float32Array, FloatArray, IdArray, Interactions, Recommender, TopK

FOLD_IN_STEPS = 32
"""Steps for a history: from zero, so many bring the solution within rounding of the exact one."""

GRADIENT_STEPS = 3
"""Steps of conjugate gradients for each row: from the last solution, three are as good as solving exactly."""

ROWS_A_PRODUCT = 1024
MOST_PRODUCTS = 16
"""The products of a side with itself are made in slices of at least so many rows, and in so many slices at most."""


class ALS(Iterated[Recommender]):
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
    study the validation part decides. A GPU (`device`) gives the same factors and lists up to rounding.
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
    device: str = fixed("auto", among=DEVICES)

    def training(self, train: Interactions, rng: np.random.Generator) -> LeastSquares:
        """Factors near zero."""
        device = settled_device(self.device, self.name)
        if device == "cpu":
            return LeastSquares(self, train, rng)
        require_gpu_memory(self.gpu_memory_bytes(train.n_users, train.n_items, len(train)), device, self.name)
        return DeviceLeastSquares(self, train, rng, device)

    def memory_bytes(self, n_users: int, n_items: int, n_interactions: int) -> int:
        """The pairs by user and by item, both sides' factors and, without a GPU, the model's and a side's products."""
        sides, events = 4 * self.factors * (n_users + n_items), POSITIVES_BYTES * n_interactions
        if settled_device(self.device, self.name) != "cpu":
            return TORCH_BYTES + sides + events
        return 2 * sides + 4 * (MOST_PRODUCTS + 12) * self.factors**2 + events

    def gpu_memory_bytes(self, n_users: int, n_items: int, n_interactions: int) -> int:
        """Events, factors and a block of rows, and a block of scores."""
        return least_squares_bytes(self.factors, n_users, n_items, n_interactions) + gpu_scoring_bytes(n_items)


class LeastSquares(TwoSides[Recommender]):
    """The training of `ALS`."""

    def __init__(self, algorithm: ALS, train: Interactions, rng: np.random.Generator) -> None:
        super().__init__(Positives.of(train), algorithm.factors, 0.01, rng)
        self._alpha = event_weight(algorithm, train)
        self._reg_of = partial(frequency_scaled, alpha=self._alpha, reg=algorithm.reg, power=algorithm.reg_power)
        self._mean_weight = float(row_weights(self._by_user, self._alpha).mean()) if self._by_user.n_users else 0.0

    def improve(self, rows: Positives, fixed: Float32Array, moved: Float32Array) -> None:
        """A few steps towards the least squares of every row."""
        squares = to_axes(fixed, moved)
        solve(rows, fixed, moved, squares=squares, alpha=self._alpha, reg=self._reg_of(rows))

    def model(self) -> Recommender:
        """The factors as they are now, in the axes of the items, and what solves for the factors of a history."""
        users, items = self._users.copy(), self._items.copy()
        reg_of = partial(self._reg_of, mean=self._mean_weight)
        solved = partial(folded_in, squares=to_axes(items, users), alpha=self._alpha, reg_of=reg_of)
        return LeastSquaresFactors(users, items, rng=self._rng, iterations=self._done, solved=solved)


class DeviceLeastSquares(LeastSquares):
    """The training of `ALS` on a GPU, from the same first factors."""

    def __init__(self, algorithm: ALS, train: Interactions, rng: np.random.Generator, device: str) -> None:
        super().__init__(algorithm, train, rng)
        self._device = device
        self._sides = [DeviceRows(rows, self._reg_of(rows), device) for rows in (self._by_user, self._by_item)]
        self._users, self._items = (torch.from_numpy(side).to(device) for side in (self._users, self._items))

    def advance(self, iterations: int) -> None:
        """So many further turns of both sides."""
        by_user, by_item = self._sides
        for _ in range(iterations):
            self._users = by_user.solve(self._items, self._users, self._alpha, GRADIENT_STEPS)
            self._items = by_item.solve(self._users, self._items, self._alpha, GRADIENT_STEPS)
        self._done += iterations

    def model(self) -> Recommender:
        """The factors as they are now, and what solves for the factors of a history."""
        items, alpha, device = self._items, self._alpha, self._device
        reg_of = partial(self._reg_of, mean=self._mean_weight)

        def solved(rows: Positives) -> Any:
            nothing = torch.zeros(rows.n_users, items.shape[1], device=device)
            return DeviceRows(rows, reg_of(rows), device).solve(items, nothing, alpha, FOLD_IN_STEPS)

        return DeviceFactors(self._users, items, rng=self._rng, iterations=self._done, solved=solved, device=device)


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
        rows = Positives.of_matrix(histories.csr(len(self.item_factors)))
        lists = FactorRecommender(self._solved(rows, self.item_factors), self.item_factors, rng=self._ties)
        return lists.recommend(np.arange(len(histories), dtype=np.int32), k, exclude=exclude)


def folded_in(
    rows: Positives,
    items: Float32Array,
    *,
    squares: Float32Array,
    alpha: float,
    reg_of: Callable[[Positives], Float32Array],
) -> Float32Array:
    """The factors of users who have `rows`, given those of the items; see `solve`."""
    factors = np.zeros((rows.n_users, items.shape[1]), dtype=np.float32)
    solve(rows, items, factors, squares=squares, alpha=alpha, reg=reg_of(rows), steps=FOLD_IN_STEPS)
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


def to_axes(fixed: Float32Array, other: Float32Array) -> Float32Array:
    """Turn both sides, in place, into the principal axes of `fixed`; its sum of squares along each axis.

    No product of two rows changes, and fixed'fixed becomes diagonal: a step of a row then reads its own events alone.
    """
    n_rows, factors = fixed.shape
    with one_blas_thread():
        # The slices do not depend on the number of threads, nor then the sum.
        size = max(ROWS_A_PRODUCT, -(-n_rows // MOST_PRODUCTS))
        grams = in_parallel(lambda part: fixed[part].T @ fixed[part], n_rows, size=size)
        squares, axes = np.linalg.eigh(sum(grams, np.zeros((factors, factors))))
    axes = axes.astype(np.float32)
    for side in (fixed, other):

        def turn(start: int, stop: int, side: Float32Array = side) -> None:
            side[start:stop] = side[start:stop] @ axes

        over_rows(turn, len(side), work=len(side) * factors**2)
    return np.maximum(squares, 0).astype(np.float32)


def solve(
    rows: Positives,
    fixed: Float32Array,
    solved: Float32Array,
    *,
    squares: Float32Array,
    alpha: float,
    reg: Float32Array,
    steps: int = GRADIENT_STEPS,
) -> None:
    """Bring every row of `solved` nearer to the least-squares solution given the factors `fixed` of the other side.

    Both are in the axes in which fixed'fixed is diagonal, with `squares` (see `to_axes`); `reg` has one number per row.
    """
    factors, confidence = fixed.shape[1], np.float32(alpha)

    def block(start: int, stop: int) -> None:
        _solve_rows(rows, fixed, squares, confidence, reg, solved, start, stop, steps)

    over_rows(block, rows.n_users, work=2 * (steps + 1) * factors * len(rows.items))


@compiled
def _solve_rows(
    rows: Positives,
    fixed: Float32Array,
    squares: Float32Array,
    confidence: np.float32,
    reg: Float32Array,
    solved: Float32Array,
    start: int,
    stop: int,
    steps: int,
) -> None:
    """Conjugate gradients for each row: all its steps at once, while the factors of its events are in the cache."""
    factors = fixed.shape[1]
    extra = confidence - np.float32(1)
    diagonal, along = np.empty(factors, np.float32), np.empty(factors, np.float32)
    left, image = np.empty(factors, np.float32), np.empty(factors, np.float32)
    for row in range(start, stop):
        solution = solved[row]
        mine = rows.items[rows.first[row] : rows.first[row + 1]]
        if len(mine) == 0:
            solution.fill(np.float32(0))
            continue
        # What the solution so far leaves of the right side is the first direction.
        for f in range(factors):
            diagonal[f] = squares[f] + reg[row]
            left[f] = -diagonal[f] * solution[f]
        _add_events(fixed, mine, solution, -extra, confidence, left)
        norm = np.float32(0)
        for f in range(factors):
            along[f] = left[f]
            norm += left[f] * left[f]
        for _ in range(steps):
            if norm < np.float32(1e-20):
                break
            for f in range(factors):
                image[f] = diagonal[f] * along[f]
            if extra != 0:
                _add_events(fixed, mine, along, extra, np.float32(0), image)
            curvature = np.float32(0)
            for f in range(factors):
                curvature += along[f] * image[f]
            length = norm / curvature if curvature > 0 else np.float32(0)
            remaining = np.float32(0)
            for f in range(factors):
                solution[f] += length * along[f]
                left[f] -= length * image[f]
                remaining += left[f] * left[f]
            ratio = remaining / norm
            for f in range(factors):
                along[f] = left[f] + ratio * along[f]
            norm = remaining


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
