"""What the cells of an adaptive run say about the whole grid."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from recassay.analysis.adaptive.result import AdaptiveResult
from recassay.core import columns as c
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import duration, listing
from recassay.plots.forms import heat_map, names_above, names_down, rank_fill
from recassay.plots.grammar import channel, marks, tips
from recassay.plots.shown import ALL, Shown
from recassay.plots.theme import COLOURS, FAINT, themed
from recassay.reporting.section import Plots, Section, Table, plot
from recassay.reporting.words.adaptive import MEANING, named, sentences


def tables(result: AdaptiveResult, words: Vocabulary = USUAL) -> Iterator[Table]:
    """The algorithms with their mean ranks, and every cell, predicted ones in brackets."""
    grid = [[dataset] for dataset in result.datasets]
    for name in result.order:
        i = result.algorithms.index(name)
        for row, rank, measured in zip(grid, result.ranks[i], result.measured[i], strict=True):
            whole = f"{rank:.0f}" if rank == round(rank) else f"{rank:.1f}"
            row.append(whole if measured else f"({rank:.1f})")
    yield Table(
        f"Mean ranks of the whole grid ({result.metric})",
        {"place": "{place}", words.algorithm: "{algorithm}", "mean rank": "{mean_rank:.2f}",
         "uncertain by": "{deviation:.2f}", "settled": "{settled}",
         "cells run": f"{{cells_run}} of {len(result.datasets)}", "took": lambda row: duration(row["seconds"])},
        result.to_frame().to_dicts(),
        names=2,
        important=[words.algorithm, "mean rank", "settled"],
        notes=[words.filled(MEANING)],
    )  # fmt: skip
    yield Table(
        f"Ranks by {words.dataset}; in brackets: predicted, not measured",
        [words.dataset, *result.order],
        grid,
        notes=[f"A measured cell has a rank with a decimal where others of its {words.dataset} are only predicted."],
        most=40,
    )
    if result.steps:
        batches = [
            [n, listing(named(step), most=2), step.why, len(named(step)), duration(step.seconds)]
            for n, step in enumerate(result.steps, 1)
        ]
        header = ["batch", "which", "why", "cells", "expected"]
        yield Table("What was run, and why", header, batches, names=3, most=30)


CLAIMS = {"first": "first place", "top3": "first three", "ordered": "order", "agreement": "agreement"}


@plot(
    "adaptive_curve",
    "How sure each claim about the whole grid was, as cells were paid for.",
    when=lambda result: result.steps,
)
def plot_curve(result: AdaptiveResult, words: Vocabulary = USUAL) -> Any:
    """The probability of each claim over the share of the predicted cost, on a logarithmic axis."""
    rows = [
        {"share": max(row["share"], 1e-6), "claim": words, "probability": row[field], "cells": row["done"]}
        for row in result.curve().to_dicts()
        for field, words in CLAIMS.items()
        if row["done"] > 0
    ]
    order = list(CLAIMS.values())
    axis = {"format": "~%", "tickCount": 6}
    lines = marks(rows, "line", interpolate="step-after", strokeWidth=2, point={"size": 18}).encode(
        x=channel("share:Q", title="share of the predicted cost", scale={"type": "log"}, axis=axis),
        y=channel("probability:Q", title="probability of the claim", scale={"domain": [0, 1]}),
        color=channel("claim:N", sort=order, title=None, scale={"domain": order, "range": COLOURS[:4]}),
        tooltip=tips("claim", "share cells probability"),
    )
    level = marks([{"probability": result.confidence}], "rule", color=FAINT, strokeDash=[4, 3])
    return themed(
        (lines + level.encode(y="probability:Q")).properties(width=480, height=260),
        f"Certainty against cost, {result.metric}",
        f"Dashed: {100 * result.confidence:g} %, the level at which a claim is certified",
    )


@plot(
    "adaptive_grid",
    "Ranks on every {dataset}; those in brackets are predicted from the others and were not measured.",
    table="adaptive_cells",
)
def plot_grid(result: AdaptiveResult, words: Vocabulary = USUAL, shown: Shown = ALL) -> Any:
    """Algorithms against datasets: ranks, those that are only predicted in brackets and faint."""
    rows, order = shown.rows(result.cells().to_dicts()), shown.of(result.order)
    for row in rows:
        row["shown"] = f"({row[c.RANK]:.0f})" if row["state"] == "predicted" else f"{row[c.RANK]:.3g}"
        row[c.RANK] = round(row[c.RANK], 2)
    by_size = [result.datasets[j] for j in result.seconds.sum(axis=0).argsort(kind="stable")]
    chart = heat_map(
        rows,
        names_above(c.DATASET, by_size),
        names_down(c.ALGORITHM, order),
        rank_fill(c.RANK, len(result.algorithms)),
        tips(f"{c.ALGORITHM} {c.DATASET} state", f"{c.RANK} value seconds"),
        dark=f"datum.rank < {1 + 0.35 * len(result.algorithms)} && datum.state != 'predicted'",
        faint=("datum.state == 'predicted'", 0.55),
        text_size=9,
    ).properties(width=max(240, 26 * len(by_size)), height=max(80, 20 * len(order)))
    return themed(
        chart,
        f"What was run, {result.metric}",
        f"Ranks on each {words.dataset}, cheap {words.datasets} first; in brackets: predicted, not measured",
    )


FIGURES = Plots([plot_curve, plot_grid])
SECTION = Section(
    AdaptiveResult, "The whole grid from a part of it", "leaderboard", "adaptive", FIGURES, sentences, tables, order=15
)
