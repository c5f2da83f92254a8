"""What a table of results supports: the status of every pair, who could be best, and the grade."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

import numpy as np
import polars as pl

from recassay.analysis.inference.all_pairs import WINNERS_SHARE, fewest_datasets
from recassay.analysis.inference.effects import Effect
from recassay.analysis.inference.families import obvious_families
from recassay.analysis.inference.pair_rows import PairRows
from recassay.core import columns as c
from recassay.core.choices import MANY_ALGORITHMS, PairTest
from recassay.core.metric_facts import MetricKind
from recassay.core.system.display import worded
from recassay.core.system.plain import plain
from recassay.core.tables.labels import facts_of
from recassay.core.tables.matrix import MissingCells
from recassay.core.tabular import long_frame, stated
from recassay.core.ties import beats
from recassay.core.types import BoolArray, FloatArray, IntArray

Status = Literal["better", "worse", "equivalent", "undecided", "undecidable"]
"""Of one algorithm against another. `undecidable`: no outcome on this many datasets could decide it."""

AnyPair = TypeVar("AnyPair")

Grade = Literal["clear_winner", "shared_lead", "no_difference", "too_little_data", "not_comparable"]

COMPARED: tuple[MetricKind, ...] = ("accuracy", "error")
"""Kinds whose metrics measure one thing, so that they should agree."""


@dataclass(frozen=True, slots=True)
class MetricGrade:
    """What another metric of the table supports, by the same rules."""

    metric: str
    kind: MetricKind | None
    """What it measures; None where the metric is not known."""
    grade: Grade | None
    """None where it could not be judged."""
    leaders: tuple[str, ...] = ()
    """Those with the best mean rank."""
    could_be_best: tuple[str, ...] = ()
    """Those that no other is shown to be better than."""
    algorithms: int = 0
    """How many algorithms were judged."""
    reason: str = ""
    """Why it could not be judged."""


@dataclass(frozen=True, slots=True)
class OtherRules:
    """Who would lead by most other aggregations than the mean rank."""

    leader: str
    """The algorithm that would lead."""
    rules: tuple[str, ...]
    """The aggregations under which it is first, or tied for it."""
    of: int
    """How many others than the mean rank there are."""


def indistinguishable_runs(names: tuple[str, ...], different: BoolArray) -> tuple[tuple[str, ...], ...]:
    """Maximal runs of two or more neighbours in `names` in which no pair is `different` (a square array)."""
    places = np.arange(len(names))
    # By algorithm, the last one before it from which it differs: a run holds both of no such two.
    last = np.where(np.triu(different, 1), places[:, None], -1).max(axis=0)
    runs: list[tuple[str, ...]] = []
    reach = 0
    for start in range(len(names)):
        parted = np.flatnonzero(last[start + 1 :] >= start)
        end = start + 1 + int(parted[0]) if len(parted) else len(names)
        if end > reach and end - start > 1:
            runs.append(names[start:end])
        reach = max(reach, end)
    return tuple(runs)


@dataclass(frozen=True, slots=True)
class SeedPair:
    """Two algorithms over the datasets on which both have seeds enough."""

    first: str
    second: str
    wins: tuple[str, ...]
    """Datasets on which the first beats the second beyond seed noise."""
    losses: tuple[str, ...]
    """Datasets on which the second beats the first."""
    tested: int
    """On how many datasets they could be tested."""
    p: dict[str, float]
    """By dataset, the p of the pair, corrected for the pairs of the dataset."""
    test: str = "Welch's t-test over seeds, Holm over the pairs of a dataset"


@dataclass(frozen=True, slots=True, eq=False)
class SeedTests:
    """Every pair on every dataset."""

    algorithms: tuple[str, ...]
    datasets: tuple[str, ...]
    alpha: float
    p: FloatArray
    """Algorithms x algorithms x datasets: corrected for the pairs of the dataset; NaN where there are too few seeds."""
    ahead: BoolArray
    """Algorithms x algorithms x datasets: the row has the better mean over seeds."""

    def between(self, first: str, second: str) -> SeedPair:
        """What the seeds say of one pair."""
        a, b = self.algorithms.index(first), self.algorithms.index(second)
        shown = self.p[a, b] < self.alpha  # NaN is not
        known = {name: float(p) for name, p in zip(self.datasets, self.p[a, b], strict=True) if np.isfinite(p)}
        wins, losses = (
            tuple(name for name, yes in zip(self.datasets, shown & ahead, strict=True) if yes)
            for ahead in (self.ahead[a, b], self.ahead[b, a])
        )
        return SeedPair(first, second, wins, losses, len(known), known)

    def ahead_of_all(self, dataset: str) -> str | None:
        """Who has the best mean on a dataset and beats the second there beyond seed noise; None where nobody does."""
        at = self.datasets.index(dataset)
        best, second = np.argsort(-self.ahead[:, :, at].sum(axis=1), kind="stable")[:2]
        shown = self.ahead[best, second, at] and self.p[best, second, at] < self.alpha
        return self.algorithms[best] if shown else None


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """Algorithm `a` against `b`, which has no better mean rank."""

    a: str
    b: str
    status: Status
    """Of `a` against `b`."""
    wins: int
    """Datasets on which `a` is better."""
    losses: int
    ties: int
    effect: Effect
    """By how much `a` is better on a typical dataset; its interval is that of this pair alone."""
    p: float
    """Two-sided p-value by the test of the verdict, adjusted for all pairs."""
    p_single: float
    """The same for this pair alone."""

    @property
    def identical(self) -> bool:
        """Whether both have the same value on every dataset."""
        return self.wins == self.losses == 0

    @property
    def reversed(self) -> PairVerdict:
        """The same of `b` against `a`."""
        status: Status = {"better": "worse", "worse": "better"}.get(self.status, self.status)  # type: ignore[assignment]
        return replace(
            self, a=self.b, b=self.a, status=status, wins=self.losses, losses=self.wins, effect=self.effect.reversed
        )


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """What one metric of one table supports; arrays and tuples follow `algorithms`, the best mean rank first."""

    metric: str
    higher_is_better: bool
    algorithms: tuple[str, ...]
    datasets: tuple[str, ...]
    alpha: float
    within: float
    """Relative difference below which two algorithms are called equivalent."""
    control: str | None
    """The algorithm named beforehand, whose pairs are adjusted for its own comparisons only."""
    test: PairTest
    """Which test the statuses of pairs rest on."""
    grade: Grade
    """What the table supports, in one word; `docs/verdict.md` has the rule."""
    leaders: tuple[str, ...]
    """Those with the best mean rank: several where they share it."""
    rival: str
    """The algorithm that the first leader is compared with in every sentence: the next by mean rank that could be best,
    else the next."""
    could_be_best: tuple[str, ...]
    """Those that no other is shown to be better than."""
    mean: FloatArray
    """The mean value over the datasets."""
    mean_rank: FloatArray
    """The mean rank over the datasets."""
    firsts: IntArray
    """On how many datasets each is first, alone or tied."""
    interval: FloatArray | None
    """Algorithms x 2: the interval of each mean rank at level 1 - alpha; None below five datasets."""
    rank_interval: IntArray
    """Algorithms x 2: the ranks that each could have in truth, all intervals together at level 1 - alpha."""
    leads_again: FloatArray | None
    """The probability of the best mean rank in a new benchmark of the same kind and size; None below five datasets."""
    p_best: FloatArray
    """The p-value of "no other is better": the smallest of its pairs with those ahead. Below alpha: not the best."""
    groups: tuple[str, ...]
    """Letters: two algorithms share one exactly where neither is shown to be better than the other."""
    status: tuple[tuple[Status, ...], ...]
    """Algorithms x algorithms: the status of the row against the column; the diagonal is `equivalent`."""
    pairs: PairRows[PairVerdict]
    """Every pair, the better mean rank as `a`, in the order of `algorithms`; objects are made when asked for."""
    p_equal: tuple[FloatArray, FloatArray]
    """By pair, the p of "not equivalent": alone, and corrected for all pairs."""
    smallest_p: float
    """The smallest p-value of a pair, corrected as all are, that so many datasets allow."""
    removal: tuple[str, int] | None
    """Who would lead without the fewest datasets that change the leader, and how many those are; None where none do."""
    removed: tuple[str, ...] = ()
    """Which datasets those are; where several choices do it, the one that speaks most for the leader."""
    removals: tuple[int, int] | None = None
    """Of how many choices of so many datasets the leader would lose its place, and how many choices there are; None
    where they are too many to try."""
    hopeful: str | None = None
    """Who would lead if every missing cell that was filled with the worst value had the best; None where nobody new."""
    families: int | None = None
    """How many families of datasets count as one piece of evidence each; None: all datasets are independent."""
    grade_by_family: Grade | None = None
    """The grade if the datasets of each well-known collection were one family; None where there are no such ones."""
    best_by_family: int | None = None
    """How many algorithms could then be best."""
    missing: MissingCells = field(default_factory=MissingCells)
    """Which cells the table lacked, and what was done about them."""
    not_judged: tuple[str, ...] = ()
    """Those of which nothing can be said: they are behind, but with missing cells that were filled with the worst."""
    metrics: tuple[MetricGrade, ...] = ()
    """What other metrics of the table support: those of the same kind, or those that were asked for."""
    other_rules: OtherRules | None = None
    """Who would lead by most other aggregations; None where the leader by mean rank does, or nobody does."""
    seeds: SeedTests | None = None
    """On each dataset, every pair tested over its seeds; None where there are none."""
    users: bool = False
    """Whether the scores of single users are known, so that each dataset can be judged over its own."""

    @property
    def kind(self) -> MetricKind | None:
        """What the metric measures; None where it is not known."""
        facts = facts_of(self.metric)
        return None if facts is None else facts.kind

    @property
    def peers(self) -> tuple[MetricGrade, ...]:
        """The other metrics that measure the same."""
        return tuple(other for other in self.metrics if other.kind == self.kind and other.kind in COMPARED)

    def agrees(self, other: MetricGrade) -> bool:
        """Whether another metric supports the same: the winner, or who could be best; below six datasets who leads."""
        if other.grade != self.grade:
            return False
        if self.grade in ("clear_winner", "too_little_data"):
            return set(other.leaders) == set(self.leaders)
        return self.grade != "shared_lead" or set(other.could_be_best) == set(self.could_be_best)

    def graded(self) -> tuple[MetricGrade, ...]:
        """This metric and the others, each with its grade."""
        judged = len(self.algorithms) - len(self.not_judged)
        grade = MetricGrade(self.metric, self.kind, self.grade, self.leaders, self.could_be_best, judged)
        return (grade, *self.metrics)

    @property
    def headline(self) -> str:
        """The answer in one sentence of at most 20 words."""
        return str(worded("verdict", "headline", self))

    @property
    def sentences(self) -> tuple[str, ...]:
        """Those that follow the headline, the most important first."""
        return tuple(worded("verdict", "sentences", self))

    @property
    def caution(self) -> str | None:
        """The most important reason to doubt the verdict."""
        return worded("verdict", "caution", self)

    @property
    def next_step(self) -> str | None:
        """What to do next."""
        return worded("verdict", "next_step", self)

    @property
    def why(self) -> tuple[str, ...]:
        """What the verdict rests on."""
        return tuple(worded("verdict", "why", self))

    @property
    def how_sure(self) -> tuple[str, ...]:
        """How certain it is, and what it assumes."""
        return tuple(worded("verdict", "how_sure", self))

    @property
    def what_would_change(self) -> tuple[str, ...]:
        """What would lead to another verdict."""
        return tuple(worded("verdict", "what_would_change", self))

    @property
    def fewest_datasets(self) -> int:
        """The number of datasets from which on a difference can be significant at this level."""
        k = len(self.algorithms)
        if self.test == "wilcoxon-holm":
            return fewest_datasets(self.alpha / (k * (k - 1) / 2 if self.control is None else k - 1))
        return fewest_datasets(self.alpha * (1.0 if k == 2 else 1 - WINNERS_SHARE))

    @property
    def collections(self) -> dict[str, tuple[str, ...]]:
        """Datasets that plainly come from one collection, by its name."""
        return obvious_families(self.datasets)

    def pair(self, one: str, other: str) -> PairVerdict:
        """The pair of these two, whichever has the better mean rank."""
        i, j = sorted((self.algorithms.index(one), self.algorithms.index(other)))
        return self.pairs[i * len(self.algorithms) - i * (i + 1) // 2 + j - i - 1]

    def against(self, name: str) -> list[PairVerdict]:
        """The pairs of one algorithm, each with it as `a`, by the mean rank of the others."""
        pairs = (self.pair(name, other) for other in self.algorithms if other != name)
        return [pair if pair.a == name else pair.reversed for pair in pairs]

    def close(self, pair: PairVerdict) -> bool:
        """Whether a pair that differs is also shown to differ by less than the margin."""
        i, j = sorted((self.algorithms.index(pair.a), self.algorithms.index(pair.b)))
        at = i * len(self.algorithms) - i * (i + 1) // 2 + j - i - 1
        return bool(self.p_equal[1][at] < self.alpha)

    def status_of(self, one: str, other: str) -> Status:
        """The status of `one` against `other`."""
        return self.status[self.algorithms.index(one)][self.algorithms.index(other)]

    def place_of(self, name: str) -> int:
        """1 and how many have a better mean rank: equal ones share a place."""
        return 1 + int(beats(self.mean_rank[self.algorithms.index(name)], self.mean_rank).sum())

    @property
    def better(self) -> BoolArray:
        """By pair, whether its first algorithm is shown to be better."""
        return np.asarray(self.pairs.columns["status"] == "better")

    @property
    def runs(self) -> tuple[tuple[str, ...], ...]:
        """Maximal runs of neighbours by mean rank of which none is shown to be better than another."""
        different = np.zeros((len(self.algorithms), len(self.algorithms)), dtype=bool)
        different[self.pairs.first, self.pairs.second] = self.better
        return indistinguishable_runs(self.algorithms, different)

    @property
    def identical(self) -> BoolArray:
        """By pair, whether both have the same value on every dataset."""
        return np.asarray(self.pairs.columns["ties"] == len(self.datasets))

    @property
    def equivalent(self) -> BoolArray:
        """By pair, whether the two are equivalent, identical ones included."""
        return np.asarray(self.pairs.columns["status"] == "equivalent")

    def listed(self, pairs: PairRows[AnyPair]) -> list[AnyPair]:
        """The pairs that JSON lists: all of at most 60 algorithms; of more those among the 60 of best mean rank and
        those of the control, for half a million pairs are not an answer."""
        control = -1 if self.control is None else self.algorithms.index(self.control)
        of_control = (pairs.first == control) | (pairs.second == control)
        return pairs.take(np.flatnonzero(of_control | (pairs.second < MANY_ALGORITHMS)))

    def to_frame(self) -> pl.DataFrame:
        """One row per algorithm: mean, mean rank with interval, ranks it could have, groups, could be best, chance."""
        return long_frame(
            {c.ALGORITHM: self.algorithms},
            {
                "mean": self.mean,
                "mean_rank": self.mean_rank,
                ("mean_rank_low", "mean_rank_high"): self.interval,
                ("rank_low", "rank_high"): self.rank_interval,
                "groups": np.array(self.groups),
                "could_be_best": np.isin(self.algorithms, self.could_be_best),
                **({"judged": ~np.isin(self.algorithms, self.not_judged)} if self.not_judged else {}),
                "leads_again": self.leads_again,
            },
        )

    def to_dict(self) -> dict[str, Any]:
        """`grade`, `headline`, `could_be_best`, `leads_again` (of the first leader), the table and the pairs."""
        return {
            **stated(self, "grade", "headline", "could_be_best"),
            "leads_again": None if self.leads_again is None else float(self.leads_again[0]),
            **stated(self, "leaders", "rival", "sentences", "caution", "next_step", "why", "how_sure"),
            **stated(self, "what_would_change", "smallest_p", "removal", "removed", "removals"),
            **stated(self, "families", "grade_by_family", "best_by_family", "not_judged"),
            "metrics": [{**plain(each), "agrees": self.agrees(each)} for each in self.graded()] if self.metrics else [],
            "second_line": worded("verdict", "other_metrics", self),
            "other_rules": plain(self.other_rules),
            "seeds": None if self.seeds is None else plain(self.seeds.between(self.leaders[0], self.rival)),
            "table": self.to_frame().to_dicts(),
            "pairs": plain(listed := self.listed(self.pairs)),
            "pairs_left_out": len(self.pairs) - len(listed),
            "settings": stated(self, "alpha", "within", "control", "test"),
        }
