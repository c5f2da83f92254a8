"""Tables from data frames in memory: polars, pandas with its levels and index, and every library narwhals knows."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import polars as pl

from recassay.core.errors import UsageError
from recassay.data.tables.grid import Table


def frame_from_memory(table: Any) -> pl.DataFrame:
    """A polars frame from a frame of any library; the named index of a pandas frame becomes a column."""
    if isinstance(table, pl.DataFrame):
        return table
    if isinstance(table, pl.LazyFrame):
        return table.collect()
    if hasattr(table, "columns") and hasattr(table, "reset_index"):
        if getattr(table.index, "name", None) is not None:
            table = table.reset_index()
        return pl.DataFrame({str(name): table[name].tolist() for name in table.columns}, strict=False)
    native = nw.from_native(table, pass_through=True)
    if isinstance(native, nw.LazyFrame):
        native = native.collect()
    if isinstance(native, nw.DataFrame):
        return native.to_polars()
    raise UsageError(f"cannot read results from {type(table).__name__}", fix="give a path or a data frame")


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
