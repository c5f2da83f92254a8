"""Accuracy against another metric, a panel each, with the Pareto front."""

from __future__ import annotations

from typing import Any

from recassay.analysis.pareto import COSTS, ParetoResult, Trade
from recassay.core.tables.labels import split_label
from recassay.plots.grammar import Chart, Spec, channel, concat, layer
from recassay.plots.theme import COLOURS, FAINT, colour_scale, inline, themed

SIDE = 230
SHAPES = ("circle", "square", "triangle-up", "diamond")
"""For the eleventh algorithm and beyond, as line patterns do for curves."""


def plot_pareto(result: ParetoResult) -> Any:
    """A panel a metric: up is more accurate, and the better end of the other metric is on the right.

    Filled points are on the front, which the line joins; hollow ones are beaten in both.
    """
    names = sorted({name for trade in result.trades for name in trade.algorithms})
    shape = {"domain": names, "range": [SHAPES[i // len(COLOURS) % len(SHAPES)] for i in range(len(names))]}
    panels = [_panel(result, trade, names, shape) for trade in result.trades]
    chart = concat(*panels, columns=3 if len(panels) > 2 else 2, spacing=28).resolve(
        legend={"color": "shared", "shape": "shared"}
    )
    return themed(
        chart,
        f"What {result.metric} costs",
        "Filled: nobody is better in both (the Pareto front); hollow: beaten in both. Right and up is better",
    )


def _panel(result: ParetoResult, trade: Trade, names: list[str], shape: Spec) -> Any:
    rows = [
        {"algorithm": name, "x": float(trade.values[i]), "y": float(trade.accuracy[i]),
         "standing": "on the front" if trade.front[i] else "beaten in both"}
        for i, name in enumerate(trade.algorithms)
    ]  # fmt: skip
    log = split_label(trade.other)[0] in COSTS
    scale = {
        "type": "log" if log else "linear",
        "zero": False,
        "reverse": not trade.higher_is_better,
        "padding": 14,
        "nice": False,
    }
    x = channel(
        "x:Q",
        title=f"{trade.other}{' (log)' if log else ''}",
        scale=scale,
        axis={"tickCount": 4, "labelOverlap": True, "grid": not log},
    )
    up = {"zero": False, "reverse": not result.higher_is_better, "padding": 14, "nice": False}
    y = channel("y:Q", title=result.metric, scale=up, axis={"tickCount": 5})
    legend = {"title": None, "columns": 2 if len(names) > 18 else 1, "orient": "right"}
    base = Chart(inline(rows)).encode(x=x, y=y)
    marks = {
        "color": channel("algorithm:N", scale=colour_scale(names), legend=legend),
        "shape": channel("algorithm:N", scale=shape, legend=legend),
        "tooltip": [
            channel("algorithm:N"),
            channel("y:Q", title=result.metric),
            channel("x:Q", title=trade.other),
            channel("standing:N"),
        ],
    }
    front = "datum.standing == 'on the front'"
    return (
        layer(
            base.transform_filter(front)
            .mark("line", color=FAINT, strokeWidth=1.2, strokeDash=[3, 3])
            .encode(order="x:Q"),
            base.transform_filter(f"!({front})").mark("point", size=62, strokeWidth=1.8).encode(**marks),
            base.transform_filter(front).mark("point", size=78, filled=True, opacity=1).encode(**marks),
        )
        .properties(width=SIDE, height=SIDE)
        .resolve(scale={"color": "shared", "shape": "shared"})
    )
