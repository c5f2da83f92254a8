"""Characteristics and performance: which associations survive the number of those that were tried."""

from __future__ import annotations

from typing import Any

import numpy as np

from recassay.analysis.associations import AVERAGE, AssociationsResult
from recassay.core import columns as c
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.plots.forms import correlation_fill, heat_map, names_above, names_down
from recassay.plots.grammar import Chart, channel, condition, fixed, tips
from recassay.plots.shown import ALL, Shown
from recassay.plots.theme import COLOURS, FAINT, themed
from recassay.reporting.section import Plots, Section, plot
from recassay.reporting.words.associations import sentences

FEWEST_DRAWN = 10
"""Datasets below which a correlation of ranks has hardly any value that chance does not give, and is not drawn."""


def telling(result: AssociationsResult) -> bool:
    """Whether there is something to draw: enough datasets, or associations beyond chance."""
    return result.n_datasets >= FEWEST_DRAWN or any(np.any(p < result.alpha) for p in result.p_adjusted.values())


MEAN_ROWS = {"pearson": "mean, Pearson", "spearman": "mean, Spearman"}


@plot(
    "characteristics_and_performance",
    lambda result, words: (
        f"Correlation over {result.n_datasets} {words.datasets} between a characteristic and {result.metric}; an "
        f"{words.algorithm}'s cell shows its number where it survives the correction for all cells."
    ),
    when=telling,
)
def plot_associations(result: AssociationsResult, words: Vocabulary = USUAL, shown: Shown = ALL) -> Any:
    """Algorithms down, characteristics across: Spearman's correlation over datasets; above, the two mean rows.

    A number stands only where it survives the correction for all that were tried.
    """
    rows = []
    for row in shown.rows(result.to_frame().to_dicts()):
        mean = row[c.ALGORITHM] == AVERAGE
        if row["measure"] == "mutual_information" or (row["measure"] == "pearson" and not mean):
            continue
        sure = row["p_adjusted"] < result.alpha
        label = MEAN_ROWS[row["measure"]] if mean else row[c.ALGORITHM]
        rows.append({**row, "row": label, "shown": f"{row[c.VALUE]:.2f}" if sure or mean else "", "sure": sure})
    order = [*MEAN_ROWS.values(), *(name for name in shown.of(result.rows) if name != AVERAGE)]
    chart = heat_map(
        rows,
        names_above("characteristic", list(result.characteristics), angle=-40),
        names_down("row", order),
        correlation_fill(c.VALUE, "correlation", length=min(140, 18 * len(order))),
        tips(f"{c.ALGORITHM} characteristic measure", f"{c.VALUE} low high p p_adjusted"),
        dark=f"abs(datum.{c.VALUE}) > 0.6",
        faint=("!datum.sure", 0.55),
        text_size=9.5,
    ).properties(width=38 * len(result.characteristics), height=21 * len(order))
    return themed(
        chart,
        f"Characteristics and {result.metric}",
        f"Spearman over {result.n_datasets} {words.datasets}; {words.algorithms} show a number where p < "
        f"{result.alpha:g} after correction for all cells",
    )


@plot(
    "mutual_information",
    "Mutual information between characteristics and performance, beside what it is for shuffled {datasets}.",
    table="characteristics_and_performance",
    when=telling,
)
def plot_mutual_information(result: AssociationsResult, words: Vocabulary = USUAL) -> Any:
    """Mean mutual information of each characteristic (dot) beside what shuffled datasets give (bar)."""
    rows = [
        row
        for row in result.to_frame().to_dicts()
        if row["measure"] == "mutual_information" and row[c.ALGORITHM] == AVERAGE
    ]
    order = [row["characteristic"] for row in sorted(rows, key=lambda row: -row[c.VALUE])]
    base = Chart(rows).encode(
        y=names_down("characteristic", order),
        tooltip=tips("characteristic", f"{c.VALUE} chance p p_adjusted"),
    )
    by_chance = base.mark("bar", color="#d5dae0", height=9).encode(x=channel("chance:Q", title="nats"))
    dots = base.mark("circle", size=60, opacity=1).encode(
        x=f"{c.VALUE}:Q",
        color=condition(f"datum.p_adjusted < {result.alpha}", fixed(COLOURS[0]), fixed(FAINT)),
    )
    return themed(
        (by_chance + dots).properties(width=420, height=17 * len(order)),
        f"Mutual information with {result.metric}",
        f"Mean over {words.algorithms}; bar: the same with {words.datasets} shuffled; blue: beyond chance after "
        "correction",
    )


FIGURES = Plots([plot_associations, plot_mutual_information])
SECTION = Section(
    AssociationsResult, "Characteristics and performance", "datasets", "select", FIGURES, sentences, order=20
)
