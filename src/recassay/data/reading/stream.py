"""A source piece by piece: small ones in memory, large ones from the file or from a copy on disk."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from recassay.core import blocks
from recassay.data.reading.encode import near_together, wide_type


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


def distinct(frame: pl.LazyFrame, column: str, rows: int, seed: int = 0) -> pl.Series:
    """The different values of a column, in no order, nulls perhaps among them; held are these alone.

    Whole numbers near together are marked in a table of all numbers between the smallest and the largest. Texts of more
    than one block of rows are distinguished by their hashes (drawn by `seed`); of those with one hash one is given: see
    `IdEncoder`.
    """
    ids, kind = frame.select(column), frame.collect_schema()[column]
    if kind.is_integer():
        ends = ids.select(pl.min(column).alias("low"), pl.max(column).alias("high")).collect(engine="streaming")
        low, high = ends.row(0)
        if low is not None and near_together(low, high, rows):
            present = np.zeros(high - low + 1, dtype=np.bool_)
            for _, piece in pieces(ids, rows):
                numbers = piece.to_series().drop_nulls().to_numpy()
                wide = wide_type(numbers.dtype)
                present[numbers.astype(wide, copy=False) - wide(low)] = True
            return pl.Series(np.flatnonzero(present).astype(wide) + wide(low)).cast(kind)
        return ids.select(pl.col(column).unique()).collect(engine="streaming").to_series()
    if rows <= blocks.ROWS:
        return ids.select(pl.col(column).unique()).collect(engine="streaming").to_series()
    from recassay.data.reading.hashes import Seen

    seen, new_texts = Seen(), [pl.Series(column, [], dtype=kind)]
    for _, piece in pieces(ids, rows):
        texts = piece.to_series()
        new_texts.append(texts.gather(seen.first(texts.hash(seed).to_numpy())))
    return pl.concat(new_texts)
