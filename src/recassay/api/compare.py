"""The verb `compare`: which differences are more than luck."""

from __future__ import annotations

from typing import Any

from recassay.analysis.compare.fit import compare_algorithms
from recassay.analysis.compare.result import CompareResult
from recassay.api.tables import default_metric, load_results
from recassay.core.choices import BarsRule, MissingPolicy, ZeroMethod


def compare(
    results: Any,
    metric: str | None = None,
    *,
    missing: MissingPolicy = "error",
    higher_is_better: bool | None = None,
    alpha: float = 0.05,
    zeros: ZeroMethod = "wilcox",
    rope: float = 0.0,
    bars: BarsRule = "wilcoxon-holm",
    seed: int = 0,
) -> CompareResult:
    """Which differences are more than luck: Friedman, Nemenyi, Wilcoxon-Holm and the Bayesian signed-rank test."""
    table = load_results(results, metric=metric)
    matrix = table.matrix(metric or default_metric(table), missing=missing, higher_is_better=higher_is_better)
    return compare_algorithms(matrix, alpha=alpha, zeros=zeros, rope=rope, bars=bars, seed=seed)
