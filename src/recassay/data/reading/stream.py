"""A source piece by piece: small ones in memory, large ones from the file or from a copy on disk."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from recassay.core import blocks


@contextlib.contextmanager
def stored_rows(frame: pl.LazyFrame, rows: int, *, seekable: bool) -> Iterator[pl.LazyFrame]:
    """The rows of `frame` where any of them can be had without reading those before it.

    One block of rows is taken into memory. More are left where they lie if that is `seekable` (a Parquet file, a frame
    in memory), and else written to a Parquet file in the folder for temporary files, which is removed in the end.
    """
    if rows <= blocks.ROWS:
        yield frame.collect(engine="streaming").lazy()
    elif seekable:
        yield frame
    else:
        with tempfile.TemporaryDirectory(prefix="recassay-", ignore_cleanup_errors=True) as scratch:
            frame.sink_parquet(Path(scratch) / "rows.parquet", compression="lz4", engine="streaming")
            yield pl.scan_parquet(Path(scratch) / "rows.parquet", glob=False)


def pieces(frame: pl.LazyFrame, rows: int) -> Iterator[tuple[slice, pl.DataFrame]]:
    """Successive rows, `blocks.ROWS` at a time."""
    for block in blocks.row_blocks(rows):
        yield block, frame.slice(block.start, block.stop - block.start).collect(engine="streaming")


def distinct(frame: pl.LazyFrame, column: str) -> pl.Series:
    """The different values of a column, in no order, nulls among them; held are these alone."""
    return frame.select(pl.col(column).unique()).collect(engine="streaming").to_series()
