"""Glicko-2: rank after every dataset, and the final ratings with their intervals (Cardoso et al., Figure 12)."""

from __future__ import annotations

from typing import Any

import altair as alt

from recassay.analysis.glicko.result import GlickoResult
from recassay.core import columns as c
from recassay.plots.theme import FAINT, INK, colour_scale, dash_scale, inline, shorten, themed


def plot_glicko_bump(result: GlickoResult) -> Any:
    """A line an algorithm: its rank by rating after each dataset, in the order of play; names at the right end."""
    order = [result.algorithms[a] for a in result.order()]
    rows = result.history_frame().to_dicts()
    last = len(result.datasets)
    ends = [{**row, "label": shorten(row[c.ALGORITHM])} for row in rows if row["period"] == last]
    ticks = ", ".join(f"'{_quoted(shorten(name, 18))}'" for name in result.datasets)
    x = alt.X(
        "period:Q",
        title="datasets, in the order of play",
        scale=alt.Scale(domain=[1, max(last, 2)], nice=False),
        axis=alt.Axis(
            values=list(range(1, last + 1)),
            labelExpr=f"[{ticks}][datum.value - 1]",
            labelAngle=-60,
            grid=False,
            labelOverlap=False,
        ),
    )
    y = alt.Y(
        f"{c.RANK}:Q",
        title="rank by rating",
        scale=alt.Scale(domain=[0.5, len(order) + 0.5], reverse=True, nice=False),
        axis=alt.Axis(values=list(range(1, len(order) + 1)), format="d", grid=False),
    )
    colour = alt.Color(f"{c.ALGORITHM}:N", scale=colour_scale(order), legend=None)
    lines = (
        alt.Chart(inline(rows))
        .mark_line(interpolate="monotone", strokeWidth=2.2, point=alt.OverlayMarkDef(size=26))
        .encode(
            x=x,
            y=y,
            color=colour,
            strokeDash=alt.StrokeDash(f"{c.ALGORITHM}:N", scale=dash_scale(order), legend=None),
            tooltip=[f"{c.ALGORITHM}:N", f"{c.DATASET}:N", f"{c.RANK}:Q", "rating:Q", "deviation:Q"],
        )
    )
    names = alt.Chart(inline(ends)).mark_text(align="left", dx=9, fontSize=11).encode(
        x=x, y=y, text="label:N", color=alt.value(INK)
    )  # fmt: skip
    width = max(360, 17 * last)
    chart = (lines + names).properties(width=width, height=max(200, 20 * len(order)))
    return themed(
        chart,
        f"Glicko-2 rank through the datasets, {result.metric}",
        f"{last} datasets in the order: {result.order_name}; another order may end otherwise",
    )


def plot_glicko_ratings(result: GlickoResult) -> Any:
    """Final ratings with 95 % intervals where there are any; the grey bar is the range of final ratings over random orders of datasets."""
    order = [result.algorithms[a] for a in result.order()]
    rows = result.to_frame().to_dicts()
    y = alt.Y(f"{c.ALGORITHM}:N", sort=order, title=None, axis=alt.Axis(domain=False, ticks=False))
    scale = alt.Scale(zero=False)
    base = alt.Chart(inline(rows)).encode(y=y)
    tips = [
        f"{c.ALGORITHM}:N",
        "rating:Q",
        "deviation:Q",
        "volatility:Q",
        "low:Q",
        "high:Q",
        "order_low:Q",
        "order_high:Q",
    ]
    spread = base.mark_rule(color=FAINT, opacity=0.35, strokeWidth=9).encode(
        x=alt.X("order_low:Q", title="rating", scale=scale), x2="order_high:Q", tooltip=tips
    )  # fmt: skip
    colour = alt.Color(f"{c.ALGORITHM}:N", scale=colour_scale(order), legend=None)
    interval = base.mark_rule(strokeWidth=2.2).encode(x=alt.X("low:Q", scale=scale), x2="high:Q", color=colour)
    point = base.mark_point(filled=True, size=60, opacity=1).encode(
        x=alt.X("rating:Q", scale=scale), color=colour, tooltip=tips
    )  # fmt: skip
    chart = (spread + interval + point).properties(width=480, height=22 * len(order))
    return themed(
        chart,
        f"Glicko-2 ratings, {result.metric}",
        f"{'' if result.bounds is None else '95 % intervals over drawn datasets; '}grey: 95 % of {result.n_orders} random orders of the {len(result.datasets)} datasets",
    )


def _quoted(name: str) -> str:
    return name.replace("\\", "\\\\").replace("'", "\\'")
