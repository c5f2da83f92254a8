"""EASE: a linear item-item model in closed form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, spotrf, spotri

from recassay.algorithms.kernels.device import DEVICES, TORCH_BYTES, settled_device
from recassay.algorithms.kernels.device_products import (
    dense_weights_bytes,
    ease_weights_on,
    gram_on,
    weights_recommender,
)
from recassay.algorithms.kernels.products import INSTEAD, gram, refuse_dense
from recassay.algorithms.kernels.scoring import scoring_bytes
from recassay.core.errors import UsageError
from recassay.core.specs.search import Tunable, fixed, real
from recassay.core.types import Float32Array, Interactions, Recommender

ROWS_AT_ONCE = 512
"""Rows of a matrix that are mirrored together."""


class DenseWeights(Tunable):
    """A dense matrix of weights between items in closed form, on the processor or a GPU: user u is scored by x_u W."""

    instead: ClassVar[str] = INSTEAD
    gpu_matrices: ClassVar[int] = 4
    """How many matrices of items x items a GPU holds at the peak."""

    device: str = fixed("auto", among=DEVICES)

    def memory_bytes(self, n_users: int, n_items: int, n_interactions: int) -> int:
        """What the algorithm takes of the host."""
        raise NotImplementedError

    def gpu_memory_bytes(self, n_users: int, n_items: int, n_interactions: int) -> int:
        """Dense items x items matrices, and the scores of a block."""
        return dense_weights_bytes(self.gpu_matrices, n_users, n_items, n_interactions)

    def _device(self, train: Interactions) -> str:
        """Where the weights are computed; a host without room for them is refused."""
        device = settled_device(self.device, self.name)
        if device == "cpu":
            refuse_dense(self.name, train.n_items, self.memory_bytes(train.n_users, train.n_items, len(train)))
        return device


class EASE(DenseWeights):
    """Embarrassingly shallow autoencoder: min ||X - XB||^2 + reg ||B||^2 with diag(B) = 0.

    B = I - P diag(1 / diag(P)), P = (X'X + reg I)^-1 (equation 8), X binary; the score of user u is x_u B. P comes from
    a Cholesky factorisation in float32 (`potrf`, `potri`), in float64 where the matrix is not numerically positive
    definite in float32 (a very small `reg`); on a GPU (`device`), everything is computed there.
    """

    name: ClassVar[str] = "EASE"
    gpu_matrices: ClassVar[int] = 3  # the Gram matrix, its factor, and the solver's workspace
    source: ClassVar[str] = "Steck: Embarrassingly shallow autoencoders for sparse data (WWW 2019)"

    reg: float = real(10.0, 1000.0, default=100.0, log=True, above=0)

    @staticmethod
    def shared(train: Interactions) -> Float32Array | None:
        """The Gram matrix X'X: how many users have both items. A GPU makes it faster than it could be copied there."""
        if settled_device("auto", "EASE") != "cpu":
            return None
        refuse_dense("EASE", train.n_items, 2 * 4 * train.n_items**2)
        return gram(train.csr())

    def fit(self, train: Interactions, *, rng: np.random.Generator, shared: Float32Array | None = None) -> Recommender:
        """Solve for B; `shared` is left as it was."""
        history, device = train.csr(), self._device(train)
        if device != "cpu":
            weights = ease_weights_on(lambda: gram_on(history, device), self.reg, device)
        else:
            weights = ease_weights(lambda: gram(history) if shared is None else shared.copy(), self.reg)
        return weights_recommender(history, weights, rng=rng, device=device)

    def memory_bytes(self, n_users: int, n_items: int, n_interactions: int) -> int:
        """The history twice and, without a GPU, two items x items matrices of float32: X'X, kept for trials, and B."""
        dense = 2 * 4 * n_items**2 if settled_device(self.device, self.name) == "cpu" else TORCH_BYTES
        return dense + 48 * n_interactions + 16 * (n_users + n_items) + scoring_bytes(n_items)


def ease_weights(square: Callable[[], Float32Array], reg: float) -> Float32Array:
    """B of EASE; `square` makes the Gram matrix X'X, which is used up.

    A factorisation that fails in float32 is done again in float64, from another X'X.
    """
    inverse = _inverse(square(), reg, spotrf, spotri)
    if inverse is None:
        inverse = _inverse(square().astype(np.float64), reg, dpotrf, dpotri)
    if inverse is None:
        raise UsageError(f"X'X + {reg} I cannot be inverted", fix="use a larger reg")
    weights: Float32Array = inverse.astype(np.float32, copy=False)
    diagonal = np.einsum("ii->i", weights)
    weights /= -diagonal.copy()
    diagonal[:] = 0.0
    return weights


def _inverse(square: Any, reg: float, factorise: Callable[..., Any], invert: Callable[..., Any]) -> Any | None:
    """(square + reg I)^-1 in place, by Cholesky's factorisation; None where it is not positive definite."""
    np.einsum("ii->i", square)[:] += square.dtype.type(reg)
    # The transposed view is in the order LAPACK wants; its lower triangle is our upper one.
    factor, failed = factorise(square.T, lower=1, overwrite_a=1, clean=0)
    if failed == 0:
        _, failed = invert(factor, lower=1, overwrite_c=1)
        _mirror(square)
    return square if failed == 0 else None


def _mirror(matrix: Any) -> None:
    """Copy the upper triangle onto the lower one."""
    for start in range(0, len(matrix), ROWS_AT_ONCE):
        stop = min(start + ROWS_AT_ONCE, len(matrix))
        corner = matrix[start:stop, start:stop]
        corner[:] = np.triu(corner) + np.triu(corner, 1).T
        matrix[stop:, start:stop] = matrix[start:stop, stop:].T
