"""The verb `correlations`: do the metrics agree?"""

from __future__ import annotations

from typing import Any

from recassay.analysis.correlations import CorrelationsResult, correlate_metrics
from recassay.api.tables import load_results


def correlations(results: Any) -> CorrelationsResult:
    """Spearman's correlation between metrics, averaged over datasets."""
    return correlate_metrics(load_results(results))
