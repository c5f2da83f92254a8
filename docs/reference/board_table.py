"""The table of the open benchmark, with the verdicts and traits that follow from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

import recassay
from recassay.analysis.verdict.fit import judge
from recassay.analysis.verdict.result import Verdict
from recassay.core.errors import RecAssayError
from recassay.core.registry import algorithms
from recassay.core.tables.results import Results
from recassay.data.published.benchmark import RESULTS, Benchmark
from recassay.data.published.tables import FEWEST, complete_part

METRIC = "ndcg@10"
COSTS = ("seconds_fit", "seconds_predict", "memory", "joules")


@dataclass
class Board:
    """The table with what follows from it."""

    benchmark: Benchmark
    frame: pl.DataFrame = field(init=False)

    def __post_init__(self) -> None:
        self.frame = (
            pl.read_csv(self.benchmark.folder / RESULTS)
            .group_by("algorithm", "dataset", "metric")
            .agg(pl.col("value").mean(), pl.col("value").std().alias("spread"), pl.len().alias("seeds"))
            .sort("metric", "dataset", "algorithm")
        )

    def values(self, metric: str) -> pl.DataFrame:
        """Rows of algorithm, dataset and value."""
        return self.frame.filter(pl.col("metric") == metric).select("algorithm", "dataset", "value")

    @property
    def metrics(self) -> list[str]:
        """The metrics that are no costs."""
        found = self.frame["metric"].unique(maintain_order=True).to_list()
        return [METRIC, *(name for name in found if name not in (METRIC, *COSTS))]

    def verdict(
        self, metric: str = METRIC, datasets: Sequence[str] | None = None, only: Sequence[str] | None = None
    ) -> Verdict:
        """The verdict on some algorithms and datasets, by default those of the overall verdict."""
        names, sets = only or self.overall.algorithms, datasets or self.overall.datasets
        rows = self.values(metric).filter(pl.col("algorithm").is_in(list(names)), pl.col("dataset").is_in(list(sets)))
        return self._judged(rows, metric)

    def _judged(self, rows: pl.DataFrame, metric: str = METRIC) -> Verdict:
        return judge(Results.from_frame(rows.with_columns(pl.lit(metric).alias("metric"))).matrix(metric))

    @cached_property
    def overall(self) -> Verdict:
        """The verdict on nDCG@10 of many algorithms, on the datasets that nearly all of them ran on."""
        return self._judged(complete_part(self.values(METRIC)))

    @cached_property
    def long(self) -> Verdict:
        """The verdict on nDCG@10 on nearly all datasets, of the algorithms that ran on all of these."""
        return self._judged(complete_part(self.values(METRIC), self._nearly_all()))

    def _nearly_all(self) -> int:
        return max(FEWEST, int(0.85 * len(self.benchmark.datasets)))

    @cached_property
    def traits(self) -> dict[str, dict[str, float]]:
        """By dataset, difficulty and discrimination by beta-IRT; nothing where it cannot be fitted."""
        rows = complete_part(self.values(METRIC), self._nearly_all()).with_columns(pl.lit(METRIC).alias("metric"))
        try:
            fitted = recassay.beta_irt(rows, METRIC)
        except RecAssayError:
            return {}
        pair = fitted.trait("difficulty"), fitted.trait("discrimination")
        return {
            name: {"difficulty": float(pair[0].estimate[n]), "discrimination": float(pair[1].estimate[n])}
            for n, name in enumerate(pair[0].names)
        }

    def ranks(self, metric: str = METRIC) -> pl.DataFrame:
        """Every value with its rank on the dataset, among all that ran there."""
        return self.values(metric).with_columns(
            pl.col("value").rank(descending=True).over("dataset").alias("rank"),
            pl.len().over("dataset").alias("of"),
            (pl.col("value") / pl.col("value").max().over("dataset")).alias("share"),
        )

    def median_cost(self, cost: str, datasets: Sequence[str] | None = None) -> dict[str, float]:
        """By algorithm, the median over these datasets, where it has a value on each; else over all that it ran on."""
        rows = self.values(cost)
        if datasets is not None:
            rows = rows.filter(pl.col("dataset").is_in(list(datasets)))
            rows = rows.filter(pl.len().over("algorithm") == len(datasets))
        return dict(rows.group_by("algorithm").agg(pl.col("value").median()).iter_rows())

    def clocked(self) -> tuple[list[str], list[str]]:
        """The datasets split by time, and the others."""
        timed = [n for n, one in self.benchmark.datasets.items() if "time" in str(one.protocol["split"])]
        return timed, [name for name in self.benchmark.datasets if name not in timed]


def is_neural(name: str) -> bool:
    """Whether an algorithm trains a network."""
    return name in algorithms and algorithms.get(name).__module__.startswith("recassay.algorithms.neural")
