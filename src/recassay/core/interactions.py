"""Interactions: who interacted with what, and what several events of one user and item mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recassay.core.arrays import BoolArray, Float32Array, IdArray, IntArray
from recassay.core.blocks import Number

if TYPE_CHECKING:
    from scipy.sparse import csr_array

RuleName: TypeAlias = Literal["last", "first", "sum", "max", "bounded"]


@dataclass(frozen=True, slots=True)
class RepeatRule:
    """What several events of one user and item mean when they are made one.

    `last` and `first` keep the latest and the earliest event (of one time, the one with the larger and the smaller
    weight). `sum` and `max` give the sum and the largest of the weights, with the time of the latest event; without
    weights `sum` counts the events. `bounded` is for event types whose weights are `levels`, ascending (KDD'24,
    appendix A.1, see `recassay.data.reading.events`): the pair has the greatest level that occurs, with the sum of its
    weights, kept strictly below the next level, and the time of its latest event.
    """

    name: RuleName = "last"
    levels: tuple[float, ...] = ()

    def bounds(self) -> NDArray[np.float32]:
        """For each level, the largest weight below the next one; infinity for the greatest."""
        above = np.append(np.asarray(self.levels[1:], dtype=np.float32), np.float32(np.inf))
        finite = np.isfinite(above)
        above[finite] = np.nextafter(above[finite], np.float32(0))
        return above

    def level_of(self, weight: Float32Array) -> IntArray:
        """The position of the level that each weight belongs to."""
        return np.searchsorted(np.asarray(self.levels, dtype=np.float32), weight, side="right") - 1


LAST = RepeatRule()


@dataclass(frozen=True, slots=True, eq=False)
class Interactions:
    """Who interacted with what: one row per event, ids dense.

    `user[i]` and `item[i]` are int32 positions in `users` and `items`, which hold the ids of the user's own file.
    `weight` is a rating or a strength (None: implicit), `time` int64 (None: unknown). A part of a dataset (a training
    set, a test set) keeps the id tables of the whole, so that positions mean the same everywhere. A pair of user and
    item may occur several times; `repeated` says what that means when a part of a split makes them one.
    """

    user: IdArray
    item: IdArray
    users: pl.Series
    items: pl.Series
    weight: Float32Array | None = None
    time: IntArray | None = None
    repeated: RepeatRule = LAST

    def __post_init__(self) -> None:
        for name in ("item", "weight", "time"):
            column = getattr(self, name)
            if column is not None and len(column) != len(self.user):
                raise ValueError(f"{name} has {len(column)} rows and user has {len(self.user)}")
        if self.time is not None and self.time.dtype != np.int64:
            raise ValueError(f"time is {self.time.dtype}; it must be int64 (float32 loses seconds)")
        for name in ("user", "item"):
            if getattr(self, name).dtype != np.int32:
                raise ValueError(f"{name} is {getattr(self, name).dtype}; it must be int32")

    def __len__(self) -> int:
        return len(self.user)

    @property
    def n_users(self) -> int:
        """The size of the user id table (not only of those with rows here)."""
        return self.users.len()

    @property
    def n_items(self) -> int:
        """The size of the item id table (not only of those with rows here)."""
        return self.items.len()

    def take(self, rows: IntArray | BoolArray | slice) -> Interactions:
        """The events at `rows` (positions or a mask; of a slice a view), over the same id tables."""
        return self._with_columns(lambda column: column[rows])

    def read_only(self) -> Interactions:
        """The same events (no copy), for somebody who may not change them: writing into a column raises."""
        view = self._with_columns(_read_only)
        return replace(view, users=self.users.clone(), items=self.items.clone())

    def _with_columns(self, change: Callable[[NDArray[Any]], NDArray[Any]]) -> Interactions:
        """The same with every column of events changed."""
        return replace(
            self,
            user=change(self.user),
            item=change(self.item),
            weight=None if self.weight is None else change(self.weight),
            time=None if self.time is None else change(self.time),
        )

    def csr(self, *, binary: bool = True) -> csr_array:
        """Users x items, float32, sorted indices; ones where `binary`, else the summed weights."""
        from scipy.sparse import csr_array

        data = (
            np.ones(len(self), dtype=np.float32)
            if binary or self.weight is None
            else self.weight.astype(np.float32, copy=False)
        )
        matrix = csr_array((data, (self.user, self.item)), shape=(self.n_users, self.n_items))
        matrix.sum_duplicates()
        if binary:
            matrix.data[:] = 1.0
        return matrix


def read_only_matrix(matrix: csr_array) -> csr_array:
    """The same matrix (no copy), for somebody who may not change it: writing into it raises."""
    from scipy.sparse import csr_array

    view = csr_array((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape, copy=False)
    for name in ("data", "indices", "indptr"):
        setattr(view, name, _read_only(getattr(view, name)))
    return view


def _read_only(column: NDArray[Number]) -> NDArray[Number]:
    view = column.view()
    view.flags.writeable = False
    return view


def joined(parts: Sequence[Interactions]) -> Interactions:
    """The events of several parts over the same id tables as one; weights and times where every part has them."""
    first = parts[0]
    if len(parts) == 1:
        return first
    weights = [part.weight for part in parts if part.weight is not None]
    times = [part.time for part in parts if part.time is not None]
    return replace(
        first,
        user=np.concatenate([part.user for part in parts]),
        item=np.concatenate([part.item for part in parts]),
        weight=np.concatenate(weights) if len(weights) == len(parts) else None,
        time=np.concatenate(times) if len(times) == len(parts) else None,
    )
