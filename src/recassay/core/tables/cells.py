"""From rows of a results table to arrays of algorithms x datasets: places, repeated measurements, errors, holes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from recassay.core import columns as c
from recassay.core.errors import InputError
from recassay.core.types import FloatArray, IntArray

MEAN = pl.when(pl.col(c.VALUE).null_count() == 0).then(pl.col(c.VALUE).sort().mean()).alias(c.VALUE)
"""The mean of a group, null where one of its values is."""


def fold_means(rows: pl.DataFrame) -> pl.DataFrame:
    """The mean over the seeds of each fold."""
    return rows.group_by(c.ALGORITHM, c.DATASET, c.FOLD, maintain_order=True).agg(MEAN)


def places_in(names: Sequence[str], column: pl.Series) -> IntArray:
    """Where every value of a column stands in a list of names."""
    return column.replace_strict(names, range(len(names)), return_dtype=pl.Int64).to_numpy()


def places_of(rows: pl.DataFrame, algorithms: Sequence[str], datasets: Sequence[str]) -> tuple[IntArray, IntArray]:
    """Where the algorithm and the dataset of every row stand in the lists of names."""
    return places_in(algorithms, rows.get_column(c.ALGORITHM)), places_in(datasets, rows.get_column(c.DATASET))


def table_of(rows: pl.DataFrame, column: str, algorithms: Sequence[str], datasets: Sequence[str]) -> FloatArray:
    """A column with one row per cell as algorithms x datasets; NaN where there is none, or no value."""
    values = np.full((len(algorithms), len(datasets)), np.nan)
    values[places_of(rows, algorithms, datasets)] = rows.get_column(column).fill_null(np.nan).to_numpy()
    return values


def replicates_of(rows: pl.DataFrame, algorithms: list[str], datasets: list[str]) -> tuple[FloatArray, bool]:
    """The repeated measurements of every cell (A x D x most repeats, NaN where absent) and whether they are paired.

    With folds, the seeds of a fold are averaged first: a fold is the same data for every algorithm, so that folds
    may be resampled jointly. A cell with any null measurement is missing as a whole.
    """
    by_fold = c.FOLD in rows.columns
    if by_fold:
        rows = fold_means(rows)
    order = [n for n in (c.FOLD, c.SEED) if n in rows.columns]
    rows = rows.sort(order) if order else rows
    rows = rows.with_columns(pl.int_range(pl.len()).over(c.ALGORITHM, c.DATASET).alias("position"))
    depth = int(rows.get_column("position").max() or 0) + 1 if rows.height else 1  # type: ignore[arg-type]
    array = np.full((len(algorithms), len(datasets), depth), np.nan)
    algorithm, dataset = places_of(rows, algorithms, datasets)
    values = rows.get_column(c.VALUE)
    array[algorithm, dataset, rows.get_column("position").to_numpy()] = values.fill_null(np.nan).to_numpy()
    null = values.is_null().to_numpy()
    array[algorithm[null], dataset[null], :] = np.nan
    paired = by_fold and all(
        part.group_by(c.ALGORITHM).agg(pl.col(c.FOLD).sort()).get_column(c.FOLD).n_unique() == 1
        for part in rows.partition_by(c.DATASET)
    )
    return array, paired


def standard_errors_of(rows: pl.DataFrame, algorithms: list[str], datasets: list[str]) -> FloatArray:
    """The standard error of each cell with a single measurement and a stated deviation; 0 elsewhere.

    It is the deviation over the square root of the runs it is of. Where their number is not known the deviation is
    taken whole, as of one run: too wide an interval rather than too narrow a one.
    """
    errors = np.zeros((len(algorithms), len(datasets)))
    if c.DEVIATION not in rows.columns:
        return errors
    runs = pl.col(c.RUNS).fill_null(1).clip(1) if c.RUNS in rows.columns else pl.lit(1)
    alone = rows.filter(pl.len().over(c.ALGORITHM, c.DATASET) == 1).drop_nulls([c.DEVIATION, c.VALUE])
    errors[places_of(alone, algorithms, datasets)] = (
        alone.select(pl.col(c.DEVIATION) / runs.sqrt()).to_series().to_numpy()
    )
    return errors


def fill_worst(
    values: FloatArray, replicates: FloatArray, upward: bool, datasets: list[str], label: str
) -> tuple[FloatArray, FloatArray]:
    """Values and their repeats with each hole filled by the worst value that any algorithm has on its dataset."""
    empty = np.isnan(values).all(axis=0)
    if empty.any():
        name = datasets[int(np.flatnonzero(empty)[0])]
        raise InputError(f"no algorithm has {label} on {name}", fix="choose `missing='drop-datasets'`")
    worst = np.nanmin(values, axis=0) if upward else np.nanmax(values, axis=0)
    holes = np.isnan(values)
    filled, repeated = values.copy(), replicates.copy()
    filled[holes] = np.broadcast_to(worst, values.shape)[holes]
    repeated[holes, 0] = filled[holes]
    return filled, repeated
