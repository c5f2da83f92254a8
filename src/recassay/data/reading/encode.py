"""Ids of any kind to dense int32 positions in a sorted table of ids."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recassay.core.blocks import count_ids, looked_up
from recassay.core.types import IdArray

_TABLE_ROOM, _LARGEST_TABLE = 1 << 20, 1 << 27


class HashCollision(Exception):
    """Two ids have one hash."""


class IdEncoder:
    """The sorted table of the distinct ids of a column, and the positions of ids in it, piece by piece.

    The table is sorted (numbers by value, text by code point), so it depends on which ids occur and never on
    the order of the rows. An id that is null, empty or blank has no place in the table; its position is -1.

    Text is found by its 64-bit hash (drawn by `seed`) and compared with what was found: two texts of one hash, of which
    `distinct` may have lost one, raise `HashCollision`, and another seed tells them apart.
    """

    def __init__(self, distinct: pl.Series, rows: int, seed: int = 0) -> None:
        self._known = self.table = distinct.drop_nulls().sort()
        if distinct.dtype.is_integer():
            self._numbers = self.table.to_numpy()
            self._places = _places(self._numbers, rows)
            return
        self._seed = seed
        blank = (self.table.str.strip_chars() == "").to_numpy()
        self._without_blank = _renumbering(~blank) if blank.any() else None
        self.table = self.table.filter(~blank) if blank.any() else self.table
        # The hashes in order, and where those with each leading bits begin: about one hash has each of them.
        hashes = self._known.hash(seed).to_numpy()
        self._order = np.argsort(hashes).astype(np.int32)
        self._hashes = hashes[self._order]
        bits = max(len(hashes), 2).bit_length()
        self._shift = np.uint64(64 - bits)
        leading = np.arange(1 << bits, dtype=np.uint64) << self._shift
        self._first = np.searchsorted(self._hashes, leading).astype(np.int32)

    def codes(self, ids: pl.Series) -> IdArray:
        """The position of each id."""
        if self._known.is_empty():
            return np.full(ids.len(), -1, dtype=np.int32)
        missing = ids.is_null().to_numpy() if ids.null_count() else None
        filled = ids if missing is None else ids.fill_null(self._known[0])
        codes = self._of_integers(filled.to_numpy()) if ids.dtype.is_integer() else self._of_text(filled)
        return codes if missing is None else np.where(missing, np.int32(-1), codes)

    def _of_text(self, ids: pl.Series) -> IdArray:
        """Found among all texts, blank ones too: the first hash with these leading bits, then on to the same one."""
        wanted = ids.hash(self._seed).to_numpy()
        place = self._first[wanted >> self._shift]
        last = len(self._hashes) - 1
        other = np.flatnonzero(self._hashes[np.minimum(place, last)] != wanted)
        while len(other):
            place[other] += 1
            if (place[other] > last).any():
                raise HashCollision
            other = other[self._hashes[place[other]] != wanted[other]]
        codes: IdArray = self._order[place]
        if not (self._known.gather(codes) == ids).all():
            raise HashCollision
        return codes if self._without_blank is None else self._without_blank[codes]

    def _of_integers(self, ids: NDArray[Any]) -> IdArray:
        if self._places is None:
            return np.searchsorted(self._numbers, ids).astype(np.int32)
        wide = wide_type(self._numbers.dtype)
        return self._places[ids.astype(wide, copy=False) - wide(self._numbers[0])]


def drop_unused(codes: IdArray, table: pl.Series) -> tuple[IdArray, pl.Series]:
    """The same ids over a table of those that occur; the codes are changed in place."""
    used = count_ids(codes, table.len()) > 0
    return (codes, table) if used.all() else (looked_up(_renumbering(used), codes, out=codes), table.filter(used))


def _places(table: NDArray[Any], rows: int) -> IdArray | None:
    """The position of every number from the smallest to the largest id; None where they would be too many."""
    if not table.size or not near_together(int(table[0]), int(table[-1]), rows):
        return None
    places = np.zeros(int(table[-1]) - int(table[0]) + 1, dtype=np.int32)
    wide = wide_type(table.dtype)
    places[table.astype(wide) - wide(table[0])] = np.arange(table.size, dtype=np.int32)
    return places


def near_together(smallest: int, largest: int, rows: int) -> bool:
    """Whether a table with a place for every number from the smallest to the largest id is worth its memory."""
    return largest - smallest <= min(4 * rows + _TABLE_ROOM, _LARGEST_TABLE)


def wide_type(kind: np.dtype[Any]) -> Any:
    """The type in which differences of such ids are computed."""
    return np.uint64 if kind == np.uint64 else np.int64


def _renumbering(keep: NDArray[np.bool_]) -> IdArray:
    """Old position -> new position, -1 for those not kept; the last entry stands for position -1."""
    places: IdArray = np.append(np.where(keep, np.cumsum(keep) - 1, -1), -1).astype(np.int32)
    return places
