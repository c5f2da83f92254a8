"""ComPer: one score out of five dimensions, and how far it can be relied on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from recassay.analysis.comper.result import MEAN, ComPerResult, Derivation
from recassay.core import columns as c
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import count_of
from recassay.plots.forms import algorithm_colour, by_algorithm, names_down, panel_title
from recassay.plots.grammar import Chart, channel, hconcat, marks, tips
from recassay.plots.shown import ALL, Shown
from recassay.plots.theme import INK, colour_scale, themed
from recassay.reporting.numbers import number
from recassay.reporting.section import Plots, Section, Table, nothing, plot
from recassay.reporting.words.comper import derivation_sentences, sentences

MOST_SETTINGS = 8
"""Settings that get a column of their own."""


def tables(result: ComPerResult, words: Vocabulary = USUAL) -> Iterator[Table]:
    """Scores with what each dimension adds to them (means over settings), by setting, and whether the order holds."""
    table, order = result.table, result.order()
    mean, added = result.scores.mean(axis=1), result.by_dimension.mean(axis=1)
    yield Table(
        f"ComPer over {len(table.datasets)} settings: score, and what each dimension adds to it "
        f"({result.normalisation}, {result.matrix.name})",
        [words.algorithm, "score", *result.dimensions],
        [[table.algorithms[a], f"{mean[a]:.3f}", *(f"{value:.3f}" for value in added[a])] for a in order],
    )
    if 1 < len(table.datasets) <= MOST_SETTINGS:
        scores = [[table.algorithms[a], *(f"{value:.3f}" for value in result.scores[a])] for a in order]
        yield Table("Score in each setting", [words.algorithm, *table.datasets], scores)
    if result.agreements:
        rows = [
            [row["measure"], row["scope"], row["settings"], number(row["tau"], missing="-"), row["first"],
             number(row["same_first"], missing="-"), number(row["reversed_share"], missing="-")]
            for row in result.agreement_frame().to_dicts()
            if row["scope"] == "all" or row["measure"] == "comper"
        ]  # fmt: skip
        yield Table(
            "Does the order hold over settings? (reversed: pairs against the majority of settings)",
            ["measure", "scope", "settings", "Kendall's tau", "most often first", "share", "reversed"],
            rows,
            names=2,
            important=["reversed", "most often first", "share", "Kendall's tau", "scope"],
        )


MOST_BARS, MOST_GROUPED = 48, 8
"""Bars, and algorithms, that are drawn side by side; beyond either a bar is a mean, and its settings are ticks."""


@plot(
    "comper_scores",
    lambda result, words: (
        f"ComPer score of each {words.algorithm} in each setting: correctness, coverage, diversity, robustness and "
        f"scalability, normalised and weighed by {result.matrix.name}."
    ),
)
def plot_scores(result: ComPerResult, words: Vocabulary = USUAL, shown: Shown = ALL) -> Any:
    """The score of every algorithm in every setting as bars, best mean first; with many, means and a tick a setting."""
    order = shown.of(result.table.algorithms[a] for a in result.order())
    settings = len(result.table.datasets)
    rows = result.to_frame().select(c.DATASET, c.ALGORITHM, c.SCORE, c.RANK).filter(pl.col(c.ALGORITHM).is_in(order))
    few = len(order) <= MOST_GROUPED and len(order) * settings <= MOST_BARS
    return themed(
        _grouped(rows, order) if few else _means(rows, order),
        "ComPer score",
        f"{count_of(len(result.table.algorithms), words.algorithm)}, {count_of(settings, 'setting')}; higher is better",
    )


SETTING_TIPS = tips(f"{c.DATASET} {c.ALGORITHM}", f"{c.SCORE} {c.RANK}")


def _grouped(rows: pl.DataFrame, order: list[str]) -> Any:
    settings = rows.get_column(c.DATASET).unique(maintain_order=True).to_list()
    base = Chart(rows.to_dicts()).encode(
        x=channel(f"{c.DATASET}:N", title=None, sort=settings,
                axis={"labelAngle": -30 if len(settings) > 3 else 0, "domain": False, "ticks": False}),
        xOffset=channel(f"{c.ALGORITHM}:N", sort=order),
        y=channel(f"{c.SCORE}:Q", title="ComPer", axis={"domain": False}),
        tooltip=SETTING_TIPS,
    )  # fmt: skip
    bars = base.mark("bar").encode(
        color=channel(f"{c.ALGORITHM}:N", sort=order, scale=colour_scale(order), legend={"title": None})
    )
    values = base.mark("text", dy=-6, fontSize=10, color=INK).encode(text=channel(f"{c.SCORE}:Q", format=".2f"))
    width = max(260, 34 * len(order) * len(settings) + 30 * len(settings))
    return (bars + values).properties(width=min(width, 1100), height=240)


def _means(rows: pl.DataFrame, order: list[str]) -> Any:
    mean = rows.group_by(c.ALGORITHM, maintain_order=True).agg(pl.col(c.SCORE).mean())
    bars = by_algorithm(mean.to_dicts(), order, c.SCORE).mark("bar", height={"band": 0.65}, opacity=0.55)
    ticks = marks(rows.to_dicts(), "tick", color=INK, thickness=1.4, size=11, opacity=0.75).encode(
        y=names_down(c.ALGORITHM, order), x=f"{c.SCORE}:Q", tooltip=SETTING_TIPS
    )
    x = channel(f"{c.SCORE}:Q", title="ComPer: mean (bar), and each setting (tick)")
    return (bars.encode(x=x) + ticks).properties(width=520, height=20 * len(order))


@plot(
    "comper_dimensions",
    "The five dimensions between 0 and 1, higher better everywhere: what the score adds up.",
    table="comper_scores",
)
def plot_dimensions(result: ComPerResult, words: Vocabulary = USUAL, shown: Shown = ALL) -> Any:
    """Five small panels: d' of each dimension, one bar per algorithm (mean over settings), line from least to most."""
    order = shown.of(result.table.algorithms[a] for a in result.order())
    whole = result.normalised
    columns = {"mean": whole.mean(axis=1), "low": whole.min(axis=1), "high": whole.max(axis=1),
               "measured": result.table.values.mean(axis=1)}  # fmt: skip
    panels = []
    for d, dimension in enumerate(result.dimensions):
        rows = [
            {c.ALGORITHM: name, **{column: float(values[a, d]) for column, values in columns.items()}}
            for a, name in enumerate(result.table.algorithms)
        ]
        base = Chart(shown.rows(rows)).encode(
            y=names_down(c.ALGORITHM, order, labels=d == 0),
            tooltip=tips(c.ALGORITHM, "mean low high measured"),
        )
        scale = {"domain": [0, 1]}
        bars = base.mark("bar", height={"band": 0.7}).encode(
            x=channel("mean:Q", title=None, scale=scale, axis={"values": [0, 0.5, 1], "domain": False}),
            color=algorithm_colour(order),
        )
        range_ = base.mark("rule", color=INK, strokeWidth=1.2).encode(x=channel("low:Q", scale=scale), x2="high:Q")
        layers = bars + range_ if len(result.table.datasets) > 1 else bars
        weight = result.matrix.weights[d]
        title = panel_title(dimension, f"weight {weight:.3f}", offset=6)
        panels.append(layers.properties(width=118, height=max(60, 20 * len(order)), title=title))
    return themed(
        hconcat(*panels, spacing=14),
        "The five dimensions, normalised",
        "0 to 1, higher is better everywhere; bar: mean over settings, line: least to most",
    )


@plot(
    "comper_sensitivity",
    "How often each {algorithm} has the highest mean score when the entries of the matrix are off by up to half "
    "(perturbed), drawn from its range (random), or when the dimensions have any weights (any).",
    when=lambda result: len(result.table.algorithms) > 1,
)
def plot_sensitivity(result: ComPerResult, words: Vocabulary = USUAL, shown: Shown = ALL) -> Any:
    """How often each algorithm has the highest mean score under random matrices, one panel per scheme."""
    order = shown.of(result.table.algorithms[a] for a in result.order())
    shares = result.sensitivity_frame().filter(pl.col("setting") == MEAN)
    panels: list[Any] = []
    for scheme in result.schemes:
        rows = shares.filter(pl.col("scheme") == scheme)
        changed = float(rows.get_column("order_changed")[0])
        title = panel_title(scheme, f"order changes in {changed:.0%}", offset=6)
        axis = {"format": "%", "values": [0, 0.5, 1], "domain": False}
        base = by_algorithm(rows.to_dicts(), order, "probability_first order_changed", labels=not panels)
        x = channel("probability_first:Q", title=None, scale={"domain": [0, 1]}, axis=axis)
        bars = base.mark("bar", height={"band": 0.7}).encode(x=x)
        panels.append(bars.properties(width=190, height=max(60, 20 * len(order)), title=title))
    return themed(
        hconcat(*panels, spacing=16),
        "First under other weights",
        f"Share of {result.sensitivities[0].draws:,} random matrices in which {words.an_algorithm} has the highest "
        "mean score",
    )


FIGURES = Plots([plot_scores, plot_dimensions, plot_sensitivity])
SECTION = Section(ComPerResult, "ComPer", "beyond accuracy", "comper", FIGURES, sentences, tables, order=20)


def derivation_tables(result: Derivation) -> Iterator[Table]:
    """The label of every step, and the matrix."""
    frames = result.frames()
    matrix = frames.pop("comper_matrix")
    for name, frame in frames.items():
        yield Table(
            name.removeprefix("comper_").replace("_", " ").capitalize(),
            frame.columns,
            [[value if isinstance(value, str) else f"{value:.3f}" for value in row] for row in frame.iter_rows()],
        )
    weighed = [[name, *(f"{value:.4f}" for value in row), f"{sum(row):.4f}"] for name, *row in matrix.iter_rows()]
    title = "Matrix (Table 8), and the weight of each dimension, the sum of its row"
    yield Table(title, [*matrix.columns, "weight"], weighed, important=["weight"])


DERIVATION = Section(Derivation, "ComPer's matrix", "beyond accuracy", "comper", nothing, derivation_sentences,
                     derivation_tables, order=25)  # fmt: skip
