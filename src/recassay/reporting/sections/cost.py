"""Seconds, memory and energy."""

from __future__ import annotations

from functools import partial
from typing import Any

from recassay.analysis.cost import CostResult
from recassay.core import columns as c
from recassay.core.metric_facts import of_kind
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.plots.forms import names_down
from recassay.plots.grammar import Chart, channel, hconcat, layer, tips
from recassay.plots.shown import ALL, Shown
from recassay.plots.theme import COLOURS, FAINT, INK, themed
from recassay.reporting.section import Plot, Plots, Section

SMALLEST = 1e-4
"""Where the log axis begins: nobody chooses by less than a tenth of a millisecond."""

QUANTILES = ("least", "lower_quartile", "median", "upper_quartile", "most")


def plot_cost(result: CostResult, words: Vocabulary = USUAL, shown: Shown = ALL, *, key: str) -> Any:
    """By `algorithm` or `dataset`: one panel per measure, from least to most, the middle half thick, the median."""
    rows = shown.rows(result.spread(key).to_dicts(), key)
    first_measure = [row[key] for row in rows if row["measure"] == result.measures[0]]
    order = list(dict.fromkeys([*first_measure, *(row[key] for row in rows)]))
    titles = {facts.name: facts.summary or facts.as_written() for facts in of_kind("cost")}
    panels = []
    for number, measure in enumerate(result.measures):
        points = [
            {**row, **{quantile: max(row[quantile], SMALLEST) for quantile in QUANTILES}}
            for row in rows
            if row["measure"] == measure
        ]
        y = names_down(key, order, shared=number > 0)
        scale = {"type": "log", "nice": False, "padding": 6}
        axis = {"tickCount": 5, "format": "~g", "grid": False, "labelSeparation": 8}
        x = channel("least:Q", title=f"{titles[measure]} (log)", scale=scale, axis=axis)
        base = Chart(points).encode(y=y, tooltip=tips(key, "least median most sum cells"))
        middle = channel("lower_quartile:Q", scale=scale)
        panel = layer(
            base.mark("rule", color=FAINT, strokeWidth=1.2).encode(x=x, x2="most:Q"),
            base.mark("rule", color=COLOURS[4], strokeWidth=6).encode(x=middle, x2="upper_quartile:Q"),
            base.mark("circle", color=INK, size=34, opacity=1).encode(x=channel("median:Q", scale=scale)),
        )
        panels.append(panel.properties(width=230, height=18 * len(order)))
    over = words.datasets if key == c.ALGORITHM else words.algorithms
    return themed(
        hconcat(*panels, spacing=24),
        f"Cost by {words.heading(key)}",
        f"Over {over}: from the least to the most, the middle half thick, the median as a point",
    )


FIGURES = Plots([
    Plot("cost_by_algorithm", "What each {algorithm} took over the {datasets}, on log scales.",
         partial(plot_cost, key=c.ALGORITHM)),
    Plot("cost_by_dataset", "What each {dataset} asked of the {algorithms}, on log scales.",
         lambda result, words: plot_cost(result, words, key=c.DATASET)),
])  # fmt: skip
SECTION = Section(CostResult, "Time, memory and energy", "cost", "report", FIGURES, order=10)
