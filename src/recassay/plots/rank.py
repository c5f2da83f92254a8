"""The leaderboard: every aggregation's rank of every algorithm (KDD'24, Table 2, as a picture)."""

from __future__ import annotations

from typing import Any

import altair as alt

from recassay.analysis.rank.result import RankResult
from recassay.core import columns as c
from recassay.plots.theme import SEQUENTIAL, colour_scale, inline, themed


def plot_leaderboard(result: RankResult) -> Any:
    """Algorithms down, aggregations across; colour is the rank, the number is the score."""
    order = [result.algorithms[a] for a in result.order()]
    titles = {name: ranking.rule.title for name, ranking in result.rankings.items()}
    digits = {name: _digits(ranking.scores.tolist()) for name, ranking in result.rankings.items()}
    rows = [
        {**row, "aggregation": titles[row["method"]], "shown": f"{row[c.SCORE]:.{digits[row['method']]}f}"}
        for row in result.to_frame().to_dicts()
    ]
    base = alt.Chart(inline(rows)).encode(
        x=alt.X("aggregation:N", sort=list(titles.values()), title=None,
                axis=alt.Axis(orient="top", labelAngle=-35, domain=False, ticks=False)),
        y=alt.Y(f"{c.ALGORITHM}:N", sort=order, title=None, axis=alt.Axis(domain=False, ticks=False)),
        tooltip=[f"{c.ALGORITHM}:N", "aggregation:N", f"{c.SCORE}:Q", "score_low:Q", "score_high:Q",
                 f"{c.RANK}:Q", "rank_low:Q", "rank_high:Q", "resampling_share:Q"],
    )  # fmt: skip
    count = len(order)
    cells = base.mark_rect(stroke="white", strokeWidth=1.5).encode(
        color=alt.Color(
            f"{c.RANK}:Q",
            scale=alt.Scale(scheme=SEQUENTIAL, reverse=True, domain=[1, count]),
            legend=alt.Legend(title="rank", gradientLength=140, tickCount=min(count, 6)),
        )
    )
    numbers = base.mark_text(fontSize=10.5).encode(
        text="shown:N",
        color=alt.condition(f"datum.{c.RANK} > {0.55 * count}", alt.value("#1b1f24"), alt.value("white")),
    )
    chart = (cells + numbers).properties(width=62 * len(titles), height=24 * count)
    return themed(
        chart,
        f"Leaderboard, {result.metric}",
        f"Score under each aggregation over {len(result.datasets)} datasets; colour is the rank",
    )


def _digits(scores: list[float]) -> int:
    """Decimals for a column of scores: none where all are whole, one for large numbers, else three."""
    if all(score == int(score) for score in scores):
        return 0
    return 1 if max(map(abs, scores)) >= 100 else 3


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
            tooltip=[f"{c.ALGORITHM}:N", f"{c.RANK}:Q", "rank_low:Q", "rank_high:Q", "resampling_share:Q"],
        )  # fmt: skip
        spans = base.mark_rule(strokeWidth=2).encode(x=alt.X("rank_low:Q", scale=scale, title=None), x2="rank_high:Q")
        dots = base.mark_circle(size=38, opacity=1).encode(x=alt.X(f"{c.RANK}:Q", scale=scale, axis=ends))
        title = alt.TitleParams(ranking.rule.short, fontSize=10.5, fontWeight="normal")
        panels.append((spans + dots).properties(width=66, height=18 * len(order), title=title))
    share = f"{100 * result.confidence:g} %"
    return themed(
        alt.hconcat(*panels, spacing=10),
        f"How firm the ranks are, {result.metric}",
        f"Rank under each aggregation (left is better), with {share} bootstrap intervals over datasets",
    )
