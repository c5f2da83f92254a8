"""Scores, ranks and intervals of every aggregation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from recassay.analysis.aggregation.rules import RULES, DolanMore, Rule
from recassay.core import columns as c
from recassay.core.display import Displayed
from recassay.core.results import MissingCells
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
    """One aggregation's answer; arrays follow the algorithms of the result it belongs to."""

    rule: Rule
    higher_is_better: bool
    scores: FloatArray
    ranks: FloatArray
    score_interval: FloatArray
    rank_interval: FloatArray
    probability_best: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class RankResult(Displayed):
    """The rankings of one metric by every rule, and the rules that could not be applied."""

    metric: str
    higher_is_better: bool
    algorithms: tuple[str, ...]
    datasets: tuple[str, ...]
    rankings: dict[str, Ranking]
    skipped: dict[str, str]
    missing: MissingCells
    replicates: int
    confidence: float
    resampled: str
    dolan_more: DolanMore

    def order(self) -> list[int]:
        """Positions of the algorithms by their mean rank over the rules, best first."""
        mean = np.mean([r.ranks for r in self.rankings.values()], axis=0)
        return sorted(range(len(self.algorithms)), key=lambda a: (mean[a], self.algorithms[a]))

    def to_frame(self) -> pl.DataFrame:
        """Long: method, algorithm, score, its interval, rank, its interval, probability of being first."""
        rows = [
            {
                "method": name,
                c.ALGORITHM: self.algorithms[a],
                c.SCORE: float(r.scores[a]),
                "score_low": float(r.score_interval[a, 0]),
                "score_high": float(r.score_interval[a, 1]),
                c.RANK: float(r.ranks[a]),
                "rank_low": float(r.rank_interval[a, 0]),
                "rank_high": float(r.rank_interval[a, 1]),
                "probability_best": float(r.probability_best[a]),
            }
            for name, r in self.rankings.items()
            for a in self.order()
        ]
        return pl.DataFrame(rows)

    def frames(self) -> dict[str, pl.DataFrame]:
        """The long table of rankings, and the scores as a table of algorithms by aggregations."""
        scores = pl.DataFrame({c.ALGORITHM: self.algorithms}).with_columns(
            pl.Series(r.rule.title, r.scores) for r in self.rankings.values()
        )
        return {"rankings": self.to_frame(), "leaderboard": scores[self.order()]}

    def to_dict(self) -> dict[str, Any]:
        """`methods`, `ranks`, `interval`, `rank_interval` and `probability_best`, each by method and algorithm."""

        def by_name(values: FloatArray) -> dict[str, Any]:
            return {name: values[a].tolist() for a, name in enumerate(self.algorithms)}

        return {
            "metric": self.metric,
            "higher_is_better": self.higher_is_better,
            "algorithms": list(self.algorithms),
            "datasets": list(self.datasets),
            "methods": {m: by_name(r.scores) for m, r in self.rankings.items()},
            "ranks": {m: by_name(r.ranks) for m, r in self.rankings.items()},
            "interval": {m: by_name(r.score_interval) for m, r in self.rankings.items()},
            "rank_interval": {m: by_name(r.rank_interval) for m, r in self.rankings.items()},
            "probability_best": {m: by_name(r.probability_best) for m, r in self.rankings.items()},
            "skipped": self.skipped,
            "missing": {"policy": self.missing.policy, "cells": [list(cell) for cell in self.missing.cells],
                        "dropped": list(self.missing.dropped)},
            "settings": {"replicates": self.replicates, "confidence": self.confidence, "resampled": self.resampled,
                         "beta_max": self.dolan_more.beta_max, "beta_step": self.dolan_more.step},
        }  # fmt: skip
