"""Tables from polars and pandas frames in memory, with the levels of pandas' headers and index."""

from __future__ import annotations

from typing import Any

import polars as pl

from recassay.data.tables.grid import Table
from recassay.data.tables.read import frame_from_memory


def table_from_memory(source: Any) -> Table:
    """A polars or pandas frame as a table; an index that names rows becomes its first columns."""
    if hasattr(source, "reset_index") and hasattr(source, "columns"):
        numbered = type(source.index).__name__ == "RangeIndex" and getattr(source.index, "name", None) is None
        plain = source if numbered else source.reset_index()
        if getattr(plain.columns, "nlevels", 1) > 1:
            series = [pl.Series(str(j), plain.iloc[:, j].tolist(), strict=False) for j in range(plain.shape[1])]
            return Table(tuple(series), tuple(tuple(str(part) for part in name if str(part)) for name in plain.columns))
        renamed = {name: "" for name in plain.columns if str(name) in {"index", "level_0"} and not numbered}
        frame = frame_from_memory(plain)
        return Table(tuple(frame.get_columns()), tuple((str(renamed.get(name, name)),) for name in plain.columns))
    return Table.of(frame_from_memory(source))
