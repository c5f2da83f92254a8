"""A board: its table, the algorithms that have a place on it, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
from recassay.data.published.tables import on_every_dataset

METRIC = "ndcg@10"
JUDGED = (METRIC, "recall@20", "coverage@10")
"""The metrics with a verdict of their own; of the others the page ranks."""
COSTS = ("seconds_fit", "seconds_predict", "memory", "joules")
_KINDS = {
    "baseline": "baselines",
    "neighbours": "neighbours random_walks",
    "linear": "linear slim sparse_linear nce_plrec graph_filters svd",
    "factors": "als bpr warp rating_mf nmf latent_class",
    "sequential": "rules session_knn",
    "sequential network": "sasrec gru4rec bert4rec",
}
_KIND_OF = {module: kind for kind, modules in _KINDS.items() for module in modules.split()}


@dataclass
class Board:
    """The table with what follows from it; `without` leaves datasets out."""

    benchmark: Benchmark
    without: tuple[str, ...] = ()
    frame: pl.DataFrame = field(init=False)
    placed: list[str] = field(init=False)
    """The algorithms that ran on every dataset, those left out too."""
    _verdicts: dict[str, Verdict] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        whole = (
            pl.read_csv(self.benchmark.folder / RESULTS)
            .group_by("algorithm", "dataset", "metric")
            .agg(pl.col("value").mean())
            .sort("metric", "dataset", "algorithm")
        )
        self.placed = on_every_dataset(whole.filter(pl.col("metric") == METRIC))["algorithm"].unique().sort().to_list()
        self.frame = whole.filter(~pl.col("dataset").is_in(list(self.without)))

    @property
    def datasets(self) -> list[str]:
        """The datasets, those left out aside."""
        return [name for name in self.benchmark.datasets if name not in self.without]

    def values(self, metric: str) -> pl.DataFrame:
        """Rows of algorithm, dataset and value."""
        return self.frame.filter(pl.col("metric") == metric).select("algorithm", "dataset", "value")

    @property
    def metrics(self) -> list[str]:
        """The metrics that are not costs."""
        found = self.frame["metric"].unique(maintain_order=True).to_list()
        return [METRIC, *(name for name in found if name not in (METRIC, *COSTS))]

    @cached_property
    def gaps(self) -> dict[str, dict[str, str]]:
        """By algorithm without a place the datasets that it lacks, each with the reason."""
        lacking: dict[str, dict[str, str]] = {}
        for cell in self.benchmark.not_run:
            lacking.setdefault(cell["algorithm"], {})[cell["dataset"]] = cell["reason"]
        return dict(sorted(lacking.items(), key=lambda one: (len(one[1]), one[0])))

    def verdict(self, metric: str = METRIC, only: Iterable[str] | None = None) -> Verdict:
        """The verdict on the algorithms with a place, or on some of them."""
        names = sorted(only) if only is not None else self.placed
        key = "\0".join((metric, *names))
        if key not in self._verdicts:
            rows = self.values(metric).filter(pl.col("algorithm").is_in(names))
            results = Results.from_frame(rows.with_columns(pl.lit(metric).alias("metric")))
            self._verdicts[key] = judge(results.matrix(metric))
        return self._verdicts[key]

    @property
    def overall(self) -> Verdict:
        """The verdict on nDCG@10 of all algorithms with a place."""
        return self.verdict()

    @cached_property
    def of_best(self) -> dict[str, float]:
        """By algorithm the median over the datasets of nDCG@10 as a share of the best algorithm's there."""
        shares = self.values(METRIC).with_columns(pl.col("value") / pl.col("value").max().over("dataset"))
        return dict(shares.group_by("algorithm").agg(pl.col("value").median()).iter_rows())

    @cached_property
    def traits(self) -> dict[str, dict[str, float]]:
        """By dataset, difficulty and discrimination by beta-IRT; nothing where it cannot be fitted."""
        rows = self.values(METRIC).filter(pl.col("algorithm").is_in(self.placed))
        try:
            fitted = recassay.beta_irt(rows.with_columns(pl.lit(METRIC).alias("metric")), METRIC)
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
        )

    def median_cost(self, cost: str, datasets: Sequence[str] | None = None) -> dict[str, float]:
        """By algorithm the median over these datasets (by default all), where it has a value on each."""
        wanted = list(datasets or self.datasets)
        rows = self.values(cost).filter(pl.col("dataset").is_in(wanted))
        rows = rows.filter(pl.len().over("algorithm") == len(wanted))
        return dict(rows.group_by("algorithm").agg(pl.col("value").median()).iter_rows())

    def device(self, name: str) -> str:
        """What an algorithm's cells ran on, where that is known."""
        cells = self.benchmark.cells()
        on = cells.filter(pl.col("algorithm") == name)["device"] if "device" in cells.columns else pl.Series([""])
        return str(on[0]) if len(on) else ""

    @property
    def title(self) -> str:
        """Which board this is."""
        return "by time" if self.benchmark.name.endswith("time") else "of random splits"

    @property
    def of_datasets(self) -> str:
        """The datasets, as findings call them."""
        how = "split by time" if self.benchmark.name.endswith("time") else "split at random"
        return f"the {len(self.datasets)} datasets {how}"


def kind_of(name: str) -> str:
    """What kind of algorithm it is."""
    if name not in algorithms:
        return "other"
    module = algorithms.get(name).__module__
    return _KIND_OF.get(module.rpartition(".")[2], "network" if ".neural." in module else "other")


def is_neural(name: str) -> bool:
    """Whether an algorithm trains a network."""
    return kind_of(name).endswith("network")


def is_sequential(name: str) -> bool:
    """Whether an algorithm uses the order of events."""
    return kind_of(name).startswith("sequential")
