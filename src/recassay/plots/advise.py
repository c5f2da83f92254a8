"""Ranks to expect on a new dataset."""

from __future__ import annotations

from typing import Any

from recassay.analysis.advise.result import AdviseResult
from recassay.core import columns as c
from recassay.plots.forms import intervals, names_down
from recassay.plots.grammar import Chart, channel, layer
from recassay.plots.theme import COLOURS, FAINT, inline, shorten, themed


def plot_advice(result: AdviseResult) -> Any:
    """Algorithms in the order advised: rank overall, by the model, and on the nearest datasets, with intervals."""
    near = f"on the {len(result.nearest)} nearest"
    kinds = {"overall": "overall", "predicted": "model", "nearest": near}
    rows = [
        {
            c.ALGORITHM: row[c.ALGORITHM],
            "by": title,
            "rank": row[f"{kind}_rank"],
            "low": row[f"{kind}_low"],
            "high": row[f"{kind}_high"],
        }
        for row in result.to_frame().to_dicts()
        for kind, title in kinds.items()
    ]
    order = [result.algorithms[a] for a in result.order()]
    titles = list(kinds.values())
    scale = {"domain": titles, "range": ["#5b6770", COLOURS[0], COLOURS[1]]}
    colour = channel("by:N", scale=scale, sort=titles, legend={"title": None})
    base = Chart(inline(rows)).encode(
        y=names_down(c.ALGORITHM, order),
        yOffset=channel("by:N", sort=titles),
        color=colour,
        tooltip=[f"{c.ALGORITHM}:N", "by:N", "rank:Q", "low:Q", "high:Q"],
    )
    x = {"domain": [1, max(2, len(order))], "nice": False}
    axis = {"gridColor": "#eef0f2", "domainColor": FAINT}
    marks = intervals(base, "rank", "low", "high", scale=x, title="rank (1 is best)", axis=axis, line={"opacity": 0.45})
    chart = layer(*marks).properties(width=430, height={"step": 11})
    return themed(
        chart,
        f"Ranks to expect on {shorten(result.title, 60)}, {result.metric}",
        f"{100 * result.confidence:g} % intervals (overall, model: of the rank on a new dataset; nearest: of the mean "
        "rank there); order by "
        f"{'the model' if result.trusts_model else 'the overall mean rank, which the model does not beat'}",
    )
