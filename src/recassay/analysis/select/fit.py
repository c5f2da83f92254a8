"""How few datasets are enough: choices of k datasets and how well each keeps the ranking (KDD'24, 4.4, Table 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from recassay.analysis.aggregation.rules import applicable, choose_rules
from recassay.analysis.dataset_space.space import place_datasets
from recassay.analysis.select.judging import Task, draw_halves
from recassay.analysis.select.methods import BY_CHARACTERISTICS, choose_methods
from recassay.analysis.select.result import SelectResult
from recassay.core.analysis import Analysis, AnalysisSpec
from recassay.core.choices import MANY_ALGORITHMS
from recassay.core.content import content_order
from recassay.core.errors import InputError, NotApplicableError, UsageError
from recassay.core.seeds import derived_rng
from recassay.core.tables.characteristics import CharacteristicsTable
from recassay.core.tables.labels import is_cost
from recassay.core.tables.matrix import Matrix
from recassay.core.tables.results import Results
from recassay.core.words import listing

DEFAULT_RULE = "dm_auc"
"""The aggregation behind Table 4: random choice gives its 0.834, 0.855 and 0.939 with DM AUC."""

SIMULATIONS = 500
SPLITS = 10
SIMULATIONS_OF_MANY, SPLITS_OF_MANY = 100, 2
"""The same where more than 60 algorithms are analysed with everything else; the result says how many there were."""

_CURVE_SIZES = (3, 4, 6, 8, 10, 15)
_CURVE_SPLITS = 4


def select_datasets(
    matrix: Matrix,
    k: int,
    *,
    characteristics: CharacteristicsTable | None = None,
    others: Mapping[str, Matrix] | None = None,
    methods: str | Sequence[str] = "all",
    rule: str | None = None,
    simulations: int = SIMULATIONS,
    splits: int = SPLITS,
    curve: bool = True,
    seed: int = 0,
) -> SelectResult:
    """Choose k datasets in several ways; for each, Spearman's rho of its ranking with that of all datasets.

    `random`, `kmeans`, `d_optimal` and `a_optimal` do not look at the results (`methods.simulate`); the last three need
    `characteristics`. Their choice is repeated over `simulations` starts, whose mean is what Table 4 of KDD'24 reports.
    `preserving` maximises the expected rho under bootstrap (`methods.Criterion`) and so looks at the results: its
    rho on the same algorithms and metric flatters it. The held-out numbers do not. Algorithms are split at random into
    halves, the datasets chosen on one half and judged by the other half's ranking on the datasets that were not chosen
    (`splits` times, both ways); `others` are metrics that the choice never saw; and both at once. Every other method is
    judged on the same halves and metrics.
    """
    given, content = matrix, content_order(matrix.upward)  # what is drawn is drawn in an order of the content
    matrix = matrix.part(content.rows, content.columns)
    others = {
        name: other.part(content.rows, content.columns) for name, other in (others or {}).items() if _same(other, given)
    }
    n = len(matrix.datasets)
    if not 1 < k < n:
        raise InputError(
            f"{k} of {n} datasets were asked for" if k < n else f"there are {n} datasets, and {k} were to be chosen",
            fix=f"choose k from 2 to {n - 1}" if n > 2 else "give more datasets",
        )
    if simulations < 10 or splits < 1:
        raise UsageError(f"{simulations} simulations and {splits} splits are too few", fix="use at least 10 and 1")
    # Where the values are negative, the usual aggregation gives way; one that was asked for is refused.
    usual = [DEFAULT_RULE, "mean_rank"] if rule is None else [rule]
    possible, unfit = applicable(choose_rules(usual), matrix)
    if not possible:
        raise UsageError(f"{rule} {unfit[str(rule)]}", fix="choose another aggregation, for example mean_rank")
    chosen_rule = possible[0]
    asked, why = choose_methods(methods), "needs the characteristics of the datasets (`characteristics`)"
    skipped = {name: why for name in asked if name in BY_CHARACTERISTICS and characteristics is None}
    names = [name for name in asked if name not in skipped]
    if not names:
        raise UsageError(
            f"{listing(skipped, last='and')} cannot choose without the characteristics of the datasets",
            fix="give `characteristics`, or choose `methods='preserving'`",
        )
    space = None
    if characteristics is not None:
        known = characteristics.aligned(given.datasets)  # those without are named in the order of the table
        space = place_datasets(known.aligned(matrix.datasets), rng=derived_rng(seed, "outliers"))
    judged = {name: other for name, other in others.items() if applicable([chosen_rule], other)[0]}
    task = Task(matrix, chosen_rule, judged, space, seed=seed)
    halves = draw_halves(len(matrix.algorithms), splits, derived_rng(seed, "selection halves"))
    weights = {name: task.subsets(name, k, simulations) for name in dict.fromkeys(("random", *names))}
    choices = task.judge(names, k, halves, weights)
    sizes = sorted({s for s in (*_CURVE_SIZES, k) if s <= max(k, n // 2)}) if curve else []
    return SelectResult(
        metric=matrix.metric,
        rule=chosen_rule.name,
        k=k,
        algorithms=given.algorithms,
        datasets=given.datasets,
        choices=choices,
        by_rule=task.by_rule({name: weights[name] for name in names}),
        curve=tuple(point for size in sizes for point in task.curve(names, size, halves[: 2 * _CURVE_SPLITS])),
        held_out_metrics=tuple(judged),
        halves=len(halves),
        simulations=simulations,
        skipped=skipped,
    )


def _same(other: Matrix, matrix: Matrix) -> bool:
    """Whether another metric covers the same algorithms and datasets."""
    return other.algorithms == matrix.algorithms and other.datasets == matrix.datasets


def other_metrics(results: Results, matrix: Matrix) -> dict[str, Matrix]:
    """The other metrics of the table, on the datasets that have every cell; costs are left out."""
    others = {}
    for label in results.metrics:
        if label != matrix.metric and not is_cost(label):
            # Where no direction is known, or nothing is left, a metric cannot judge.
            with suppress(InputError, UsageError):
                others[label] = results.matrix(label, missing="drop-datasets")
    return others


def _run(results: Results, spec: AnalysisSpec) -> SelectResult:
    matrix = spec.matrix(results)
    n = len(matrix.datasets)
    if n < 6 or len(matrix.algorithms) < 3:
        raise NotApplicableError(
            f"{n} datasets and {len(matrix.algorithms)} algorithms are too few to choose among",
            fix="give at least 6 datasets and 3 algorithms",
        )
    many = len(matrix.algorithms) > MANY_ALGORITHMS
    return select_datasets(
        matrix,
        min(6, n // 2),
        characteristics=spec.known("characteristics"),  # two ways need none
        others=other_metrics(results, matrix),
        simulations=SIMULATIONS_OF_MANY if many else SIMULATIONS,
        splits=SPLITS_OF_MANY if many else SPLITS,
        seed=spec.seed,
    )


ANALYSIS = Analysis(
    name="select",
    aliases=("selection",),
    question="How few {datasets} would have given the same ranking, and which?",
    source="KDD'24 section 4.4, Table 4, appendix C; the choice under bootstrap is RecAssay's own",
    run=_run,
    early=True,
)
