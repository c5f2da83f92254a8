"""Probabilities of the hierarchical model."""

from __future__ import annotations

from typing import Any

from recassay.analysis.model.result import ModelResult
from recassay.core import columns as c
from recassay.plots.forms import algorithm_colour, heat_map, names_above, names_down, panel_title
from recassay.plots.grammar import Chart, channel, hconcat
from recassay.plots.theme import DIVERGING, inline, themed


def plot_probabilities(result: ModelResult) -> Any:
    """Two bars per algorithm: P(best) and P(first on a new dataset)."""
    frame = result.to_frame()
    order = frame.get_column(c.ALGORITHM).to_list()
    panels = []
    for i, (column, title) in enumerate(
        (("probability_best", "best level"), ("probability_first", "first on a new dataset"))
    ):
        rows = [{c.ALGORITHM: row[c.ALGORITHM], "probability": row[column]} for row in frame.to_dicts()]
        panels.append(
            Chart(inline(rows))
            .mark("bar", height={"band": 0.7})
            .encode(
                x=channel("probability:Q", title=None, scale={"domain": [0, 1]}, axis={"values": [0, 0.5, 1]}),
                y=names_down(c.ALGORITHM, order, shared=i > 0),
                color=algorithm_colour(order),
                tooltip=[f"{c.ALGORITHM}:N", "probability:Q"],
            )
            .properties(width=230, height=max(60, 20 * len(order)), title=panel_title(title))
        )
    return themed(
        hconcat(*panels, spacing=18),
        f"Who is best for datasets like these, {result.metric}",
        f"Posterior probabilities over {len(result.datasets)} datasets",
    )


def plot_beats(result: ModelResult) -> Any:
    """Algorithms against algorithms, best level first: the probability that the row wins a new dataset."""
    order = [result.algorithms[a] for a in result.order()]
    beats = result.beats()
    rows = [
        {"row": one, "column": other, "probability": float(beats[a, b]), "shown": f"{beats[a, b]:.2f}"}
        for a, one in enumerate(result.algorithms)
        for b, other in enumerate(result.algorithms)
        if a != b
    ]
    fill = channel(
        "probability:Q",
        scale={"scheme": DIVERGING, "domain": [0, 1], "reverse": True},
        legend={"title": "P(row wins)", "gradientLength": 120},
    )
    chart = heat_map(
        rows,
        names_above("column", order),
        names_down("row", order),
        fill,
        ["row:N", "column:N", "probability:Q"],
        dark="datum.probability < 0.15 || datum.probability > 0.85",
        written=len(order) <= 20,
    )
    side = 40 * len(order)
    return themed(
        chart.properties(width=side, height=24 * len(order)),
        "Who beats whom on a new dataset",
        "Probability that the row is better than the column",
    )
