"""Certainty against cost, and the grid with what was measured and what is predicted."""

from __future__ import annotations

from typing import Any

from recassay.analysis.adaptive.result import AdaptiveResult
from recassay.core import columns as c
from recassay.plots.forms import heat_map, names_above, names_down, rank_fill
from recassay.plots.grammar import Chart, channel
from recassay.plots.theme import COLOURS, FAINT, inline, themed

CLAIMS = {"first": "first place", "top3": "first three", "ordered": "order", "agreement": "agreement"}


def plot_curve(result: AdaptiveResult) -> Any:
    """The probability of each claim over the share of the predicted cost, on a logarithmic axis."""
    rows = [
        {"share": max(row["share"], 1e-6), "claim": words, "probability": row[field], "cells": row["done"]}
        for row in result.curve().to_dicts()
        for field, words in CLAIMS.items()
        if row["done"] > 0
    ]
    order = list(CLAIMS.values())
    lines = (
        Chart(inline(rows))
        .mark("line", interpolate="step-after", strokeWidth=2, point={"size": 18})
        .encode(
            x=channel("share:Q", title="share of the predicted cost", scale={"type": "log"},
                    axis={"format": "~%", "tickCount": 6}),
            y=channel("probability:Q", title="probability of the claim", scale={"domain": [0, 1]}),
            color=channel("claim:N", sort=order, title=None, scale={"domain": order, "range": COLOURS[:4]}),
            tooltip=["claim:N", "share:Q", "cells:Q", "probability:Q"],
        )
    )  # fmt: skip
    level = Chart(inline([{"probability": result.confidence}])).mark("rule", color=FAINT, strokeDash=[4, 3])
    return themed(
        (lines + level.encode(y="probability:Q")).properties(width=480, height=260),
        f"Certainty against cost, {result.metric}",
        f"Dashed: {100 * result.confidence:g} %, the level at which a claim is certified",
    )


def plot_grid(result: AdaptiveResult) -> Any:
    """Algorithms against datasets: ranks, those that are only predicted in brackets and faint."""
    rows = []
    for row in result.cells().to_dicts():
        predicted = row["state"] == "predicted"
        shown = f"({row[c.RANK]:.0f})" if predicted else f"{row[c.RANK]:.3g}"
        rows.append({**row, "shown": shown, c.RANK: round(row[c.RANK], 2)})
    by_size = [result.datasets[j] for j in result.seconds.sum(axis=0).argsort(kind="stable")]
    chart = heat_map(
        rows,
        names_above(c.DATASET, by_size),
        names_down(c.ALGORITHM, result.order),
        rank_fill(c.RANK, len(result.algorithms)),
        [f"{c.ALGORITHM}:N", f"{c.DATASET}:N", "state:N", f"{c.RANK}:Q", "value:Q", "seconds:Q"],
        dark=f"datum.rank < {1 + 0.35 * len(result.algorithms)} && datum.state != 'predicted'",
        faint=("datum.state == 'predicted'", 0.55),
        text_size=9,
    ).properties(width=max(240, 26 * len(by_size)), height=max(80, 20 * len(result.algorithms)))
    return themed(
        chart,
        f"What was run, {result.metric}",
        "Ranks on each dataset, cheap datasets first; in brackets: predicted, not measured",
    )
