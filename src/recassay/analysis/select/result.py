"""What was concluded about choices of datasets."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl

from recassay.core import columns as c
from recassay.core.system.display import Displayed
from recassay.core.system.plain import plain
from recassay.core.tabular import stated
from recassay.core.types import FloatArray

PRESERVING = "preserving"
METHODS = {
    "random": "uniformly at random",
    "kmeans": "the dataset nearest to each centre of k-means on characteristics",
    "d_optimal": "greedy D-optimal design on characteristics",
    "a_optimal": "greedy A-optimal design on characteristics",
    PRESERVING: "the subset that best preserves the ranking under bootstrap",
}
"""By name, what each does; all but the last do not look at the results."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The mean of several values and where the middle 95 % of them lie (their spread, not an error of the mean)."""

    mean: float
    low: float
    """The lower end of the middle 95 %."""
    high: float
    """The upper end."""

    @classmethod
    def of(cls, values: FloatArray) -> Spread:
        """Of these values."""
        low, high = np.quantile(values, [0.025, 0.975])
        return cls(float(values.mean()), float(low), float(high))

    def to_dict(self) -> dict[str, Any]:
        """`mean` and `middle_95`."""
        return {"mean": self.mean, "middle_95": [self.low, self.high]}


@dataclass(frozen=True, slots=True)
class DatasetChoice:
    """One method's k datasets and how well they keep the ranking of all (Spearman's rho).

    `rho`: on all algorithms and the metric of the choice, with the ranking of all datasets; for `random` (which has no
    choice of its own) the mean. `simulated`: that over the method's own chance, as in Table 4. All datasets contain the
    chosen ones, so both flatter: `left_out` is the same with the ranking of the datasets that were not chosen.
    `held_out_algorithms`: with that of the datasets not chosen, on halves of the algorithms that the choice did not
    see; `by_metric`: on metrics it did not see; `held_out_both`: both at once. For `preserving` only the held-out
    numbers are comparable with the other methods; `held_out_p` is how often random subsets reach as much.
    """

    method: str
    """Name of the method."""
    datasets: tuple[str, ...]
    """The chosen datasets; of `random` none."""
    rho: float
    better_than_random: float
    """The probability that the choice agrees better with the ranking of all than a random one does, ties counting
    half."""
    simulated: Spread | None
    left_out: Spread
    by_metric: dict[str, float]
    simulated_by_metric: dict[str, Spread] | None
    """As `simulated`, by metric; None for `preserving`."""
    held_out_algorithms: Spread | None
    held_out_better_than_random: float | None
    """The same on algorithms that the choice did not see."""
    held_out_p: float | None
    held_out_both: Spread | None

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return plain({
            "datasets": self.datasets,
            "spearman": self.rho,
            **stated(self, "better_than_random", "simulated"),
            "left_out_datasets": self.left_out,
            "simulated_by_metric": self.simulated_by_metric,
            "held_out": {
                "algorithms": self.held_out_algorithms,
                "better_than_random": self.held_out_better_than_random,
                "p": self.held_out_p,
                "metrics": self.by_metric,
                "algorithms_and_metrics": self.held_out_both,
            },
        })  # fmt: skip


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Agreement of a method at one k; `held_out` where the algorithms that judge were not chosen on."""

    method: str
    """Name of the method."""
    k: int
    """How many datasets are chosen."""
    held_out: bool
    spread: Spread
    """Spearman's rho over halves of the algorithms, or over starts."""


@dataclass(frozen=True, slots=True, eq=False)
class SelectResult(Displayed):
    """The choices by method, their agreement under every aggregation, and the agreement by k."""

    metric: str
    rule: str
    """The aggregation whose ranking is to be kept."""
    k: int
    """How many datasets were chosen."""
    algorithms: tuple[str, ...]
    datasets: tuple[str, ...]
    choices: dict[str, DatasetChoice]
    """By method, the datasets that it chose and how well they keep the ranking."""
    by_rule: dict[str, dict[str, float]]
    """By method and aggregation, Spearman's rho of the ranking on its choice with that on all datasets; for `random`
    the mean over 100 draws."""
    curve: tuple[CurvePoint, ...]
    """The agreement for several numbers of datasets, where it was asked for."""
    held_out_metrics: tuple[str, ...]
    """The other metrics of the table, which judge choices that never saw them."""
    halves: int
    """How many halves of the algorithms judged choices that were made on the other half."""
    simulations: int
    """How often the choice of a method with chance in it was repeated."""
    skipped: dict[str, str]
    """By name, the methods that could not choose, and why."""

    def to_frame(self) -> pl.DataFrame:
        """One row per method: its datasets, rho, and the held-out numbers."""
        unknown = Spread(math.nan, math.nan, math.nan)
        rows = []
        for name, choice in self.choices.items():
            held = choice.held_out_algorithms or unknown
            rows.append(
                {
                    "method": name,
                    "datasets": ", ".join(choice.datasets),
                    "spearman": choice.rho,
                    "better_than_random": choice.better_than_random,
                    "simulated_mean": (choice.simulated or unknown).mean,
                    "left_out_datasets": choice.left_out.mean,
                    "held_out_algorithms": held.mean,
                    "held_out_low": held.low,
                    "held_out_high": held.high,
                    "held_out_better_than_random": choice.held_out_better_than_random,
                    "held_out_p": choice.held_out_p,
                    "held_out_metrics": float(np.mean(list(choice.by_metric.values()))) if choice.by_metric else None,
                    "held_out_both": (choice.held_out_both or unknown).mean,
                }
            )
        numbers = [name for name in rows[0] if name not in {"method", "datasets"}]
        return pl.DataFrame(rows, schema_overrides={name: pl.Float64 for name in numbers}).fill_nan(None)

    def frames(self) -> dict[str, pl.DataFrame]:
        """The choices, Table 4 (by metric), the agreement under every aggregation, and by k."""
        frames = {"selection": self.to_frame()}
        metrics = [
            {"method": name, c.METRIC: metric, "spearman": choice.by_metric[metric],
             "simulated_mean": None if choice.simulated_by_metric is None else choice.simulated_by_metric[metric].mean}
            for name, choice in self.choices.items()
            for metric in self.held_out_metrics
        ]  # fmt: skip
        if metrics:
            frames["selection_metrics"] = pl.DataFrame(metrics, schema_overrides={"simulated_mean": pl.Float64})
        rules = [
            {"method": m, "aggregation": r, "spearman": v} for m, row in self.by_rule.items() for r, v in row.items()
        ]
        frames["selection_aggregations"] = pl.DataFrame(rules)
        if self.curve:
            points = [stated(p, "method", "k", "held_out") | asdict(p.spread) for p in self.curve]
            frames["selection_curve"] = pl.DataFrame(points)
        return frames

    def to_dict(self) -> dict[str, Any]:
        """`choices` by method with their numbers, `aggregations`, `curve`, and what was left out."""
        return {
            "metric": self.metric,
            "aggregation": self.rule,
            **stated(self, "k", "datasets", "algorithms", "choices"),
            "aggregations": self.by_rule,
            "curve": [{**stated(p, "method", "k", "held_out"), **p.spread.to_dict()} for p in self.curve],
            "skipped": self.skipped,
            "settings": stated(self, "simulations", "halves", "held_out_metrics"),
        }
