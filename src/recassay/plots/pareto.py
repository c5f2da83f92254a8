"""Accuracy against another metric, a panel each, with the Pareto front."""

from __future__ import annotations

from typing import Any

import altair as alt

from recassay.analysis.pareto import COSTS, ParetoResult, Trade
from recassay.core.tables.labels import split_label
from recassay.plots.theme import COLOURS, FAINT, colour_scale, inline, themed

SIDE = 230
SHAPES = ("circle", "square", "triangle-up", "diamond")
"""For the eleventh algorithm and beyond, as line patterns do for curves."""


def plot_pareto(result: ParetoResult) -> Any:
    """A panel a metric: up is more accurate, and the better end of the other metric is on the right.

    Filled points are on the front, which the line joins; hollow ones are beaten in both.
    """
    names = sorted({name for trade in result.trades for name in trade.algorithms})
    shape = alt.Scale(domain=names, range=[SHAPES[i // len(COLOURS) % len(SHAPES)] for i in range(len(names))])
    panels = [_panel(result, trade, names, shape) for trade in result.trades]
    chart = alt.concat(*panels, columns=3 if len(panels) > 2 else 2, spacing=28).resolve_legend(
        color="shared", shape="shared"
    )
    return themed(
        chart,
        f"What {result.metric} costs",
        "Filled: nobody is better in both (the Pareto front); hollow: beaten in both. Right and up is better",
    )


def _panel(result: ParetoResult, trade: Trade, names: list[str], shape: alt.Scale) -> Any:
    rows = [
        {"algorithm": name, "x": float(trade.values[i]), "y": float(trade.accuracy[i]),
         "standing": "on the front" if trade.front[i] else "beaten in both"}
        for i, name in enumerate(trade.algorithms)
    ]  # fmt: skip
    log = split_label(trade.other)[0] in COSTS
    scale = alt.Scale(
        type="log" if log else "linear", zero=False, reverse=not trade.higher_is_better, padding=14, nice=False
    )
    x = alt.X(
        "x:Q",
        title=f"{trade.other}{' (log)' if log else ''}",
        scale=scale,
        axis=alt.Axis(tickCount=4, labelOverlap=True, grid=not log),
    )
    up = alt.Scale(zero=False, reverse=not result.higher_is_better, padding=14, nice=False)
    y = alt.Y("y:Q", title=result.metric, scale=up, axis=alt.Axis(tickCount=5))
    legend = alt.Legend(title=None, columns=2 if len(names) > 18 else 1, orient="right")
    base = alt.Chart(inline(rows)).encode(x=x, y=y)
    marks = {
        "color": alt.Color("algorithm:N", scale=colour_scale(names), legend=legend),
        "shape": alt.Shape("algorithm:N", scale=shape, legend=legend),
        "tooltip": [
            alt.Tooltip("algorithm:N"),
            alt.Tooltip("y:Q", title=result.metric),
            alt.Tooltip("x:Q", title=trade.other),
            alt.Tooltip("standing:N"),
        ],
    }
    front = "datum.standing == 'on the front'"
    return (
        alt.layer(
            base.transform_filter(front).mark_line(color=FAINT, strokeWidth=1.2, strokeDash=[3, 3]).encode(order="x:Q"),
            base.transform_filter(f"!({front})").mark_point(size=62, strokeWidth=1.8).encode(**marks),
            base.transform_filter(front).mark_point(size=78, filled=True, opacity=1).encode(**marks),
        )
        .properties(width=SIDE, height=SIDE)
        .resolve_scale(color="shared", shape="shared")
    )
