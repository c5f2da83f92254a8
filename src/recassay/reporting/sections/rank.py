"""The leaderboard: who is first under each aggregation, and how firmly."""

from __future__ import annotations

from typing import Any

from recassay.analysis.rank.result import RankResult
from recassay.core import columns as c
from recassay.core.errors import listing
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
from recassay.reporting.numbers import probability
from recassay.reporting.section import Figure, Section, Table


def sentences(result: RankResult) -> list[str]:
    """Whether the aggregations agree on who is first, and how likely it is to be first again.

    The leader of this and of every other sentence is the one with the best mean rank. Below five datasets nothing is
    said of datasets beyond these.
    """
    notes = [f"{name} was left out: it {reason}." for name, reason in result.skipped.items()]
    missing = result.missing.sentence()
    return [*_first(result), *notes, *([missing + "."] if missing else [])]


def _first(result: RankResult) -> list[str]:
    order = result.order()
    leader, n = result.algorithms[order[0]], len(result.datasets)
    rank = f"{result.mean_ranks[order[0]]:.2f}"
    if result.probability_best is None:
        others = [name for name in result.firsts() if name != leader]
        but = f"; under other aggregations {listing(others, most=4)} would be" if others else ""
        return [
            f"{n} datasets are too few to say who is first over all. On these {n}, {leader} has the best mean rank in "
            f"{result.metric} ({rank} of {len(order)}){but}."
        ]
    return [f"{_agreement(result, leader)} {_winners(result)}", _again(result, order[0])]


def _agreement(result: RankResult, leader: str) -> str:
    firsts, total = result.firsts(), len(result.counted())
    over = f"over {len(result.datasets)} datasets"
    others = {name: titles for name, titles in firsts.items() if name != leader}
    if len(firsts.get(leader, [])) == total:
        ties = [f"{name} under {listing(titles, most=4)}" for name, titles in others.items()]
        tied = f", tied with {'; '.join(ties)}" if ties else ""
        return f"{leader} is first in {result.metric} under all {total} aggregations {over}{tied}."
    told = [
        f"{name} by {listing(titles, most=4)} ({len(titles)} of {total})"
        for name, titles in sorted(firsts.items(), key=lambda item: (item[0] != leader, -len(item[1])))
    ]
    return (
        f"The aggregations disagree on who is first in {result.metric} {over}: {'; '.join(told)}. What follows speaks "
        f"of {leader}, which has the best mean rank."
    )


def _winners(result: RankResult) -> str:
    """Who could still be the best, and who could not."""
    winners, k = result.possible_winners(), len(result.algorithms)
    level = f"{100 * result.confidence:g} %"
    if len(winners) == 1:
        return f"At {level} no other could have the best mean rank over datasets like these."
    if len(winners) == k:
        return f"At {level} any of the {k} could have the best mean rank over datasets like these."
    others = f"the other {k - len(winners)} could not" if k - len(winners) > 1 else "the other one could not"
    return (
        f"At {level} {listing(winners, most=8, last='or')} could have the best mean rank over datasets like these; "
        f"{others}."
    )


def _again(result: RankResult, place: int) -> str:
    assert result.probability_best is not None
    k, n = len(result.algorithms), len(result.datasets)
    shares = [float(r.resampling_share[place]) for r in result.counted() if r.resampling_share is not None]
    low, high = f"{100 * min(shares):.0f}", f"{100 * max(shares):.0f}"
    spread = f"{low} %" if low == high else f"{low} to {high} %, depending on the aggregation"
    return (
        f"In a new benchmark of {n} such datasets {result.algorithms[place]} would have the best mean rank again with "
        f"probability {probability(result.probability_best[place])} (any of {k} equal algorithms: {1 / k:.2f}). Its "
        f"resampling share, how often it is first when these datasets are drawn anew, is {spread}; that is no such "
        "probability."
    )


def tables(result: RankResult) -> list[Table]:
    """Ranks under every aggregation with the chance of being first, then the scores."""
    rankings = list(result.rankings.values())
    titles = [ranking.rule.short for ranking in rankings]
    sure = [] if result.probability_best is None else ["could be best", "P(first again)"]
    ranks, scores = [], []
    for a in result.order():
        name = result.algorithms[a]
        ranks.append([name, *(f"{r.ranks[a]:g}" for r in rankings), *_firmness(result, a)])
        scores.append([name, *(f"{r.scores[a]:.4g}" for r in rankings)])
    better = "higher" if result.higher_is_better else "lower"
    title = f"Ranks: {result.metric} ({better} is better) on {len(result.datasets)} datasets"
    return [
        Table(title, ["algorithm", *titles, *sure], ranks, important=sure),
        Table("Scores", ["algorithm", *titles], scores),
    ]


def _firmness(result: RankResult, a: int) -> list[str]:
    """Whether it could be the best, and the probability of being first again; nothing below five datasets."""
    if result.probability_best is None or result.winner_p is None:
        return []
    could = "yes" if result.winner_p[a] > 1 - result.confidence else "no"
    return [f"{could} (p {result.winner_p[a]:.2g})", f"{result.probability_best[a]:.2f}"]


def figures(result: RankResult) -> list[Figure]:
    """Scores and ranks of every algorithm under every aggregation, and how firm the ranks are."""
    caption = (
        f"Each algorithm's {result.metric} over {len(result.datasets)} datasets under {len(result.rankings)} "
        "aggregations: the number is the score, the darker the cell the better the rank."
    )
    drawn = [Figure("leaderboard", caption, plot_leaderboard(result), "leaderboard")]
    if result.probability_best is None:
        return drawn
    firm = (
        f"The rank under each aggregation and where it lies in {100 * result.confidence:g} % of the bootstrap's "
        "replicates, with the datasets drawn anew: a long line is a place that chance could have given."
    )
    return [*drawn, Figure("rank_intervals", firm, plot_rank_intervals(result), "rankings")]


def leader(result: RankResult) -> str:
    """The algorithm with the best mean rank."""
    return result.algorithms[result.order()[0]]


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


SECTION = Section(
    RankResult, "Under every aggregation", "leaderboard", "rank", figures, sentences, tables, order=10, leader=leader
)
