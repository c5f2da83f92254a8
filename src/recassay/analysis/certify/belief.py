"""What the blocks of a multiverse that were run say about those that were not: a Gaussian process over choices.

A block is one dataset under one combination of the choices that cost something; it holds the scores of all algorithms
under every metric and cut-off (the outputs). Blocks are alike as far as they share choices:

    k(b, b') = v_dataset [d = d'] + (v_common + v_own [d = d']) prod_i (1 or rho_i) + v_rest [b = b']

where rho_i stands for every choice i in which the two differ: the correlation of universes that differ in this one
choice. So there are effects of each choice and of all combinations, shrunk by what the data say, in common for all
datasets and of single ones. The mean of every output is free. Outputs have a covariance of their own, which is that of
the whitened data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.optimize import minimize

from recassay.core.types import FloatArray, IntArray

FREE_MEAN = 100.0
"""Prior variance of the mean of an output, in units of the variances below."""

START = (0.0, -1.5, -1.0, -1.5)
"""Prior means of the logarithms of v_dataset, v_common, v_own and v_rest; deviations are `WIDTH`."""

WIDTH, RHO, RHO_WIDTH = 1.2, 1.0, 1.2
"""The logit of rho has this prior mean and deviation."""

LEAST_DEGREES = 4.0


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """All blocks: `places` (blocks x axes) are the choices, `dataset` the position of the dataset."""

    places: IntArray
    dataset: IntArray

    def between(self, left: IntArray, right: IntArray) -> Callable[[FloatArray], FloatArray]:
        """From the parameters to the covariance of blocks `left` with blocks `right`."""
        differ = (self.places[left][:, None] != self.places[right][None]).astype(np.float64)
        same = (self.dataset[left][:, None] == self.dataset[right][None]).astype(np.float64)
        itself = left[:, None] == right[None]

        def kernel(theta: FloatArray) -> FloatArray:
            dataset, common, specific, rest = np.exp(theta[:4])
            alike = np.exp(differ @ -np.logaddexp(0.0, -theta[4:]))
            return np.asarray(FREE_MEAN + dataset * same + (common + specific * same) * alike + rest * itself)

        return kernel


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """The posterior of the blocks that were not run: `mean` (blocks x outputs), and `spread`, their covariance."""

    open: IntArray
    mean: FloatArray
    spread: FloatArray
    outputs: FloatArray
    """Whitened data, blocks that were run x outputs: the mean of their products is the covariance of the outputs."""
    degrees: float
    theta: FloatArray

    def draw(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Draws x open blocks x outputs; the scale is an estimate itself, so that they are Student's."""
        n = len(self.open)
        root = np.linalg.cholesky(self.spread + 1e-9 * np.trace(self.spread) / max(n, 1) * np.eye(n))
        # What is drawn are whitened rows that were seen, with a random sign: surprises are as large as they have been.
        rows = self.outputs[rng.integers(0, len(self.outputs), (count, n))] * rng.choice([-1.0, 1.0], (count, n, 1))
        stretch = np.sqrt(self.degrees / rng.chisquare(self.degrees, count))
        return np.asarray(self.mean + stretch[:, None, None] * (root @ rows))


def believe(blocks: Blocks, run: IntArray, values: FloatArray, theta: FloatArray | None = None) -> Belief:
    """The posterior given the outputs of the blocks `run` (rows of `values`); `theta` is where the search begins."""
    n, axes = len(run), blocks.places.shape[1]
    centre = np.concatenate([START, np.full(axes, RHO)])
    width = np.concatenate([np.full(4, WIDTH), np.full(axes, RHO_WIDTH)])
    # Few outputs vary on their own: directions that matter, weighted by what they are of the variance.
    y = values - values.mean(axis=0)
    left, size, right = np.linalg.svd(y, full_matrices=False)
    kept = size > 1e-9 * max(float(size[0]) if len(size) else 0.0, 1e-12)
    y, right = left[:, kept] * size[kept], right[kept]
    power = size[kept] ** 2
    weight = float(power.sum() ** 2 / (power**2).sum()) if len(power) else 1.0

    kernel = blocks.between(run, run)

    def loss(theta: FloatArray) -> float:
        factor = cho_factor(kernel(theta) + 1e-8 * np.eye(n), lower=True, check_finite=False)
        inner = float((y * cho_solve(factor, y, check_finite=False)).sum()) / max(n * y.shape[1], 1)
        scale = n * np.log(inner + 1e-12) + 2 * np.log(np.diag(factor[0])).sum()
        return float(0.5 * weight * scale + 0.5 * (((theta - centre) / width) ** 2).sum())

    begin = centre if theta is None else theta
    if n > 2 and y.shape[1]:
        begin = minimize(loss, begin, method="L-BFGS-B", options={"maxiter": 25 if theta is None else 6}).x
    chosen = np.asarray(begin, dtype=np.float64)
    root = np.linalg.cholesky(kernel(chosen) + 1e-8 * np.eye(n))
    white = solve_triangular(root, y, lower=True)
    rest = np.setdiff1d(np.arange(len(blocks.dataset)), run)
    across = solve_triangular(root, blocks.between(run, rest)(chosen), lower=True)
    spread = blocks.between(rest, rest)(chosen) - across.T @ across
    degrees = max(float(n - 1 - axes), LEAST_DEGREES)
    mean = values.mean(axis=0) + (across.T @ white) @ right
    outputs = white @ right * np.sqrt(n / max(n - 1, 1))
    return Belief(rest, mean, spread, outputs, degrees, chosen)
