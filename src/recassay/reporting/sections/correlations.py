"""Metric correlations: which metrics order the algorithms alike."""

from __future__ import annotations

from recassay.analysis.correlations import CorrelationsResult
from recassay.reporting.section import Figure, Section, no_sentences


def figures(result: CorrelationsResult) -> list[Figure]:
    """The matrix of correlations."""
    from recassay.plots.correlations import plot_correlations

    caption = "Spearman's correlation of the algorithms' order between metrics, averaged over the datasets."
    return [Figure("metric_correlations", caption, plot_correlations(result), "metric_correlations")]


SECTION = Section(CorrelationsResult, "Do the metrics agree?", "leaderboard", "rank", figures, no_sentences, order=30)
