"""The leaderboard: who is first under each aggregation, and how firmly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from textwrap import wrap
from typing import Any

from recassay.analysis.rank.result import RankResult
from recassay.core import columns as c
from recassay.core.tables.labels import metric_name
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import count_of
from recassay.plots.forms import (
    by_algorithm,
    heat_map,
    intervals,
    names_above,
    names_down,
    panel_title,
    rank_fill,
)
from recassay.plots.grammar import Chart, channel, condition, fixed, hconcat, layer, tips
from recassay.plots.shown import ALL, Shown
from recassay.plots.theme import COLOURS, FAINT, INK, themed
from recassay.reporting.headline import could, metrics_table, verdict_brief
from recassay.reporting.numbers import better, number, p_text
from recassay.reporting.section import Brief, Plots, Section, Table, plot
from recassay.reporting.words import verdict as judged
from recassay.reporting.words.rank import aggregations, sentences


def tables(result: RankResult, words: Vocabulary = USUAL) -> Iterator[Table]:
    """Ranks under every aggregation with the chance of being first, then the scores."""
    rankings = list(result.rankings.values())
    titles = [ranking.rule.short for ranking in rankings]
    sure = [] if result.probability_best is None else ["could be best", "P(first again)"]
    ranks, scores = [], []
    for a in result.order():
        name = result.algorithms[a]
        ranks.append([name, *(f"{r.ranks[a]:g}" for r in rankings)])
        if result.probability_best is not None and result.winner_p is not None:  # else below five datasets
            best = could(result.judgement, name)
            sure_of = "" if name in result.judgement.not_judged else f" ({p_text(result.winner_p[a])})"
            ranks[-1] += [f"{best}{sure_of}", f"{result.probability_best[a]:.2f}"]
        scores.append([name, *(f"{r.scores[a]:.4g}" for r in rankings)])
    title = (
        f"Ranks: {result.metric} ({better(result.higher_is_better)}) on {count_of(len(result.datasets), words.dataset)}"
    )
    yield Table(title, [words.algorithm, *titles, *sure], ranks, important=sure)
    yield Table("Scores", [words.algorithm, *titles], scores)
    if result.judgement.metrics:
        yield metrics_table(result.judgement, words)


def brief(result: RankResult, words: Vocabulary = USUAL) -> Brief:
    """The verdict; where the grades of several metrics were asked for, with these in place of the algorithms."""
    answer = verdict_brief(result.judgement, words)
    if not result.by_metric or not result.judgement.metrics:
        return answer
    return replace(answer, table=metrics_table(result.judgement, words), marked=frozenset())


def _lines(text: str, most: int) -> list[str]:
    """A text in as few lines as fit, none of them much shorter than the others."""
    count = -(-len(text) // most)
    return wrap(text, -(-len(text) // max(count, 1)) + 6)


@plot(
    "forest",
    lambda result, words: (
        f"Mean rank of each {words.algorithm} in {metric_name(result.metric)} over {len(result.datasets)} "
        f"{words.datasets}, with {100 * (1 - result.judgement.alpha):g} % intervals; blue and filled: could be best."
    ),
    table="verdict",
    when=lambda result: result.judgement.grade != "not_comparable",
)
def plot_forest(result: RankResult, words: Vocabulary = USUAL, shown: Shown = ALL) -> Any:
    """The mean ranks with their intervals under the headline; those that could be best are blue and filled."""
    verdict = result.judgement
    order = shown.of(verdict.algorithms)
    ends = shown.rows(verdict.to_frame().to_dicts())
    rows = [{**row, "chance": number(row["leads_again"]), "shown": f"{row['mean_rank']:.1f}"} for row in ends]
    y = names_down(c.ALGORITHM, order, shared=False, labelFontSize=12)
    tip = [f"{c.ALGORITHM}:N", "mean_rank:Q", "mean_rank_low:Q", "mean_rank_high:Q", "groups:N", "leads_again:Q"]
    colour = condition("datum.could_be_best", fixed(COLOURS[0]), fixed(FAINT))
    base = Chart(rows).encode(y=y, tooltip=tip)
    scale = {"domain": [1, len(verdict.algorithms)], "nice": False, "padding": 8}
    x = channel("mean_rank:Q", title="mean rank, left is better", scale=scale, axis={"tickMinStep": 1, "format": "d"})
    spans = base.mark("rule", strokeWidth=2.5, strokeCap="round").encode(
        x=channel("mean_rank_low:Q", scale=scale), x2="mean_rank_high:Q", color=colour
    )
    dots = base.mark("point", size=75, opacity=1, strokeWidth=2).encode(
        x=x, stroke=colour, fill=condition("datum.could_be_best", fixed(COLOURS[0]), fixed("white"))
    )
    marks = [dots] if verdict.interval is None else [spans, dots]
    height = 24 * len(order)
    panels = [layer(*marks).properties(width=430, height=height)]
    columns = {"shown": "mean rank", "groups": "groups"}
    for column, title in {**columns, **({} if verdict.leads_again is None else {"chance": "leads again"})}.items():
        texts = Chart(rows).encode(
            y=names_down(c.ALGORITHM, order, shared=True), text=f"{column}:N",
            opacity=condition("datum.could_be_best", fixed(1.0), fixed(0.65)),
        )  # fmt: skip
        head = panel_title(title, centred=True, fontWeight="normal", color=FAINT)
        panels.append(texts.mark("text", fontSize=12, color=INK).properties(width=64, height=height, title=head))
    title, *subtitles = judged.headline(verdict, words), *judged.sentences(verdict, words)
    return themed(hconcat(*panels, spacing=6), _lines(title, 80), _lines(" ".join(subtitles[:1]), 118))


@plot(
    "leaderboard",
    lambda result, words: (
        f"Each {words.algorithm}'s {result.metric} over {count_of(len(result.datasets), words.dataset)} under "
        f"{aggregations(result)}: the number is the score, the darker the cell the better the rank."
    ),
)
def plot_leaderboard(result: RankResult, words: Vocabulary = USUAL, shown: Shown = ALL) -> Any:
    """Algorithms down, aggregations across; colour is the rank, the number is the score."""
    order = shown.of(result.algorithms[a] for a in result.order())
    titles = {name: ranking.rule.title for name, ranking in result.rankings.items()}
    digits = {name: _digits(ranking.scores.tolist()) for name, ranking in result.rankings.items()}
    rows = [
        {**row, "aggregation": titles[row["method"]], "shown": f"{row[c.SCORE]:.{digits[row['method']]}f}"}
        for row in shown.rows(result.to_frame().to_dicts())
    ]
    count = len(result.algorithms)
    chart = heat_map(
        rows,
        names_above("aggregation", list(titles.values())),
        names_down(c.ALGORITHM, order),
        rank_fill(c.RANK, count, gradientLength=140, tickCount=min(count, 6)),
        tips(f"{c.ALGORITHM} aggregation", "score score_low score_high rank rank_low rank_high resampling_share"),
        dark=f"datum.{c.RANK} <= {0.55 * count}",
    ).properties(width=62 * len(titles), height=24 * len(order))
    return themed(
        chart,
        f"Leaderboard, {result.metric}",
        f"Score under each aggregation over {count_of(len(result.datasets), words.dataset)}; colour is the rank",
    )


def _digits(scores: list[float]) -> int:
    """Decimals for a column of scores: none where all are whole, one for large numbers, else three."""
    if all(score == int(score) for score in scores):
        return 0
    return 1 if max(map(abs, scores)) >= 100 else 3


@plot(
    "rank_intervals",
    lambda result, words: (
        f"The rank under each aggregation and where it lies in {100 * result.confidence:g} % of the "
        f"bootstrap's replicates, with the {words.datasets} drawn again: a long line is a place that chance could have "
        "given."
    ),
    table="rankings",
    when=lambda result: result.probability_best is not None,
)
def plot_rank_intervals(result: RankResult, words: Vocabulary = USUAL, shown: Shown = ALL) -> Any:
    """One panel per aggregation, one row per algorithm: the rank as a point, its bootstrap interval as a line."""
    order, count = shown.of(result.algorithms[a] for a in result.order()), len(result.algorithms)
    rows = shown.rows(result.to_frame().to_dicts())
    scale = {"domain": [1, count], "nice": False, "padding": 5}
    panels = []
    for place, (name, ranking) in enumerate(result.rankings.items()):
        of_method = [row for row in rows if row["method"] == name]
        ends = {"values": [1, count], "format": "d", "grid": False}
        base = by_algorithm(of_method, order, f"{c.RANK} rank_low rank_high resampling_share", shared=place > 0)
        marks = intervals(base, c.RANK, "rank_low", "rank_high", scale=scale, title=None, axis=ends, size=38)
        title = panel_title(ranking.rule.short, fontSize=10.5, fontWeight="normal", centred=True)
        panels.append(layer(*marks).properties(width=66, height=18 * len(order), title=title))
    share = f"{100 * result.confidence:g} %"
    return themed(
        hconcat(*panels, spacing=10),
        f"How firm the ranks are, {result.metric}",
        f"Rank under each aggregation (left is better), with {share} bootstrap intervals over {words.datasets}",
    )


FIGURES = Plots([plot_forest, plot_leaderboard, plot_rank_intervals])
SECTION = Section(
    RankResult, "Under every aggregation", "leaderboard", "rank", FIGURES, sentences, tables, order=10,
    leader=lambda result: result.algorithms[result.order()[0]],
    brief=brief,
)  # fmt: skip
