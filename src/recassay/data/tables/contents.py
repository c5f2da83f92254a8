"""What stands in a column: numbers, cut-offs, or names of metrics."""

from __future__ import annotations

import polars as pl

from recassay.data.tables.cells import read_cell
from recassay.data.tables.labels import spelled


def holds_numbers(column: pl.Series) -> bool:
    """Whether most of what is filled in is a number or stands for a missing one, and at least one is a number."""
    if column.dtype.is_numeric():
        return True
    if column.dtype == pl.Null:
        return False
    text = column.cast(pl.String).str.strip_chars().drop_nulls()
    text = text.filter(text != "")
    if text.len() == 0:
        return False
    plain = text.cast(pl.Float64, strict=False)
    if plain.null_count() == 0:
        return True
    odd = [read_cell(one, "," in one) for one in text.filter(plain.is_null()).head(200).to_list()]
    numbers = plain.len() - plain.null_count()
    held = numbers + sum(cell.value is not None for cell in odd)
    fine = numbers + sum(cell.value is not None or cell.missing for cell in odd)
    return held > 0 and 2 * fine > numbers + len(odd)


def holds_cutoffs(column: pl.Series) -> bool:
    """Whether every cell is a whole number above 0."""
    whole = column.cast(pl.String).str.strip_chars().cast(pl.Int64, strict=False)
    return whole.len() > 0 and whole.null_count() == 0 and bool((whole > 0).all())


def names_metrics(column: pl.Series) -> bool:
    """Whether every name in a column of text is a known metric: several of them, or one with a cut-off."""
    if holds_numbers(column):
        return False
    names = [text for text in texts(column) if text]
    known = all((metric := spelled(name)) is not None and metric.known for name in names)
    return bool(names) and known and (len(names) > 1 or "@" in names[0])


def texts(column: pl.Series) -> list[str]:
    """The distinct texts of a column, in lower case."""
    return column.cast(pl.String).str.strip_chars().str.to_lowercase().drop_nulls().unique().to_list()
