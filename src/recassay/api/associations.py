"""The verb `associations`: which characteristics of datasets go with performance."""

from __future__ import annotations

from typing import Any

from recassay.analysis.associations import AssociationsResult, correlate_characteristics
from recassay.api.tables import _needed, asked
from recassay.core.choices import MissingPolicy


def associations(
    results: Any,
    metric: str | None = None,
    *,
    characteristics: Any = None,
    missing: MissingPolicy = "error",
    higher_is_better: bool | None = None,
    alpha: float = 0.05,
    permutations: int = 2000,
    seed: int = 0,
) -> AssociationsResult:
    """Which characteristics of the datasets go with each algorithm's performance (KDD'24, Figure 7)."""
    _, matrix, known = asked(results, metric, characteristics, missing, higher_is_better)
    return correlate_characteristics(matrix, _needed(known), alpha=alpha, permutations=permutations, seed=seed)
