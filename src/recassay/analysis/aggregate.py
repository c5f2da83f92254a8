"""Rankings over datasets under every accepted aggregation, with their uncertainty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from recassay.analysis.bootstrap import dataset_weights, intervals, resampled_values
from recassay.analysis.contest import Contest
from recassay.analysis.rules import RULES, DolanMore, Rule
from recassay.core import columns as c
from recassay.core.analysis import Analysis, AnalysisSpec
from recassay.core.display import Displayed
from recassay.core.errors import UsageError
from recassay.core.names import did_you_mean
from recassay.core.results import Matrix, MissingCells, Results
from recassay.core.seeds import derived_rng
from recassay.core.types import FloatArray

RELATIVE_TIE = 1e-9
"""Scores closer than this share of the largest share a rank: they differ by rounding, not by merit."""

_BLOCK = 500
"""Replicates handled at once where every replicate has values of its own."""


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


def score_ranks(scores: FloatArray, *, higher_is_better: bool) -> FloatArray:
    """Ranks of each row of scores, 1 the best; ties (up to rounding) share the mean of their positions."""
    up = scores if higher_is_better else -scores
    slack = RELATIVE_TIE * np.abs(up).max(axis=1)[:, None, None]
    better = up[:, None, :] - up[:, :, None] > slack
    above = better.sum(axis=2)
    tied = scores.shape[1] - above - better.sum(axis=1)
    return above + (tied + 1) / 2


def first_shares(ranks: FloatArray) -> FloatArray:
    """Each row's win, shared by those that hold its best rank; the mean over rows is the probability of being first."""
    first = ranks == ranks.min(axis=1, keepdims=True)
    return first / first.sum(axis=1, keepdims=True)


def choose_rules(names: Sequence[str] | None) -> list[Rule]:
    """The rules of these names, in the order of `RULES`; an unknown one raises with the nearest."""
    if names is None:
        return list(RULES.values())
    for name in names:
        if name not in RULES:
            raise UsageError(f"unknown aggregation {name!r}", fix=did_you_mean(name, RULES))
    return [rule for name, rule in RULES.items() if name in names]


def rank_algorithms(
    matrix: Matrix,
    *,
    methods: Sequence[str] | None = None,
    replicates: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
    dolan_more: DolanMore | None = None,
) -> RankResult:
    """Score and rank the algorithms by every aggregation, with a bootstrap over datasets.

    Each replicate draws as many datasets as there are, with replacement; where cells have repeated measurements (seeds
    or folds) those are drawn anew as well. The intervals are expanded percentile intervals (see `bootstrap`); the
    probability of being first is the share of replicates in which an algorithm ranks first, ties sharing the win. The
    bootstrap treats the datasets as a sample of those the ranking should hold for.
    """
    if replicates < 100:
        raise UsageError(f"{replicates} bootstrap replicates are too few for an interval", fix="use at least 100")
    options = dolan_more or DolanMore()
    if options.beta_max <= 1:
        raise UsageError(f"beta_max is {options.beta_max}", fix="give a ratio above 1")
    negative = bool((matrix.values < 0).any())
    rules, skipped = [], {}
    for rule in choose_rules(methods):
        if rule.nonnegative and negative:
            skipped[rule.name] = f"needs values of at least 0, and {matrix.metric} has negative ones"
        else:
            rules.append(rule)
    contest = Contest(matrix.values[None], higher_is_better=matrix.higher_is_better)
    ones = np.ones((1, len(matrix.datasets)))
    sampled = _bootstrap_scores(matrix, contest, rules, replicates, seed, options)
    rankings = {}
    for rule in rules:
        upward = rule.higher_is_better(matrix.higher_is_better)
        scores = rule.score(contest, ones, options)
        ranks = score_ranks(sampled[rule.name], higher_is_better=upward)
        rankings[rule.name] = Ranking(
            rule=rule,
            higher_is_better=upward,
            scores=scores[0],
            ranks=score_ranks(scores, higher_is_better=upward)[0],
            score_interval=intervals(sampled[rule.name], len(matrix.datasets), confidence),
            rank_interval=intervals(ranks, len(matrix.datasets), confidence, discrete=True),
            probability_best=first_shares(ranks).mean(axis=0),
        )
    return RankResult(
        metric=matrix.metric,
        higher_is_better=matrix.higher_is_better,
        algorithms=matrix.algorithms,
        datasets=matrix.datasets,
        rankings=rankings,
        skipped=skipped,
        missing=matrix.missing,
        replicates=replicates,
        confidence=confidence,
        resampled="datasets" if matrix.replicates is None
        else "datasets and folds" if matrix.paired else "datasets and seeds",
        dolan_more=options,
    )  # fmt: skip


def _bootstrap_scores(
    matrix: Matrix, contest: Contest, rules: list[Rule], replicates: int, seed: int, options: DolanMore
) -> dict[str, FloatArray]:
    rng = derived_rng(seed, "rank", matrix.metric)
    weights = dataset_weights(len(matrix.datasets), replicates, rng)
    if matrix.replicates is None:
        return {rule.name: rule.score(contest, weights, options) for rule in rules}
    sampled = {rule.name: np.empty((replicates, len(matrix.algorithms))) for rule in rules}
    for start in range(0, replicates, _BLOCK):
        part = slice(start, min(start + _BLOCK, replicates))
        values = resampled_values(matrix, part.stop - part.start, rng)
        block = Contest(values, higher_is_better=matrix.higher_is_better)
        for rule in rules:
            sampled[rule.name][part] = rule.score(block, weights[part], options)
    return sampled


def _run(results: Results, spec: AnalysisSpec) -> RankResult:
    matrix = results.matrix(spec.metric, missing=spec.missing, higher_is_better=spec.higher_is_better)
    return rank_algorithms(matrix, replicates=spec.replicates, confidence=1 - spec.alpha, seed=spec.seed)


ANALYSIS = Analysis(
    name="rank",
    question="Which algorithm is best under each way of aggregating over datasets, and how sure is that?",
    source="KDD'24 sections 3.4 and 4.2; Vote'n'Rank (Rofin et al. 2023)",
    run=_run,
)
