"""Histories: what was done, in order, by users that training may know or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from recassay.core.arrays import IdArray, IntArray
from recassay.core.interactions import Interactions
from recassay.core.types import TopK

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, slots=True, eq=False)
class Histories:
    """Several histories, one after the other: history h is `items[starts[h] : starts[h + 1]]`, the oldest event first.

    Items are positions in the item table, and may repeat within a history. A history may be empty. `time` has the
    stamp of each event, where the data have stamps.
    """

    items: IdArray
    starts: IntArray
    time: IntArray | None = None

    def __post_init__(self) -> None:
        if len(self.starts) < 1 or self.starts[0] != 0 or self.starts[-1] != len(self.items):
            raise ValueError(f"starts must go from 0 to the {len(self.items)} events")
        if self.time is not None and len(self.time) != len(self.items):
            raise ValueError(f"time has {len(self.time)} rows and items has {len(self.items)}")

    def __len__(self) -> int:
        return len(self.starts) - 1

    def lengths(self) -> IntArray:
        """The number of events of each history."""
        return np.diff(self.starts)

    @classmethod
    def of(cls, events: Interactions, users: IdArray) -> Histories:
        """The events of each of `users` by time; equal stamps, and events without stamps, keep their order."""
        order = np.lexsort((events.user,) if events.time is None else (events.time, events.user))
        starts = np.searchsorted(events.user[order], np.arange(events.n_users + 1))
        first, lengths = starts[users], np.diff(starts)[users]
        ends = np.cumsum(lengths)
        rows = order[np.repeat(first - (ends - lengths), lengths) + np.arange(lengths.sum())]
        return cls(
            items=events.item[rows],
            starts=np.concatenate([[0], ends]).astype(np.int64),
            time=None if events.time is None else events.time[rows],
        )

    def last(self, length: int) -> Histories:
        """The newest `length` events of each history."""
        kept = np.minimum(self.lengths(), length)
        ends = np.cumsum(kept)
        rows = np.repeat(self.starts[1:] - ends, kept) + np.arange(kept.sum())
        time = None if self.time is None else self.time[rows]
        return Histories(self.items[rows], np.concatenate([[0], ends]).astype(np.int64), time)

    def csr(self, n_items: int) -> csr_array:
        """Histories x items, float32 ones where an item occurs."""
        from scipy.sparse import csr_array

        ones = np.ones(len(self.items), dtype=np.float32)
        # Copies: making one of repeated items sorts and moves them where they lie.
        matrix = csr_array((ones, self.items.copy(), self.starts.copy()), shape=(len(self), n_items))
        matrix.sum_duplicates()
        matrix.data[:] = 1.0
        return matrix


@runtime_checkable
class FoldsIn(Protocol):
    """A recommender that may be asked with histories instead of users, also of users that training has not seen."""

    def recommend_from(self, histories: Histories, k: int, *, exclude: csr_array | None) -> TopK:
        """The k best items after each history; `users` of the answer are 0, 1, ..., `exclude` has a row per history."""
