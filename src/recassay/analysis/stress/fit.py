"""How rankings bear perturbation: the stress tests of KDD'24, section 4.2.3 and appendix B, and what survives them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from recassay.analysis.aggregation.areas import BETA_MAX
from recassay.analysis.aggregation.ranks import choose_rules
from recassay.analysis.aggregation.rules import DolanMore, distinct
from recassay.analysis.inference.agreement import spearman
from recassay.analysis.inference.bootstrap import dataset_weights
from recassay.analysis.inference.significance import dataset_ranks
from recassay.analysis.stress.algorithms import add_best, add_copies, drop_algorithms
from recassay.analysis.stress.conclusions import conclude, deciding_datasets, leading_order, tiers
from recassay.analysis.stress.curve import Curve, Point
from recassay.analysis.stress.datasets import drop_datasets, few_datasets, several, small_sizes
from recassay.analysis.stress.ranker import Ranker
from recassay.analysis.stress.result import StressResult
from recassay.analysis.stress.signs import sign_table
from recassay.analysis.stress.words import stress_verdict
from recassay.core.analysis import Analysis, AnalysisSpec
from recassay.core.choices import DRAWS_OF
from recassay.core.errors import NotApplicableError, UsageError
from recassay.core.seeds import derived_rng
from recassay.core.tables.matrix import Matrix
from recassay.core.tables.results import Results
from recassay.core.types import FloatArray

RULES_WITH_BETA = ("dm_auc", "dm_lbo")
BETAS = (1.25, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 8.0, 10.0)


def vary_beta(ranker: Ranker, values: FloatArray, bootstrap: FloatArray) -> Curve | None:
    """Spearman's rho between the ranking at another beta and at the ranker's own (3 in the paper).

    None where neither Dolan-Moré rule applies. Interval: over `bootstrap` draws of the datasets.
    """
    those = ranker.only(*RULES_WITH_BETA)
    if not those.rules:
        return None
    weights = np.vstack([np.ones((1, values.shape[1])), bootstrap])
    before = those(values, weights)
    points = []
    for beta in BETAS:
        rho = spearman(those.with_beta(beta)(values, weights), before)
        points.append(Point(beta, rho[:, :1], True, around=rho))
    return Curve.of("beta", "largest ratio beta", tuple(rule.name for rule in those.rules), points)


FEWEST_DRAWS = 100
FEWEST_DATASETS = 5
FEWEST_ALGORITHMS = 3
BOOTSTRAP = 2000
"""Bootstrap replicates of the tests that add an algorithm, over all copied algorithms together (at most 200 each)."""


def stress_rankings(
    matrix: Matrix,
    *,
    methods: Sequence[str] | None = None,
    draws: int | None = None,
    seed: int = 0,
    beta_max: float = BETA_MAX,
) -> StressResult:
    """Put the rankings of every aggregation to the stress tests of KDD'24 (section 4.2.3, appendix B).

    `draws` random subsets at each size, or all of them where they are no more. Each test compares the ranking of the
    changed table with the reference, that of the whole one, by Spearman's rho; cells with repeated measurements enter
    by their mean. Of aggregations that always order alike (Borda and the mean rank) one counts. The same seed gives the
    same numbers.
    """
    draws = DRAWS_OF["stress"].number(draws, len(matrix.algorithms))
    _refuse_too_little(matrix, draws)
    options = DolanMore(beta_max)
    negative = bool((matrix.values < 0).any())
    asked = choose_rules(methods)
    opinions = distinct(asked)
    rules = tuple(rule for rule in opinions if not (rule.nonnegative and negative))
    if not rules:
        raise NotApplicableError(f"{matrix.metric} has negative values", fix="ask for an aggregation that allows them")
    skipped = {
        rule.name: f"needs values of at least 0, and {matrix.metric} has negative ones"
        for rule in opinions
        if rule not in rules
    } | {rule.name: f"orders the algorithms as {rule.same_as} does" for rule in asked if rule not in opinions}
    values = matrix.values
    count, n_datasets = values.shape
    ranker = Ranker(rules, matrix.higher_is_better, options)
    reference = ranker(values, np.ones((1, n_datasets)))[:, 0]

    def rng(test: str) -> np.random.Generator:
        return derived_rng(seed, "stress", matrix.metric, test)

    replicates = min(200, max(20, BOOTSTRAP // count))
    bootstrap = dataset_weights(n_datasets, replicates, rng("bootstrap"))
    dropped = drop_datasets(ranker, values, reference, draws, rng("datasets"))
    fewer, without_some = drop_algorithms(ranker, values, reference, draws, rng("algorithms"))
    similar, copied = add_copies(ranker, values, bootstrap)
    curves = {"drop_datasets": dropped.curve, "drop_algorithms": fewer, "similar": similar,
              "new_best": add_best(ranker, values, bootstrap)}  # fmt: skip
    beta = vary_beta(ranker, values, bootstrap)
    if beta is not None:
        curves["beta"] = beta
    subsets = tuple(
        few_datasets(ranker, values, reference, size, draws, rng(f"{size} datasets"))
        for size in small_sizes(n_datasets)
    )
    order = leading_order(rules, reference, dataset_ranks(matrix).mean(axis=1), matrix.algorithms)
    main = dropped.survivals[several(n_datasets)]
    result = StressResult(
        metric=matrix.metric,
        higher_is_better=matrix.higher_is_better,
        algorithms=matrix.algorithms,
        datasets=matrix.datasets,
        rules=rules,
        skipped=skipped,
        missing=matrix.missing,
        draws=draws,
        seed=seed,
        dolan_more=options,
        reference=reference,
        order=order,
        curves=curves,
        subsets=subsets,
        signs=sign_table(tuple(rule.name for rule in rules), count, subsets, fewer, similar, curves["new_best"], beta),
        main=main,
        half=dropped.survivals[n_datasets // 2],
        conclusions=conclude(order, matrix.algorithms, [*dropped.survivals.values(), without_some, copied]),
        tiers=tiers(order, main),
        deciding=deciding_datasets(reference, dropped.without, order[0]),
    )
    return replace(result, words=tuple(stress_verdict(result)))


def _refuse_too_little(matrix: Matrix, draws: int) -> None:
    if draws < FEWEST_DRAWS:
        raise UsageError(f"{draws} draws are too few for an interval", fix=f"use at least {FEWEST_DRAWS}")
    for count, fewest, what in (
        (len(matrix.datasets), FEWEST_DATASETS, "datasets"),
        (len(matrix.algorithms), FEWEST_ALGORITHMS, "algorithms"),
    ):
        if count < fewest:
            raise NotApplicableError(
                f"{matrix.metric} has {count} {what}", fix=f"stress tests need at least {fewest} {what}"
            )


def _run(results: Results, spec: AnalysisSpec) -> StressResult:
    matrix = results.matrix(spec.metric, missing=spec.missing, higher_is_better=spec.higher_is_better)
    return stress_rankings(matrix, seed=spec.seed)


ANALYSIS = Analysis(
    name="stress",
    question="Which conclusions survive other datasets, other algorithms and other settings, and which do not?",
    source="KDD'24 section 4.2.3, Table 3, Figures 5, 6 and 9",
    run=_run,
    aside=7,
)
