"""A table as it came becomes tables of lists: columns by role, nested lists unfolded, one table per algorithm."""

from __future__ import annotations

import polars as pl

from recassay.core import columns as c
from recassay.core.errors import InputError
from recassay.data.lists.records import ReadLists
from recassay.data.lists.roles import LISTS, SPLIT, list_roles

FINGERPRINT = "^[0-9a-f]{12,64}$"
"""What names a split: the fingerprint, or its beginning."""


def lists_of(frame: pl.DataFrame, name: str, where: str, form: str) -> list[ReadLists]:
    """The lists of every algorithm in `frame`; `name` is that of the only one where no column names them."""
    roles = list_roles(frame.columns, where)
    notes: list[str] = []
    table = frame.select(pl.col(column).alias(role) for role, column in roles.items())
    if LISTS in roles:
        table = _unfolded(table, where) if _holds_lists(table) else table.rename({LISTS: c.ITEM})
    if c.RANK not in table.columns and c.SCORE not in table.columns:
        table = table.with_columns(_order_of_rows(table).alias(c.RANK))
        notes.append("no column of ranks or scores: the order of the rows is the order of the list")
    table = table.with_columns(_number(table, role, where) for role in (c.RANK, c.SCORE) if role in table.columns)
    kept = [role for role in (c.USER, c.ITEM, c.RANK, c.SCORE) if role in table.columns]
    if c.ALGORITHM not in table.columns:
        return [ReadLists(name, table.select(kept), where, form, *_split_of(table, where), notes=tuple(notes))]
    parts = table.with_columns(pl.col(c.ALGORITHM).cast(pl.String).fill_null(name)).partition_by(
        c.ALGORITHM, as_dict=True, maintain_order=True
    )
    return [
        ReadLists(str(key[0]), part.select(kept), where, form, *_split_of(part, where), notes=tuple(notes))
        for key, part in parts.items()
    ]


def _holds_lists(table: pl.DataFrame) -> bool:
    """Whether the column that is called like one of lists holds several ids in a row, or a single one."""
    column = table.get_column(LISTS)
    if column.dtype == pl.String:
        return bool(column.str.strip_chars().str.contains(r"[\[\s,;|]").any())
    return isinstance(column.dtype, pl.List | pl.Array)


def _unfolded(table: pl.DataFrame, where: str) -> pl.DataFrame:
    """One row per recommended item: of lists of ids, of lists of structs (LensKit), or of text such as `[3, 1, 2]`."""
    column = table.get_column(LISTS)
    if column.dtype == pl.String:
        bare = pl.col(LISTS).str.replace_all(r"[\[\]\(\)'\"]", "").str.strip_chars()
        table = table.with_columns(bare.str.replace_all(r"[\s,;|]+", " ").str.split(" ").alias(LISTS))
        column = table.get_column(LISTS)
    assert isinstance(column.dtype, pl.List | pl.Array)
    inner = column.dtype.inner
    others = [name for name in table.columns if name != LISTS]
    if isinstance(inner, pl.Struct):
        flat = table.explode(LISTS).drop_nulls(LISTS)
        names = [field.name for field in inner.fields]
        within = list_roles([c.USER, *(name for name in names if name != c.USER)], where)
        fields = {role: within[role] for role in (c.ITEM, c.RANK, c.SCORE) if role in within}
        return flat.select(*others, *(pl.col(LISTS).struct.field(name).alias(role) for role, name in fields.items()))
    if c.SCORE in others and isinstance(table.schema[c.SCORE], pl.List | pl.Array):
        flat = table.explode(LISTS, c.SCORE)
    else:
        flat = table.with_columns(pl.int_ranges(1, pl.col(LISTS).list.len() + 1).alias(c.RANK)).explode(LISTS, c.RANK)
    return flat.rename({LISTS: c.ITEM}).drop_nulls(c.ITEM)


def _order_of_rows(table: pl.DataFrame) -> pl.Expr:
    keys = [c.USER, *([c.ALGORITHM] if c.ALGORITHM in table.columns else [])]
    return pl.int_range(1, pl.len() + 1).over(keys)


def _number(table: pl.DataFrame, role: str, where: str) -> pl.Series:
    column = table.get_column(role)
    numbers = column if column.dtype.is_numeric() else _parsed(column)
    bad = ((numbers.is_null() & column.is_not_null()) | numbers.cast(pl.Float64).is_infinite()).arg_true()
    if role == c.RANK and not bad.len():
        bad = (numbers < 0).arg_true()
    if bad.len():
        row = int(bad[0])
        raise InputError(
            f"the {role} column holds {column[row]!r} in data row {row + 1}",
            where=where,
            fix="give it finite numbers" + (" from 1 on" if role == c.RANK else ""),
        )
    return numbers.alias(role)


def _parsed(column: pl.Series) -> pl.Series:
    if column.dtype == pl.Object:  # values of several kinds, such as a number beyond 64 bits
        column = pl.Series(column.name, [None if value is None else str(value) for value in column], pl.String)
    return column.cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)


def _split_of(table: pl.DataFrame, where: str) -> tuple[str | None, str | None]:
    """The fingerprint that the table itself names, where it does."""
    if SPLIT not in table.columns:
        return None, None
    told = table.get_column(SPLIT).cast(pl.String).str.strip_chars().str.to_lowercase()
    named = told.filter(told.str.contains(FINGERPRINT)).unique().to_list()
    if len(named) > 1:
        raise InputError(f"names {len(named)} splits", where=where, fix="keep the lists of one split in one file")
    return (named[0], f"the column {SPLIT!r} of {where}") if named else (None, None)
