"""Tables of groups (of users or of items) and of propensities."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from recassay.core import columns as c
from recassay.core.errors import InputError
from recassay.core.types import FloatArray, IntArray, Interactions
from recassay.data.tables.memory import read_source

PROPENSITY = "propensity"


def read_propensity(source: Any, known: Interactions) -> FloatArray | csr_array:
    """The chances in a table `item,propensity` or `user,item,propensity`, by item or users x items; 0: not stated."""
    fix = "give columns item and propensity, and user where it depends on the user"
    frame, where, _ = read_source(source, "the propensities", empty_fix=fix)
    refuse_missing(frame, (c.ITEM, PROPENSITY), where, fix)
    chance = frame.get_column(PROPENSITY).cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
    bad = np.flatnonzero(~((chance > 0) & np.isfinite(chance)))
    if len(bad):
        value = frame.get_column(PROPENSITY)[int(bad[0])]
        raise InputError(f"data row {bad[0] + 1}: the propensity is {value}", where=where, fix="give numbers above 0")
    key = [c.USER, c.ITEM] if c.USER in frame.columns else [c.ITEM]
    refuse_twice(frame, key, where)
    item = positions(frame.get_column(c.ITEM), known.items)
    if len(key) == 1:
        by_item = np.zeros(known.n_items)
        by_item[item[item >= 0]] = chance[item >= 0]
        return by_item
    user = positions(frame.get_column(c.USER), known.users)
    kept = (user >= 0) & (item >= 0)
    return csr_array((chance[kept], (user[kept], item[kept])), shape=(known.n_users, known.n_items))


def refuse_missing(frame: pl.DataFrame, names: tuple[str, ...], where: str, fix: str) -> None:
    """Raise where a column is not there."""
    for name in names:
        if name not in frame.columns:
            raise InputError(f"has no column {name!r}", where=where, fix=fix)


def refuse_twice(frame: pl.DataFrame, key: list[str], where: str) -> None:
    """Raise where an id, or a pair of ids, has two rows."""
    twice = frame.select(pl.struct(key).is_duplicated()).to_series().arg_true()
    if twice.len():
        named = " and ".join(f"{name} {frame.get_column(name)[int(twice[0])]}" for name in key)
        raise InputError(f"data row {int(twice[0]) + 1}: {named} has several rows", where=where, fix="keep one")


def positions(values: pl.Series, table: pl.Series) -> IntArray:
    """The position of each id in `table`, -1 where it is not there; numbers and their text are one id."""
    places = pl.int_range(table.len(), eager=True)
    found = values.cast(pl.String).replace_strict(table.cast(pl.String), places, default=-1, return_dtype=pl.Int64)
    return np.asarray(found.to_numpy(), dtype=np.int64)


MOST_GROUPS = 20
"""An attribute with more values is left out: nobody reads so many groups."""


def read_groups(source: Any, key: str) -> pl.DataFrame:
    """A table of groups: `key` (user or item) as text, and one column of text per attribute; null where not known.

    An item may be in several groups of one attribute, parted by |. A column `dataset` limits rows to that dataset.
    """
    fix = f"give a column {key} and one column per attribute, as in {key},{'genre' if key == c.ITEM else 'sex,age'}"
    frame, where, _ = read_source(source, f"the groups of {key}s", empty_fix=fix)
    refuse_missing(frame, (key,), where, fix)
    refuse_twice(frame, [name for name in (c.DATASET, key) if name in frame.columns], where)
    text = frame.with_columns(pl.all().cast(pl.String).str.strip_chars()).with_columns(pl.all().replace("", None))
    if text.width == len({c.DATASET, key} & set(text.columns)):
        raise InputError("has no attribute", where=where, fix=fix)
    return text


def names_of_groups(values: pl.Series) -> list[str]:
    """The groups of an attribute, numbers by size and words by letter."""
    names = values.drop_nulls().str.split("|").explode().str.strip_chars().unique().drop_nulls().to_list()
    numeric = all(name.replace(".", "", 1).isdecimal() for name in names)
    return sorted(names, key=(lambda name: (float(name), name)) if numeric else None)


def memberships(ids: pl.Series, frame: pl.DataFrame, key: str, attribute: str) -> tuple[list[str], FloatArray]:
    """The groups of an attribute, and ids x groups: 1 where the id is in one, 1/n in each of n, 0 where not known."""
    known = pl.DataFrame({key: ids.cast(pl.String)}).join(frame, on=key, how="left", maintain_order="left")
    names = names_of_groups(known.get_column(attribute))
    rows = known.with_row_index("row").select("row", pl.col(attribute).str.split("|")).explode(attribute).drop_nulls()
    rows = rows.with_columns(pl.col(attribute).str.strip_chars()).unique()
    column = {name: place for place, name in enumerate(names)}
    matrix = np.zeros((len(ids), len(names)))
    if not names:  # the table knows none of the ids
        return names, matrix
    matrix[rows["row"].to_numpy(), rows[attribute].replace_strict(column, return_dtype=pl.Int64).to_numpy()] = 1.0
    return names, matrix / np.maximum(matrix.sum(axis=1, keepdims=True), 1)
