"""How rankings bear perturbation: the stress tests of KDD'24, section 4.2.3 and appendix B, and what survives them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from recassay.analysis.aggregate import choose_rules
from recassay.analysis.bootstrap import dataset_weights
from recassay.analysis.rules import DolanMore, Rule
from recassay.analysis.stress_algorithms import add_best, add_copies, drop_algorithms
from recassay.analysis.stress_beta import vary_beta
from recassay.analysis.stress_conclusions import (
    Conclusion,
    conclude,
    consensus,
    deciding_datasets,
    tiers,
)
from recassay.analysis.stress_curve import Curve, estimated
from recassay.analysis.stress_datasets import Subset, drop_datasets, few_datasets, several, small_sizes
from recassay.analysis.stress_ranker import Ranker
from recassay.analysis.stress_signs import Row, sign_table
from recassay.analysis.stress_survival import Survival
from recassay.analysis.stress_verdict import stress_verdict
from recassay.core import columns as c
from recassay.core.analysis import Analysis, AnalysisSpec
from recassay.core.errors import NotApplicableError, UsageError
from recassay.core.results import Matrix, MissingCells, Results
from recassay.core.seeds import derived_rng
from recassay.core.types import BoolArray, FloatArray

DRAWS = 1000
FEWEST_DRAWS = 100
FEWEST_DATASETS = 5
FEWEST_ALGORITHMS = 3
BOOTSTRAP = 2000
"""Bootstrap replicates of the tests that add an algorithm, over all copied algorithms together (at most 200 each)."""


@dataclass(frozen=True, slots=True, eq=False)
class StressResult:
    """What every stress test measured, and what follows.

    Arrays follow `rules` and `algorithms`. `order` is the consensus: by mean rank over the aggregations. `main` is the
    change that the verdict is about (a sixth of the datasets left out), `half` a harder one, `tiers` the order cut where
    it survives `main`.
    """

    metric: str
    higher_is_better: bool
    algorithms: tuple[str, ...]
    datasets: tuple[str, ...]
    rules: tuple[Rule, ...]
    skipped: dict[str, str]
    missing: MissingCells
    draws: int
    seed: int
    dolan_more: DolanMore
    reference: FloatArray
    order: list[int]
    curves: dict[str, Curve]
    subsets: tuple[Subset, ...]
    signs: tuple[Row, ...]
    main: Survival
    half: Survival
    conclusions: tuple[Conclusion, ...]
    tiers: list[list[int]]
    deciding: BoolArray

    @property
    def titles(self) -> list[str]:
        """The aggregations as people name them."""
        return [rule.title for rule in self.rules]

    def verdict(self) -> list[str]:
        """Which conclusions of this benchmark survive, in sentences."""
        return stress_verdict(self)

    def to_frame(self) -> pl.DataFrame:
        """The table of plus and minus, long: property, aggregation, number, sign, rule."""
        rows = [
            {"property": row.name, "aggregation": rule.name, "number": row.numbers[r], "sign": row.signs[r],
             "rule": row.rule}
            for row in self.signs
            for r, rule in enumerate(self.rules)
        ]  # fmt: skip
        return pl.DataFrame(rows).with_columns(pl.col("number").fill_nan(None))

    def frames(self) -> dict[str, pl.DataFrame]:
        """Plus and minus, the curves, the small sets of datasets, the conclusions, and the order in tiers."""
        return {
            "stress_signs": self.to_frame(),
            "stress_curves": pl.concat([curve.to_frame() for curve in self.curves.values()]),
            "stress_subsets": self._subsets_frame(),
            "stress_conclusions": self._conclusions_frame(),
            "stress_order": pl.DataFrame(
                [
                    {"tier": t + 1, c.ALGORITHM: self.algorithms[a], "mean_rank_over_aggregations": mean}
                    for t, tier in enumerate(self.tiers)
                    for a, mean in ((a, float(self.reference[:, a].mean())) for a in tier)
                ]
            ),
        }

    def _subsets_frame(self) -> pl.DataFrame:
        names = ("rho", "low", "high", "error", "lowest")
        return pl.DataFrame(
            [
                {"datasets": subset.size, "compared_with": what, "aggregation": rule.name}
                | dict(zip(names, numbers[r].tolist(), strict=True))
                | {"tried": subset.tried}
                for subset in self.subsets
                for what, numbers in subset.numbers.items()
                for r, rule in enumerate(self.rules)
            ]
        )

    def _conclusions_frame(self) -> pl.DataFrame:
        return pl.DataFrame(
            [
                {"conclusion": found.statement, "change": found.change, "when": found.when, "verdict": found.verdict,
                 "holds_under": found.holds_under}
                | {rule.name: share for rule, share in zip(self.rules, found.shares, strict=True)}
                for found in self.conclusions
            ]
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """`verdict`, `table`, `curves`, `subsets`, `pareto`, `conclusions` and `tiers`, by aggregation where it fits."""
        names = [rule.name for rule in self.rules]
        return {
            "metric": self.metric,
            "higher_is_better": self.higher_is_better,
            "algorithms": list(self.algorithms),
            "datasets": list(self.datasets),
            "aggregations": {rule.name: rule.title for rule in self.rules},
            "skipped": self.skipped,
            "missing": {"policy": self.missing.policy, "cells": [list(cell) for cell in self.missing.cells],
                        "dropped": list(self.missing.dropped)},
            "settings": {"draws": self.draws, "seed": self.seed, "beta_max": self.dolan_more.beta_max},
            "verdict": self.verdict(),
            "tiers": [[self.algorithms[a] for a in tier] for tier in self.tiers],
            "deciding_datasets": {
                name: [self.datasets[d] for d in np.flatnonzero(lost)]
                for name, lost in zip(names, self.deciding, strict=True)
            },
            "conclusions": [
                {"conclusion": found.statement, "change": found.change, "when": found.when, "verdict": found.verdict,
                 "holds_under": found.holds_under, "share": dict(zip(names, found.shares, strict=True))}
                for found in self.conclusions
            ],
            "table": {
                row.name: {
                    "rule": row.rule,
                    "signs": dict(zip(names, row.signs, strict=True)),
                    "numbers": dict(zip(names, row.numbers, strict=True)),
                }
                for row in self.signs
            },
            "subsets": {
                str(subset.size): {
                    what: {name: estimated(numbers[r]) for r, name in enumerate(names)}
                    for what, numbers in subset.numbers.items()
                }
                for subset in self.subsets
            },
            "pareto": {
                str(subset.size): {
                    name: {"dominated": subset.dominated, "against": subset.against[r], "level": subset.level[r]}
                    for r, name in enumerate(names)
                }
                for subset in self.subsets
            },
            "curves": {name: curve.to_dict() for name, curve in self.curves.items()},
        }  # fmt: skip


def stress_rankings(
    matrix: Matrix,
    *,
    methods: Sequence[str] | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    dolan_more: DolanMore | None = None,
) -> StressResult:
    """Put the rankings of every aggregation to the stress tests of KDD'24 (section 4.2.3, appendix B).

    `draws` random subsets at each size, or all of them where they are no more. Each test compares the ranking of the
    changed table with the reference, that of the whole one, by Spearman's rho; cells with repeated measurements enter
    by their mean. The same seed gives the same numbers.
    """
    _refuse_too_little(matrix, draws)
    options = dolan_more or DolanMore()
    if options.beta_max <= 1:
        raise UsageError(f"beta_max is {options.beta_max}", fix="give a ratio above 1")
    negative = bool((matrix.values < 0).any())
    asked = choose_rules(methods)
    rules = tuple(rule for rule in asked if not (rule.nonnegative and negative))
    if not rules:
        raise NotApplicableError(f"{matrix.metric} has negative values", fix="ask for an aggregation that allows them")
    skipped = {
        rule.name: f"needs values of at least 0, and {matrix.metric} has negative ones"
        for rule in asked
        if rule not in rules
    }
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
    order = consensus(reference, matrix.algorithms)
    main = dropped.survivals[several(n_datasets)]
    return StressResult(
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
        signs=sign_table(tuple(rule.name for rule in rules), subsets, fewer, similar, curves["new_best"], beta),
        main=main,
        half=dropped.survivals[n_datasets // 2],
        conclusions=conclude(order, matrix.algorithms, [*dropped.survivals.values(), without_some, copied]),
        tiers=tiers(order, main),
        deciding=deciding_datasets(reference, dropped.without, order[0]),
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
    matrix = results.matrix(spec.metric, missing=spec.missing, higher_is_better=spec.higher_is_better)
    return stress_rankings(matrix, seed=spec.seed)


ANALYSIS = Analysis(
    name="stress",
    question="Which conclusions survive other datasets, other algorithms and other settings, and which do not?",
    source="KDD'24 section 4.2.3, Table 3, Figures 5, 6 and 9",
    run=_run,
)
