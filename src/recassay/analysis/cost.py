"""What each algorithm and each dataset cost: seconds, memory and energy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from recassay.core import columns as c
from recassay.core.analysis import Analysis, AnalysisSpec
from recassay.core.errors import NotApplicableError
from recassay.core.metric_facts import of_kind
from recassay.core.system.display import Displayed
from recassay.core.tables.labels import is_cost, split_label
from recassay.core.tables.results import Results


@dataclass(frozen=True, slots=True, eq=False)
class CostResult(Displayed):
    """Seconds, memory and energy of every cell."""

    cells: pl.DataFrame
    """One row per cell and measure: algorithm, dataset, measure (a metric of cost), value in seconds, MB or
    joules."""

    @property
    def measures(self) -> list[str]:
        """The measures that the table has, in the order of `core.metric_facts`."""
        present = set(self.cells.get_column("measure"))
        return [facts.name for facts in of_kind("cost") if facts.name in present]

    def spread(self, key: str) -> pl.DataFrame:
        """By `algorithm` or `dataset` and measure: cells, least, quartiles, median, most and sum."""
        value = pl.col(c.VALUE)
        return (
            self.cells.group_by(key, "measure")
            .agg(
                pl.len().alias("cells"),
                value.min().alias("least"),
                value.quantile(0.25, "linear").alias("lower_quartile"),
                value.median().alias("median"),
                value.quantile(0.75, "linear").alias("upper_quartile"),
                value.max().alias("most"),
                value.sum().alias("sum"),
            )
            .sort(pl.col("measure").replace_strict(self.measures, range(len(self.measures))), "median", key)
        )

    def to_frame(self) -> pl.DataFrame:
        """The spread by algorithm."""
        return self.spread(c.ALGORITHM)

    def frames(self) -> dict[str, pl.DataFrame]:
        """By algorithm, by dataset, and every cell."""
        return {
            "cost_by_algorithm": self.spread(c.ALGORITHM),
            "cost_by_dataset": self.spread(c.DATASET),
            "cost_cells": self.cells,
        }

    def to_dict(self) -> dict[str, Any]:
        """The spreads as rows."""
        return {"by_algorithm": self.spread(c.ALGORITHM).to_dicts(), "by_dataset": self.spread(c.DATASET).to_dicts()}


def measure_cost(results: Results) -> CostResult:
    """Times and memory of a results table, by cell."""
    known = {split_label(label)[0]: label for label in reversed(results.metrics) if is_cost(label)}
    if not known:
        raise NotApplicableError(
            "the table has no times and no memory", fix="add seconds_fit, seconds_predict or memory"
        )
    cells = pl.concat(
        results.cells(known[measure])
        .drop_nulls(c.VALUE)
        .select(c.ALGORITHM, c.DATASET, pl.lit(measure).alias("measure"), c.VALUE)
        for measure in sorted(known)
    )
    if not cells.height:
        raise NotApplicableError("no time and no memory was measured", fix="run the study's cells first")
    return CostResult(cells)


def _run(results: Results, spec: AnalysisSpec) -> CostResult:
    return measure_cost(results)


ANALYSIS = Analysis(
    name="cost",
    question="What does each {algorithm} cost in time, memory and energy, and on which {datasets}?",
    source="",
    run=_run,
)
