"""How rankings bear perturbation: the stress tests of KDD'24, section 4.2.3 and appendix B, and what survives them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recassay.analysis.aggregation.contest import Contest
from recassay.analysis.aggregation.rules import BETA_MAX, DolanMore, applicable, choose_rules, distinct
from recassay.analysis.inference.bootstrap import content_weights
from recassay.analysis.inference.significance import dataset_ranks
from recassay.analysis.stress.changes import (
    add_best,
    add_copies,
    drop_algorithms,
    drop_datasets,
    few_datasets,
    several,
    small_sizes,
    vary_beta,
)
from recassay.analysis.stress.conclusions import conclude, deciding_datasets, leading_order, tiers
from recassay.analysis.stress.ranker import Ranker
from recassay.analysis.stress.result import StressResult
from recassay.analysis.stress.signs import sign_table
from recassay.core.analysis import Analysis, AnalysisSpec
from recassay.core.choices import DRAWS_OF, FEWEST_DATASETS
from recassay.core.errors import NotApplicableError, UsageError
from recassay.core.seeds import derived_rng
from recassay.core.tables.matrix import Matrix
from recassay.core.tables.results import Results

FEWEST_DRAWS = 100
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
    asked = choose_rules(methods)
    opinions = distinct(asked)
    rules, skipped = applicable(opinions, matrix)
    if not rules:
        raise NotApplicableError(f"{matrix.metric} has negative values", fix="ask for an aggregation that allows them")
    skipped |= {rule.name: f"orders the algorithms as {rule.same_as} does" for rule in asked if rule not in opinions}
    count, n_datasets = matrix.values.shape
    ranker = Ranker(tuple(rules), Contest(matrix.values[None], higher_is_better=matrix.higher_is_better), options)
    itself = np.ones((1, n_datasets))
    reference = ranker(itself)[:, 0]

    def rng(test: str) -> np.random.Generator:
        return derived_rng(seed, "stress", matrix.metric, test)

    replicates = min(200, max(20, BOOTSTRAP // count))
    weights = np.vstack([itself, content_weights(matrix.upward, replicates=replicates, rng=rng("bootstrap"))])
    dropped, survivals, without_one = drop_datasets(ranker, reference, draws, rng("datasets"))
    fewer, without_some = drop_algorithms(ranker, reference, draws, rng("algorithms"))
    similar, copied = add_copies(ranker, weights)
    drawn = (dropped, fewer, similar, add_best(ranker, weights), vary_beta(ranker, weights))
    curves = {curve.test: curve for curve in drawn if curve is not None}
    subsets = tuple(
        few_datasets(ranker, reference, size, draws, rng(f"{size} datasets")) for size in small_sizes(n_datasets)
    )
    order = leading_order(ranker.rules, reference, dataset_ranks(matrix).mean(axis=1), matrix.algorithms)
    main = survivals[several(n_datasets)]
    return StressResult(
        *matrix.head,
        rules=ranker.rules,
        skipped=skipped,
        missing=matrix.missing,
        draws=draws,
        seed=seed,
        dolan_more=options,
        reference=reference,
        order=order,
        curves=curves,
        subsets=subsets,
        signs=sign_table(ranker.names, count, subsets, curves),
        main=main,
        half=survivals[n_datasets // 2],
        conclusions=tuple(conclude(order, matrix.algorithms, [*survivals.values(), without_some, copied])),
        tiers=tiers(order, main),
        deciding=deciding_datasets(reference, without_one, order[0]),
    )


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
    return stress_rankings(spec.matrix(results), seed=spec.seed)


ANALYSIS = Analysis(
    name="stress",
    question="Which conclusions survive other {datasets}, other {algorithms} and other settings, and which do not?",
    source="KDD'24 section 4.2.3, Table 3, Figures 5, 6 and 9",
    run=_run,
    aside=7,
)
