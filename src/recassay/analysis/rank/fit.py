"""Rankings over datasets under every accepted aggregation, with their uncertainty."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from recassay.analysis.aggregation.contest import Contest
from recassay.analysis.aggregation.rules import BETA_MAX, DolanMore, applicable, choose_rules, first_shares
from recassay.analysis.inference.bootstrap import content_weights, intervals, refuse_few, studentised
from recassay.analysis.inference.families import family_numbers
from recassay.analysis.rank.result import Ranking, RankResult
from recassay.analysis.verdict.beside import with_table
from recassay.analysis.verdict.fit import judge
from recassay.analysis.verdict.result import Verdict
from recassay.core import ties
from recassay.core.analysis import Analysis, AnalysisSpec
from recassay.core.choices import DRAWS_OF, FEWEST_DATASETS, MissingPolicy, PairTest
from recassay.core.content import copies
from recassay.core.seeds import derived_rng
from recassay.core.tables.matrix import Matrix
from recassay.core.tables.results import Results
from recassay.core.types import FloatArray


def rank_algorithms(
    matrix: Matrix,
    *,
    methods: Sequence[str] | None = None,
    replicates: int | None = None,
    confidence: float = 0.95,
    control: str | None = None,
    families: str | Mapping[str, str] | None = None,
    test: PairTest = "sign-flips",
    seed: int = 0,
    beta_max: float = BETA_MAX,
    beta_step: float | None = None,
    results: Results | None = None,
    metrics: str | Sequence[str] | None = None,
    missing: MissingPolicy = "error",
) -> RankResult:
    """Score and rank the algorithms by every aggregation, with a bootstrap over datasets.

    Each replicate draws as many datasets as there are, with replacement, and takes their cells as they are: where a
    cell is a mean over seeds or folds, what those leave of noise is part of what lies between the datasets, and
    drawing them again would count it twice. The intervals are expanded percentile intervals, those of the means
    bootstrap-t intervals (see `bootstrap`). `resampling_share` is the share of replicates in which an algorithm
    ranks first, ties sharing the win; it is not the probability of leading a new benchmark, which the `judgement` has,
    with who could be best; the interval of the mean rank is that of the judgement, too. Algorithms with the same values
    everywhere count as one. Below five datasets none of these exists. All of it treats the datasets as a sample of
    those that the ranking should hold for. Datasets of one of the `families` (a mapping by dataset, or `auto`: by the
    start of their names) are drawn together; means then have percentile intervals, too. With the `results` that the
    matrix is of, the judgement also says what other `metrics` of theirs support, their missing cells treated as
    `missing` says, and what their seeds show (`verdict.beside`).
    """
    replicates = DRAWS_OF["rank"].number(replicates, len(matrix.algorithms))
    refuse_few(replicates)
    options = DolanMore(beta_max, beta_step)
    rules, skipped = applicable(choose_rules(methods), matrix)
    distinct, member = copies(matrix.values)
    contest = Contest(matrix.values[None, distinct], higher_is_better=matrix.higher_is_better)
    n = len(matrix.datasets)
    ones, enough = np.ones((1, n)), n >= FEWEST_DATASETS
    numbers = None if families is None else family_numbers(matrix.datasets, families)
    units = n if numbers is None else int(numbers.max()) + 1
    weights = content_weights(
        matrix.upward, replicates=replicates, rng=derived_rng(seed, "rank", matrix.metric), families=numbers
    )
    alpha = round(1 - confidence, 12)
    judged = judge(matrix, control=control, alpha=alpha, families=families, test=test, seed=seed)
    if results is not None:
        judged = with_table(judged, matrix, results, metrics=metrics, missing=missing, families=families, seed=seed)
    rankings = {}
    for rule in rules:
        upward = rule.higher_is_better(matrix.higher_is_better)
        scores = rule.score(contest, ones, options)[:, member]
        ranking = Ranking(rule, upward, scores[0], ties.ranks(scores, higher_is_better=upward)[0])
        if enough:
            sampled = rule.score(contest, weights, options)[:, member]
            ranks = ties.ranks(sampled, higher_is_better=upward)
            ranking = replace(
                ranking,
                score_interval=_score_interval(rule.name, matrix, judged, sampled, weights, confidence=confidence),
                rank_interval=intervals(ranks, units, confidence, discrete=True),
                resampling_share=first_shares(ranks).mean(axis=0),
            )
        rankings[rule.name] = ranking
    return RankResult(
        *matrix.head,
        rankings=rankings,
        mean_ranks=contest.ranks[0].mean(axis=1)[member],
        judgement=judged,
        skipped=skipped,
        missing=matrix.missing,
        replicates=replicates,
        confidence=confidence,
        dolan_more=options,
        by_metric=metrics is not None and bool(judged.metrics),
    )


_MEANS: dict[str, tuple[Callable[[FloatArray], FloatArray], Callable[[FloatArray], FloatArray]]] = {
    "mean": (np.asarray, np.asarray),
    "geometric_mean": (np.log, np.exp),
    "harmonic_mean": (np.reciprocal, np.reciprocal),
}
"""Of what each of these is the mean, and the way back."""


def _score_interval(
    rule: str, matrix: Matrix, judged: Verdict, sampled: FloatArray, weights: FloatArray, confidence: float
) -> FloatArray:
    """Of the mean rank that of the verdict, of a mean by bootstrap-t on the scale on which it is one, of other scores
    and of families by percentiles."""
    values, units = matrix.values, judged.families or len(matrix.datasets)
    if rule == "mean_rank" and judged.interval is not None:
        return judged.interval[[judged.algorithms.index(name) for name in matrix.algorithms]]
    if rule not in _MEANS or (rule != "mean" and not (values > 0).all()) or units < values.shape[1]:
        return intervals(sampled, units, confidence)
    forward, back = _MEANS[rule]
    ends = studentised(forward(values), weights, confidence=confidence)
    if rule == "harmonic_mean":
        ends = np.maximum(ends, np.finfo(float).tiny)
    with np.errstate(over="ignore"):  # an end beyond the largest number is infinite
        ends = np.sort(back(ends), axis=1)
    return np.maximum(ends, 0.0) if (values >= 0).all() else ends


def _run(results: Results, spec: AnalysisSpec) -> RankResult:
    matrix, level = spec.matrix(results), 1 - spec.alpha
    return rank_algorithms(
        matrix, replicates=spec.replicates, confidence=level, control=spec.control, test=spec.test, seed=spec.seed,
        results=results, missing=spec.missing,
    )  # fmt: skip


ANALYSIS = Analysis(
    name="rank",
    question="Which {algorithm} is best under each way of aggregating over {datasets}, and how sure is that?",
    source="KDD'24 sections 3.4 and 4.2; Vote'n'Rank (Rofin et al. 2023)",
    run=_run,
    early=True,
)
