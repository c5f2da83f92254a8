"""Checks of a long results table: each defect raises with a line of its own."""

from __future__ import annotations

import polars as pl

from recassay.core import columns as c
from recassay.core.errors import InputError
from recassay.core.system.printable import MAYBE_UNPRINTABLE, printable
from recassay.core.words import count_of, listing

DETAIL_TYPES: dict[str, type[pl.DataType]] = {c.DEVIATION: pl.Float64, c.RUNS: pl.Int64, c.HIGHER_IS_BETTER: pl.Boolean}
"""The types of the optional columns that are not text."""


def details(frame: pl.DataFrame) -> list[pl.Expr]:
    """The optional columns of `columns.RESULT_DETAILS` that the frame has, in their types; nonsense in them is null."""
    lines = []
    for name in c.RESULT_DETAILS:
        if name in frame.columns:
            wanted = DETAIL_TYPES.get(name, pl.String)
            source = pl.col(name)
            if wanted == pl.Boolean and frame.schema[name] == pl.String:
                source = source.str.to_lowercase().replace_strict({"true": True, "false": False}, default=None)
            kept = source.cast(wanted, strict=False)
            lines.append(
                pl.when(kept.is_finite() & (kept >= 0)).then(kept).alias(name) if name == c.DEVIATION else kept
            )
    return lines


def as_text(name: str) -> pl.Expr:
    """A column of names, without the space around them."""
    return pl.col(name).cast(pl.String).str.strip_chars().alias(name)


def shown_names(frame: pl.DataFrame) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The table whose algorithms and datasets can be shown everywhere, and a note where names were changed for that.

    Every character that would steer a terminal or break a renderer stands as its code, so that names that differ in
    nothing else still differ.
    """
    changed: dict[str, dict[str, str]] = {}
    for name in (c.ALGORITHM, c.DATASET):
        names = frame.get_column(name).unique()
        odd = names.filter(names.str.contains(MAYBE_UNPRINTABLE))
        changed[name] = {text: shown for text in odd if (shown := printable(text)) != text}
    if not any(changed.values()):
        return frame, ()
    frame = frame.with_columns(pl.col(name).replace(names) for name, names in changed.items() if names)
    codes = sorted({shown for names in changed.values() for shown in names.values()})
    who = f"{count_of(len(codes), 'name')} {'hold' if len(codes) > 1 else 'holds'} characters that cannot be shown"
    return frame, (f"{who} and stand{'' if len(codes) > 1 else 's'} with their codes: {listing(codes)}",)


LARGEST_VALUE = 1e100
"""Of a metric: sums, squares and ratios of such values are still numbers."""


ABSENT = ("", "nan", "na", "n/a", "null", "none", "-")
"""What stands in the cell of a plain table that has no value, in lower case."""


def column_of(column: pl.Series) -> str:
    """The name of a column for a message; nothing where it has none."""
    return f" of the column {column.name!r}" if column.name else ""


def not_numbers(text: pl.Series, bad: pl.Series, where: str) -> InputError:
    """The refusal of a column of text that should be numbers; `bad` are the rows without one."""
    row = int(bad[0])
    what = f"{bad.len()} values are not numbers, the first {text[row]!r} in data row {row + 1}{column_of(text)}"
    fix = "use plain numbers with a decimal point, and leave a missing value empty"
    return InputError(what, where=where, fix=fix)


def as_number(column: pl.Series, where: str) -> pl.Series:
    """The values as float64, null for missing; text that is not a number raises with its row."""
    if column.dtype.is_numeric():
        return column.cast(pl.Float64).fill_nan(None)
    if column.dtype == pl.Null:
        return column.cast(pl.Float64)
    text = column.cast(pl.String).str.strip_chars()
    absent = text.is_null() | text.str.to_lowercase().is_in(ABSENT)
    number = text.cast(pl.Float64, strict=False)
    bad = (number.is_null() & ~absent).arg_true()
    if bad.len():
        raise not_numbers(text, bad, where)
    return pl.select(pl.when(absent).then(None).otherwise(number)).to_series().fill_nan(None)


def refuse_nameless(frame: pl.DataFrame, where: str) -> None:
    """A row without algorithm, dataset or metric."""
    for name in c.RESULT_KEY:
        blank = frame.get_column(name).fill_null("") == ""
        if blank.any():
            raise InputError(
                f"column {name!r} is empty in data row {int(blank.arg_true()[0]) + 1}",
                where=where,
                fix="fill it in or remove the row",
            )


def refuse_infinite(frame: pl.DataFrame, where: str) -> None:
    """A value that is not a finite number, or so large that no mean or square of it is one."""
    large = frame.get_column(c.VALUE).abs() > LARGEST_VALUE
    if large.any() and not frame.get_column(c.VALUE).is_infinite().any():
        first = int(large.arg_true()[0])
        raise InputError(
            f"{int(large.sum())} values are beyond {LARGEST_VALUE:g}, the first in data row {first + 1}",
            where=where,
            fix="give the metric in another unit",
        )
    _refuse_rows(
        frame,
        frame.get_column(c.VALUE).is_infinite().fill_null(False),
        "values are infinite",
        where,
        fix="leave a value that could not be measured empty",
    )


def refuse_duplicates(frame: pl.DataFrame, key: list[str], where: str) -> None:
    """Two rows of one cell that nothing tells apart."""
    _refuse_rows(
        frame,
        frame.select(pl.struct(key).is_duplicated()).to_series(),
        "rows repeat a cell",
        where,
        fix="remove the repetition, or tell repeated measurements apart by a column 'seed' or 'fold'",
    )


def _refuse_rows(frame: pl.DataFrame, bad: pl.Series, what: str, where: str, *, fix: str) -> None:
    """Refuse the rows that are marked, with their number and the first of them."""
    rows = bad.arg_true()
    if rows.len():
        first = frame.row(int(rows[0]), named=True)
        cell = f"{first[c.ALGORITHM]} on {first[c.DATASET]}, {first[c.METRIC]}"
        message = f"{rows.len()} {what}, the first in data row {int(rows[0]) + 1} ({cell})"
        raise InputError(message, where=where, fix=fix)
