"""The hierarchical model: who is best for datasets like these, and what more would tell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from recassay.analysis.model.result import ModelResult
from recassay.core import columns as c
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import count_of
from recassay.plots.forms import by_algorithm, panel_title, square_map
from recassay.plots.grammar import Chart, channel, hconcat
from recassay.plots.shown import ALL, Shown
from recassay.plots.theme import DIVERGING, themed
from recassay.reporting.section import Plots, Section, Table, plot
from recassay.reporting.words.model import leader, sentences


def tables(result: ModelResult, words: Vocabulary = USUAL) -> Iterator[Table]:
    """Algorithms by level; the leader against each other; predicted cells."""
    shown = f"{100 * result.confidence:g} %"
    levels = result.to_frame().to_dicts()
    top = levels[0]["algorithm"]
    yield Table(
        f"Levels: {result.metric} on {words.a_dataset} of the middle kind, "
        f"{count_of(len(result.datasets), words.dataset)}",
        {words.algorithm: "{algorithm}", "level": "{level:.4f}", shown: "{low:.4f} to {high:.4f}",
         "P(best)": "{probability_best:.2f}", f"P(first on a new {words.dataset})": "{probability_first:.2f}"},
        levels,
        important=["P(best)", "level", f"P(first on a new {words.dataset})", shown],
        notes=[
            f"{len(result.level):,} draws, worth {result.sampling.effective:,.0f} independent ones; R-hat "
            f"{result.sampling.r_hat:.3f}; standard error of P(best) by chance {result.sampling.error:.3f}."
        ],
    )  # fmt: skip
    yield Table(
        f"{top} against each other",
        {"against": "{right}", "P(better)": "{probability_better:.2f}",
         f"P(beats on a new {words.dataset})": "{probability_beats:.2f}",
         f"P(within {100 * result.within:g} %)": "{probability_equal:.2f}"},
        [pair for pair in result.pairs_frame().to_dicts() if pair["left"] == top],
    )  # fmt: skip
    if result.predicted:
        yield Table(
            "Predicted cells (not measured)",
            {words.algorithm: "{algorithm}", words.dataset: "{dataset}", "expected": "{estimate:.4f}",
             shown: "{low:.4f} to {high:.4f}"},
            result.predicted,
            names=2,
            important=["expected", shown],
            most=20,
        )  # fmt: skip


@plot(
    "model_probabilities",
    "The probability of having the highest level, and of being first on one new {dataset}.",
    table="model",
)
def plot_probabilities(result: ModelResult, words: Vocabulary = USUAL, shown: Shown = ALL) -> Any:
    """Two bars per algorithm: P(best) and P(first on a new dataset)."""
    table = result.to_frame()
    order = shown.of(table.get_column(c.ALGORITHM))
    panels: list[Chart] = []
    for column, title in (("probability_best", "best level"), ("probability_first", f"first on a new {words.dataset}")):
        rows = [{c.ALGORITHM: row[c.ALGORITHM], "probability": row[column]} for row in table.to_dicts()]
        bars = by_algorithm(rows, order, "probability", shared=bool(panels)).mark("bar", height={"band": 0.7})
        x = channel("probability:Q", title=None, scale={"domain": [0, 1]}, axis={"values": [0, 0.5, 1]})
        panels.append(bars.encode(x=x).properties(width=230, height=max(60, 20 * len(order)), title=panel_title(title)))
    return themed(
        hconcat(*panels, spacing=18),
        f"Who is best for {words.datasets} like these, {result.metric}",
        f"Posterior probabilities over {count_of(len(result.datasets), words.dataset)}",
    )


@plot("model_beats", "How probably the row beats the column on a new {dataset} of this kind.", table="model_pairs")
def plot_beats(result: ModelResult, words: Vocabulary = USUAL, shown: Shown = ALL) -> Any:
    """Algorithms against algorithms, best level first: the probability that the row wins a new dataset."""
    order = shown.of(result.algorithms[a] for a in result.order())
    fill = channel(
        "probability:Q",
        scale={"scheme": DIVERGING, "domain": [0, 1], "reverse": True},
        legend={"title": "P(row wins)", "gradientLength": 120},
    )
    dark = "datum.probability < 0.15 || datum.probability > 0.85"
    return themed(
        square_map(order, result.algorithms, result.beats(), "probability", ".2f", fill, dark),
        f"Who beats whom on a new {words.dataset}",
        "Probability that the row is better than the column",
    )


FIGURES = Plots([plot_probabilities, plot_beats])
SECTION = Section(
    ModelResult,
    "For {datasets} like these",
    "significance",
    "model",
    FIGURES,
    sentences,
    tables,
    order=20,
    leader=leader,
)
