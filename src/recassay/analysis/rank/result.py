"""Scores, ranks and intervals of every aggregation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from recassay.analysis.aggregation.rules import RULES, DolanMore, Rule, distinct
from recassay.core import columns as c
from recassay.core.system.display import Displayed
from recassay.core.tables.matrix import MissingCells
from recassay.core.types import FloatArray

BETA_MAX = DolanMore().beta_max
"""The ratio to which the areas under profiles reach unless another is asked for."""


def rule_notes() -> list[dict[str, Any]]:
    """Every aggregation as plain data: name, title, which scores are best, definition, whether it needs values >= 0."""
    return [
        {"name": r.name, "title": r.title, "best": r.best, "definition": r.definition, "nonnegative": r.nonnegative}
        for r in RULES.values()
    ]


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """One aggregation's answer; arrays follow the algorithms of the result it belongs to.

    Intervals and `resampling_share`, the share of bootstrap replicates in which an algorithm is first, are None below
    five datasets.
    """

    rule: Rule
    """The aggregation."""
    higher_is_better: bool
    """Whether higher scores of it are better."""
    scores: FloatArray
    """Its score of each algorithm."""
    ranks: FloatArray
    """The ranks by it, 1 the best; equal scores share the mean of their places."""
    score_interval: FloatArray | None = None
    """Algorithms x 2: the ends of the interval of each score."""
    rank_interval: FloatArray | None = None
    """Algorithms x 2: the ends of the interval of each rank."""
    resampling_share: FloatArray | None = None


@dataclass(frozen=True, slots=True, eq=False)
class RankResult(Displayed):
    """The rankings of one metric by every rule, and the rules that could not be applied."""

    metric: str
    higher_is_better: bool
    algorithms: tuple[str, ...]
    datasets: tuple[str, ...]
    rankings: dict[str, Ranking]
    """By name of the aggregation (`mean_rank`, `mean`, ...), its scores, ranks and intervals."""
    mean_ranks: FloatArray
    """The mean rank of each algorithm over the datasets, 1 the best."""
    probability_best: FloatArray | None
    """For each algorithm, the probability that it has the best mean rank in a new benchmark of the same kind and size;
    None below five datasets. It is not the resampling share, which repeats the luck of this benchmark."""
    winner_p: FloatArray | None
    """For each algorithm, the p-value of "it has the best mean rank of all" (see `inference.winners`); None below five
    datasets."""
    skipped: dict[str, str]
    """By name, the aggregations that could not be applied, and why."""
    missing: MissingCells
    replicates: int
    confidence: float
    dolan_more: DolanMore

    def order(self) -> list[int]:
        """Positions of the algorithms by mean rank over the datasets, best first: the order of every verdict."""
        return sorted(range(len(self.algorithms)), key=lambda a: (self.mean_ranks[a], self.algorithms[a]))

    def possible_winners(self) -> list[str]:
        """Those that could have the best mean rank over datasets like these, best observed first; all below five."""
        if self.winner_p is None:
            return [self.algorithms[a] for a in self.order()]
        return [self.algorithms[a] for a in self.order() if self.winner_p[a] > 1 - self.confidence]

    def counted(self) -> list[Ranking]:
        """The rankings that count as opinions of their own: of two that always agree, one."""
        return [self.rankings[rule.name] for rule in distinct(r.rule for r in self.rankings.values())]

    def firsts(self) -> dict[str, list[str]]:
        """By algorithm, the titles of the counted aggregations under which it is first or tied for it."""
        found: dict[str, list[str]] = {}
        for ranking in self.counted():
            for a, name in enumerate(self.algorithms):
                if ranking.ranks[a] == ranking.ranks.min():
                    found.setdefault(name, []).append(ranking.rule.title)
        return found

    def to_frame(self) -> pl.DataFrame:
        """Long: method, algorithm, score, its interval, rank, its interval, share of replicates in which it is first.

        `probability_best` and `winner_p` stand beside the mean rank, which they are about.
        """

        def ends(interval: FloatArray | None, a: int) -> list[float | None]:
            return [None, None] if interval is None else interval[a].tolist()

        rows = [
            (name, self.algorithms[a], float(r.scores[a]), *ends(r.score_interval, a), float(r.ranks[a]),
             *ends(r.rank_interval, a), None if r.resampling_share is None else float(r.resampling_share[a]),
             *(None if name != "mean_rank" or one is None else float(one[a])
               for one in (self.probability_best, self.winner_p)))
            for name, r in self.rankings.items()
            for a in self.order()
        ]  # fmt: skip
        numbers = (c.SCORE, "score_low", "score_high", c.RANK, "rank_low", "rank_high", "resampling_share",
                   "probability_best", "winner_p")  # fmt: skip
        schema = {"method": pl.String, c.ALGORITHM: pl.String} | {name: pl.Float64 for name in numbers}
        return pl.DataFrame(rows, schema=schema, orient="row")

    def frames(self) -> dict[str, pl.DataFrame]:
        """The long table of rankings, and the scores as a table of algorithms by aggregations."""
        scores = pl.DataFrame({c.ALGORITHM: self.algorithms}).with_columns(
            pl.Series(r.rule.title, r.scores) for r in self.rankings.values()
        )
        return {"rankings": self.to_frame(), "leaderboard": scores[self.order()]}

    def to_dict(self) -> dict[str, Any]:
        """`methods`, `ranks`, `interval`, `rank_interval`, `resampling_share` by method and algorithm, and
        `probability_best`, `winner_p` and `possible_winners` of the mean rank; null below five datasets."""

        def by_name(values: FloatArray | None) -> dict[str, Any] | None:
            return None if values is None else {name: values[a].tolist() for a, name in enumerate(self.algorithms)}

        firsts = self.firsts()
        return {
            "metric": self.metric,
            "higher_is_better": self.higher_is_better,
            "algorithms": list(self.algorithms),
            "datasets": list(self.datasets),
            "methods": {m: by_name(r.scores) for m, r in self.rankings.items()},
            "ranks": {m: by_name(r.ranks) for m, r in self.rankings.items()},
            "interval": {m: by_name(r.score_interval) for m, r in self.rankings.items()},
            "rank_interval": {m: by_name(r.rank_interval) for m, r in self.rankings.items()},
            "probability_best": {"mean_rank": by_name(self.probability_best)},
            "winner_p": {"mean_rank": by_name(self.winner_p)},
            "possible_winners": None if self.winner_p is None else self.possible_winners(),
            "resampling_share": {m: by_name(r.resampling_share) for m, r in self.rankings.items()},
            "first": {"by_mean_rank": self.algorithms[self.order()[0]], "aggregations": len(self.counted()),
                      "under": firsts},
            "skipped": self.skipped,
            "missing": {"policy": self.missing.policy, "cells": [list(cell) for cell in self.missing.cells],
                        "dropped": list(self.missing.dropped)},
            "settings": {"replicates": self.replicates, "confidence": self.confidence, "resampled": "datasets",
                         "beta_max": self.dolan_more.beta_max, "beta_step": self.dolan_more.step},
        }  # fmt: skip
