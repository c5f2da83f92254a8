"""Least squares of many rows on a GPU: the conjugate gradients of `als.solve`, on blocks of rows in step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from recassay.algorithms.kernels.device import WORKSPACE_BYTES, reproducible, tensor_cores, torch
from recassay.algorithms.kernels.device_lists import torch_recommender
from recassay.algorithms.kernels.fold_in import ProfileRecommender
from recassay.algorithms.kernels.positives import Positives
from recassay.core.types import Float32Array, IntArray, Recommender

BLOCK_BYTES = 1 << 30
"""What the factors of the events of a block may take; a single row may take more: at most one side's factors."""

MOST_ROWS = 1 << 14
"""The most rows of a block: a GPU counts the matrices of one batched product up to 65,535."""

SMALLEST = 1e-20
"""A row whose squared residual is below this is solved."""


class DeviceRows:
    """The events of all rows on a device, with the regularisation of each row.

    The rows stand in rising order of their numbers of events. A block has rows of similar length, the shorter ones
    filled up to the longest, so that few filled places are computed.
    """

    def __init__(self, rows: Positives, reg: Float32Array, device: str) -> None:
        lengths = np.diff(rows.first)
        order = np.argsort(lengths, kind="stable")
        self.lengths: IntArray = lengths[order]
        self._items = torch.from_numpy(rows.items.astype(np.int64)).to(device)
        self._order, self._place, self._first, self._count = (
            torch.from_numpy(a).to(device) for a in (order, np.argsort(order), rows.first[order], self.lengths)
        )
        self._reg = torch.from_numpy(reg[order]).to(device)[:, None]

    def blocks(self, factors: int) -> Iterator[slice]:
        """The rows that have events, in blocks: a row has at most twice as many as the first one of its block."""
        start = int(np.searchsorted(self.lengths, 1))
        while start < len(self.lengths):
            longest = 2 * int(self.lengths[start])
            fitting = BLOCK_BYTES // row_bytes(longest, factors)
            stop = min(int(np.searchsorted(self.lengths, longest, side="right")), start + max(1, fitting))
            stop = min(stop, start + MOST_ROWS)
            yield slice(start, stop)
            start = stop

    def solve(self, fixed: Any, solved: Any, alpha: float, steps: int) -> Any:
        """The rows of `solved` after so many steps towards least squares given `fixed`; see `als.solve`."""
        with reproducible(), tensor_cores(allowed=False), torch.no_grad():
            ordered = solved[self._order]
            ordered[: int(np.searchsorted(self.lengths, 1))] = 0.0
            gram = fixed.T @ fixed
            for rows in self.blocks(fixed.shape[1]):
                ordered[rows] = self._steps(rows, fixed, gram, ordered[rows], alpha, steps)
            return ordered[self._place]

    def _steps(self, rows: slice, fixed: Any, gram: Any, solution: Any, alpha: float, steps: int) -> Any:
        count, reg = self._count[rows, None], self._reg[rows]
        filled = torch.arange(int(self.lengths[rows.stop - 1]), device=fixed.device)
        within = filled < count
        events = self._items[(self._first[rows, None] + filled).clamp_(max=len(self._items) - 1)]
        near = fixed.index_select(0, events.view(-1)).view(*events.shape, -1)

        def of_events(along: Any, slope: float, level: float) -> Any:
            """Per row, the sum of (slope * (y . along) + level) y over the factors y of its events."""
            weights = (slope * torch.bmm(near, along[:, :, None])[:, :, 0] + level) * within
            return torch.bmm(weights[:, None, :], near)[:, 0]

        left = of_events(solution, 1.0 - alpha, alpha) - solution @ gram - reg * solution
        along, norm = left, left.square().sum(1)
        for _ in range(steps):
            image = along @ gram + reg * along + of_events(along, alpha - 1.0, 0.0)
            curvature, going = (along * image).sum(1), norm >= SMALLEST
            length = torch.where(going & (curvature > 0), norm / curvature, 0.0)[:, None]
            solution, left = solution + length * along, left - length * image
            remaining = left.square().sum(1)
            along = left + torch.where(going, remaining / norm, 0.0)[:, None] * along
            norm = torch.where(going, remaining, 0.0)
        return solution


class DeviceFactors(ProfileRecommender):
    """Lists by factors on a device, where `solved` gives the factors of users who have some items."""

    def __init__(
        self,
        users: Any,
        items: Any,
        *,
        rng: np.random.Generator,
        iterations: int,
        solved: Callable[[Positives], Any],
        device: str,
    ) -> None:
        def lists(users: Any, rng: np.random.Generator) -> Recommender:
            return torch_recommender(lambda places: users[places] @ items.T, n_items=len(items), rng=rng, device=device)

        super().__init__(
            lambda rows, rng: lists(solved(Positives.of_matrix(rows)), rng),
            csr_array((0, len(items))),
            rng=rng,
            known=lists(users, rng),
        )
        self.iterations = iterations


def row_bytes(events: int, factors: int) -> int:
    """What a row with so many events takes of a block: their factors, places and weights, and its own vectors."""
    return events * (4 * factors + 40) + 10 * 4 * factors


def least_squares_bytes(factors: int, n_users: int, n_items: int, n_interactions: int) -> int:
    """GPU memory of both sides' events and factors (training, two models, a side in the making) and of a block."""
    larger = max(n_users, n_items)
    sides = (3 * 4 * factors + 40) * (n_users + n_items) + 2 * 4 * factors * larger + 16 * n_interactions
    # Rows are filled up to twice their events at most.
    whole = larger * row_bytes(0, factors) + row_bytes(2 * n_interactions, factors)
    block = max(min(BLOCK_BYTES, whole), row_bytes(min(larger, n_interactions), factors))
    return sides + block + 2 * 4 * factors**2 + WORKSPACE_BYTES
