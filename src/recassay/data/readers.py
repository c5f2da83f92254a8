"""The front door for interactions: a file or a table of almost any kind in, `Interactions` and record out."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import polars as pl

from recassay.core.errors import InputError, UsageError
from recassay.core.specs.specs import ReadSpec
from recassay.core.system.files import file_checksum, refuse_special
from recassay.data.reading.adjacency import read_adjacency
from recassay.data.reading.assemble import assemble
from recassay.data.reading.delimited import read_delimited
from recassay.data.reading.frames import read_frame, read_pandas, read_parquet, read_sparse
from recassay.data.reading.records import BadRow, RawTable, ReadRecord, ReadResult
from recassay.data.reading.roles import refuse_unknown_roles
from recassay.data.reading.sniffing import Head, looks_like_adjacency, read_head
from recassay.data.reading.textfile import prepare_text

__all__ = ["BadRow", "ReadRecord", "ReadResult", "read_interactions"]

_TABLE_SUFFIXES = (".csv", ".tsv", ".tab", ".txt", ".dat", ".data", ".base", ".test", ".ratings")
_MOVIELENS_SUFFIXES = (".data", ".base", ".test")
_PARQUET_SUFFIXES = (".parquet", ".pq")
_SOON_READ = 64 << 20
"""Bytes of a file that is read so soon that nobody misses what standard error would say meanwhile."""
_DEFAULT = ReadSpec()


def read_interactions(source: Any, spec: ReadSpec = _DEFAULT) -> ReadResult:
    """Read interactions from a file, a polars or pandas frame, or a scipy sparse matrix.

    Files: CSV, TSV and other delimited text (delimiter and header recognised), RecBole `.inter`, MovieLens
    `::` and tab files, adjacency lists (`user item item ...`), each also with gzip; and Parquet. Columns are
    found by their usual names (`recassay.data.reading.roles`) or by `spec.columns`.

    Ids keep their type: integers stay integers, anything else is text as it stands in the source, and `users`
    and `items` are sorted. Times become int64 (`recassay.data.reading.times` says how the unit is recognised and
    which unit is stored; `record.time_unit` names it). Ratings become float32 weights. Several rows of one
    user and item stay events where they have times: a split parts them first, and each part makes them one by
    `spec.repeated`, or, for events, as in `recassay.data.reading.events`. Without times they become one here, `first`
    and `last` by their order in the source.

    A row that cannot be used (an empty id, a rating that is not a finite number, an impossible time, a wrong
    number of fields) raises `InputError` with the line numbers of the first ones, unless
    `spec.skip_bad_rows`; then they are counted in the record.
    """
    refuse_unknown_roles(spec.columns)
    if isinstance(source, (pl.DataFrame, pl.LazyFrame)):
        return assemble(read_frame(source, spec), spec)
    if (sparse := sys.modules.get("scipy.sparse")) is not None and sparse.issparse(source):
        return assemble(read_sparse(source), spec)
    if type(source).__module__.partition(".")[0] == "pandas" and hasattr(source, "columns"):
        return assemble(read_pandas(source, spec), spec)
    if not isinstance(source, (str, Path)):
        what = f"interactions cannot be read from a {type(source).__name__}"
        raise UsageError(what, fix="give a path, a polars or pandas DataFrame, or a scipy sparse matrix")
    path = _existing_file(Path(source))
    with tempfile.TemporaryDirectory(prefix="recassay-", ignore_cleanup_errors=True) as scratch:
        raw = _open(path, spec, Path(scratch))
        return assemble(raw, spec, sha256=file_checksum(path), quietly=path.stat().st_size < _SOON_READ)


def _existing_file(path: Path) -> Path:
    refuse_special(path)
    if path.is_dir():
        fix = "give one file of interactions; a folder of train, valid and test files is for split = 'given'"
        raise InputError("this is a folder", where=str(path), fix=fix)
    if not path.exists():
        raise InputError("there is no such file", where=str(path), fix="check the name and the folder")
    if not os.access(path, os.R_OK):
        raise InputError("the file may not be read", where=str(path), fix="check its permissions")
    if path.stat().st_size == 0:
        raise InputError("the file is empty", where=str(path), fix="give a file with a user and an item in each row")
    return path


def _open(path: Path, spec: ReadSpec, scratch: Path) -> RawTable:
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    kind: str = spec.format
    if kind == "parquet" or (kind == "auto" and suffix in _PARQUET_SUFFIXES):
        return read_parquet(path, spec)
    if kind == "auto" and suffix != ".inter" and suffix not in _TABLE_SUFFIXES:
        what = f"files ending in {suffix!r} are not known" if suffix else "the file has no ending that tells its format"
        raise InputError(what, where=str(path), fix="say format='csv', 'parquet', 'inter', 'movielens' or 'adjacency'")
    text = prepare_text(path, spec.encoding, scratch)
    head = read_head(text, str(path))
    if kind == "auto":
        kind = _recognised(suffix, head, spec)
    if kind == "adjacency":
        return read_adjacency(text, head, spec)
    return read_delimited(text, head, spec, kind, scratch)


def _recognised(suffix: str, head: Head, spec: ReadSpec) -> str:
    if suffix == ".inter":
        return "inter"
    if not spec.columns and spec.header is None and spec.delimiter in (None, " ") and looks_like_adjacency(head):
        return "adjacency"
    tabbed = suffix in _MOVIELENS_SUFFIXES and "\t" in head.lines[0]
    if tabbed or ("::" in head.lines[0] and spec.delimiter in (None, "::")):
        return "movielens"
    return "csv"
