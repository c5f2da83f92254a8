"""What the linear and neighbour algorithms compute on a GPU, with the recommendations that the processor gives.

All products are of float32. Where both factors are zeros and ones the result is exact in any precision that adds up in
float32, and tensor cores may take part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from recassay.algorithms.kernels.device import reproducible, require_gpu_memory, tensor_cores, torch
from recassay.algorithms.kernels.device_lists import TieKeys, gpu_scoring_bytes, torch_recommender
from recassay.algorithms.kernels.fold_in import ProfileRecommender
from recassay.algorithms.kernels.ordered_sums import OrderedSums
from recassay.algorithms.kernels.scoring import ScoreRecommender
from recassay.core.errors import UsageError
from recassay.core.types import Float32Array, IdArray, Recommender

ROWS_AT_ONCE = 4096
"""Users whose profiles are made dense together for a Gram matrix."""

BLOCK_BYTES = 1 << 30
"""What a block of similarities may take on a GPU."""


class Profiles:
    """A sparse matrix on the device, of which rows are made dense when they are needed."""

    def __init__(self, matrix: csr_array, device: str) -> None:
        self.shape = (int(matrix.shape[0]), int(matrix.shape[1]))
        self.first, self.column = (
            torch.from_numpy(a.astype(np.int64)).to(device) for a in (matrix.indptr, matrix.indices)
        )
        self.value = torch.from_numpy(matrix.data.astype(np.float32)).to(device)
        self.device = device

    def dense(self, rows: Any) -> Any:
        """These rows, rows x columns."""
        count = self.first[rows + 1] - self.first[rows]
        row = torch.repeat_interleave(count)
        place = torch.arange(len(row), device=self.device) - (count.cumsum(0) - count)[row] + self.first[rows][row]
        block = torch.zeros(len(rows), self.shape[1], device=self.device)
        block[row, self.column[place]] = self.value[place]
        return block

    def sums(self) -> OrderedSums:
        """All of it, for products with a dense matrix."""
        return OrderedSums(self.first, self.column, self.value)

    def blocks(self, rows_at_once: int) -> Iterator[Any]:
        """All rows, some at a time."""
        yield from torch.arange(self.shape[0], device=self.device).split(max(1, rows_at_once))


def weights_recommender(history: csr_array, weights: Any, *, rng: np.random.Generator, device: str) -> Recommender:
    """Lists by x_u W on the device, W a dense tensor there, or an array for the processor."""

    def lists_of(rows: csr_array, rng: np.random.Generator) -> Recommender:
        if device == "cpu":
            return ScoreRecommender(lambda users: rows[users] @ weights, n_items=rows.shape[1], rng=rng)
        profiles = Profiles(rows, device)
        return torch_recommender(
            lambda users: profiles.dense(users) @ weights, n_items=profiles.shape[1], rng=rng, device=device
        )

    return ProfileRecommender(lists_of, history, rng=rng)


def sparse_recommender(left: csr_array, right: csr_array, *, rng: np.random.Generator, device: str) -> Recommender:
    """Lists by row u of `left` times `right`, both sparse."""
    profiles, transpose = Profiles(left, device), Profiles(right.T.tocsr(), device)
    matrix = transpose.sums()
    return torch_recommender(
        lambda users: (matrix @ profiles.dense(users).T).T, n_items=transpose.shape[0], rng=rng, device=device
    )


def dense_weights_bytes(matrices: int, n_users: int, n_items: int, n_interactions: int) -> int:
    """GPU memory of so many items x items matrices, the history, and a block of scores."""
    return matrices * 4 * n_items**2 + 24 * n_interactions + 8 * n_users + gpu_scoring_bytes(n_items)


def ease_weights_on(square: Callable[[], Any], reg: float, device: str) -> Any:
    """B of EASE on the device; `square` makes the Gram matrix X'X there, which is used up.

    In place: beside the matrix there are its factor and what the solver needs, and the inverse replaces the factor. A
    factorisation that fails in float32 is done again in float64, from another X'X.
    """
    with reproducible(), torch.no_grad():
        inverse = _inverse(square(), reg)
        if inverse is None:
            inverse = _inverse(square().double(), reg)
        if inverse is None:
            raise UsageError(f"X'X + {reg} I cannot be inverted", fix="use a larger reg")
        weights = inverse.div_(-inverse.diagonal().clone()).float()
        weights.fill_diagonal_(0.0)
    return weights


def gram_on(matrix: csr_array, device: str) -> Any:
    """X'X on the device; exact where X holds zeros and ones (every count is far below 2^24)."""
    require_gpu_memory(4 * int(matrix.shape[1]) ** 2, device, "a matrix of items x items")
    with reproducible(), tensor_cores(allowed=bool((matrix.data == 1).all())), torch.no_grad():
        profiles = Profiles(matrix, device)
        total = torch.zeros(profiles.shape[1], profiles.shape[1], device=device)
        for rows in profiles.blocks(ROWS_AT_ONCE):
            block = profiles.dense(rows)
            total.addmm_(block.T, block)
    return total


def _inverse(square: Any, reg: float) -> Any | None:
    """(square + reg I)^-1 by Cholesky's factorisation, None where it is not positive definite; `square` is used up."""
    square.diagonal().add_(reg)
    # The transposed view of a symmetric matrix is in the order of LAPACK, and its factor can take its place.
    failed = torch.zeros((), dtype=torch.int32, device=square.device)
    torch.linalg.cholesky_ex(square.mT, out=(square.mT, failed))
    return None if bool(failed) else torch.cholesky_inverse(square.mT)


def nearest_on(
    weighted: csr_array, squares: Float32Array, k: int, similarity: str, shrink: float, order: IdArray, device: str
) -> tuple[IdArray, Float32Array]:
    """The k most similar other rows of every row (see `similarity.nearest`), ties by the places in `order`."""
    with reproducible(), torch.no_grad():
        profiles, norms = Profiles(weighted, device), torch.from_numpy(squares).to(device)
        everything = profiles.sums()
        ties = TieKeys(order, device)
        lists = []
        for rows in profiles.blocks(BLOCK_BYTES // max(4 * max(profiles.shape), 1)):
            block = (everything @ profiles.dense(rows).T).T
            if similarity == "cosine":
                block = block / (norms[rows].sqrt()[:, None] * norms.sqrt() + shrink).clamp(min=1e-38)
            elif similarity == "jaccard":
                block = block / (norms[rows][:, None] + norms - block + shrink).clamp(min=1e-38)
            block[torch.arange(len(rows), device=device), rows] = -torch.inf
            block = torch.where(block > 0, block, -torch.inf)
            lists.append(ties.top(block, k))
    return np.concatenate([items for items, _ in lists]), np.concatenate([values for _, values in lists])
