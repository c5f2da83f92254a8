"""Parquet files from anywhere: what is damaged is an error of polars, and nothing else.

Polars checks little of what a file says of itself. One that contradicts itself ends in a panic of Rust: an exception
that `except Exception` does not catch, after a report of its own on standard error.
"""

from __future__ import annotations

import io
import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress

import polars as pl

_HELD_BACK = threading.RLock()
_STDERR = 2


def parquet_frame(data: bytes) -> pl.DataFrame:
    """The table that the bytes of a Parquet file hold; `PolarsError` or `OSError` where they are damaged."""
    with panics_as_errors():
        return pl.read_parquet(io.BytesIO(data))


def parquet_schema(data: bytes) -> dict[str, pl.DataType]:
    """The columns of a Parquet file and their types; raises as `parquet_frame` does."""
    with panics_as_errors():
        return dict(pl.read_parquet_schema(io.BytesIO(data)))


def parquet_shape(data: bytes) -> tuple[int, int]:
    """How many rows and columns a Parquet file says that it has; raises as `parquet_frame` does."""
    with panics_as_errors():
        table = pl.scan_parquet(io.BytesIO(data))
        return int(table.select(pl.len()).collect().item()), len(table.collect_schema())


def parquet_bytes(frame: pl.DataFrame) -> bytes:
    """The bytes of a Parquet file that holds the table."""
    packed = io.BytesIO()
    frame.write_parquet(packed, compression="zstd")
    return packed.getvalue()


@contextmanager
def panics_as_errors(*, quietly: bool = True) -> Iterator[None]:
    """Turn a panic of polars into a `ComputeError`, and `quietly` drop its report.

    What else the process writes to standard error meanwhile is held back until the end, so that nothing is lost; where
    that may take long, say `quietly=False`.
    """
    with _stderr_held_back() if quietly else nullcontext() as held:
        try:
            yield
        except pl.exceptions.PanicException:
            if held is not None:
                os.ftruncate(held, 0)  # the report of the panic
            raise pl.exceptions.ComputeError("the file contradicts itself") from None


@contextmanager
def _stderr_held_back() -> Iterator[int | None]:
    """Hold back what the process writes to standard error, in a file of this number; None where there is no such."""
    with _HELD_BACK, tempfile.TemporaryFile(prefix="recassay-") as file:
        try:
            before = os.dup(_STDERR)
        except OSError:
            yield None
            return
        os.dup2(file.fileno(), _STDERR)
        try:
            yield file.fileno()
        finally:
            os.dup2(before, _STDERR)
            os.close(before)
            file.seek(0)
            with suppress(OSError):
                while block := file.read(1 << 16):
                    os.write(_STDERR, block)
