"""A board as it is judged and shown: the table, the places, and findings as facts; `words.board` says them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import polars as pl

from recassay.analysis.verdict.result import Grade, Verdict
from recassay.core import columns as c

METRIC = "ndcg@10"
JUDGED = (METRIC, "recall@20", "coverage@10")
"""The metrics with a verdict of their own; of the others the page ranks."""
RANDOM, POPULAR = "Random", "MostPop"
FLOORS = (RANDOM, POPULAR)
"""Baselines that know nothing of single users: that they are behind does not decide who is best."""
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
    spread: pl.DataFrame | None = None
    """Algorithm, dataset, metric, how many seeds there are, and their standard deviation; one seed has no row."""

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


@dataclass(frozen=True, slots=True)
class Contest:
    """Who could be best among the algorithms without the floors that are behind."""

    algorithms: tuple[str, ...]
    """Those that compete, best mean rank first."""
    could: tuple[str, ...]
    """Those of them that could be best."""
    aside: tuple[str, ...]
    """The floors that are shown to be behind."""
    grade: Grade
    """That of the verdict; `no_difference` where only floors are behind."""

    @property
    def decided(self) -> bool:
        """Whether anything but floors is shown to be behind."""
        return self.grade in ("clear_winner", "shared_lead")

    @classmethod
    def of(cls, verdict: Verdict) -> Contest:
        """The contest that a verdict decides, or leaves open."""
        could = verdict.could_be_best
        decided = verdict.grade in ("clear_winner", "shared_lead")
        aside = tuple(name for name in verdict.algorithms if decided and name in FLOORS and name not in could)
        names = tuple(name for name in verdict.algorithms if name not in aside)
        alone = decided and len(could) == len(names)
        return cls(names, could, aside, "no_difference" if alone else verdict.grade)


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
