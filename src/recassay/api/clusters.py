"""The verb `clusters`: groups of alike datasets."""

from __future__ import annotations

from typing import Any

from recassay.analysis.clusters.fit import cluster_datasets
from recassay.analysis.clusters.result import ClustersResult
from recassay.api.tables import _needed, asked
from recassay.core.choices import MissingPolicy


def clusters(
    results: Any,
    metric: str | None = None,
    *,
    characteristics: Any = None,
    number: int | None = None,
    missing: MissingPolicy = "error",
    higher_is_better: bool | None = None,
    log_skewed: bool = False,
    seed: int = 0,
) -> ClustersResult:
    """Groups of alike datasets and how the algorithms rank in each (KDD'24, Figure 8 and Table 5)."""
    _, matrix, known = asked(results, metric, characteristics, missing, higher_is_better)
    return cluster_datasets(matrix, _needed(known), clusters=number, log_skewed=log_skewed, seed=seed)
