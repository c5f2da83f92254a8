"""Accuracy against what it costs or crowds out: coverage, novelty, popularity, seconds, ...; who is beaten in both?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from recassay.analysis.inference.bootstrap import dataset_weights
from recassay.core import columns as c
from recassay.core.analysis import Analysis, AnalysisSpec
from recassay.core.choices import FEWEST_DATASETS
from recassay.core.errors import NotApplicableError
from recassay.core.metric_facts import of_kind
from recassay.core.seeds import derived_rng
from recassay.core.system.display import Displayed
from recassay.core.tables.labels import is_cost, known_direction, split_label
from recassay.core.tables.results import Results
from recassay.core.tabular import by_name, long_frame, stated
from recassay.core.ties import beats
from recassay.core.types import BoolArray, FloatArray

MOST = 7
"""Pairs that are looked at: more pictures than that nobody compares."""

SMALLEST_COST = 1e-6
REPLICATES = 1_000


@dataclass(frozen=True, slots=True, eq=False)
class Trade:
    """Accuracy and one other metric, averaged over the datasets on which all of `algorithms` have both.

    `front[i]`: no algorithm is at least as good in both and better in one (the Pareto front). `share[i]`: in which
    share of the bootstrap's replicates, the datasets drawn again, it is on the front; None below `FEWEST_DATASETS`.
    `mean` says how `other` was averaged; `left_out` lacks values on more than half of the datasets.
    """

    other: str
    higher_is_better: bool
    """Whether higher values of `other` are better."""
    mean: str
    algorithms: tuple[str, ...]
    n_datasets: int
    accuracy: FloatArray
    """The mean of the accuracy metric, by algorithm."""
    values: FloatArray
    """The mean of `other`, by algorithm."""
    front: BoolArray
    share: FloatArray | None = None
    left_out: tuple[str, ...] = ()
    upward: bool = True
    """Whether higher values of the accuracy metric are better."""

    def order(self) -> list[int]:
        """The algorithms of the front from the most accurate on, then the others likewise."""
        better = -self.accuracy if self.upward else self.accuracy
        return sorted(range(len(self.algorithms)), key=lambda i: (not self.front[i], better[i]))

    def shares(self) -> dict[str, float] | None:
        """The share of replicates with each algorithm on the front, by name."""
        shares: dict[str, float] | None = by_name(self.share, self.algorithms)
        return shares


@dataclass(frozen=True, slots=True, eq=False)
class ParetoResult(Displayed):
    """Every trade of one accuracy metric."""

    metric: str
    higher_is_better: bool
    trades: tuple[Trade, ...]
    """The metric against each of the others, at most seven: means over datasets, and who is beaten in both."""

    def to_frame(self) -> pl.DataFrame:
        """One row per trade and algorithm: both values, and whether it is on the front."""
        return pl.concat(
            long_frame(
                {"against": [t.other], c.ALGORITHM: t.algorithms},
                {self.metric: t.accuracy, "other": t.values, "front": t.front, "front_share": t.share,
                 "datasets": t.n_datasets},
                order=t.order(),
            )
            for t in self.trades
        )  # fmt: skip

    def frames(self) -> dict[str, pl.DataFrame]:
        """The one table."""
        return {"pareto": self.to_frame()}

    def to_dict(self) -> dict[str, Any]:
        """By the other metric: values, front and the datasets that counted."""
        return {
            "metric": self.metric,
            "trades": {
                t.other: {
                    **stated(t, "higher_is_better", "mean"),
                    "datasets": t.n_datasets,
                    "accuracy": by_name(t.accuracy, t.algorithms),
                    "values": by_name(t.values, t.algorithms),
                    "front": [t.algorithms[i] for i in t.order() if t.front[i]],
                    "front_share": t.shares(),
                    "left_out": list(t.left_out),
                }
                for t in self.trades
            },
        }


def pareto_front(first: FloatArray, second: FloatArray) -> BoolArray:
    """Which points (last axis) no other one dominates, higher being better in both: no worse in both, better in one."""
    mine, theirs = (first[..., :, None], second[..., :, None]), (first[..., None, :], second[..., None, :])
    no_worse = ~beats(mine[0], theirs[0]) & ~beats(mine[1], theirs[1])
    better = beats(theirs[0], mine[0]) | beats(theirs[1], mine[1])
    return ~np.any(no_worse & better, axis=-1)


def trade_off(
    results: Results,
    metric: str,
    *,
    higher_is_better: bool | None = None,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> ParetoResult:
    """`metric` against the metrics beyond accuracy and the costs that the table has, at most `MOST`."""
    upward = results.direction(metric, higher_is_better)
    tried = [
        _trade(results, metric, other, upward, replicates=replicates, seed=seed) for other in _others(results, metric)
    ]
    trades = [trade for trade in tried if trade is not None]
    if not trades:
        raise NotApplicableError(
            f"the table has {metric} and no coverage, novelty, popularity, time or the like beside it",
            fix="add such a metric to see what accuracy costs",
        )
    return ParetoResult(metric, upward, tuple(trades[:MOST]))


def _others(results: Results, metric: str) -> list[str]:
    """A label for each metric beyond accuracy, then for each cost; of several cut-offs the one of `metric`."""
    cutoff = split_label(metric)[1]
    others = [facts.name for facts in (*of_kind("beyond accuracy"), *of_kind("cost"))]
    chosen: dict[str, str] = {}
    for label in results.metrics:
        name, depth = split_label(label)
        if name in others and label != metric and (name not in chosen or depth == cutoff):
            chosen[name] = label
    return [chosen[name] for name in others if name in chosen]


def _trade(results: Results, metric: str, other: str, upward: bool, replicates: int, seed: int) -> Trade | None:
    first, second = results.table(metric), results.table(other)
    known = np.isfinite(first) & np.isfinite(second)
    # Algorithms with at least half of the datasets, and the datasets that all of these have.
    kept = 2 * known.sum(axis=1) >= known.any(axis=0).sum()
    shared: BoolArray = np.all(known[kept], axis=0)
    n = int(shared.sum())
    if kept.sum() < 2 or n == 0:
        return None
    cost = is_cost(other)  # averaged on the log scale: costs differ by orders of magnitude between datasets
    absent = np.isfinite(first).any(axis=1) & ~kept
    first, second = first[np.ix_(kept, shared)], second[np.ix_(kept, shared)]
    second = np.log(np.maximum(second, SMALLEST_COST)) if cost else second
    up = bool(known_direction(other))
    signs = (1.0 if upward else -1.0, 1.0 if up else -1.0)
    share = None
    if n >= FEWEST_DATASETS:
        drawn = dataset_weights(n, replicates=replicates, rng=derived_rng(seed, "pareto", other)) / n
        share = pareto_front(signs[0] * drawn @ first.T, signs[1] * drawn @ second.T).mean(axis=0)
    mean = second.mean(axis=1)
    names = np.array(results.algorithms, dtype=object)
    return Trade(
        other=other,
        higher_is_better=up,
        mean="geometric mean" if cost else "mean",
        algorithms=tuple(names[kept]),
        n_datasets=n,
        accuracy=first.mean(axis=1),
        values=np.exp(mean) if cost else mean,
        front=pareto_front(signs[0] * first.mean(axis=1), signs[1] * mean),
        share=share,
        left_out=tuple(names[absent]),
        upward=upward,
    )


def _run(results: Results, spec: AnalysisSpec) -> ParetoResult:
    replicates = min(spec.draws, REPLICATES)
    return trade_off(
        results, spec.metric, higher_is_better=spec.higher_is_better, replicates=replicates, seed=spec.seed
    )


ANALYSIS = Analysis(
    name="pareto",
    question="What does accuracy cost in coverage, novelty, popularity and time, and who is beaten in both?",
    source="",
    run=_run,
)
