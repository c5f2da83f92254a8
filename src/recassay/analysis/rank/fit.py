"""Rankings over datasets under every accepted aggregation, with their uncertainty."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recassay.analysis.aggregation.areas import BETA_MAX
from recassay.analysis.aggregation.contest import Contest
from recassay.analysis.aggregation.ranks import choose_rules, first_shares, score_ranks
from recassay.analysis.aggregation.rules import DolanMore, Rule
from recassay.analysis.inference.bootstrap import dataset_weights, intervals, resampled_values
from recassay.analysis.rank.result import Ranking, RankResult
from recassay.core.analysis import Analysis, AnalysisSpec
from recassay.core.errors import UsageError
from recassay.core.results import Matrix, Results
from recassay.core.seeds import derived_rng
from recassay.core.types import FloatArray

_BLOCK = 500
"""Replicates handled at once where every replicate has values of its own."""


def rank_algorithms(
    matrix: Matrix,
    *,
    methods: Sequence[str] | None = None,
    replicates: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
    beta_max: float = BETA_MAX,
    beta_step: float | None = None,
) -> RankResult:
    """Score and rank the algorithms by every aggregation, with a bootstrap over datasets.

    Each replicate draws as many datasets as there are, with replacement; where cells have repeated measurements (seeds
    or folds), or the table states their deviation, the values are drawn anew as well. The intervals are expanded
    percentile intervals (see `bootstrap`); the probability of being first is the share of replicates in which an
    algorithm ranks first, ties sharing the win. The bootstrap treats the datasets as a sample of those the ranking
    should hold for.
    """
    if replicates < 100:
        raise UsageError(f"{replicates} bootstrap replicates are too few for an interval", fix="use at least 100")
    options = DolanMore(beta_max, beta_step)
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
        resampled=_resampled(matrix),
        dolan_more=options,
    )


def _resampled(matrix: Matrix) -> str:
    if matrix.replicates is not None:
        return "datasets and folds" if matrix.paired else "datasets and seeds"
    return "datasets" if matrix.standard_errors is None else "datasets and stated deviations"


def _bootstrap_scores(
    matrix: Matrix, contest: Contest, rules: list[Rule], replicates: int, seed: int, options: DolanMore
) -> dict[str, FloatArray]:
    rng = derived_rng(seed, "rank", matrix.metric)
    weights = dataset_weights(len(matrix.datasets), replicates, rng)
    if not matrix.repeated:
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
