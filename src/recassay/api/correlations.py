"""The verb `correlations`: do the metrics agree?"""

from __future__ import annotations

from recassay.analysis.correlations import CorrelationsResult, correlate_metrics
from recassay.api.arguments import checked
from recassay.api.inputs import ResultsLike
from recassay.api.tables import load_results


@checked
def correlations(results: ResultsLike) -> CorrelationsResult:
    """Spearman's correlation between metrics, averaged over datasets.

    Args:
        results: a results table (file or frame), several of them, the folder of a study, or loaded results.
    """
    return correlate_metrics(load_results(results))
