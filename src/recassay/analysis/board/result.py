"""A board as it is judged and shown: the table, the places, and findings as facts; `words.board` says them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import polars as pl

from recassay.analysis.verdict.result import Verdict
from recassay.core import columns as c

METRIC = "ndcg@10"
JUDGED = (METRIC, "recall@20", "coverage@10")
"""The metrics with a verdict of their own; of the others the page ranks."""
COSTS = ("seconds_fit", "seconds_predict", "memory", "joules")

Rule: TypeAlias = Literal[
    "agreement", "overall", "popularity", "networks", "sequences", "cheapest", "recall", "coverage", "traits", "against"
]
Standing: TypeAlias = Literal["shown", "undecided", "measured", "estimated", "described"]
"""What a finding rests on: a test, a test that decides nothing, a measurement, a model, or a look at two orders."""


@dataclass(frozen=True, slots=True, eq=False)
class BoardTable:
    """The numbers of a board, and what is known of its algorithms and datasets."""

    name: str
    by_time: bool
    """Whether the splits are in time; else they are at random."""
    datasets: tuple[str, ...]
    metrics: tuple[str, ...]
    frame: pl.DataFrame
    """Algorithm, dataset, metric and value, costs among them: the means over seeds."""
    kinds: Mapping[str, str]
    """By algorithm, what kind it is; `submitted` where somebody handed it in."""
    devices: Mapping[str, str] = field(default_factory=dict)
    """By algorithm `cpu` or `gpu`, or `own`: the machine of its author, whose seconds are not compared."""
    trials: Mapping[str, float | None] = field(default_factory=dict)
    """By algorithm the median number of trials of its searches."""
    gaps: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By algorithm the datasets that it lacks, each with the reason."""

    def values(self, metric: str) -> pl.DataFrame:
        """Rows of algorithm, dataset and value."""
        return self.frame.filter(pl.col(c.METRIC) == metric).select(c.ALGORITHM, c.DATASET, c.VALUE)


@dataclass(frozen=True, slots=True, eq=False)
class BoardResult:
    """A board, judged."""

    table: BoardTable
    verdicts: Mapping[str, Verdict]
    """By metric of `JUDGED`, on the algorithms with a place: those that ran on every dataset."""
    of_best: Mapping[str, float]
    """By algorithm the median over the datasets of nDCG@10 as a share of the best algorithm's there."""
    traits: Mapping[str, Mapping[str, float]]
    """By dataset, difficulty and discrimination by beta-IRT; nothing where it cannot be fitted."""
    seconds: Mapping[str, float]
    """By algorithm with a place the median seconds of training."""

    @property
    def placed(self) -> tuple[str, ...]:
        """The algorithms with a place, the best mean rank of nDCG@10 first."""
        return self.verdicts[METRIC].algorithms


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """What boards support, as facts; `claim` is what must not change for it to stand."""

    board: str
    """The board, or `both`."""
    rule: Rule
    """What it is about."""
    standing: Standing
    """What it rests on."""
    facts: Mapping[str, Any]
    """The numbers and names of its sentence."""
    claim: tuple[Any, ...] = ()
    """What it comes to, in short."""
    without: tuple[str, ...] | None = None
    """The datasets without any one of which it changes; None: that was not tried."""
    of_datasets: int = 0
    """How many datasets were left out, one at a time."""
    joining: tuple[str, ...] = ()
    """Who else could be best without one of the others, on which it does not change."""
    leaving: tuple[str, ...] = ()
    """Who could no longer be best without one of these."""
    range: tuple[float, float] | None = None
    """Of an agreement, the least and the largest correlation then."""
