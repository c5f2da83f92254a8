"""Metric correlations: which metrics order the algorithms alike."""

from __future__ import annotations

from typing import Any

from recassay.analysis.correlations import CorrelationsResult
from recassay.core import columns as c
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.plots.forms import correlation_fill, heat_map, names_above, names_down
from recassay.plots.theme import themed
from recassay.reporting.section import Plots, Section, plot


@plot(
    "metric_correlations",
    "Spearman's correlation of the {algorithms}' order between metrics, averaged over the {datasets}.",
)
def plot_correlations(result: CorrelationsResult, words: Vocabulary = USUAL) -> Any:
    """Spearman's correlation between every two metrics, averaged over datasets."""
    rows = [
        {**row, "shown": f"{row['spearman']:.2f}".replace("-0.00", "0.00")}
        for row in result.to_frame().to_dicts()
        if row["datasets"]
    ]
    order = list(result.metrics)
    side = 46 * len(order)
    chart = heat_map(
        rows,
        names_above("other", order),
        names_down(c.METRIC, order),
        correlation_fill("spearman", "Spearman's rho"),
        [f"{c.METRIC}:N", "other:N", "spearman:Q", "datasets:Q"],
        dark="abs(datum.spearman) > 0.6",
    ).properties(width=side, height=0.62 * side)
    return themed(
        chart,
        "Do the metrics agree?",
        f"Spearman's correlation over {words.algorithms}, averaged over {words.datasets}",
    )


SECTION = Section(
    CorrelationsResult, "Do the metrics agree?", "leaderboard", "rank", Plots([plot_correlations]), order=30
)
