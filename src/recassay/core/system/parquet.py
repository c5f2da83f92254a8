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
from contextlib import contextmanager

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


@contextmanager
def panics_as_errors(*, quietly: bool = True) -> Iterator[None]:
    """Turn a panic of polars into a `ComputeError`, and `quietly` drop its report.

    What else the process writes to standard error meanwhile is held back until the end, so that nothing is lost; where
    that may take long, say `quietly=False`.
    """
    if not quietly:
        with _turned():
            yield
        return
    with _HELD_BACK, tempfile.TemporaryFile(prefix="recassay-") as held:
        try:
            before = os.dup(_STDERR)
        except OSError:  # there is no standard error to keep clean
            with _turned():
                yield
            return
        os.dup2(held.fileno(), _STDERR)
        panicked = False
        try:
            with _turned():
                yield
        except _Panicked:
            panicked = True
            raise
        finally:
            os.dup2(before, _STDERR)
            os.close(before)
            if not panicked:
                _pass_on(held.fileno())


class _Panicked(pl.exceptions.ComputeError):
    """A panic, as an error that callers know."""


@contextmanager
def _turned() -> Iterator[None]:
    try:
        yield
    except pl.exceptions.PanicException:
        raise _Panicked("the file contradicts itself") from None


def _pass_on(held: int) -> None:
    os.lseek(held, 0, os.SEEK_SET)
    while block := os.read(held, 1 << 16):
        try:
            os.write(_STDERR, block)
        except OSError:
            return
