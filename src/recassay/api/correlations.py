"""The verb `correlations`: do the metrics agree?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recassay.analysis.correlations import CorrelationsResult
from recassay.api.tables import load_results


def correlations(results: Any) -> CorrelationsResult:
    """Spearman's correlation between metrics, averaged over datasets."""
    from recassay.analysis.correlations import correlate_metrics

    return correlate_metrics(load_results(results))
