"""One's own matrix, labels and similarities of ComPer from tables: one row per dimension, one column per objective."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from recassay.analysis.comper.matrix import DIMENSIONS, LABELS, CorrelationMatrix, label_table, likert_labels
from recassay.core.errors import InputError, listing
from recassay.core.names import canonical, did_you_mean
from recassay.core.types import FloatArray, IntArray


def dimension_rows(frame: pl.DataFrame, where: str) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The rows of a table in the order of `DIMENSIONS`, and its objectives: first column dimension, one an
    objective."""
    if frame.width < 2:
        raise InputError("has no column of an objective", where=where, fix="write dimension,remember,understand,...")
    first, *objectives = frame.columns
    known = {canonical(name): name for name in DIMENSIONS}
    names = [str(name) for name in frame.get_column(first).to_list()]
    unknown = [name for name in names if canonical(name) not in known]
    if unknown:
        raise InputError(f"unknown dimension {unknown[0]!r}", where=where, fix=did_you_mean(unknown[0], DIMENSIONS))
    given = [known[canonical(name)] for name in names]
    absent = [name for name in DIMENSIONS if name not in given]
    if absent or len(given) > len(DIMENSIONS):
        what = f"no row for {listing(absent)}" if absent else "a dimension has two rows"
        raise InputError(what, where=where, fix=f"give one row each for {listing(DIMENSIONS, most=None)}")
    return frame[[given.index(name) for name in DIMENSIONS]].drop(first), tuple(objectives)


def numbers(frame: pl.DataFrame, where: str, *, empty: bool = False) -> FloatArray:
    """The cells as numbers, NaN for an empty one where `empty` allows it; anything else raises with its place."""
    table = frame.cast(pl.String)
    values = table.cast(pl.Float64, strict=False)
    for name in table.columns:
        blank = table.get_column(name).fill_null("").str.strip_chars().is_in(["", "-"])
        bad = ~values.get_column(name).is_finite().fill_null(False) & ~(blank & empty)
        if bad.any():
            row = int(bad.arg_true()[0])
            raise InputError(f"{table[row, name]!r} at {DIMENSIONS[row]}, {name} is no number", where=where,
                             fix="give a number for every dimension and objective")  # fmt: skip
    return values.fill_null(np.nan).to_numpy().astype(np.float64)


def matrix_from_frame(frame: pl.DataFrame, *, where: str = "the matrix") -> CorrelationMatrix:
    """One's own matrix: first column dimension (all five), then one column per objective, numbers of at least 0."""
    rows, objectives = dimension_rows(frame, where)
    values = numbers(rows, where)
    if (values < 0).any() or not values.any():
        what = "all values are 0" if not values.any() else f"{values[values < 0][0]:g} is below 0"
        raise InputError(what, where=where, fix="a correlation strength is at least 0, and some are above it")
    return CorrelationMatrix(values, objectives, where)


def similarities_from_frame(frame: pl.DataFrame, where: str = "the table") -> tuple[FloatArray, tuple[str, ...]]:
    """A table of similarities between 0 and 1, and its objectives."""
    rows, objectives = dimension_rows(frame, where)
    values = numbers(rows, where)
    if (values < 0).any() or (values > 1).any():
        raise InputError("a similarity is not between 0 and 1", where=where, fix="give Dice similarities")
    return values, objectives


def labels_from_frame(
    frame: pl.DataFrame, objectives: Sequence[str] | None = None, *, where: str = "the labels"
) -> tuple[IntArray, tuple[str, ...]]:
    """A table of N, P and S, or of ratings from 1 to 5 (see `likert_labels`); empty or `-`: not said.

    Columns come in the order of `objectives` where these are known (from another table), else as they stand.
    """
    rows, found = dimension_rows(frame, where)
    if objectives is not None:
        by_name = {canonical(name): name for name in found}
        if set(by_name) != set(map(canonical, objectives)):
            raise InputError(
                f"the objectives are {listing(found, most=8)}", where=where, fix=f"use {listing(objectives, most=None)}"
            )
        rows = rows.select(by_name[canonical(name)] for name in objectives)
        found = tuple(objectives)
    text = rows.cast(pl.String).with_columns(pl.all().fill_null("").str.strip_chars().str.to_uppercase())
    cells = [list(row) for row in text.iter_rows()]
    said = {cell for row in cells for cell in row} - {"", "-"}
    if said <= set(LABELS):
        return label_table(["".join(cell or "-" for cell in row) for row in cells]), found
    if said & set(LABELS):
        raise InputError("mixes letters and ratings", where=where, fix="use N, P, S or ratings from 1 to 5")
    return likert_labels(numbers(rows, where, empty=True)), found
