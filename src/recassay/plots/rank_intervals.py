"""Ranks with their bootstrap intervals under every aggregation."""

from __future__ import annotations

from typing import Any

import altair as alt

from recassay.analysis.aggregate import RankResult
from recassay.core import columns as c
from recassay.plots.theme import colour_scale, inline, themed


def plot_rank_intervals(result: RankResult) -> Any:
    """A panel an aggregation, a row an algorithm: the rank as a point, where the bootstrap leaves it as a line."""
    order = [result.algorithms[a] for a in result.order()]
    rows = result.to_frame().to_dicts()
    scale = alt.Scale(domain=[1, len(order)], nice=False, padding=5)
    colour = alt.Color(f"{c.ALGORITHM}:N", scale=colour_scale(order), legend=None)
    panels = []
    for number, (name, ranking) in enumerate(result.rankings.items()):
        own = [row for row in rows if row["method"] == name]
        names = alt.Axis(domain=False, ticks=False) if number == 0 else None
        ends = alt.Axis(values=[1, len(order)], format="d", grid=False)
        base = alt.Chart(inline(own)).encode(
            y=alt.Y(f"{c.ALGORITHM}:N", sort=order, title=None, axis=names), color=colour,
            tooltip=[f"{c.ALGORITHM}:N", f"{c.RANK}:Q", "rank_low:Q", "rank_high:Q", "probability_best:Q"],
        )  # fmt: skip
        spans = base.mark_rule(strokeWidth=2).encode(x=alt.X("rank_low:Q", scale=scale, title=None), x2="rank_high:Q")
        dots = base.mark_circle(size=38, opacity=1).encode(x=alt.X(f"{c.RANK}:Q", scale=scale, axis=ends))
        title = alt.TitleParams(ranking.rule.short, fontSize=10.5, fontWeight="normal")
        panels.append((spans + dots).properties(width=66, height=18 * len(order), title=title))
    share = f"{100 * result.confidence:g} %"
    return themed(
        alt.hconcat(*panels, spacing=10),
        f"How firm the ranks are, {result.metric}",
        f"Rank under each aggregation (left is better), with {share} bootstrap intervals over {result.resampled}",
    )
