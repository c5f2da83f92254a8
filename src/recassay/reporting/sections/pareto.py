"""What accuracy costs: the Pareto fronts."""

from __future__ import annotations

from typing import Any

from recassay.analysis.pareto import ParetoResult, Trade
from recassay.core.tables.labels import is_cost
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import listing
from recassay.plots.grammar import Chart, Spec, channel, concat, layer
from recassay.plots.shown import ALL, Shown
from recassay.plots.theme import COLOURS, FAINT, colour_scale, themed
from recassay.reporting.section import Plots, Section, plot
from recassay.reporting.words.pareto import sentences

SIDE = 230
SHAPES = ("circle", "square", "triangle-up", "diamond")
"""For the thirteenth algorithm and beyond, as line patterns do for curves."""


def _caption(result: ParetoResult, words: Vocabulary) -> str:
    absent = sorted({name for trade in result.trades for name in trade.left_out})
    note = f"; left out where values are missing: {listing(absent)}" if absent else ""
    return (
        f"{result.metric} against what it may cost, averaged over {words.datasets} (times and memory geometrically): "
        f"filled points on the line are the Pareto front, hollow ones are beaten in both{note}."
    )


@plot("pareto", _caption)
def plot_pareto(result: ParetoResult, words: Vocabulary = USUAL, shown: Shown = ALL) -> Any:
    """One panel per metric: up is more accurate, and the better end of the other metric is on the right.

    Filled points are on the front, which the line joins; hollow ones are beaten in both.
    """
    names = shown.of(sorted({name for trade in result.trades for name in trade.algorithms}))
    shape = {"domain": names, "range": [SHAPES[i // len(COLOURS) % len(SHAPES)] for i in range(len(names))]}
    panels = [_panel(result, trade, names, shape) for trade in result.trades]
    chart = concat(*panels, columns=3 if len(panels) > 2 else 2, spacing=28)
    return themed(
        chart.resolve(legend={"color": "shared", "shape": "shared"}),
        f"What {result.metric} costs",
        "Filled: nobody is better in both (the Pareto front); hollow: beaten in both. Right and up is better",
    )


def _panel(result: ParetoResult, trade: Trade, names: list[str], shape: Spec) -> Any:
    rows = [
        {"algorithm": name, "x": float(trade.values[i]), "y": float(trade.accuracy[i]),
         "standing": "on the front" if trade.front[i] else "beaten in both"}
        for i, name in enumerate(trade.algorithms)
        if name in names
    ]  # fmt: skip
    log = is_cost(trade.other)
    room = {"zero": False, "padding": 14, "nice": False}
    x = channel(
        "x:Q",
        title=f"{trade.other}{' (log)' if log else ''}",
        scale={**room, "type": "log" if log else "linear", "reverse": not trade.higher_is_better},
        axis={"tickCount": 4, "labelOverlap": True, "grid": not log},
    )
    up = {**room, "reverse": not result.higher_is_better}
    y = channel("y:Q", title=result.metric, scale=up, axis={"tickCount": 5})
    legend = {"title": None, "columns": 2 if len(names) > 18 else 1, "orient": "right"}
    base = Chart(rows).encode(x=x, y=y)
    marks = {
        "color": channel("algorithm:N", scale=colour_scale(names), legend=legend),
        "shape": channel("algorithm:N", scale=shape, legend=legend),
        "tooltip": [
            "algorithm:N",
            channel("y:Q", title=result.metric),
            channel("x:Q", title=trade.other),
            "standing:N",
        ],
    }
    on_front = "datum.standing == 'on the front'"
    front, beaten = base.transform_filter(on_front), base.transform_filter(f"!({on_front})")
    panel = layer(
        front.mark("line", color=FAINT, strokeWidth=1.2, strokeDash=[3, 3]).encode(order="x:Q"),
        beaten.mark("point", size=62, strokeWidth=1.8).encode(**marks),
        front.mark("point", size=78, filled=True, opacity=1).encode(**marks),
    )
    return panel.properties(width=SIDE, height=SIDE).resolve(scale={"color": "shared", "shape": "shared"})


SECTION = Section(
    ParetoResult, "What accuracy costs", "beyond accuracy", "report", Plots([plot_pareto]), sentences, order=10
)
