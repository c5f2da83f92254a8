"""The training pairs on the device: batches without a Python loop over rows, and negatives that never are positives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from recassay.algorithms.kernels.device import torch
from recassay.algorithms.neural.chance import Chance

DENSE_BYTES = 1536 << 20
"""What all profiles may take on a GPU as bytes of ones and zeros, to be looked up instead of made."""


class Events:
    """Which user has which item: event e is (`user[e]`, `item[e]`), sorted by user and item, each pair once.

    The events of user u are `first[u]` to `first[u + 1]`. `active` are the users with at least one event; `pairs` are
    the events of users who lack at least one item, the only ones that can be set against a negative.
    """

    def __init__(self, matrix: csr_array, chance: Chance) -> None:
        self.n_users, self.n_items = (int(n) for n in matrix.shape)
        self.chance, self.device = chance, chance.device
        self.first = self._put(matrix.indptr)
        self.item = self._put(matrix.indices)
        self.count = self.first.diff()
        self.user = torch.repeat_interleave(self.count)
        self.active = torch.nonzero(self.count).flatten()
        self.pairs = torch.nonzero((self.count < self.n_items)[self.user]).flatten()
        # Item minus place: how many items that the user lacks come before it. Rising over all events.
        place = torch.arange(len(self.item), device=self.device) - self.first[self.user]
        self._pairs = self.user * self.n_items + self.item
        self._lacked_before = self._pairs - place
        self._held: Any = None
        if self.device == "cuda" and held_bytes(self.n_users, self.n_items):
            self._held = torch.zeros(self.n_users, self.n_items, dtype=torch.bool, device=self.device)
            self._held[self.user, self.item] = True

    def _put(self, array: Any) -> Any:
        return torch.from_numpy(array.astype(np.int64)).to(self.device)

    def __len__(self) -> int:
        return len(self.item)

    def batches(self, among: Any, size: int) -> Iterator[Any]:
        """The entries of `among` in a random order, `size` at a time (the last batch may be smaller)."""
        yield from among[self.chance.permutation(len(among))].split(size)

    def negatives(self, users: Any, n: int) -> Any:
        """For each of `users`, n items that the user lacks, drawn evenly and independently (users x n).

        The r-th lacked item of a user (from 0) is r plus the number of the user's items with at most r lacked items
        before them, which one binary search finds: no draw is ever rejected. A user who has every item must not be
        asked for.
        """
        lacked = (self.n_items - self.count[users])[:, None].expand(-1, n)
        rank = self.chance.below(lacked)
        held = torch.searchsorted(self._lacked_before, users[:, None] * self.n_items + rank, right=True)
        return rank + held - self.first[users][:, None]

    def shares(self, power: float) -> Any:
        """The cumulative shares of the items in (their events)^`power`; added up on the host, in a fixed order."""
        weight = self.item.bincount(minlength=self.n_items).cpu().numpy().astype(np.float64) ** power
        return torch.tensor(weight.cumsum() / max(weight.sum(), 1e-300), dtype=torch.float32, device=self.device)

    def common_negatives(self, users: Any, n: int, shares: Any) -> Any:
        """As `negatives`, but drawn by `shares`; one that the user has is drawn again, evenly among those lacked."""
        drawn = torch.searchsorted(shares, self.chance.uniform(len(users), n)).clamp(max=self.n_items - 1)
        return torch.where(self._are_events(users, drawn), self.negatives(users, n), drawn)

    def some_items(self, n: int) -> Any:
        """n items of the catalogue, drawn evenly and independently; all of them where there are no more."""
        if n >= self.n_items:
            return torch.arange(self.n_items, device=self.device)
        return self.chance.below(torch.full((n,), self.n_items, device=self.device))

    def holds(self, users: Any, items: Any) -> Any:
        """Which of `users` has which of `items` (users x items, bool)."""
        if self._held is not None:
            return self._held[users[:, None], items]
        return self._are_events(users, items.expand(len(users), -1))

    def _are_events(self, users: Any, items: Any) -> Any:
        """Whether each of `users` has the items in the user's row of `items`."""
        wanted = users[:, None] * self.n_items + items
        near = torch.searchsorted(self._pairs, wanted).clamp(max=len(self._pairs) - 1)
        return self._pairs[near] == wanted

    def of(self, users: Any) -> tuple[Any, Any]:
        """(row, event): all events of `users`, each with the place of its user among them."""
        count = self.count[users]
        row = torch.repeat_interleave(count)
        start = count.cumsum(0) - count
        return row, torch.arange(len(row), device=self.device) - start[row] + self.first[users][row]

    def profiles(self, users: Any) -> Any:
        """Rows of ones and zeros, users x items, float32."""
        if self._held is not None:
            return self._held[users].float()
        row, event = self.of(users)
        dense = torch.zeros(len(users), self.n_items, device=self.device)
        dense[row, self.item[event]] = 1.0
        return dense

    def transposed(self) -> Events:
        """The same events with users and items exchanged."""
        return Events(self.host().T.tocsr(), self.chance)

    def host(self) -> csr_array:
        """The events as a sparse matrix of ones, users x items."""
        parts = (np.ones(len(self), dtype=np.float32), self.item.cpu().numpy(), self.first.cpu().numpy())
        return csr_array(parts, shape=(self.n_users, self.n_items))


def held_bytes(n_users: int, n_items: int) -> int:
    """What all profiles take on a GPU; 0 where there are too many to keep."""
    return n_users * n_items if n_users * n_items <= DENSE_BYTES else 0
