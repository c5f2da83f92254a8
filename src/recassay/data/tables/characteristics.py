"""Tables of dataset characteristics from files and frames."""

from __future__ import annotations

from typing import Any

import polars as pl

from recassay.core.errors import InputError
from recassay.core.names import canonical
from recassay.core.tables.characteristics import CharacteristicsTable
from recassay.core.tables.result_checks import ABSENT
from recassay.data.tables.memory import read_source
from recassay.data.tables.read import dataset_names

_FIX = "give a column dataset and one column of numbers for each characteristic"


def read_characteristics(source: Any) -> CharacteristicsTable:
    """A table with a column `dataset` (or the first column) and one column of numbers a characteristic.

    `source` is a path (CSV, TSV, Parquet), a polars or pandas frame, or a `CharacteristicsTable`. Empty cells and `nan`
    are unknown; other text in a column of numbers raises with its row. A column without any number is a note and is
    left out.
    """
    if isinstance(source, CharacteristicsTable):
        return source
    frame, where, sources = read_source(source, "the characteristics", empty_fix=_FIX)
    if frame.width < 2 or frame.height == 0:
        raise InputError("a table of characteristics needs datasets and numbers", where=where, fix=_FIX)
    key = next((n for n in frame.columns if canonical(n) in {"dataset", "data", "datasetname"}), frame.columns[0])
    names = dataset_names(frame, key, where)
    read = {column.name: _numbers(column, where) for column in frame.drop(key)}
    columns = {name: column for name, column in read.items() if column is not None}
    if not columns:
        raise InputError("no column holds numbers", where=where, fix=_FIX)
    values = pl.DataFrame(columns).fill_null(float("nan")).to_numpy()
    return CharacteristicsTable(values, tuple(names), tuple(columns), where, sources)


def read_properties(source: Any) -> dict[str, dict[str, float]]:
    """The characteristics of datasets by name, those that are known."""
    table = read_characteristics(source)
    rows = zip(table.datasets, table.values.tolist(), strict=True)
    return {
        dataset: {name: value for name, value in zip(table.names, row, strict=True) if value == value}
        for dataset, row in rows
    }


def _numbers(column: pl.Series, where: str) -> pl.Series | None:
    """The column as float64 with nulls for unknown; None where it holds no number at all."""
    if column.dtype.is_numeric():
        number = column.cast(pl.Float64)
    else:
        text = column.cast(pl.String).fill_null("").str.strip_chars()
        absent = text.str.to_lowercase().is_in(ABSENT)
        number = text.cast(pl.Float64, strict=False)
        bad = (number.is_null() & ~absent).arg_true()
        if bad.len() and number.null_count() == column.len():
            return None
        if bad.len():
            row = int(bad[0])
            what = f"column {column.name!r} holds {text[row]!r} in data row {row + 1}"
            raise InputError(what, where=where, fix="give it numbers, and leave an unknown one empty")
    return number.replace([float("inf"), float("-inf")], [None, None]).fill_nan(None).alias(column.name)
