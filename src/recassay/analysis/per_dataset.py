"""Every algorithm on every dataset, with the uncertainty of each number where something was measured repeatedly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from recassay.analysis.aggregation.contest import share_of_best
from recassay.analysis.inference.distributions import normal_quantile, t_quantile
from recassay.core import columns as c
from recassay.core.analysis import Analysis, AnalysisSpec
from recassay.core.system.plain import plain
from recassay.core.tables.cells import places_of
from recassay.core.tables.matrix import Matrix, MatrixResult
from recassay.core.tables.results import Results
from recassay.core.tabular import estimates, long_frame, stated
from recassay.core.ties import beats
from recassay.core.types import FloatArray

IntervalSource = Literal["users", "repeats", "stated", "none"]


@dataclass(frozen=True, slots=True)
class Ahead:
    """On one dataset, the best two by their means, and the share of paired repeats in which the first is better."""

    dataset: str
    first: str
    """The best mean."""
    second: str
    """The second."""
    share: float
    """The share of paired repeats in which the first is better."""
    repeats: int
    """How many repeats both have."""


@dataclass(frozen=True, slots=True, eq=False)
class PerDatasetResult(MatrixResult):
    """Every value with its interval; arrays are algorithms x datasets."""

    values: FloatArray
    """The values, means over seeds and folds, in the metric's units."""
    low: FloatArray
    """The lower ends of their intervals; NaN where there is none."""
    high: FloatArray
    """The upper ends."""
    share: FloatArray
    """The value relative to the best of its dataset: 1 the best (best / value where lower is better)."""
    source: IntervalSource
    """What the intervals are over: the `users` of the test part, the `repeats` (seeds or folds), the deviations that
    the table itself has (`stated`), or nothing (`none`)."""
    confidence: float
    ahead: tuple[Ahead, ...] = ()
    """For each dataset, the best two compared repeat by repeat, where repeats are paired."""

    def order(self) -> list[int]:
        """The algorithms by their mean share of the best, highest first."""
        mean = self.share.mean(axis=1)
        return sorted(range(len(self.algorithms)), key=lambda a: (-mean[a], self.algorithms[a]))

    def to_frame(self) -> pl.DataFrame:
        """One row per cell."""
        return long_frame(
            {c.DATASET: self.datasets, c.ALGORITHM: self.algorithms},
            {c.VALUE: self.values.T, "low": self.low.T, "high": self.high.T, "share_of_best": self.share.T},
            order=self.order(),
        )

    def frames(self) -> dict[str, pl.DataFrame]:
        """The cells, and the values as a table of algorithms by datasets."""
        wide = pl.DataFrame({c.ALGORITHM: self.algorithms}).with_columns(
            pl.Series(name, self.values[:, d]) for d, name in enumerate(self.datasets) if name != c.ALGORITHM
        )
        return {"per_dataset": self.to_frame(), "values": wide[self.order()]}

    def to_dict(self) -> dict[str, Any]:
        """By dataset and algorithm: an estimate, with its interval where there is one."""
        cells = zip(self.values.T, np.stack([self.low, self.high], axis=2).swapaxes(0, 1), strict=True)
        return plain(
            {
                **stated(self, "metric", "source", "confidence"),
                "ahead": {lead.dataset: stated(lead, "first", "second", "share", "repeats") for lead in self.ahead},
                "values": {
                    dataset: estimates(self.algorithms, values, ends)
                    for dataset, (values, ends) in zip(self.datasets, cells, strict=True)
                },
            }
        )


def per_dataset(matrix: Matrix, *, users: pl.DataFrame | None = None, confidence: float = 0.95) -> PerDatasetResult:
    """The cells of a matrix, with t intervals of their means: mean +- t_{n-1} s / sqrt(n).

    n are the repeated measurements of a cell (seeds or folds) where there are any, else the users of the test part:
    `users` has algorithm, dataset, n and deviation. Users of one dataset are the same for every algorithm, so
    overlapping intervals are a careful sign, not a test. Where the table itself states deviations, their standard
    errors give normal intervals. Values drawn once and without any of this have no interval.
    """
    shape = matrix.values.shape
    count, deviation = np.ones(shape, dtype=np.int64), np.full(shape, np.nan)
    source: IntervalSource = "none"
    if matrix.replicates is not None:
        source, count = "repeats", np.isfinite(matrix.replicates).sum(axis=2)
        with np.errstate(invalid="ignore", divide="ignore"):
            centred = matrix.replicates - matrix.values[:, :, None]
            deviation = np.sqrt(np.nansum(centred**2, axis=2) / (count - 1))
    elif users is not None and users.height:
        source = "users"
        known = users.filter(pl.col(c.ALGORITHM).is_in(matrix.algorithms), pl.col(c.DATASET).is_in(matrix.datasets))
        place = places_of(known, matrix.algorithms, matrix.datasets)
        count[place], deviation[place] = known.get_column("n").to_numpy(), known.get_column("deviation").to_numpy()
    t = t_quantile(0.5 + confidence / 2, np.maximum(count - 1, 1))
    half = np.where(count > 1, t * deviation / np.sqrt(count), np.nan)
    if source == "none" and matrix.standard_errors is not None:
        source = "stated"
        errors = np.where(matrix.standard_errors > 0, matrix.standard_errors, np.nan)
        half = normal_quantile(0.5 + confidence / 2) * errors
    return PerDatasetResult(
        *matrix.head,
        values=matrix.values,
        low=matrix.values - half,
        high=matrix.values + half,
        share=share_of_best(matrix.values, higher_is_better=matrix.higher_is_better),
        source=source,
        confidence=confidence,
        ahead=tuple(_ahead(matrix)),
    )


def _ahead(matrix: Matrix) -> Iterator[Ahead]:
    if matrix.replicates is None or not matrix.paired:
        return
    sign = 1 if matrix.higher_is_better else -1
    for d, name in enumerate(matrix.datasets):
        first, second = np.argsort(-sign * matrix.values[:, d], kind="stable")[:2]
        best, other = matrix.replicates[first, d], matrix.replicates[second, d]
        both = np.isfinite(best) & np.isfinite(other)
        share = float(beats(sign * best[both], sign * other[both]).mean()) if both.any() else float("nan")
        names = matrix.algorithms[first], matrix.algorithms[second]
        yield Ahead(name, *names, share, int(both.sum()))


def _run(results: Results, spec: AnalysisSpec) -> PerDatasetResult:
    matrix = spec.matrix(results, least_datasets=1)
    scores = spec.known("user_scores") if matrix.replicates is None else None
    users = None if scores is None else scores(matrix.metric)
    return per_dataset(matrix, users=users, confidence=1 - spec.alpha)


ANALYSIS = Analysis(
    name="per_dataset",
    question="How does each {algorithm} do on each {dataset}, and how sure is that number?",
    source="",
    run=_run,
)
