"""Interactions that are already a table or a matrix: Parquet, polars, pandas, scipy.sparse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from recassay.core.columns import EVENT, ITEM, RATING, USER
from recassay.core.errors import InputError
from recassay.core.specs.specs import ReadSpec
from recassay.core.system.parquet import panics_as_errors
from recassay.core.words import count_of
from recassay.data.packed import PER_EVENT, refuse_costly
from recassay.data.reading.records import RawTable
from recassay.data.reading.roles import assign_roles, refuse_repeated_names

ID_BYTES = 16
"""Of the user and the item of an event, before they are packed."""


def read_parquet(path: Path, spec: ReadSpec) -> RawTable:
    """A Parquet file; only the columns that have a role are read."""
    try:
        with panics_as_errors():
            frame = pl.scan_parquet(path, glob=False)
            rows = int(frame.select(pl.len()).collect().item())
            refuse_costly(PER_EVENT * rows, ID_BYTES * rows, path.stat().st_size, str(path))
            return _table(frame, spec, str(path), "parquet")
    except (pl.exceptions.PolarsError, OSError) as error:
        raise damaged_parquet(path, error) from None


def damaged_parquet(path: Path, error: Exception) -> InputError:
    """The line for a Parquet file that polars cannot read."""
    reason = str(error).strip().split("\n")[0][:120]
    return InputError(
        f"the Parquet file is damaged or cut short ({reason})", where=str(path), fix="write or fetch it again"
    )


def read_frame(frame: pl.DataFrame | pl.LazyFrame, spec: ReadSpec) -> RawTable:
    """A polars frame, eager or lazy."""
    return _table(frame.lazy(), spec, "a polars frame", "polars", seekable=isinstance(frame, pl.DataFrame))


def read_pandas(frame: Any, spec: ReadSpec) -> RawTable:
    """A pandas frame; its index is not a column. Ids of several Python types become text."""
    names = [str(name) for name in frame.columns]
    refuse_repeated_names(names, "the pandas frame")
    roles = assign_roles(names, spec.columns, "the pandas frame")
    columns = {role: _from_pandas(role, frame.iloc[:, place]) for role, place in roles.items()}
    named = {role: names[place] for role, place in roles.items()}
    return _typed(pl.DataFrame(columns).lazy(), "a pandas frame", "pandas", named)


def read_sparse(matrix: Any) -> RawTable:
    """A scipy sparse matrix, users x items: each stored entry is one interaction, its row and column are the
    ids.

    Entries stored twice are summed, which is what scipy means by them. A boolean matrix has no ratings.
    """
    if matrix.ndim != 2:
        raise InputError(
            f"the matrix has {count_of(matrix.ndim, 'dimension')}", where="a sparse matrix", fix="give users x items"
        )
    from scipy import sparse

    entries = sparse.coo_array(matrix, copy=True)
    entries.sum_duplicates()
    columns = {USER: entries.coords[0].astype(np.int64), ITEM: entries.coords[1].astype(np.int64)}
    if entries.dtype != np.bool_:
        columns[RATING] = np.asarray(entries.data)
    named = {USER: "row", ITEM: "column"} | ({RATING: "entry"} if RATING in columns else {})
    return _typed(pl.DataFrame(columns).lazy(), "a sparse matrix", "sparse", named)


def _table(frame: pl.LazyFrame, spec: ReadSpec, source: str, kind: str, *, seekable: bool = True) -> RawTable:
    names = frame.collect_schema().names()
    roles = assign_roles(names, spec.columns, source)
    chosen = frame.select(pl.col(names[place]).alias(role) for role, place in roles.items())
    return _typed(chosen, source, kind, {role: names[place] for role, place in roles.items()}, seekable=seekable)


def _typed(frame: pl.LazyFrame, source: str, kind: str, columns: dict[str, str], *, seekable: bool = True) -> RawTable:
    """A table that has types, whose rows are counted from 1."""
    return RawTable(frame, source, kind, columns, False, lambda rows: [row + 1 for row in rows], seekable=seekable)


def _from_pandas(role: str, column: Any) -> pl.Series:
    kind = getattr(column.dtype, "kind", "O")
    if getattr(column.dtype, "tz", None) is not None:
        column, kind = column.dt.tz_convert("UTC").dt.tz_localize(None), "M"
    if isinstance(column.dtype, np.dtype) and kind in "iufbM":
        return pl.Series(role, column.to_numpy())
    values = [None if missing else value for value, missing in zip(column.tolist(), column.isna(), strict=True)]
    present = [value for value in values if value is not None]
    kinds = {type(value) for value in present}
    if role in (USER, ITEM, EVENT) and (len(kinds) > 1 or not kinds <= {str, int}):
        if len({str(value) for value in set(present)}) < len(set(present)):
            what = f"{role} ids of several types read the same as text"
            raise InputError(what, where="the pandas frame", fix="make the column one type")
        values = [None if value is None else str(value) for value in values]
    return pl.Series(role, values, strict=False)
