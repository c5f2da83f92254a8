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
    the order of the rows.
    """
    table = ids.unique().sort()
    if ids.dtype.is_integer():
        return _encode_integers(ids.to_numpy(), table.to_numpy()), table
    codes = ids.cast(pl.Enum(table)).to_physical().cast(pl.Int32)
    return codes.to_numpy(), table


def _encode_integers(ids: NDArray[Any], table: NDArray[Any]) -> IdArray:
    if table.size == 0:
        return np.empty(0, dtype=np.int32)
    low, high = int(table[0]), int(table[-1])
    if high - low <= 4 * ids.size + _TABLE_ROOM:
        positions = np.zeros(high - low + 1, dtype=np.int32)
        positions[table - table[0]] = np.arange(table.size, dtype=np.int32)
        codes: IdArray = positions[ids - table[0]]
        return codes
    return np.searchsorted(table, ids).astype(np.int32)
