"""The verb `profiles`: Dolan-Moré performance profiles."""

from __future__ import annotations

from typing import Any

from recassay.analysis.profiles import ProfilesResult, fit_profiles
from recassay.api.tables import default_metric, load_results
from recassay.core.choices import MissingPolicy


def profiles(
    results: Any,
    metric: str | None = None,
    *,
    missing: MissingPolicy = "error",
    higher_is_better: bool | None = None,
    beta_max: float = 3.0,
) -> ProfilesResult:
    """Dolan-Moré performance profiles and the areas under them."""
    table = load_results(results, metric=metric)
    matrix = table.matrix(metric or default_metric(table), missing=missing, higher_is_better=higher_is_better)
    return fit_profiles(matrix, beta_max=beta_max)
