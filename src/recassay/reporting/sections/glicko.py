"""Glicko-2: ratings after a tournament over the datasets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from recassay.analysis.glicko.result import GlickoResult
from recassay.core import columns as c
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import count_of
from recassay.plots.forms import algorithm_colour, intervals, names_down
from recassay.plots.grammar import Chart, channel, fixed, layer, marks, quoted, tips
from recassay.plots.shown import ALL, Shown
from recassay.plots.theme import FAINT, INK, dash_scale, shorten, themed
from recassay.reporting.numbers import better
from recassay.reporting.section import Plots, Section, Table, plot
from recassay.reporting.words.glicko import notes, sentences


def tables(result: GlickoResult, words: Vocabulary = USUAL) -> Iterator[Table]:
    """Ratings, highest first, with the spread over orders."""
    yield Table(
        f"Glicko-2: {result.metric} ({better(result.higher_is_better)}), "
        f"{count_of(len(result.datasets), words.dataset)} in the order: {result.order_name}",
        {words.algorithm: "{algorithm}", "rating": "{rating:.0f}", "deviation": "{deviation:.0f}",
         "volatility": "{volatility:.4f}", "95 %": "{low:.0f} to {high:.0f}",
         "over orders": "{order_low:.0f} to {order_high:.0f}",
         "rank over orders": "{order_rank_low:.0f} to {order_rank_high:.0f}"},
        result.to_frame().to_dicts(),
        important=["rating", "95 %", "rank over orders", "over orders"],
        notes=[
            f"Over orders: the middle 95 % of {result.n_orders} random orders of the {words.datasets}.",
            *notes(result, words),
        ],
    )  # fmt: skip


@plot("glicko_ranks", "Rank of each {algorithm} after each {dataset} of the tournament.", table="glicko_history")
def plot_glicko_bump(result: GlickoResult, words: Vocabulary = USUAL, shown: Shown = ALL) -> Any:
    """A line an algorithm: its rank by rating after each dataset, in the order of play; names at the right end."""
    order, count = shown.of(result.algorithms[a] for a in result.order()), len(result.algorithms)
    rows = shown.rows(result.history_frame().to_dicts())
    last = len(result.datasets)
    ends = [{**row, "label": shorten(row[c.ALGORITHM])} for row in rows if row["period"] == last]
    ticks = ", ".join(quoted(shorten(name, 18)) for name in result.datasets)
    x = channel(
        "period:Q",
        title=f"{words.datasets}, in the order of play",
        scale={"domain": [1, max(last, 2)], "nice": False},
        axis={
            "values": list(range(1, last + 1)),
            "labelExpr": f"[{ticks}][datum.value - 1]",
            "labelAngle": -60,
            "grid": False,
            "labelOverlap": False,
        },
    )
    y = channel(
        f"{c.RANK}:Q",
        title="rank by rating",
        scale={"domain": [0.5, count + 0.5], "reverse": True, "nice": False},
        axis={"values": list(range(1, count + 1)), "format": "d", "grid": False},
    )
    lines = marks(rows, "line", interpolate="monotone", strokeWidth=2.2, point={"size": 26}).encode(
        x=x,
        y=y,
        color=algorithm_colour(order),
        strokeDash=channel(f"{c.ALGORITHM}:N", scale=dash_scale(order), legend=None),
        tooltip=tips(f"{c.ALGORITHM} {c.DATASET}", f"{c.RANK} rating deviation"),
    )
    names = marks(ends, "text", align="left", dx=9, fontSize=11).encode(x=x, y=y, text="label:N", color=fixed(INK))
    return themed(
        (lines + names).properties(width=max(360, 17 * last), height=max(200, 20 * len(order))),
        f"Glicko-2 rank through the {words.datasets}, {result.metric}",
        f"{last} {words.datasets} in the order: {result.order_name}; another order may end otherwise",
    )


@plot(
    "glicko_ratings",
    "Final ratings with 95 % intervals (bootstrap over {datasets} and orders), and their spread over random orders.",
)
def plot_glicko_ratings(result: GlickoResult, words: Vocabulary = USUAL, shown: Shown = ALL) -> Any:
    """Final ratings with 95 % intervals where there are any; the grey bar is their range over random orders."""
    order = shown.of(result.algorithms[a] for a in result.order())
    rows = shown.rows(result.to_frame().to_dicts())
    scale = {"zero": False}
    numbers = "rating deviation volatility low high order_low order_high"
    base = Chart(rows).encode(y=names_down(c.ALGORITHM, order), tooltip=tips(c.ALGORITHM, numbers))
    spread = base.mark("rule", color=FAINT, opacity=0.35, strokeWidth=9).encode(
        x=channel("order_low:Q", title="rating", scale=scale), x2="order_high:Q"
    )
    coloured = base.encode(color=algorithm_colour(order))
    ratings = intervals(coloured, "rating", "low", "high", scale=scale, size=60, line={"strokeWidth": 2.2})
    return themed(
        layer(spread, *ratings).properties(width=480, height=22 * len(order)),
        f"Glicko-2 ratings, {result.metric}",
        ("" if result.bounds is None else f"95 % intervals over drawn {words.datasets}; ")
        + f"grey: 95 % of {result.n_orders} random orders of the {len(result.datasets)} {words.datasets}",
    )


FIGURES = Plots([plot_glicko_bump, plot_glicko_ratings])
SECTION = Section(
    GlickoResult, "Tournament", "traits", "glicko", FIGURES, sentences, tables, order=20,
    leader=lambda result: result.algorithms[result.order()[0]],
)  # fmt: skip
