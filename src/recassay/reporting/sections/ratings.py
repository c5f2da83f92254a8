"""Ratings by Bradley and Terry: the tournament without an order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from recassay.analysis.ratings.result import RatingsResult
from recassay.core import columns as c
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.plots.forms import by_algorithm, intervals, share_fill, square_map
from recassay.plots.grammar import layer
from recassay.plots.shown import ALL, Shown
from recassay.plots.theme import themed
from recassay.reporting.numbers import between
from recassay.reporting.section import Column, Plots, Section, Table, plot
from recassay.reporting.words.ratings import rounds, sentences

OPEN = 100.0
"""Points that an open interval reaches beyond all others in the picture."""


def _interval(low: float, high: float) -> str:
    """Two ends, or the one that is known."""
    if high == float("inf"):
        return f"{low:.0f} or more"
    return f"{high:.0f} or less" if low == -float("inf") else between(low, high, 0)


def tables(result: RatingsResult, words: Vocabulary = USUAL) -> Iterator[Table]:
    """Ratings, highest first, with win rate, improvability and skill."""
    shown = f"{100 * result.confidence:g} %"
    table = result.battles is None
    columns: dict[str, Column] = {
        words.algorithm: "{algorithm}", "rating": "{rating:.0f}", shown: lambda row: _interval(row["low"], row["high"]),
        "win rate": "{win_rate:.0%}",
    }  # fmt: skip
    if table:
        columns["improvability"] = "{improvability:.1%}"
    if result.skill is not None:
        columns[f"skill against {result.baseline}"] = "{skill:.1%}"
    anchor = f"{result.anchored} is 1000" if result.anchored else "the mean is 1500"
    yield Table(
        f"Ratings: {result.metric}, {rounds(result, words)}; {anchor}",
        columns,
        result.to_frame().to_dicts(),
        notes=[f"Improvability: the share of the best score that is left, averaged over {words.datasets}."]
        if table
        else [],
    )


@plot("ratings", "Ratings with intervals over {datasets}: 400 points are odds of 10 to 1.")
def plot_ratings(result: RatingsResult, words: Vocabulary = USUAL, shown: Shown = ALL) -> Any:
    """A dot and an interval for every algorithm, highest first; an open end runs to the edge of the picture."""
    rows = result.to_frame().to_dicts()
    known = [row[end] for row in rows for end in ("low", "rating", "high") if abs(row[end]) != float("inf")]
    for row in rows:
        row["low"], row["high"] = max(row["low"], min(known) - OPEN), min(row["high"], max(known) + OPEN)
    order = shown.of(row[c.ALGORITHM] for row in rows)
    base = by_algorithm(rows, order, "rating low high win_rate")
    layers = intervals(base, "rating", "low", "high", scale={"zero": False}, title="rating")
    return themed(
        layer(*layers).properties(width=460, height=22 * len(order)),
        f"Ratings by pairwise wins, {result.metric}",
        f"{100 * result.confidence:g} % intervals over {rounds(result, words)}",
    )


@plot("win_rates", "The share of {datasets} on which the row beats the column.")
def plot_win_rates(result: RatingsResult, words: Vocabulary = USUAL, shown: Shown = ALL) -> Any:
    """Algorithms against algorithms: the share of datasets on which the row wins."""
    order = shown.of(result.algorithms[a] for a in result.order())
    fill = share_fill("share", "row wins")
    return themed(
        square_map(order, result.algorithms, result.win_rate, "share", ".0%", fill, "datum.share > 0.6"),
        "Who beats whom",
        f"Share of {rounds(result, words)} which the row won; ties count half",
    )


FIGURES = Plots([plot_ratings, plot_win_rates])
SECTION = Section(
    RatingsResult, "Ratings", "leaderboard", "ratings", FIGURES, sentences, tables, order=40,
    leader=lambda result: result.algorithms[result.order()[0]],
)  # fmt: skip
