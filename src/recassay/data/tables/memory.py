"""Tables from data frames in memory: polars, pandas with its levels and index, and every library narwhals knows."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl

from recassay.core.errors import UsageError
from recassay.core.tables.sources import Source
from recassay.data.tables.form import Level, Table
from recassay.data.tables.read import read_table


def frame_from_memory(table: Any) -> pl.DataFrame:
    """A polars frame from a frame of any library; the named index of a pandas frame becomes a column."""
    if isinstance(table, pl.DataFrame):
        return table
    if isinstance(table, pl.LazyFrame):
        return table.collect()
    if hasattr(table, "reset_index") and hasattr(table, "columns"):  # asked in this order, no lazy frame is resolved
        if getattr(table.index, "name", None) is not None:
            table = table.reset_index()
        return pl.DataFrame({str(name): table[name].tolist() for name in table.columns}, strict=False)
    import narwhals as nw

    native = nw.from_native(table, pass_through=True)
    if isinstance(native, nw.LazyFrame):
        native = native.collect()
    if isinstance(native, nw.DataFrame):
        return native.to_polars()
    raise UsageError(f"cannot read results from {type(table).__name__}", fix="give a path or a data frame")


def read_source(source: Any, where: str, *, empty_fix: str) -> tuple[pl.DataFrame, str, tuple[Source, ...]]:
    """The table at a path, or a frame of any library; what messages call it (a frame: `where`), and its file."""
    if isinstance(source, (str, PathLike)):
        frame, origin = read_table(Path(source), empty_fix=empty_fix)
        return frame, origin.file, (origin,)
    return frame_from_memory(source), where, ()


def table_from_memory(source: Any) -> Table:
    """A frame as a table; an index of pandas that names rows becomes its first columns, and levels keep their words."""
    if not (hasattr(source, "reset_index") and hasattr(source, "columns")):
        return replace(Table.of(frame_from_memory(source)), verbatim=True)
    numbered = type(source.index).__name__ == "RangeIndex" and getattr(source.index, "name", None) is None
    plain = source if numbered else source.reset_index()
    words = [str(word or "") for word in source.columns.names]
    names = [name if isinstance(name, tuple) else (name,) for name in source.columns]
    levels = tuple(
        Level(word, frozenset(str(name[at]) for name in names if str(name[at]))) for at, word in enumerate(words)
    )
    if len(words) > 1:
        series = [pl.Series(str(j), plain.iloc[:, j].tolist(), strict=False) for j in range(plain.shape[1])]
        headers = tuple(tuple(str(part) for part in name if str(part)) for name in plain.columns)
        return Table(tuple(series), headers, levels=levels, index_named=True, verbatim=True)
    renamed = {name: "" for name in plain.columns if str(name) in {"index", "level_0", "level_1"} and not numbered}
    frame = frame_from_memory(plain)
    headers = tuple((str(renamed.get(name, name)),) for name in plain.columns)
    return Table(tuple(frame.get_columns()), headers, levels=levels, index_named=True, verbatim=True)
