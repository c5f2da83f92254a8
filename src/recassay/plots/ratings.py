"""Ratings with their intervals, and who beats whom."""

from __future__ import annotations

from typing import Any

from recassay.analysis.ratings.result import RatingsResult
from recassay.core import columns as c
from recassay.plots.forms import algorithm_colour, heat_map, intervals, names_above, names_down, share_fill
from recassay.plots.grammar import Chart, layer
from recassay.plots.theme import inline, themed


def plot_ratings(result: RatingsResult) -> Any:
    """A dot and an interval for every algorithm, highest first."""
    rows = result.to_frame().to_dicts()
    order = [row[c.ALGORITHM] for row in rows]
    base = Chart(inline(rows)).encode(
        y=names_down(c.ALGORITHM, order),
        color=algorithm_colour(order),
        tooltip=[f"{c.ALGORITHM}:N", "rating:Q", "low:Q", "high:Q", "win_rate:Q"],
    )
    layers = intervals(base, "rating", "low", "high", scale={"zero": False}, title="rating")
    return themed(
        layer(*layers).properties(width=460, height=22 * len(order)),
        f"Ratings by pairwise wins, {result.metric}",
        f"{100 * result.confidence:g} % intervals over {len(result.datasets)} datasets",
    )


def plot_win_rates(result: RatingsResult) -> Any:
    """Algorithms against algorithms: the share of datasets on which the row wins."""
    order = [result.algorithms[a] for a in result.order()]
    rows = [
        {"row": one, "column": other, "share": float(result.win_rate[a, b]), "shown": f"{result.win_rate[a, b]:.0%}"}
        for a, one in enumerate(result.algorithms)
        for b, other in enumerate(result.algorithms)
        if a != b
    ]
    chart = heat_map(
        rows,
        names_above("column", order),
        names_down("row", order),
        share_fill("share", "row wins"),
        ["row:N", "column:N", "share:Q"],
        dark="datum.share > 0.6",
        written=len(order) <= 20,
    )
    return themed(
        chart.properties(width=40 * len(order), height=24 * len(order)),
        "Who beats whom",
        f"Share of {len(result.datasets)} datasets on which the row is better; ties count half",
    )
