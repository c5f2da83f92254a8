"""A table of results in, a checked matrix out."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from typing import Any, get_args

import numpy as np
import polars as pl

from recassay.core import columns as c
from recassay.core.choices import MissingPolicy
from recassay.core.errors import InputError, UsageError
from recassay.core.system.display import table_html
from recassay.core.tables.cells import MEAN, fill_worst, fold_means, replicates_of, standard_errors_of, table_of
from recassay.core.tables.labels import find_label, known_direction, normal_label, refuse_bad_label
from recassay.core.tables.matrix import Matrix, MissingCells, single_dataset
from recassay.core.tables.result_checks import (
    as_number,
    as_text,
    details,
    refuse_duplicates,
    refuse_infinite,
    refuse_nameless,
    shown_names,
)
from recassay.core.tables.sources import Source
from recassay.core.types import FloatArray
from recassay.core.words import count_of, listing


@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """A checked long table: algorithm, dataset, metric, value [, seed, fold]; missing values are null.

    Where they are known it has the columns of `columns.RESULT_DETAILS` as well. `notes` are sentences that a reader of
    the numbers must know: what was stripped from cells, where they came from, what cannot be compared. `users` are the
    rows of single users (algorithm, dataset, metric, user, value) that values are the means of, where the table had
    them.
    """

    frame: pl.DataFrame
    """One row per value: algorithm, dataset, metric, value, and seed and fold where there are any."""
    sources: tuple[Source, ...] = ()
    notes: tuple[str, ...] = ()
    users: pl.DataFrame | None = None
    guesses: tuple[str, ...] = ()
    """Where the table was read by a guess, such as known names that tell algorithms from datasets."""
    words: tuple[str, str] = ("algorithm", "dataset")
    """What the table calls its algorithms and its datasets: `("model", "task")` in evaluations of models."""
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
                fix="name it with `columns` (for example `columns={'value': 'score'}`), or use `wide=True` for a wide "
                "table",
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
        frame, renamed = shown_names(frame)
        for label in frame.get_column(c.METRIC).unique(maintain_order=True):
            refuse_bad_label(label, where)
        labels = {label: normal_label(label) for label in frame.get_column(c.METRIC).unique()}
        frame = frame.with_columns(pl.col(c.METRIC).replace(labels))
        refuse_infinite(frame, where)
        refuse_duplicates(frame, kept, where)
        return cls(frame, sources, (*notes, *renamed))

    def _repr_html_(self) -> str:
        kinds = {"algorithm": self.algorithms, "dataset": self.datasets, "metric": self.metrics}
        counts = listing(count_of(len(names), kind) for kind, names in kinds.items())
        lines = "".join(f"<p>{html.escape(line)}</p>" for line in (self.told_reading(), *self.notes))
        return lines + table_html(self.frame, f"Results: {counts}", most=10)

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

    @property
    def reading(self) -> dict[str, Any]:
        """What was taken as algorithms, datasets and metrics: how many, the first three of each, and any guess."""
        names = {"algorithms": self.algorithms, "datasets": self.datasets, "metrics": self.metrics}
        counted = {kind: {"count": len(named), "examples": named[:3]} for kind, named in names.items()}
        return {**counted, "words": list(self.words), "guesses": list(self.guesses)}

    def told_reading(self) -> str:
        """`reading` as a line."""
        kinds = (*(f"{word}s" for word in self.words), "metrics")
        parts = [
            f"{len(named)} {kind if len(named) != 1 else kind[:-1]} ({listing(named, most=3)})"
            for kind, named in zip(kinds, (self.algorithms, self.datasets, self.metrics), strict=True)
        ]
        guessed = f"; guessed: {'; '.join(self.guesses)}" if self.guesses else ""
        return f"read: {', '.join(parts)}{guessed}"

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
            stated = self.frame.filter(pl.col(c.METRIC) == metric).get_column(c.HIGHER_IS_BETTER).drop_nulls().unique()
            known = bool(stated[0]) if stated.len() == 1 else None
        if known is None:
            raise UsageError(
                f"it is not known whether higher or lower values of {metric!r} are better",
                fix="say `higher_is_better=True` or `higher_is_better=False`",
            )
        return known

    def cells(self, metric: str) -> pl.DataFrame:
        """The one number of every cell of a metric (its label in the table): algorithm, dataset, value, sorted.

        Repeated measurements are averaged within their fold first, then over folds, so that a fold with more seeds
        weighs no more than another; without folds it is the mean over seeds. Null where any measurement is null.
        """
        rows = self.frame.filter(pl.col(c.METRIC) == metric)
        if c.FOLD in rows.columns:
            rows = fold_means(rows)
        return rows.group_by(c.ALGORITHM, c.DATASET, maintain_order=True).agg(MEAN).sort(c.ALGORITHM, c.DATASET)

    def table(self, metric: str) -> FloatArray:
        """The `cells` of a metric as a table of all `algorithms` x all `datasets`, NaN where there is no value."""
        key = f"table {metric}"
        if key not in self._known:
            self._known[key] = table_of(self.cells(metric), c.VALUE, self.algorithms, self.datasets)
        known: FloatArray = self._known[key]
        return known.copy()

    def _measured(self, metric: str) -> tuple[FloatArray, bool, FloatArray]:
        """The repeated measurements of a metric, whether they are paired, and standard errors of single ones."""
        key = f"measured {metric}"
        if key not in self._known:
            rows = self.frame.filter(pl.col(c.METRIC) == metric)
            repeated = replicates_of(rows, self.algorithms, self.datasets)
            self._known[key] = *repeated, standard_errors_of(rows, self.algorithms, self.datasets)
        replicates, paired, errors = self._known[key]
        return replicates.copy(), paired, errors.copy()

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
                f"missing={missing!r} is not a policy", fix=f"use one of {listing(get_args(MissingPolicy), most=None)}"
            )
        label = find_label(metric, self.metrics)
        upward = self.direction(label, higher_is_better)
        algorithms, datasets, values = self.algorithms, self.datasets, self.table(label)
        replicates, paired, errors = self._measured(label)
        holes = np.isnan(values)
        record = MissingCells()
        if holes.any():
            cells = tuple((algorithms[a], datasets[d]) for a, d in zip(*np.nonzero(holes), strict=True))
            record = MissingCells(missing, cells)
            if missing == "error":
                raise InputError(
                    f"{count_of(len(cells), 'cell')} of {label} {'is' if len(cells) == 1 else 'are'} missing: "
                    + listing((f"{a} on {d}" for a, d in cells), most=6),
                    fix="choose `missing='drop-datasets'`, `missing='drop-algorithms'` or `missing='worst'` "
                    "(compare then adds Skillings-Mack's test, which drops nothing); model keeps all cells as they are",
                )
            if missing == "worst":
                values, replicates = fill_worst(values, replicates, upward, datasets, label)
            else:
                axis = 0 if missing == "drop-datasets" else 1
                keep = ~np.any(holes, axis=axis)
                names = datasets if axis == 0 else algorithms
                record = MissingCells(missing, cells, tuple(n for n, k in zip(names, keep, strict=True) if not k))
                names[:] = [n for n, k in zip(names, keep, strict=True) if k]
                values, replicates, errors = (
                    np.compress(keep, part, axis=1 - axis) for part in (values, replicates, errors)
                )
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
            users=self.users is not None and label in self.users.get_column(c.METRIC),
        )
