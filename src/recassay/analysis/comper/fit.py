"""ComPer: one score out of correctness, coverage, diversity, robustness and scalability (Alslaity and Tran 2019)."""

from __future__ import annotations

import numpy as np

from recassay.analysis.comper.agreement import agreement_of
from recassay.analysis.comper.matrix import DIMENSIONS, CorrelationMatrix, published_matrix
from recassay.analysis.comper.result import ComPerResult
from recassay.analysis.comper.score import Normalisation, normalise, score
from recassay.analysis.comper.sensitivity import weight_sensitivity
from recassay.analysis.comper.table import DimensionTable, dimension_table
from recassay.core.analysis import Analysis, AnalysisSpec
from recassay.core.errors import UsageError
from recassay.core.results import Results

DRAWS = 10_000
"""Random matrices of each scheme of the sensitivity analysis."""


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
    dimensions and objectives, Corr being Table 8 unless `matrix` is given. With Table 8 it lies between 0 and 2.32.
    """
    if draws < 1:
        raise UsageError(f"{draws} random matrices", fix="draw at least one")
    chosen = matrix or published_matrix()
    normalised = normalise(table, normalisation)
    oriented = np.where(table.negative, -table.values, table.values)
    measures = {
        "comper": score(normalised, chosen.values),
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
    )


def _run(results: Results, spec: AnalysisSpec) -> ComPerResult:
    settings = spec.evidence["comper"]() if "comper" in spec.evidence else {}
    table = dimension_table(results, missing=spec.missing, **settings)
    return comper_scores(table, draws=spec.replicates, seed=spec.seed)


ANALYSIS = Analysis(
    name="comper",
    question="Which algorithm is best when coverage, diversity, robustness and time count besides accuracy?",
    source="Alslaity and Tran 2019, ComPer, IJITCS 11(12)",
    run=_run,
)
