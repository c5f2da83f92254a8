"""The leaderboard: every aggregation's rank of every algorithm (KDD'24, Table 2, as a picture)."""

from __future__ import annotations

from typing import Any

from recassay.analysis.rank.result import RankResult
from recassay.core import columns as c
from recassay.plots.forms import (
    algorithm_colour,
    heat_map,
    intervals,
    names_above,
    names_down,
    panel_title,
    rank_fill,
)
from recassay.plots.grammar import Chart, hconcat, layer
from recassay.plots.theme import inline, themed


def plot_leaderboard(result: RankResult) -> Any:
    """Algorithms down, aggregations across; colour is the rank, the number is the score."""
    order = [result.algorithms[a] for a in result.order()]
    titles = {name: ranking.rule.title for name, ranking in result.rankings.items()}
    digits = {name: _digits(ranking.scores.tolist()) for name, ranking in result.rankings.items()}
    rows = [
        {**row, "aggregation": titles[row["method"]], "shown": f"{row[c.SCORE]:.{digits[row['method']]}f}"}
        for row in result.to_frame().to_dicts()
    ]
    count = len(order)
    chart = heat_map(
        rows,
        names_above("aggregation", list(titles.values())),
        names_down(c.ALGORITHM, order),
        rank_fill(c.RANK, count, gradientLength=140, tickCount=min(count, 6)),
        [
            f"{c.ALGORITHM}:N",
            "aggregation:N",
            f"{c.SCORE}:Q",
            "score_low:Q",
            "score_high:Q",
            f"{c.RANK}:Q",
            "rank_low:Q",
            "rank_high:Q",
            "resampling_share:Q",
        ],
        dark=f"datum.{c.RANK} <= {0.55 * count}",
    ).properties(width=62 * len(titles), height=24 * count)
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
    scale = {"domain": [1, len(order)], "nice": False, "padding": 5}
    panels = []
    for number, (name, ranking) in enumerate(result.rankings.items()):
        own = [row for row in rows if row["method"] == name]
        ends = {"values": [1, len(order)], "format": "d", "grid": False}
        base = Chart(inline(own)).encode(
            y=names_down(c.ALGORITHM, order, shared=number > 0), color=algorithm_colour(order),
            tooltip=[f"{c.ALGORITHM}:N", f"{c.RANK}:Q", "rank_low:Q", "rank_high:Q", "resampling_share:Q"],
        )  # fmt: skip
        marks = intervals(base, c.RANK, "rank_low", "rank_high", scale=scale, title=None, axis=ends, size=38)
        title = panel_title(ranking.rule.short, fontSize=10.5, fontWeight="normal", centred=True)
        panels.append(layer(*marks).properties(width=66, height=18 * len(order), title=title))
    share = f"{100 * result.confidence:g} %"
    return themed(
        hconcat(*panels, spacing=10),
        f"How firm the ranks are, {result.metric}",
        f"Rank under each aggregation (left is better), with {share} bootstrap intervals over datasets",
    )
