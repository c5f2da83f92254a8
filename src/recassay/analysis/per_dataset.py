"""Every algorithm on every dataset, with the uncertainty of each number where something was measured repeatedly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl
from scipy import stats

from recassay.core import columns as c
from recassay.core.analysis import Analysis, AnalysisSpec
from recassay.core.display import Displayed
from recassay.core.plain import plain
from recassay.core.results import Matrix, Results
from recassay.core.types import FloatArray, IntArray

IntervalSource = Literal["users", "repeats", "stated", "none"]


@dataclass(frozen=True, slots=True, eq=False)
class PerDatasetResult(Displayed):
    """`values[a, d]` with `low` and `high` (NaN where there is no interval) and `share`, the value relative to the
    best of its dataset (1 the best; best / value where lower is better).

    `source` says what the intervals are over: the `users` of the test part, or the `repeats` (seeds or folds).
    """

    metric: str
    higher_is_better: bool
    algorithms: tuple[str, ...]
    datasets: tuple[str, ...]
    values: FloatArray
    low: FloatArray
    high: FloatArray
    share: FloatArray
    source: IntervalSource
    confidence: float

    def order(self) -> list[int]:
        """The algorithms by their mean share of the best, highest first."""
        mean = self.share.mean(axis=1)
        return sorted(range(len(self.algorithms)), key=lambda a: (-mean[a], self.algorithms[a]))

    def unsettled(self) -> tuple[str, ...]:
        """Datasets on which the interval of the best overlaps that of the second."""
        names = []
        for d, name in enumerate(self.datasets):
            up = self.values[:, d] if self.higher_is_better else -self.values[:, d]
            first, second = np.argsort(-up, kind="stable")[:2]
            near, far = (self.low, self.high) if self.higher_is_better else (-self.high, -self.low)
            if near[first, d] <= far[second, d]:
                names.append(name)
        return tuple(names)

    def to_frame(self) -> pl.DataFrame:
        """One row a cell."""
        return pl.DataFrame(
            [
                {c.DATASET: dataset, c.ALGORITHM: self.algorithms[a], c.VALUE: float(self.values[a, d]),
                 "low": float(self.low[a, d]), "high": float(self.high[a, d]),
                 "share_of_best": float(self.share[a, d])}
                for d, dataset in enumerate(self.datasets)
                for a in self.order()
            ]
        ).fill_nan(None)  # fmt: skip

    def frames(self) -> dict[str, pl.DataFrame]:
        """The cells, and the values as a table of algorithms by datasets."""
        wide = pl.DataFrame({c.ALGORITHM: self.algorithms}).with_columns(
            pl.Series(name, self.values[:, d]) for d, name in enumerate(self.datasets) if name != c.ALGORITHM
        )
        return {"per_dataset": self.to_frame(), "values": wide[self.order()]}

    def to_dict(self) -> dict[str, Any]:
        """By dataset and algorithm: an estimate, with its interval where there is one."""
        return plain(
            {
                "metric": self.metric,
                "source": self.source,
                "confidence": self.confidence,
                "values": {
                    dataset: {
                        name: {
                            "estimate": float(self.values[a, d]),
                            "interval": [float(self.low[a, d]), float(self.high[a, d])],
                        }
                        for a, name in enumerate(self.algorithms)
                    }
                    for d, dataset in enumerate(self.datasets)
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
        places = [
            users.get_column(key).replace_strict(names, range(len(names)), default=-1, return_dtype=pl.Int64).to_numpy()
            for key, names in ((c.ALGORITHM, matrix.algorithms), (c.DATASET, matrix.datasets))
        ]
        known = (places[0] >= 0) & (places[1] >= 0)
        count[places[0][known], places[1][known]] = users.get_column("n").to_numpy()[known]
        deviation[places[0][known], places[1][known]] = users.get_column("deviation").to_numpy()[known]
    half = _half_width(count, deviation, confidence)
    if source == "none" and matrix.standard_errors is not None:
        source = "stated"
        errors = np.where(matrix.standard_errors > 0, matrix.standard_errors, np.nan)
        half = stats.norm.ppf(0.5 + confidence / 2) * errors
    best = matrix.values.max(axis=0) if matrix.higher_is_better else matrix.values.min(axis=0)
    above, below = (matrix.values, best[None]) if matrix.higher_is_better else (best[None], matrix.values)
    share = np.where(np.broadcast_to(above, shape) == below, 1.0, 0.0)
    np.divide(above, below, out=share, where=np.broadcast_to(below, shape) > 0)
    return PerDatasetResult(
        metric=matrix.metric,
        higher_is_better=matrix.higher_is_better,
        algorithms=matrix.algorithms,
        datasets=matrix.datasets,
        values=matrix.values,
        low=matrix.values - half,
        high=matrix.values + half,
        share=share,
        source=source,
        confidence=confidence,
    )


def _half_width(count: IntArray, deviation: FloatArray, confidence: float) -> FloatArray:
    degrees = np.maximum(count - 1, 1)
    t = stats.t.ppf(0.5 + confidence / 2, degrees)
    return np.where(count > 1, t * deviation / np.sqrt(count), np.nan)


def _run(results: Results, spec: AnalysisSpec) -> PerDatasetResult:
    matrix = results.matrix(spec.metric, missing=spec.missing, higher_is_better=spec.higher_is_better, least_datasets=1)
    users = None
    scores = spec.known("user_scores") if matrix.replicates is None else None
    if scores is not None:
        users = scores(matrix.metric)
    return per_dataset(matrix, users=users, confidence=1 - spec.alpha)


ANALYSIS = Analysis(
    name="per_dataset",
    question="How does each algorithm do on each dataset, and how sure is that number?",
    source="",
    run=_run,
)
