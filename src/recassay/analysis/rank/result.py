"""Scores, ranks and intervals of every aggregation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from recassay.analysis.aggregation.rules import RULES, DolanMore, Rule, distinct
from recassay.analysis.verdict.result import Verdict
from recassay.core import columns as c
from recassay.core.tables.matrix import MatrixResult, MissingCells
from recassay.core.tabular import by_name, long_frame, stated
from recassay.core.types import FloatArray

BETA_MAX = DolanMore().beta_max
"""The ratio to which the areas under profiles reach unless another is asked for."""


def rule_notes() -> list[dict[str, Any]]:
    """Every aggregation as plain data: name, title, which scores are best, definition, whether it needs values >= 0."""
    return [stated(rule, "name", "title", "best", "definition", "nonnegative") for rule in RULES.values()]


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
class RankResult(MatrixResult):
    """The rankings of one metric by every rule, and the rules that could not be applied."""

    rankings: dict[str, Ranking]
    """By name of the aggregation (`mean_rank`, `mean`, ...), its scores, ranks and intervals."""
    mean_ranks: FloatArray
    """The mean rank of each algorithm over the datasets, 1 the best."""
    judgement: Verdict
    """The verdict on the table: grade, who could be best, the status of every pair."""
    skipped: dict[str, str]
    """By name, the aggregations that could not be applied, and why."""
    missing: MissingCells
    replicates: int
    confidence: float
    dolan_more: DolanMore
    by_metric: bool = False
    """Whether the grades of several metrics were asked for: they are shown first then."""

    def order(self) -> list[int]:
        """Positions of the algorithms by mean rank over the datasets, best first: the order of every verdict."""
        return sorted(range(len(self.algorithms)), key=lambda a: (self.mean_ranks[a], self.algorithms[a]))

    @property
    def probability_best(self) -> FloatArray | None:
        """For each algorithm, the probability that it has the best mean rank in a new benchmark of the same kind and
        size; None below five datasets. It is not the resampling share, which repeats the luck of this benchmark."""
        return None if self.judgement.leads_again is None else self._in_order(self.judgement.leads_again)

    @property
    def winner_p(self) -> FloatArray | None:
        """For each algorithm, the p-value of "no other is better"; None below five datasets."""
        return None if self.judgement.leads_again is None else self._in_order(self.judgement.p_best)

    def _in_order(self, values: FloatArray) -> FloatArray:
        """Values of the verdict, which has the best mean rank first, in the order of `algorithms`."""
        return values[[self.judgement.algorithms.index(name) for name in self.algorithms]]

    def possible_winners(self) -> list[str]:
        """Those that no other is shown to be better than, best mean rank first."""
        return list(self.judgement.could_be_best)

    def counted(self) -> list[Ranking]:
        """The rankings that count as opinions of their own: of two that always agree, one."""
        return [self.rankings[rule.name] for rule in distinct(r.rule for r in self.rankings.values())]

    def uncounted(self) -> dict[str, str]:
        """By title, the aggregations that are not counted, and the title of the one that each always agrees with."""
        counted = {ranking.rule.name for ranking in self.counted()}
        titles = {name: ranking.rule.title for name, ranking in self.rankings.items()}
        return {
            titles[name]: titles[ranking.rule.same_as]
            for name, ranking in self.rankings.items()
            if name not in counted and ranking.rule.same_as in titles
        }

    def first_places(self) -> dict[tuple[str, ...], list[str]]:
        """By who is first, alone or tied, the titles of the counted aggregations: each stands once."""
        titles: dict[tuple[str, ...], list[str]] = {}
        for ranking in self.counted():
            best = ranking.ranks.min()
            names = tuple(self.algorithms[a] for a in self.order() if ranking.ranks[a] == best)
            titles.setdefault(names, []).append(ranking.rule.title)
        return titles

    def firsts(self) -> dict[str, list[str]]:
        """By algorithm, the titles of the counted aggregations under which it is first or tied for it."""
        titles: dict[str, list[str]] = {}
        for ranking in self.counted():
            for a, name in enumerate(self.algorithms):
                if ranking.ranks[a] == ranking.ranks.min():
                    titles.setdefault(name, []).append(ranking.rule.title)
        return titles

    def to_frame(self) -> pl.DataFrame:
        """Long: method, algorithm, score, its interval, rank, its interval, share of replicates in which it is first.

        `probability_best` and `winner_p` stand beside the mean rank, which they are about.
        """
        return pl.concat(
            long_frame(
                {"method": [name], c.ALGORITHM: self.algorithms},
                {
                    c.SCORE: r.scores,
                    ("score_low", "score_high"): r.score_interval,
                    c.RANK: r.ranks,
                    ("rank_low", "rank_high"): r.rank_interval,
                    "resampling_share": r.resampling_share,
                    "probability_best": self.probability_best if name == "mean_rank" else None,
                    "winner_p": self.winner_p if name == "mean_rank" else None,
                },
                order=self.order(),
            )
            for name, r in self.rankings.items()
        )

    def frames(self) -> dict[str, pl.DataFrame]:
        """The long table of rankings, the scores as a table of algorithms by aggregations, and that of the verdict."""
        scores = pl.DataFrame({c.ALGORITHM: self.algorithms}).with_columns(
            pl.Series(r.rule.title, r.scores) for r in self.rankings.values()
        )
        return {"rankings": self.to_frame(), "leaderboard": scores[self.order()], "verdict": self.judgement.to_frame()}

    def to_dict(self) -> dict[str, Any]:
        """`methods`, `ranks`, `interval`, `rank_interval`, `resampling_share` by method and algorithm, and
        `probability_best`, `winner_p` and `possible_winners` of the mean rank; null below five datasets."""
        names, rankings = self.algorithms, self.rankings
        return {
            "verdict": self.judgement.to_dict(),
            **stated(self, "metric", "higher_is_better", "algorithms", "datasets"),
            "methods": {m: by_name(r.scores, names) for m, r in rankings.items()},
            "ranks": {m: by_name(r.ranks, names) for m, r in rankings.items()},
            "interval": {m: by_name(r.score_interval, names) for m, r in rankings.items()},
            "rank_interval": {m: by_name(r.rank_interval, names) for m, r in rankings.items()},
            "probability_best": {"mean_rank": by_name(self.probability_best, names)},
            "winner_p": {"mean_rank": by_name(self.winner_p, names)},
            "possible_winners": None if self.winner_p is None else self.possible_winners(),
            "resampling_share": {m: by_name(r.resampling_share, names) for m, r in rankings.items()},
            "first": {"by_mean_rank": names[self.order()[0]], "aggregations": len(self.counted()),
                      "under": self.firsts()},
            **stated(self, "skipped", "missing"),
            "settings": {**stated(self, "replicates", "confidence"), "resampled": "datasets",
                         "beta_max": self.dolan_more.beta_max, "beta_step": self.dolan_more.step},
        }  # fmt: skip
