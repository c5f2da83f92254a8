"""Results tables from files and frames: CSV, TSV, Parquet, polars, pandas; long or wide; several at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl

from recassay.core import columns as c
from recassay.core.errors import InputError, UsageError, listing
from recassay.core.names import canonical
from recassay.core.results import Results, Source
from recassay.data.tables.read import frame_from_memory, read_table

SYNONYMS: dict[str, tuple[str, ...]] = {
    c.ALGORITHM: ("algorithm", "algo", "model", "method", "recommender", "classifier"),
    c.DATASET: ("dataset", "data", "data set"),
    c.METRIC: ("metric", "measure"),
    c.VALUE: ("value", "score", "result"),
    c.SEED: ("seed", "random state"),
    c.FOLD: ("fold",),
}
"""Column names accepted in place of ours, compared by `names.canonical`; used only where exactly one fits."""


def read_results(
    source: Any,
    *,
    metric: str | None = None,
    wide: bool = False,
    transpose: bool = False,
    columns: Mapping[str, str] | None = None,
) -> Results:
    """A checked results table from a path, several paths, or a polars or pandas frame.

    Long tables have the columns algorithm, dataset, metric, value and optionally seed and fold; `columns` maps our name
    to the table's where it differs. Without a metric column every row is `metric`. Wide tables (`wide`) have the
    algorithm in their first column and one column a dataset; with `transpose` the dataset first and one column an
    algorithm; they need `metric`.
    """
    if (wide or transpose) and metric is None:
        raise UsageError("a wide table does not say which metric it holds", fix="name it, for example --metric ndcg@10")
    parts: list[pl.DataFrame] = []
    sources: list[Source] = []
    for one in _several(source):
        if isinstance(one, (str, PathLike)):
            frame, origin = read_table(Path(one), empty_fix="give at least two algorithms on two datasets")
            sources.append(origin)
            where = origin.file
        else:
            frame, where = frame_from_memory(one), "the frame"
        shaped = (
            _unpivot(frame, str(metric), transpose=transpose, where=where)
            if wide or transpose
            else _long(frame, metric, columns or {}, where)
        )
        parts.append(shaped)
    if not parts:
        raise UsageError("no results were given", fix="name at least one file")
    where = listing(s.file for s in sources) or "the frame"
    common = pl.concat([part.cast({pl.Null: pl.String}) for part in parts], how="diagonal_relaxed")
    return Results.from_frame(common, where=where, sources=tuple(sources))


def _several(source: Any) -> Sequence[Any]:
    return source if isinstance(source, (list, tuple)) else [source]


def _long(frame: pl.DataFrame, metric: str | None, columns: Mapping[str, str], where: str) -> pl.DataFrame:
    rename: dict[str, str] = {}
    for ours, theirs in columns.items():
        if ours not in SYNONYMS:
            raise UsageError(f"there is no column role {ours!r}", fix=f"use one of {listing(SYNONYMS, most=None)}")
        if theirs not in frame.columns:
            raise InputError(
                f"no column {theirs!r} among {listing(map(repr, frame.columns), most=8)}",
                where=where,
                fix="correct --column",
            )
        rename[theirs] = ours
    for ours, others in SYNONYMS.items():
        if ours in columns or ours in frame.columns:
            continue
        fitting = [n for n in frame.columns if n not in rename and canonical(n) in map(canonical, others)]
        if len(fitting) == 1:
            rename[fitting[0]] = ours
    hidden = [n for n in rename.values() if n in frame.columns and n not in rename]
    frame = frame.drop(hidden).rename(rename)
    if c.METRIC not in frame.columns and metric is not None:
        frame = frame.with_columns(pl.lit(metric).alias(c.METRIC))
    kept = [n for n in SYNONYMS if n in frame.columns]
    return frame.select(kept) if {c.ALGORITHM, c.DATASET, c.METRIC, c.VALUE} <= set(kept) else frame


def _unpivot(frame: pl.DataFrame, metric: str, *, transpose: bool, where: str) -> pl.DataFrame:
    if frame.width < 2:
        raise InputError("a wide table needs a column of names and one or more of values", where=where,
                         fix="check the delimiter, or leave out --wide")  # fmt: skip
    names, *others = frame.columns
    across, down = (c.ALGORITHM, c.DATASET) if transpose else (c.DATASET, c.ALGORITHM)
    return (
        frame.cast({n: pl.String for n in frame.columns if not frame.schema[n].is_numeric()})
        .unpivot(index=names, on=others, variable_name=across, value_name=c.VALUE)
        .rename({names: down})
        .with_columns(pl.lit(metric).alias(c.METRIC))
    )
