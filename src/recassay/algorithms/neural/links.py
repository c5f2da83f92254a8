"""Sparse products on the device: the links between users and items, times a dense matrix of either side."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

from scipy.sparse import csr_array

from recassay.algorithms.neural.events import Events
from recassay.algorithms.torch_when_used import torch


class Links:
    """A sparse matrix, users x items, with a value for each event; products are differentiable in the dense factor.

    Both orders of the entries are kept, by user and by item, since a gradient passes through the transpose.
    """

    def __init__(self, events: Events) -> None:
        self._users_items = (events.n_users, events.n_items)
        self._by_item = torch.argsort(events.item, stable=True)
        self._first_user, self._item = events.first, events.item
        self._user = events.user[self._by_item]
        self._first_item = torch.nn.functional.pad(events.item.bincount(minlength=events.n_items).cumsum(0), (1, 0))
        self._forth: Any = None
        self._back: Any = None

    def weighted(self, values: Any) -> Links:
        """The same links with these values, one per event in the order of `Events`."""
        made = Links.__new__(Links)
        made.__dict__.update(self.__dict__)
        made._forth = _matrix(self._first_user, self._item, values, self._users_items)
        made._back = _matrix(self._first_item, self._user, values[self._by_item], self._users_items[::-1])
        return made

    def of_items(self, dense: Any) -> Any:
        """For every user, the weighted sum of the rows of `dense` (items x d) of the user's items."""
        return _product().apply(dense, self._forth, self._back)

    def of_users(self, dense: Any) -> Any:
        """For every item, the weighted sum of the rows of `dense` (users x d) of the item's users."""
        return _product().apply(dense, self._back, self._forth)


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


def _matrix(first: Any, column: Any, values: Any, shape: tuple[int, int]) -> Any:
    """A sparse matrix in the form whose product is fastest on the device: scipy's on the host, cuSPARSE's on a GPU."""
    if values.device.type == "cpu":
        return csr_array((values.numpy(), column.numpy(), first.numpy()), shape=shape)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*(beta state|invariant checks).*", UserWarning)
        return torch.sparse_csr_tensor(first, column, values, size=shape, check_invariants=False)


def _times(matrix: Any, dense: Any) -> Any:
    return torch.from_numpy(matrix @ dense.numpy()) if isinstance(matrix, csr_array) else matrix @ dense


@cache
def _product() -> Any:
    """The differentiable product; the class is made when torch is there."""

    class Product(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(context: Any, dense: Any, matrix: Any, transpose: Any) -> Any:
            context.transpose = transpose
            return _times(matrix, dense.detach())

        @staticmethod
        def backward(context: Any, slope: Any) -> Any:
            return _times(context.transpose, slope.contiguous()), None, None

    return Product
