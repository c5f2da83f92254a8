"""The verb `rank`: which algorithm is best under each aggregation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recassay.analysis.rank.fit import rank_algorithms
from recassay.analysis.rank.result import RankResult
from recassay.api.tables import default_metric, load_results
from recassay.core.choices import MissingPolicy


def rank(
    results: Any,
    metric: str | None = None,
    *,
    methods: Sequence[str] | None = None,
    missing: MissingPolicy = "error",
    higher_is_better: bool | None = None,
    replicates: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
    beta_max: float = 3.0,
    beta_step: float | None = None,
) -> RankResult:
    """Which algorithm is best under each aggregation over datasets, with bootstrap intervals."""
    table = load_results(results, metric=metric)
    matrix = table.matrix(metric or default_metric(table), missing=missing, higher_is_better=higher_is_better)
    return rank_algorithms(
        matrix,
        methods=methods,
        replicates=replicates,
        confidence=confidence,
        seed=seed,
        beta_max=beta_max,
        beta_step=beta_step,
    )
