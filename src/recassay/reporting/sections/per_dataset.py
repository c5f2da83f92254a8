"""Every algorithm on every dataset."""

from __future__ import annotations

from typing import Any

from recassay.analysis.per_dataset import PerDatasetResult
from recassay.core import columns as c
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.plots.forms import (
    algorithm_colour,
    heat_map,
    intervals,
    names_above,
    names_down,
    panel_title,
    share_fill,
)
from recassay.plots.grammar import Chart, concat, layer, tips
from recassay.plots.shown import ALL, Shown
from recassay.plots.theme import INK, shorten, themed
from recassay.reporting.section import Plots, Section, plot
from recassay.reporting.words.per_dataset import sentences

MOST_WRITTEN = 16
"""Datasets up to which the map carries the numbers."""


@plot(
    "per_dataset",
    lambda result, words: (
        f"{result.metric} of every {words.algorithm} on every {words.dataset}; colour is the share of the "
        f"{words.dataset}'s best."
    ),
)
def plot_values(result: PerDatasetResult, words: Vocabulary = USUAL, shown: Shown = ALL) -> Any:
    """Algorithms down, datasets across; colour is the value's share of the best on that dataset."""
    rows = shown.rows(result.to_frame().to_dicts())
    order = shown.of(result.algorithms[a] for a in result.order())
    wide = len(result.datasets) <= MOST_WRITTEN
    for row in rows:
        row["shown"] = _short(row[c.VALUE])
    chart = heat_map(
        rows,
        names_above(c.DATASET, list(result.datasets), angle=-45, labelLimit=140),
        names_down(c.ALGORITHM, order),
        share_fill("share_of_best", "share of the best"),
        tips(f"{c.DATASET} {c.ALGORITHM}", f"{c.VALUE} low high share_of_best"),
        dark="datum.share_of_best > 0.55",
        text_size=9.5,
        gap=1,
        written=wide,
    ).properties(width=(46 if wide else 24) * len(result.datasets), height=22 * len(order))
    return themed(
        chart,
        f"{result.metric} on every {words.dataset}",
        f"Colour: share of the best value of the {words.dataset}; darkest is the best",
    )


def _intervals_caption(result: PerDatasetResult, words: Vocabulary) -> str:
    over = {"users": f"over the {words.users} of its test part", "stated": "from the deviations that the table states"}
    how = over.get(result.source, "over seeds or folds")
    return f"Each {words.dataset}'s values with {100 * result.confidence:g} % intervals {how}."


@plot("per_dataset_intervals", _intervals_caption, table="per_dataset", when=lambda result: result.source != "none")
def plot_intervals(result: PerDatasetResult, words: Vocabulary = USUAL, shown: Shown = ALL) -> Any:
    """One panel per dataset: values with their intervals, the algorithms in the same order everywhere."""
    order = shown.of(result.algorithms[a] for a in result.order())
    rows = shown.rows(result.to_frame().to_dicts())
    panels = []
    columns = min(4, len(result.datasets))
    for number, dataset in enumerate(result.datasets):
        of_dataset = [row for row in rows if row[c.DATASET] == dataset]
        base = Chart(of_dataset).encode(
            y=names_down(c.ALGORITHM, order, shared=number % columns > 0),
            color=algorithm_colour(order),
            tooltip=tips(f"{c.DATASET} {c.ALGORITHM}", f"{c.VALUE} low high"),
        )
        marks = intervals(
            base, c.VALUE, "low", "high", scale={"zero": False}, title=None, axis={"tickCount": 4}, size=40
        )
        title = panel_title(shorten(dataset, 26), fontWeight="normal", color=INK, centred=True)
        panels.append(layer(*marks).properties(width=170, height=15 * len(order), title=title))
    chart = concat(*panels, columns=columns, spacing=16).resolve(scale={"color": "shared"})
    how = {"users": f"t intervals over {words.users}", "stated": "intervals from stated deviations"}
    over = how.get(result.source, "t intervals over repeated runs")
    share = f"{100 * result.confidence:g} %"
    return themed(
        chart, f"{result.metric} with intervals", f"{share} {over}; the scales differ between {words.datasets}"
    )


def _short(value: float) -> str:
    """At most six characters."""
    if 0 < abs(value) < 0.0005:
        return "<0.001" if value > 0 else "~0"
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.4g}" if abs(value) < 1e4 else f"{value:.1e}"


FIGURES = Plots([plot_values, plot_intervals])
SECTION = Section(PerDatasetResult, "{Dataset} by {dataset}", "datasets", "report", FIGURES, sentences, order=10)
