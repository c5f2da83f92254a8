"""One row per pair of algorithms, kept as columns: half a million pairs fit, and an object is made when asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar, overload

import numpy as np

from recassay.core.blocks import number_blocks
from recassay.core.types import FloatArray, IntArray

Row = TypeVar("Row")

BLOCK = 4_000_000
"""Differences (pairs x datasets) that are held at once."""


def blocks(count: int, width: int) -> Iterator[slice]:
    """Slices of `count` rows of `width` numbers, as many rows at once as memory should hold."""
    return number_blocks(count, width, BLOCK)


def count_wins(ranks: FloatArray) -> IntArray:
    """Algorithms x algorithms: on how many datasets the row has the better rank."""
    wins = np.zeros((len(ranks), len(ranks)), dtype=np.int64)
    for column in ranks.T:
        wins += column[:, None] < column
    return wins


class PairRows(Sequence[Row], Generic[Row]):
    """Pairs of the places `first` < `second`; `columns` has the fields of `build` in their order.

    A column is an array, or a function of places in it where its values are made on demand.
    """

    def __init__(
        self, build: Callable[..., Row], first: IntArray, second: IntArray, columns: Mapping[str, Any]
    ) -> None:
        self.build, self.first, self.second, self.columns = build, first, second, dict(columns)

    def __len__(self) -> int:
        return len(self.first)

    def values(self, name: str) -> list[Any]:
        """One column, as Python values."""
        column = self.columns[name]
        made: list[Any] = column(np.arange(len(self))) if callable(column) else column.tolist()
        return made

    def take(self, places: IntArray) -> list[Row]:
        """The rows at these places."""
        columns = (column(places) if callable(column) else column[places].tolist() for column in self.columns.values())
        return [self.build(*row) for row in zip(*columns, strict=True)]

    @overload
    def __getitem__(self, at: int) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> list[Row]: ...
    def __getitem__(self, at: int | slice) -> Row | list[Row]:
        places = np.arange(len(self))[at]
        return self.take(places) if isinstance(at, slice) else self.take(np.array([places]))[0]

    def __iter__(self) -> Iterator[Row]:
        for start in range(0, len(self), 10_000):
            yield from self[start : start + 10_000]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]
