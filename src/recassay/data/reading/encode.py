"""Ids of any kind to dense int32 positions in a sorted table of ids."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recassay.core.types import IdArray

_TABLE_ROOM = 1 << 20


def encode_ids(ids: pl.Series) -> tuple[IdArray, pl.Series]:
    """Positions of `ids` in the sorted table of their distinct values, and that table (of the ids' own type).

    The table is sorted (numbers by value, text by code point), so it depends on which ids occur and never on
    the order of the rows. An id that is null, empty or blank has no place in the table; its position is -1.
    """
    table = ids.unique().drop_nulls().sort()
    if ids.dtype.is_integer():
        return _encode_integers(ids, table), table
    codes = ids.cast(pl.Enum(table)).to_physical().cast(pl.Int32).fill_null(-1).to_numpy(writable=True)
    blank = (table.str.strip_chars() == "").to_numpy()
    if blank.any():
        return _renumbered(codes, ~blank), table.filter(~blank)
    return codes, table


def drop_unused(codes: IdArray, table: pl.Series) -> tuple[IdArray, pl.Series]:
    """The same ids over a table of those that occur."""
    used = np.bincount(codes, minlength=table.len()) > 0
    return (codes, table) if used.all() else (_renumbered(codes, used), table.filter(used))


def _encode_integers(ids: pl.Series, table: pl.Series) -> IdArray:
    if table.is_empty():
        return np.full(ids.len(), -1, dtype=np.int32)
    if ids.null_count():
        codes = _lookup(ids.fill_null(table[0]).to_numpy(), table.to_numpy())
        return np.where(ids.is_null().to_numpy(), np.int32(-1), codes)
    return _lookup(ids.to_numpy(), table.to_numpy())


def _lookup(ids: NDArray[Any], table: NDArray[Any]) -> IdArray:
    if int(table[-1]) - int(table[0]) > 4 * ids.size + _TABLE_ROOM:
        return np.searchsorted(table, ids).astype(np.int32)
    positions = np.zeros(int(table[-1]) - int(table[0]) + 1, dtype=np.int32)
    wide = np.uint64 if table.dtype == np.uint64 else np.int64
    positions[table.astype(wide) - wide(table[0])] = np.arange(table.size, dtype=np.int32)
    codes: IdArray = positions[ids.astype(wide, copy=False) - wide(table[0])]
    return codes


def _renumbered(codes: IdArray, keep: NDArray[np.bool_]) -> IdArray:
    places = np.where(keep, np.cumsum(keep) - 1, -1).astype(np.int32)
    renumbered: IdArray = np.append(places, np.int32(-1))[codes]
    return renumbered
