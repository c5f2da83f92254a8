"""A table of results in, a checked matrix out: `Results` (long frame) and `Matrix` (algorithms x datasets)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol, get_args

import numpy as np
import polars as pl

from recassay.core import columns as c
from recassay.core.choices import MissingPolicy
from recassay.core.errors import InputError, NotApplicableError, UsageError, listing
from recassay.core.system.display import table_html
from recassay.core.tables.labels import find_label, known_direction, normal_label, refuse_bad_label
from recassay.core.tables.result_checks import (
    as_number,
    as_text,
    details,
    refuse_duplicates,
    refuse_infinite,
    refuse_nameless,
)
from recassay.core.types import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Source:
    """A file that results came from, and the SHA-256 of its bytes."""

    file: str
    """Its name."""
    sha256: str
    """The SHA-256 of its bytes."""


class Sourced(Protocol):
    """Whatever knows the files it came from."""

    @property
    def sources(self) -> tuple[Source, ...]:
        """The files, in order."""


@dataclass(frozen=True, slots=True)
class MissingCells:
    """Which cells a matrix lacked and what was done about them."""

    policy: str = "error"
    """What was to be done about them."""
    cells: tuple[tuple[str, str], ...] = ()
    """The missing cells, each as algorithm and dataset."""
    dropped: tuple[str, ...] = ()
    """The algorithms or datasets that were dropped for them."""

    def sentence(self) -> str:
        """What was done, in words; empty when nothing was missing."""
        if not self.cells:
            return ""
        done = {
            "drop-datasets": f"dropped {len(self.dropped)} datasets: {listing(self.dropped, most=30)}",
            "drop-algorithms": f"dropped {len(self.dropped)} algorithms: {listing(self.dropped, most=30)}",
            "worst": "each took the worst value seen on its dataset",
        }[self.policy]
        return f"{len(self.cells)} cells were missing; {done}"


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """One metric, complete and finite: `values[a, d]` of algorithm `a` on dataset `d`, names in sorted order.

    `replicates[a, d, :]` holds the repeated measurements (seeds or folds) behind each value, padded with NaN;
    they are `paired` when position r means the same fold for every algorithm of a dataset. `standard_errors[a, d]` is
    that of a value whose table stated its deviation; 0 where none was stated or the repeats themselves are known.
    """

    values: FloatArray
    algorithms: tuple[str, ...]
    datasets: tuple[str, ...]
    metric: str
    higher_is_better: bool
    replicates: FloatArray | None = None
    paired: bool = False
    missing: MissingCells = field(default_factory=MissingCells)
    standard_errors: FloatArray | None = None

    @property
    def repeated(self) -> bool:
        """Whether something is known of how the values vary when they are measured again."""
        return self.replicates is not None or self.standard_errors is not None

    def __post_init__(self) -> None:
        if self.values.shape != (len(self.algorithms), len(self.datasets)):
            raise ValueError(f"values {self.values.shape} do not fit the names")
        if not np.isfinite(self.values).all():
            raise ValueError("a Matrix holds finite values only")
        if not self.datasets:
            raise InputError(f"no dataset is left for {self.metric}", fix="a comparison needs at least one")
        if len(self.algorithms) < 2:
            raise InputError(
                f"only one algorithm has values for {self.metric}"
                if self.algorithms
                else f"no algorithm is left for {self.metric}",
                fix="a comparison needs at least two algorithms",
            )


def single_dataset(metric: str) -> NotApplicableError:
    """The one reason why what draws on the spread over datasets is not done on a single one."""
    return NotApplicableError(
        f"only one dataset has values for {metric}, and this needs at least two datasets",
        fix="for one dataset, recassay users tests over its users",
    )


@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """A checked long table: algorithm, dataset, metric, value [, seed, fold]; missing values are null.

    Where they are known it has the columns of `columns.RESULT_DETAILS` as well. `notes` are sentences that a reader of
    the numbers must know: what was stripped from cells, where they came from, what cannot be compared. `users` are the
    rows of single users (algorithm, dataset, metric, user, value) that values are the means of, where the table had
    them.
    """

    frame: pl.DataFrame
    """One row a value: algorithm, dataset, metric, value, and seed and fold where there are any."""
    sources: tuple[Source, ...] = ()
    notes: tuple[str, ...] = ()
    users: pl.DataFrame | None = None
    _known: dict[str, Any] = field(default_factory=dict, init=False, repr=False)
    """What was read off the frame before: names and tables are asked for dozens of times."""

    @classmethod
    def from_frame(
        cls,
        frame: pl.DataFrame,
        *,
        where: str = "the table",
        sources: tuple[Source, ...] = (),
        notes: tuple[str, ...] = (),
    ) -> Results:
        """Check a long frame and normalise its metric labels; each defect raises `InputError` with its own line."""
        absent = [name for name in (*c.RESULT_KEY, c.VALUE) if name not in frame.columns]
        if absent:
            raise InputError(
                f"no column {listing(map(repr, absent))} among {listing(map(repr, frame.columns), most=8)}",
                where=where,
                fix="name it with --column (for example --column value=score), or use --wide for a wide table",
            )
        if frame.height == 0:
            raise InputError("the table is empty", where=where, fix="give at least two algorithms on two datasets")
        kept = [*c.RESULT_KEY, *(n for n in c.RESULT_REPLICATES if n in frame.columns)]
        for name in (*kept, c.VALUE):
            kind = frame.schema[name]
            if kind.is_nested() or kind in (pl.Binary, pl.Object):
                raise InputError(
                    f"column {name!r} holds {str(kind).lower()[:40]}, not text or numbers",
                    where=where,
                    fix="write it as plain values",
                )
        frame = frame.select(
            *(as_text(name) for name in kept),
            as_number(frame.get_column(c.VALUE), where).alias(c.VALUE),
            *details(frame),
        )
        refuse_nameless(frame, where)
        for label in frame.get_column(c.METRIC).unique(maintain_order=True):
            refuse_bad_label(label, where)
        labels = {label: normal_label(label) for label in frame.get_column(c.METRIC).unique()}
        frame = frame.with_columns(pl.col(c.METRIC).replace(labels))
        refuse_infinite(frame, where)
        refuse_duplicates(frame, kept, where)
        return cls(frame, sources, notes)

    def _repr_html_(self) -> str:
        counts = f"{len(self.algorithms)} algorithms, {len(self.datasets)} datasets, {len(self.metrics)} metrics"
        return table_html(self.frame, f"Results: {counts}", most=10)

    @property
    def metrics(self) -> list[str]:
        """The metric labels, in order of first appearance."""
        return self._names(c.METRIC)

    @property
    def algorithms(self) -> list[str]:
        """The algorithms of the whole table, sorted."""
        return sorted(self._names(c.ALGORITHM))

    @property
    def datasets(self) -> list[str]:
        """The datasets of the whole table, sorted."""
        return sorted(self._names(c.DATASET))

    def _names(self, column: str) -> list[str]:
        """The values of a column, in order of first appearance."""
        if column not in self._known:
            self._known[column] = self.frame.get_column(column).unique(maintain_order=True).to_list()
        return list(self._known[column])

    def direction(self, metric: str, higher_is_better: bool | None = None) -> bool:
        """Whether higher is better for `metric`; for an unknown metric the caller must have said it."""
        if higher_is_better is not None:
            return higher_is_better
        known = known_direction(metric)
        if known is None and c.HIGHER_IS_BETTER in self.frame.columns:
            said = self.frame.filter(pl.col(c.METRIC) == metric).get_column(c.HIGHER_IS_BETTER).drop_nulls().unique()
            known = bool(said[0]) if said.len() == 1 else None
        if known is None:
            raise UsageError(
                f"it is not known whether higher or lower values of {metric!r} are better",
                fix="say --higher-is-better or --lower-is-better",
            )
        return known

    def cells(self, metric: str) -> pl.DataFrame:
        """The one number of every cell of a metric (its label in the table): algorithm, dataset, value, sorted.

        Repeated measurements are averaged within their fold first, then over folds, so that a fold with more seeds
        weighs no more than another; without folds it is the mean over seeds. Null where any measurement is null.
        """
        rows = self.frame.filter(pl.col(c.METRIC) == metric)
        if c.FOLD in rows.columns:
            rows = _fold_means(rows)
        return rows.group_by(c.ALGORITHM, c.DATASET, maintain_order=True).agg(_MEAN).sort(c.ALGORITHM, c.DATASET)

    def table(self, metric: str) -> FloatArray:
        """The `cells` of a metric as a table of all `algorithms` x all `datasets`, NaN where there is no value."""
        key = f"table {metric}"
        if key not in self._known:
            cells, algorithms, datasets = self.cells(metric), self.algorithms, self.datasets
            values = np.full((len(algorithms), len(datasets)), np.nan)
            values[_places(cells, algorithms, datasets)] = cells.get_column(c.VALUE).fill_null(np.nan).to_numpy()
            self._known[key] = values
        known: FloatArray = self._known[key]
        return known.copy()

    def matrix(
        self,
        metric: str,
        *,
        missing: MissingPolicy = "error",
        higher_is_better: bool | None = None,
        least_datasets: int = 2,
    ) -> Matrix:
        """The algorithms x datasets matrix of one metric, each value as `cells` has it.

        Fewer than `least_datasets` datasets raise `NotApplicableError`: most analyses draw on the spread over datasets.

        A cell is missing when the table (any metric of it) knows the algorithm and the dataset but this metric has
        no row, or a row without a value. `missing` says what to do then: `error` lists them; `drop-datasets` and
        `drop-algorithms` leave out each one with a missing cell; `worst` fills in the worst value that any algorithm
        has on that dataset.
        """
        if missing not in get_args(MissingPolicy):
            raise UsageError(
                f"missing={missing!r} is no policy", fix=f"use one of {listing(get_args(MissingPolicy), most=None)}"
            )
        label = find_label(metric, self.metrics)
        upward = self.direction(label, higher_is_better)
        algorithms, datasets, values = self.algorithms, self.datasets, self.table(label)
        rows = self.frame.filter(pl.col(c.METRIC) == label)
        replicates, paired = _replicates(rows, algorithms, datasets)
        errors = _standard_errors(rows, algorithms, datasets)
        holes = np.isnan(values)
        record = MissingCells()
        if holes.any():
            cells = tuple((algorithms[a], datasets[d]) for a, d in zip(*np.nonzero(holes), strict=True))
            record = MissingCells(missing, cells)
            if missing == "error":
                raise InputError(
                    f"{len(cells)} cells of {label} are missing: " + listing((f"{a} on {d}" for a, d in cells), most=6),
                    fix="choose --missing drop-datasets, drop-algorithms or worst",
                )
            if missing == "worst":
                values, replicates = _fill_worst(values, replicates, upward, datasets, label)
            else:
                axis = 0 if missing == "drop-datasets" else 1
                keep = ~np.any(holes, axis=axis)
                names = datasets if axis == 0 else algorithms
                record = MissingCells(missing, cells, tuple(n for n, k in zip(names, keep, strict=True) if not k))
                names[:] = [n for n, k in zip(names, keep, strict=True) if k]
                values = values[:, keep] if axis == 0 else values[keep]
                replicates = replicates[:, keep] if axis == 0 else replicates[keep]
                errors = errors[:, keep] if axis == 0 else errors[keep]
        if 0 < len(datasets) < least_datasets:
            raise single_dataset(label)
        return Matrix(
            values=values,
            algorithms=tuple(algorithms),
            datasets=tuple(datasets),
            metric=label,
            higher_is_better=upward,
            replicates=replicates if replicates.shape[2] > 1 else None,
            paired=paired,
            missing=record,
            standard_errors=errors if errors.any() else None,
        )


_MEAN = pl.when(pl.col(c.VALUE).null_count() == 0).then(pl.col(c.VALUE).mean()).alias(c.VALUE)
"""The mean of a group, null where one of its values is."""


def _fold_means(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.group_by(c.ALGORITHM, c.DATASET, c.FOLD, maintain_order=True).agg(_MEAN)


def _places(rows: pl.DataFrame, algorithms: list[str], datasets: list[str]) -> tuple[IntArray, IntArray]:
    """Where the algorithm and the dataset of every row stand in the lists of names."""
    algorithm, dataset = (
        rows.get_column(key).replace_strict(names, range(len(names)), return_dtype=pl.Int64).to_numpy()
        for key, names in ((c.ALGORITHM, algorithms), (c.DATASET, datasets))
    )
    return algorithm, dataset


def _replicates(rows: pl.DataFrame, algorithms: list[str], datasets: list[str]) -> tuple[FloatArray, bool]:
    """The repeated measurements of every cell (A x D x most repeats, NaN where absent) and whether they are paired.

    With folds, the seeds of a fold are averaged first: a fold is the same data for every algorithm, so that folds
    may be resampled jointly. A cell with any null measurement is missing as a whole.
    """
    by_fold = c.FOLD in rows.columns
    if by_fold:
        rows = _fold_means(rows)
    order = [n for n in (c.FOLD, c.SEED) if n in rows.columns]
    rows = rows.sort(order) if order else rows
    rows = rows.with_columns(pl.int_range(pl.len()).over(c.ALGORITHM, c.DATASET).alias("position"))
    depth = int(rows.get_column("position").max() or 0) + 1 if rows.height else 1  # type: ignore[arg-type]
    array = np.full((len(algorithms), len(datasets), depth), np.nan)
    algorithm, dataset = _places(rows, algorithms, datasets)
    values = rows.get_column(c.VALUE)
    array[algorithm, dataset, rows.get_column("position").to_numpy()] = values.fill_null(np.nan).to_numpy()
    null = values.is_null().to_numpy()
    array[algorithm[null], dataset[null], :] = np.nan
    paired = by_fold and all(
        part.group_by(c.ALGORITHM).agg(pl.col(c.FOLD).sort()).get_column(c.FOLD).n_unique() == 1
        for part in rows.partition_by(c.DATASET)
    )
    return array, paired


def _standard_errors(rows: pl.DataFrame, algorithms: list[str], datasets: list[str]) -> FloatArray:
    """The standard error of each cell with a single measurement and a stated deviation; 0 elsewhere.

    It is the deviation over the square root of the runs it is of. Where their number is not known the deviation is
    taken whole, as of one run: too wide an interval rather than too narrow a one.
    """
    errors = np.zeros((len(algorithms), len(datasets)))
    if c.DEVIATION not in rows.columns:
        return errors
    runs = pl.col(c.RUNS).fill_null(1).clip(1) if c.RUNS in rows.columns else pl.lit(1)
    alone = rows.filter(pl.len().over(c.ALGORITHM, c.DATASET) == 1).drop_nulls([c.DEVIATION, c.VALUE])
    errors[_places(alone, algorithms, datasets)] = (
        alone.select(pl.col(c.DEVIATION) / runs.sqrt()).to_series().to_numpy()
    )
    return errors


def _fill_worst(
    values: FloatArray, replicates: FloatArray, upward: bool, datasets: list[str], label: str
) -> tuple[FloatArray, FloatArray]:
    empty = np.isnan(values).all(axis=0)
    if empty.any():
        name = datasets[int(np.flatnonzero(empty)[0])]
        raise InputError(f"no algorithm has {label} on {name}", fix="choose --missing drop-datasets")
    worst = np.nanmin(values, axis=0) if upward else np.nanmax(values, axis=0)
    holes = np.isnan(values)
    filled, repeated = values.copy(), replicates.copy()
    filled[holes] = np.broadcast_to(worst, values.shape)[holes]
    repeated[holes, 0] = filled[holes]
    return filled, repeated
