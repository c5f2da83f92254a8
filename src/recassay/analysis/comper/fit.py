"""ComPer: one score out of correctness, coverage, diversity, robustness and scalability (Alslaity and Tran 2019)."""

from __future__ import annotations

import numpy as np

from recassay.analysis.comper.derive import derive_from_tables, matrix_from_frame
from recassay.analysis.comper.matrix import DIMENSIONS, CorrelationMatrix, published_matrix
from recassay.analysis.comper.result import ComPerResult
from recassay.analysis.comper.sensitivity import agreement_of, resampled_first, weight_sensitivity
from recassay.analysis.comper.table import DimensionTable, dimension_table, normalise
from recassay.core.analysis import Analysis, AnalysisSpec
from recassay.core.choices import ComPerTimeUnit, MissingPolicy, Normalisation
from recassay.core.tables.results import Results

__all__ = ["CorrelationMatrix", "derive_from_tables", "fit_comper", "matrix_from_frame", "published_matrix"]
"""What verbs see of the other modules of this analysis."""

DRAWS = 10_000
"""Random matrices of each scheme of the sensitivity analysis."""


def fit_comper(
    results: Results,
    *,
    correctness: str | None = None,
    k: int | None = None,
    matrix: CorrelationMatrix | None = None,
    normalisation: Normalisation = "ratio",
    time_unit: ComPerTimeUnit = "seconds",
    missing: MissingPolicy = "error",
    draws: int = DRAWS,
    seed: int = 0,
) -> ComPerResult:
    """`comper_scores` of the dimensions that `dimension_table` finds in a results table."""
    table = dimension_table(results, correctness=correctness, k=k, time_unit=time_unit, missing=missing)
    return comper_scores(table, matrix=matrix, normalisation=normalisation, draws=draws, seed=seed)


def comper_scores(
    table: DimensionTable,
    *,
    matrix: CorrelationMatrix | None = None,
    normalisation: Normalisation = "ratio",
    draws: int = DRAWS,
    seed: int = 0,
) -> ComPerResult:
    """Algorithm 1 on every algorithm in every setting, and how far its order can be relied on.

    Each dimension becomes d' (`normalise`), a negative one 1 - d'; the score is the sum of d' Corr(d, o) over all
    dimensions and objectives (equation 3), Corr being Table 8 unless `matrix` is given. As every objective sees
    the same d', that is the sum over d of d' times the sum of row d. With Table 8 it lies between 0 and 2.32.
    """
    chosen = matrix or published_matrix()
    normalised = normalise(table, normalisation)
    oriented = np.where(table.negative, -table.values, table.values)
    measures = {
        "comper": normalised @ chosen.weights,
        **{name: oriented[:, :, d] for d, name in enumerate(DIMENSIONS)},
        "sum": table.values.sum(axis=2),
        "mean of normalised": normalised.mean(axis=2),
    }
    return ComPerResult(
        table=table,
        matrix=chosen,
        normalisation=normalisation,
        normalised=normalised,
        agreements=tuple(agreement_of(measures, table.algorithms, table.datasets)),
        sensitivities=tuple(weight_sensitivity(normalised, chosen.values, draws=draws, seed=seed)),
        resampling_share=resampled_first(measures["comper"], table.datasets, draws=draws, seed=seed),
    )


def _run(results: Results, spec: AnalysisSpec) -> ComPerResult:
    correctness, k = spec.known("comper") or (None, None)
    return fit_comper(results, correctness=correctness, k=k, missing=spec.missing, draws=spec.draws, seed=spec.seed)


ANALYSIS = Analysis(
    name="comper",
    question="Which {algorithm} is best when coverage, diversity, robustness and time count besides accuracy?",
    source="Alslaity and Tran 2019, ComPer, IJITCS 11(12)",
    run=_run,
)
