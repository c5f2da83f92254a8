"""How much the metrics of a benchmark agree on the order of the algorithms (KDD'24, section 4.1, Figure 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from recassay.core import columns as c
from recassay.core import ties
from recassay.core.analysis import Analysis, AnalysisSpec
from recassay.core.errors import NotApplicableError
from recassay.core.system.display import Displayed
from recassay.core.system.plain import plain
from recassay.core.tables.results import Results
from recassay.core.tabular import by_name, long_frame
from recassay.core.types import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class CorrelationsResult(Displayed):
    """Spearman's correlations of the metrics over the algorithms, averaged over datasets."""

    metrics: tuple[str, ...]
    """Labels of the metrics, in the order of the arrays."""
    rho: FloatArray
    """Metrics x metrics: the mean correlation; NaN where no dataset allows one."""
    count: IntArray
    """Metrics x metrics: how many datasets it is the mean of."""

    def to_frame(self) -> pl.DataFrame:
        """Long: metric, other, spearman, datasets."""
        axes = {c.METRIC: self.metrics, "other": self.metrics}
        return long_frame(axes, {"spearman": self.rho, "datasets": self.count})

    def frames(self) -> dict[str, pl.DataFrame]:
        """The one table of correlations."""
        return {"metric_correlations": self.to_frame()}

    def to_dict(self) -> dict[str, Any]:
        """`spearman`: metric by metric; null where no dataset allows a correlation."""
        return plain({"metrics": self.metrics, "spearman": by_name(self.rho, self.metrics, self.metrics)})


def correlate_metrics(results: Results) -> CorrelationsResult:
    """Spearman's rho between metrics over the algorithms of each dataset, then the mean over datasets.

    Only algorithms with both values count; a dataset with fewer than three of them, or where a metric is constant,
    says nothing. Values enter as they are: for lower-is-better metrics agreement shows as a negative rho.
    """
    metrics = tuple(results.metrics)
    if len(metrics) < 2:
        raise NotApplicableError("the table has one metric", fix="correlations need at least two")
    tables = np.stack([results.table(metric) for metric in metrics], axis=2)
    total = np.zeros((len(metrics), len(metrics)))
    count = np.zeros((len(metrics), len(metrics)), dtype=np.int64)
    for dataset in range(tables.shape[1]):
        rho = _spearman(tables[:, dataset])
        total += np.nan_to_num(rho)
        count += np.isfinite(rho)
    mean = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return CorrelationsResult(metrics, mean, count)


def _spearman(table: FloatArray) -> FloatArray:
    """Spearman's rho between the columns of a table (algorithms x metrics), each pair over the rows that have both."""
    known = np.isfinite(table)
    if known.all():
        return _complete_spearman(table)
    n_metrics = table.shape[1]
    rho = np.full((n_metrics, n_metrics), np.nan)
    for i in range(n_metrics):
        for j in range(i, n_metrics):
            both = known[:, i] & known[:, j]
            rho[i, j] = rho[j, i] = _complete_spearman(table[both][:, [i, j]])[0, 1]
    return rho


def _complete_spearman(table: FloatArray) -> FloatArray:
    """NaN for fewer than three rows, and for a column in which all tie."""
    if len(table) < 3:
        return np.full((table.shape[1], table.shape[1]), np.nan)
    ranks = ties.ranks(table, higher_is_better=False, axis=0)
    centred = ranks - ranks.mean(axis=0)
    length = np.sqrt((centred**2).sum(axis=0))
    unit = centred / np.where(length > 0, length, np.nan)
    return np.clip(unit.T @ unit, -1.0, 1.0)


def _run(results: Results, spec: AnalysisSpec) -> CorrelationsResult:
    return correlate_metrics(results)


ANALYSIS = Analysis(
    name="correlations",
    question="Do the metrics agree on the order of the {algorithms}?",
    source="KDD'24 section 4.1, Figure 2",
    run=_run,
)
