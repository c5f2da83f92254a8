"""Every algorithm on every dataset: a map of shares of the best, and values with their intervals."""

from __future__ import annotations

from typing import Any

import altair as alt

from recassay.analysis.per_dataset import PerDatasetResult
from recassay.core import columns as c
from recassay.plots.theme import SEQUENTIAL, colour_scale, inline, shorten, themed

MOST_WRITTEN = 16
"""Datasets up to which the map carries the numbers."""


def plot_values(result: PerDatasetResult) -> Any:
    """Algorithms down, datasets across; colour is the value's share of the best on that dataset."""
    rows = result.to_frame().to_dicts()
    order = [result.algorithms[a] for a in result.order()]
    wide = len(result.datasets) <= MOST_WRITTEN
    for row in rows:
        row["shown"] = _short(row[c.VALUE])
    base = alt.Chart(inline(rows)).encode(
        x=alt.X(f"{c.DATASET}:N", sort=list(result.datasets), title=None,
                axis=alt.Axis(orient="top", labelAngle=-45, domain=False, ticks=False, labelLimit=140)),
        y=alt.Y(f"{c.ALGORITHM}:N", sort=order, title=None, axis=alt.Axis(domain=False, ticks=False)),
        tooltip=[f"{c.DATASET}:N", f"{c.ALGORITHM}:N", f"{c.VALUE}:Q", "low:Q", "high:Q", "share_of_best:Q"],
    )  # fmt: skip
    cells = base.mark_rect(stroke="white", strokeWidth=1).encode(
        color=alt.Color(
            "share_of_best:Q",
            scale=alt.Scale(scheme=SEQUENTIAL, domain=[0, 1], clamp=True),
            legend=alt.Legend(title="share of the best", gradientLength=120, format="%"),
        )
    )
    numbers = base.mark_text(fontSize=9.5).encode(
        text="shown:N", color=alt.condition("datum.share_of_best > 0.55", alt.value("white"), alt.value("#1b1f24"))
    )
    chart = (cells + numbers if wide else cells).properties(
        width=(46 if wide else 24) * len(result.datasets), height=22 * len(order)
    )
    return themed(
        chart,
        f"{result.metric} on every dataset",
        "Colour: share of the best value of the dataset; darkest is the best",
    )


def plot_intervals(result: PerDatasetResult) -> Any:
    """A panel a dataset: values with their intervals, the algorithms in the same order everywhere."""
    order = [result.algorithms[a] for a in result.order()]
    rows = result.to_frame().to_dicts()
    colour = alt.Color(f"{c.ALGORITHM}:N", scale=colour_scale(order), legend=None)
    panels = []
    columns = min(4, len(result.datasets))
    for number, dataset in enumerate(result.datasets):
        own = [row for row in rows if row[c.DATASET] == dataset]
        axis = alt.Axis(domain=False, ticks=False) if number % columns == 0 else None
        base = alt.Chart(inline(own)).encode(
            y=alt.Y(f"{c.ALGORITHM}:N", sort=order, title=None, axis=axis), color=colour,
            tooltip=[f"{c.DATASET}:N", f"{c.ALGORITHM}:N", f"{c.VALUE}:Q", "low:Q", "high:Q"],
        )  # fmt: skip
        scale = alt.Scale(zero=False)
        spans = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", scale=scale, title=None), x2="high:Q")
        dots = base.mark_circle(size=40, opacity=1).encode(
            x=alt.X(f"{c.VALUE}:Q", scale=scale, axis=alt.Axis(tickCount=4))
        )
        title = alt.TitleParams(shorten(dataset, 26), fontSize=11, fontWeight="normal", color="#1b1f24")
        panels.append((spans + dots).properties(width=170, height=15 * len(order), title=title))
    chart = alt.concat(*panels, columns=columns, spacing=16).resolve_scale(color="shared")
    how = {"users": "t intervals over users", "stated": "intervals from stated deviations"}
    over = how.get(result.source, "t intervals over repeated runs")
    share = f"{100 * result.confidence:g} %"
    return themed(chart, f"{result.metric} with intervals", f"{share} {over}; the scales differ between datasets")


def _short(value: float) -> str:
    """At most six characters."""
    if 0 < abs(value) < 0.0005:
        return "<0.001" if value > 0 else "~0"
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.4g}" if abs(value) < 1e4 else f"{value:.1e}"
