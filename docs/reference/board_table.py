"""The table of the open benchmark, with the verdicts and traits that follow from it."""

from __future__ import annotations

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

    def whole(self, metric: str = METRIC, datasets: list[str] | None = None) -> pl.DataFrame:
        """The largest complete part that is found by leaving out what lacks the larger share of its values."""
        rows = self.values(metric)
        if datasets is not None:
            rows = rows.filter(pl.col("dataset").is_in(datasets))
        while rows.height:
            names, sets = rows["algorithm"].n_unique(), rows["dataset"].n_unique()
            if rows.height == names * sets:
                return rows
            of_algorithm = rows.group_by("algorithm").len().sort("len", "algorithm").row(0)
            of_dataset = rows.group_by("dataset").len().sort("len", "dataset").row(0)
            # An algorithm is left out before a dataset of the same share: datasets are what conclusions are drawn over.
            worse = of_algorithm[1] / sets <= of_dataset[1] / names
            column, name = ("algorithm", of_algorithm[0]) if worse else ("dataset", of_dataset[0])
            rows = rows.filter(pl.col(column) != name)
        return rows

    def verdict(
        self, metric: str = METRIC, datasets: list[str] | None = None, only: list[str] | None = None
    ) -> Verdict:
        """The verdict on the complete part."""
        rows = self.whole(metric, datasets)
        if only is not None:
            rows = rows.filter(pl.col("algorithm").is_in(only))
        frame = rows.with_columns(pl.lit(metric).alias("metric"))
        return judge(Results.from_frame(frame).matrix(metric))

    @cached_property
    def overall(self) -> Verdict:
        """The verdict on nDCG@10."""
        return self.verdict()

    @cached_property
    def traits(self) -> dict[str, dict[str, float]]:
        """By dataset, difficulty and discrimination by beta-IRT; nothing where it cannot be fitted."""
        rows = self.whole().with_columns(pl.lit(METRIC).alias("metric"))
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

    def median_cost(self, cost: str) -> dict[str, float]:
        """By algorithm, the median over the datasets."""
        rows = self.values(cost).group_by("algorithm").agg(pl.col("value").median())
        return dict(rows.iter_rows())

    def clocked(self) -> tuple[list[str], list[str]]:
        """The datasets split by time, and the others."""
        timed = [n for n, one in self.benchmark.datasets.items() if "time" in str(one.protocol["split"])]
        return timed, [name for name in self.benchmark.datasets if name not in timed]


def is_neural(name: str) -> bool:
    """Whether an algorithm trains a network."""
    return name in algorithms and algorithms.get(name).__module__.startswith("recassay.algorithms.neural")
