"""A results table as the model reads it: a value per cell, holes allowed, and what is known of each value's error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from recassay.core import columns as c
from recassay.core.errors import NotApplicableError
from recassay.core.tables.cells import MEAN, fold_means, places_of
from recassay.core.tables.labels import find_label
from recassay.core.tables.matrix import single_dataset
from recassay.core.tables.results import Results
from recassay.core.types import FloatArray, IntArray
from recassay.core.words import count_of


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """`values[j, a]` on dataset j of algorithm a (NaN where missing), the number of `repeats` behind each (folds, or
    seeds where there are no folds), and their standard `deviations` (0 without repeats). Where
    a table states a deviation and the number of runs, these are they."""

    metric: str
    higher_is_better: bool
    algorithms: tuple[str, ...]
    datasets: tuple[str, ...]
    values: FloatArray
    repeats: IntArray
    deviations: FloatArray


def read_cells(results: Results, metric: str, higher_is_better: bool | None = None) -> Cells:
    """The cells of one metric; algorithms and datasets without any value are left out."""
    label = find_label(metric, results.metrics)
    rows = results.frame.filter(pl.col(c.METRIC) == label)
    stated = _stated(rows)
    if c.FOLD in rows.columns:
        rows = fold_means(rows)
    cells = (
        rows.group_by(c.ALGORITHM, c.DATASET, maintain_order=True)
        .agg(MEAN, pl.len().alias("repeats"), pl.col(c.VALUE).sort().std().fill_null(0.0).alias("deviation"))
        .drop_nulls(c.VALUE)
    )
    algorithms = tuple(cells.get_column(c.ALGORITHM).unique().sort())
    datasets = tuple(cells.get_column(c.DATASET).unique().sort())
    if len(datasets) == 1:
        raise single_dataset(label)
    if len(algorithms) < 2:
        raise NotApplicableError(
            f"{label} has values of {count_of(len(algorithms), 'algorithm')} on {count_of(len(datasets), 'dataset')}",
            fix="the model needs at least two of each",
        )
    place = places_of(cells, algorithms, datasets)[::-1]
    shape = (len(datasets), len(algorithms))
    values, deviations, repeats = np.full(shape, np.nan), np.zeros(shape), np.zeros(shape, dtype=np.int64)
    values[place] = cells.get_column(c.VALUE).to_numpy()
    repeats[place] = cells.get_column("repeats").to_numpy()
    deviations[place] = cells.get_column("deviation").to_numpy()
    for algorithm, dataset, deviation, runs in stated:
        at = datasets.index(dataset), algorithms.index(algorithm)
        if repeats[at] == 1:
            repeats[at], deviations[at] = runs, deviation
    return Cells(label, results.direction(label, higher_is_better), algorithms, datasets, values, repeats, deviations)


def _stated(rows: pl.DataFrame) -> list[tuple[str, str, float, int]]:
    """Algorithm, dataset, deviation and number of runs where a table states them (`0.161 ± 0.001`).

    Where their number is not known two runs are supposed: the deviation then counts, and as little as it can.
    """
    if c.DEVIATION not in rows.columns:
        return []
    runs = pl.col(c.RUNS).fill_null(2).clip(2) if c.RUNS in rows.columns else pl.lit(2)
    known = rows.drop_nulls([c.DEVIATION, c.VALUE])
    return known.select(c.ALGORITHM, c.DATASET, c.DEVIATION, runs.cast(pl.Int64).alias(c.RUNS)).rows()
