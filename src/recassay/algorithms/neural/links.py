"""Sparse products on the device: the links between users and items, times a dense matrix of either side.

On a GPU the sums are taken in a fixed order, which the sparse products of cuSPARSE do not promise (and do not keep):
by the rows of an embedding bag, or, where many pairs are linked, by a dense matrix with its zeros.
"""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

from scipy.sparse import csr_array

from recassay.algorithms.kernels.device import torch
from recassay.algorithms.kernels.ordered_sums import OrderedSums
from recassay.algorithms.neural.events import Events
from recassay.algorithms.neural.network import summed_rows

DENSE_SHARE = 0.005
"""Share of all pairs that are linked from which on a GPU multiplies zeros and all faster than it looks links up."""

DENSE_BYTES = 512 << 20
"""What one matrix of links may take in that form."""


class Links:
    """A sparse matrix, users x items, with a value for each event; products are differentiable in the dense factor.

    Both orders of the entries are kept, by user and by item, since a gradient passes through the transpose.
    """

    def __init__(self, events: Events) -> None:
        self._users_items = (events.n_users, events.n_items)
        self._by_item = torch.argsort(events.item, stable=True)
        self._first_user, self._item, self._user_of_event = events.first, events.item, events.user
        self._user = events.user[self._by_item]
        self._first_item = torch.nn.functional.pad(events.item.bincount(minlength=events.n_items).cumsum(0), (1, 0))
        self._forth: Any = None
        self._back: Any = None

    def weighted(self, values: Any) -> Links:
        """The same links with these values, one per event in the order of `Events`."""
        made = copy.copy(self)
        if values.device.type == "cpu":
            made._forth = _Host(self._first_user, self._item, self._users_items)
            made._back = _Host(self._first_item, self._user, self._users_items[::-1])
        elif dense_bytes(*self._users_items, len(values)):
            made._forth = torch.zeros(self._users_items, device=values.device)
            made._back = made._forth.T
        else:
            made._forth = OrderedSums(self._first_user, self._item, torch.empty_like(values))
            made._back = OrderedSums(self._first_item, self._user, torch.empty_like(values))
        made.put(values)
        return made

    def put(self, values: Any) -> None:
        """Take these values in place of the ones so far, in the same memory."""
        if isinstance(self._forth, (_Host, OrderedSums)):
            self._forth.put(values)
            self._back.put(values[self._by_item])
        else:
            self._forth[self._user_of_event, self._item] = values

    def of_items(self, dense: Any) -> Any:
        """For every user, the weighted sum of the rows of `dense` (items x d) of the user's items."""
        return _product().apply(dense, self._forth, self._back)

    def of_users(self, dense: Any) -> Any:
        """For every item, the weighted sum of the rows of `dense` (users x d) of the item's users."""
        return _product().apply(dense, self._back, self._forth)

    def at_users(self, users: Any, dense: Any) -> Any:
        """`of_items(dense)`, for these users alone."""
        return _product_at().apply(dense, users, self._forth, self._back, self._users_items[0])

    def smoothed(self, users: Any, items: Any, layers: int) -> tuple[Any, Any]:
        """The mean of layers 0 to `layers`: layer 0 is (users, items), and each product of the one before."""
        mean: tuple[Any, Any] = _smoothing().apply(users, items, self, layers)
        return mean

    def mean_of_layers(self, users: Any, items: Any, layers: int) -> tuple[Any, Any]:
        """As `smoothed`, of numbers without slopes: x + S (x + S (x + ...)), divided by how many layers there are."""
        of_users, of_items = users, items
        for _ in range(layers):
            of_users, of_items = _plus(users, self._forth, of_items), _plus(items, self._back, of_users)
        return of_users / (layers + 1), of_items / (layers + 1)


def _plus(start: Any, matrix: Any, dense: Any) -> Any:
    if isinstance(matrix, OrderedSums):
        return matrix.plus(start, dense)
    return torch.addmm(start, matrix, dense) if isinstance(matrix, torch.Tensor) else start + matrix @ dense


class _Host:
    """A sparse matrix of scipy, whose products are faster than torch's on the host."""

    def __init__(self, first: Any, column: Any, shape: tuple[int, int]) -> None:
        self._structure, self._shape, self._matrix = (column.numpy(), first.numpy()), shape, csr_array(shape)

    def put(self, values: Any) -> None:
        self._matrix = csr_array((values.numpy(), *self._structure), shape=self._shape)

    def __matmul__(self, dense: Any) -> Any:
        return torch.from_numpy(self._matrix @ dense.numpy())

    def at(self, rows: Any, dense: Any) -> Any:
        return torch.from_numpy(self._matrix[rows.numpy()] @ dense.numpy())


def dense_bytes(n_users: int, n_items: int, n_links: int) -> int:
    """What a matrix of links takes on a GPU as a dense one; 0 where it is kept sparse there."""
    pairs = n_users * n_items
    return 4 * pairs if n_links >= DENSE_SHARE * pairs and 4 * pairs <= DENSE_BYTES else 0


def degrees(events: Events, kept: Any | None = None) -> tuple[Any, Any]:
    """How many events every user and every item has, of those that are `kept` (a mask), as float32."""
    if kept is None:
        return events.count.float(), events.item.bincount(minlength=events.n_items).float()
    before = torch.nn.functional.pad(kept.long().cumsum(0), (1, 0))
    items = torch.where(kept, events.item, events.n_items).bincount(minlength=events.n_items + 1)
    return before[events.first].diff().float(), items[: events.n_items].float()


def balanced(events: Events, kept: Any | None = None) -> Any:
    """1 / sqrt(|N_u| |N_i|) for every event (u, i): the symmetric normalisation; 0 for one that is not `kept`."""
    users, items = degrees(events, kept)
    values = torch.rsqrt(users.clamp(min=1))[events.user] * torch.rsqrt(items.clamp(min=1))[events.item]
    return values if kept is None else values * kept


@cache
def _product() -> Any:
    """The differentiable product; the class is made when torch is there."""

    class Product(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(context: Any, dense: Any, matrix: Any, transpose: Any) -> Any:
            context.transpose = transpose
            return matrix @ dense.detach()

        @staticmethod
        def backward(context: Any, slope: Any) -> Any:
            return context.transpose @ slope.contiguous(), None, None

    return Product


@cache
def _product_at() -> Any:
    """The differentiable product at some rows; the class is made when torch is there."""

    class ProductAt(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(context: Any, dense: Any, chosen: Any, matrix: Any, transpose: Any, n: int) -> Any:
            context.chosen, context.transpose, context.n = chosen, transpose, n
            dense = dense.detach()
            return matrix[chosen] @ dense if isinstance(matrix, torch.Tensor) else matrix.at(chosen, dense)

        @staticmethod
        def backward(context: Any, slope: Any) -> Any:
            of_users = summed_rows(context.chosen, slope.contiguous(), context.n)
            return context.transpose @ of_users, None, None, None, None

    return ProductAt


@cache
def _smoothing() -> Any:
    """The differentiable mean of layers; the class is made when torch is there.

    Links are symmetric: the slope of layer 0 is the mean of as many layers that begin with the slope of the mean.
    """

    class Smoothing(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(context: Any, users: Any, items: Any, links: Links, layers: int) -> Any:
            context.links, context.layers = links, layers
            return links.mean_of_layers(users.detach(), items.detach(), layers)

        @staticmethod
        def backward(context: Any, users: Any, items: Any) -> Any:
            slopes = context.links.mean_of_layers(users.contiguous(), items.contiguous(), context.layers)
            return *slopes, None, None

    return Smoothing
