"""Response tables and item tables from files and frames."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from recassay.core.errors import InputError
from recassay.core.names import canonical
from recassay.core.tables.responses import MISSING, LogisticItems, Responses
from recassay.core.tables.result_checks import ABSENT
from recassay.core.words import listing
from recassay.data.tables.memory import read_source

RIGHT = ("1", "1.0", "true", "yes", "right", "correct")
WRONG = ("0", "0.0", "false", "no", "wrong", "incorrect")
_ITEM_COLUMNS = {
    "item": (("item", "name", "instance"), None),
    "discrimination": (("discrimination", "a"), 1.0),
    "difficulty": (("difficulty", "b"), None),
    "guessing": (("guessing", "c"), 0.0),
}
"""By column of a table of items, the names that it may have, and its default; those without one must be there."""


def read_responses(source: Any) -> Responses:
    """A binary table: the first column names the respondent, every other column is an item of 0 and 1.

    true/false, yes/no and right/wrong are understood; an empty cell is missing. `source` is a path (CSV, TSV, Parquet),
    a polars or pandas frame, a numpy array (respondents x items, NaN missing), or a `Responses`.
    """
    if isinstance(source, Responses):
        return source
    if isinstance(source, np.ndarray):
        return Responses.from_array(source)
    fix = "give a column of respondents and a column of 0 and 1 for every item"
    frame, where, sources = read_source(source, "the frame", empty_fix=fix)
    if frame.width < 2 or frame.height == 0:
        what = "a response table needs a column of respondents and one or more of items"
        raise InputError(what, where=where, fix="check the delimiter")
    names, *items = frame.columns
    respondents = frame.get_column(names).cast(pl.String).fill_null("").str.strip_chars().to_list()
    if "" in respondents:
        raise InputError(f"data row {respondents.index('') + 1} names no respondent", where=where, fix="fill it in")
    codes = np.column_stack([_coded(frame.get_column(item), item, where) for item in items])
    return Responses(codes, tuple(respondents), tuple(items), sources)


def _coded(column: pl.Series, item: str, where: str) -> np.ndarray[Any, np.dtype[np.uint8]]:
    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        number = column.cast(pl.Float64).fill_nan(None)
        right, wrong, absent = number == 1, number == 0, number.is_null()
    else:
        text = column.cast(pl.String).fill_null("").str.strip_chars().str.to_lowercase()
        right, wrong, absent = text.is_in(RIGHT), text.is_in(WRONG), text.is_in(ABSENT)
    strange = ~(right.fill_null(False) | wrong.fill_null(False) | absent)
    if strange.any():
        row = int(strange.arg_true()[0])
        what = f"item {item!r} holds {column[row]!r} in data row {row + 1}"
        raise InputError(what, where=where, fix="give 1 for right, 0 for wrong, and leave a missing response empty")
    return np.where(absent.to_numpy(), MISSING, right.fill_null(False).to_numpy()).astype(np.uint8)


def read_items(source: Any) -> LogisticItems:
    """Item parameters: the columns item, discrimination (default 1), difficulty, guessing (default 0)."""
    if isinstance(source, LogisticItems):
        return source
    fix = "give the columns item, discrimination, difficulty and guessing"
    frame, where, _ = read_source(source, "the frame", empty_fix=fix)
    columns: dict[str, pl.Series] = {}
    for ours, (others, default) in _ITEM_COLUMNS.items():
        fitting = [name for name in frame.columns if canonical(name) in others]
        if len(fitting) > 1:
            what = f"the columns {listing(map(repr, fitting))} could each be the {ours}"
            raise InputError(what, where=where, fix="keep one of them")
        if not fitting and default is None:
            what = f"no column {ours!r} among {listing(map(repr, frame.columns), most=8)}"
            raise InputError(what, where=where, fix="name the columns item, discrimination, difficulty, guessing")
        columns[ours] = frame.get_column(fitting[0]) if fitting else pl.Series([default] * frame.height)
    names = columns.pop("item").cast(pl.String).str.strip_chars().to_list()
    if len(set(names)) < len(names):
        raise InputError("an item appears twice", where=where, fix="keep one row per item")
    numbers = {ours: column.cast(pl.Float64, strict=False) for ours, column in columns.items()}
    for ours, column in numbers.items():
        if column.null_count():
            row = int(column.is_null().arg_true()[0])
            what = f"{ours} holds {columns[ours][row]!r} in data row {row + 1}"
            raise InputError(what, where=where, fix="give it a number")
    return LogisticItems.from_difficulty(names, *(column.to_numpy() for column in numbers.values()))
