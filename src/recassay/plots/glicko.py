"""Glicko-2: rank after every dataset, and the final ratings with their intervals (Cardoso et al., Figure 12)."""

from __future__ import annotations

from typing import Any

from recassay.analysis.glicko.result import GlickoResult
from recassay.core import columns as c
from recassay.plots.forms import algorithm_colour, intervals, names_down, quoted
from recassay.plots.grammar import Chart, channel, fixed, layer
from recassay.plots.theme import FAINT, INK, dash_scale, inline, shorten, themed


def plot_glicko_bump(result: GlickoResult) -> Any:
    """A line an algorithm: its rank by rating after each dataset, in the order of play; names at the right end."""
    order = [result.algorithms[a] for a in result.order()]
    rows = result.history_frame().to_dicts()
    last = len(result.datasets)
    ends = [{**row, "label": shorten(row[c.ALGORITHM])} for row in rows if row["period"] == last]
    ticks = ", ".join(quoted(shorten(name, 18)) for name in result.datasets)
    x = channel(
        "period:Q",
        title="datasets, in the order of play",
        scale={"domain": [1, max(last, 2)], "nice": False},
        axis={
            "values": list(range(1, last + 1)),
            "labelExpr": f"[{ticks}][datum.value - 1]",
            "labelAngle": -60,
            "grid": False,
            "labelOverlap": False,
        },
    )
    y = channel(
        f"{c.RANK}:Q",
        title="rank by rating",
        scale={"domain": [0.5, len(order) + 0.5], "reverse": True, "nice": False},
        axis={"values": list(range(1, len(order) + 1)), "format": "d", "grid": False},
    )
    lines = (
        Chart(inline(rows))
        .mark("line", interpolate="monotone", strokeWidth=2.2, point={"size": 26})
        .encode(
            x=x,
            y=y,
            color=algorithm_colour(order),
            strokeDash=channel(f"{c.ALGORITHM}:N", scale=dash_scale(order), legend=None),
            tooltip=[f"{c.ALGORITHM}:N", f"{c.DATASET}:N", f"{c.RANK}:Q", "rating:Q", "deviation:Q"],
        )
    )
    names = Chart(inline(ends)).mark("text", align="left", dx=9, fontSize=11).encode(
        x=x, y=y, text="label:N", color=fixed(INK)
    )  # fmt: skip
    width = max(360, 17 * last)
    chart = (lines + names).properties(width=width, height=max(200, 20 * len(order)))
    return themed(
        chart,
        f"Glicko-2 rank through the datasets, {result.metric}",
        f"{last} datasets in the order: {result.order_name}; another order may end otherwise",
    )


def plot_glicko_ratings(result: GlickoResult) -> Any:
    """Final ratings with 95 % intervals where there are any; the grey bar is their range over random orders."""
    order = [result.algorithms[a] for a in result.order()]
    rows = result.to_frame().to_dicts()
    scale = {"zero": False}
    numbers = ("rating", "deviation", "volatility", "low", "high", "order_low", "order_high")
    base = Chart(inline(rows)).encode(
        y=names_down(c.ALGORITHM, order), tooltip=[f"{c.ALGORITHM}:N", *(f"{name}:Q" for name in numbers)]
    )
    spread = base.mark("rule", color=FAINT, opacity=0.35, strokeWidth=9).encode(
        x=channel("order_low:Q", title="rating", scale=scale), x2="order_high:Q"
    )
    coloured = base.encode(color=algorithm_colour(order))
    ratings = intervals(coloured, "rating", "low", "high", scale=scale, size=60, line={"strokeWidth": 2.2})
    chart = layer(spread, *ratings).properties(width=480, height=22 * len(order))
    return themed(
        chart,
        f"Glicko-2 ratings, {result.metric}",
        ("" if result.bounds is None else "95 % intervals over drawn datasets; ")
        + f"grey: 95 % of {result.n_orders} random orders of the {len(result.datasets)} datasets",
    )
