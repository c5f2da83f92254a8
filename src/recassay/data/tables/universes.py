"""Long tables with a further column per choice of the protocol (split, target, seed, ...), which are kept as text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from recassay.core import columns as c
from recassay.core.names import canonical
from recassay.core.tables.result_checks import as_number, as_text, refuse_infinite, refuse_nameless
from recassay.core.tables.sources import Source
from recassay.data.tables.labels import known_metric
from recassay.data.tables.memory import read_source
from recassay.data.tables.words import SYNONYMS

ENDINGS = {".csv", ".tsv", ".txt", ".parquet", ".pq"}
TABLE = "table"
"""The axis of several tables that differ in their protocol."""


def read_choices(source: Any) -> tuple[pl.DataFrame, tuple[Source, ...]] | None:
    """A file or frame as algorithm, dataset, metric, value and further columns as text; None where it has no such rows.

    Columns may have the usual other names (`model`, `score`, ...), and a column per metric stands for metric and value.
    """
    if isinstance(source, (str, Path)):
        path = Path(source)
        if Path(path.name.lower().removesuffix(".gz")).suffix not in ENDINGS or path.is_dir():
            return None
    frame, where, sources = read_source(source, "the frame", empty_fix="give at least two algorithms on two datasets")
    roles = {role: column for role in (*c.RESULT_KEY, c.VALUE) if (column := _column(frame, role)) is not None}
    if c.VALUE not in roles and c.METRIC not in roles:
        metrics = list(filter(known_metric, frame.columns))
        if not metrics:
            return None
        names = [name for name in frame.columns if name not in metrics]
        frame = frame.with_columns(pl.col(metrics).cast(pl.String)).unpivot(
            metrics, index=names, variable_name=c.METRIC, value_name=c.VALUE
        )
        roles |= {c.METRIC: c.METRIC, c.VALUE: c.VALUE}
    if set(roles) != {*c.RESULT_KEY, c.VALUE}:
        return None
    further = [name for name in frame.columns if name not in roles.values()]
    made = frame.select(
        *(as_text(roles[role]).alias(role) for role in c.RESULT_KEY),
        as_number(frame.get_column(roles[c.VALUE]), where).alias(c.VALUE),
        *(as_text(name).fill_null("(none)") for name in further),
    )
    refuse_nameless(made, where)
    refuse_infinite(made, where)
    return made, sources


def _column(frame: pl.DataFrame, role: str) -> str | None:
    """The column of that name, or the only one with a usual other name."""
    if role in frame.columns:
        return role
    fitting = [name for name in frame.columns if canonical(name) in SYNONYMS[role]]
    return fitting[0] if len(fitting) == 1 else None
