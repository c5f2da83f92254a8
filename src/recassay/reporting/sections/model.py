"""The hierarchical model: who is best for datasets like these, and what more would tell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from recassay.analysis.model.result import ModelResult
from recassay.core import columns as c
from recassay.core.choices import FEWEST_DATASETS
from recassay.core.words import listing
from recassay.plots.forms import by_algorithm, panel_title, square_map
from recassay.plots.grammar import Chart, channel, hconcat
from recassay.plots.theme import DIVERGING, themed
from recassay.reporting.numbers import percent, probability
from recassay.reporting.section import Plots, Section, Table, plot


def sentences(result: ModelResult) -> list[str]:
    """Who is probably best, what that means on a new dataset, and where the uncertainty comes from.

    Nothing below five datasets: so few say nothing of datasets like these.
    """
    if len(result.datasets) < FEWEST_DATASETS:
        return []
    best, first, order = result.probability_best(), result.probability_first(), result.order()
    name = leader(result)
    own = result.algorithms.index(name)
    rivals = [result.algorithms[a] for a in sorted(order, key=lambda a: -best[a]) if a != own and best[a] >= 0.05]
    also = f" {listing(rivals)} also {'has' if len(rivals) == 1 else 'have'} at least a 5 % chance." if rivals else ""
    lead = (
        f"For datasets like these, {name} has the highest level of {result.metric} with probability "
        f"{probability(best[own])}.{also} On a single new dataset it is first with probability "
        f"{probability(first[own])}."
    )
    shares = result.shares.of_a_difference()
    source = max(shares, key=lambda key: shares[key])
    cure = {"datasets": "more datasets", "repeats": "more seeds or folds", "users": "larger test parts"}[source]
    where = (
        f"{percent(shares[source])} of the variance of a difference between two algorithms comes from "
        f"{_SOURCES[source]}: {cure} would tell more."
        if shares[source] < 1
        else f"Nothing was measured repeatedly, so all uncertainty counts as {_SOURCES['datasets']}."
    )
    twins = [f"{listing(group)} have the same value on every dataset." for group in result.identical]
    return [lead, *twins, where, *_unseen(result)]


def _unseen(result: ModelResult) -> Iterator[str]:
    """What is assumed of missing cells, and how bad they would have to be to change the leader."""
    if not result.predicted:
        return
    count = len(result.predicted)
    yield (
        f"{count} missing {'cell was' if count == 1 else 'cells were'} predicted, as if missing for reasons that have "
        "nothing to do with the scores."
    )
    nearest = min(result.tipping, key=lambda point: abs(result.scale.forward(np.array([point.needed, point.expected]))
                                                        @ np.array([1.0, -1.0])))  # fmt: skip
    up = (nearest.needed > nearest.expected) == result.higher_is_better
    cells = "missing cell" if nearest.cells == 1 else f"{nearest.cells} missing cells"
    average = "" if nearest.cells == 1 else " on average"
    yield (
        f"{nearest.leader} would lead if the {cells} of {nearest.algorithm} were {nearest.needed:.4g} or "
        f"{'better' if up else 'worse'}{average} (expected: {nearest.expected:.4g})."
    )


_SOURCES = {
    "datasets": "how the algorithms suit different datasets",
    "repeats": "the noise of seeds or folds",
    "users": "the users of the test parts",
}


def tables(result: ModelResult) -> Iterator[Table]:
    """Algorithms by level; the leader against each other; predicted cells."""
    shown = f"{100 * result.confidence:g} %"
    levels = result.to_frame().to_dicts()
    top = levels[0]["algorithm"]
    yield Table(
        f"Levels: {result.metric} on a dataset of the middle kind, {len(result.datasets)} datasets",
        {"algorithm": "{algorithm}", "level": "{level:.4f}", shown: "{low:.4f} to {high:.4f}",
         "P(best)": "{probability_best:.2f}", "P(first on a new dataset)": "{probability_first:.2f}"},
        levels,
        important=["P(best)", "level", "P(first on a new dataset)", shown],
        notes=[
            f"{len(result.level):,} draws, worth {result.sampling.effective:,.0f} independent ones; R-hat "
            f"{result.sampling.r_hat:.3f}; standard error of P(best) by chance {result.sampling.error:.3f}."
        ],
    )  # fmt: skip
    yield Table(
        f"{top} against each other",
        {"against": "{right}", "P(better)": "{probability_better:.2f}",
         "P(beats on a new dataset)": "{probability_beats:.2f}",
         f"P(within {100 * result.within:g} %)": "{probability_equal:.2f}"},
        [pair for pair in result.pairs_frame().to_dicts() if pair["left"] == top],
    )  # fmt: skip
    if result.predicted:
        yield Table(
            "Predicted cells (not measured)",
            {"algorithm": "{algorithm}", "dataset": "{dataset}", "expected": "{estimate:.4f}",
             shown: "{low:.4f} to {high:.4f}"},
            result.predicted,
            names=2,
            important=["expected", shown],
            most=20,
        )  # fmt: skip


def leader(result: ModelResult) -> str:
    """The algorithm that probably has the highest level; of several the first in order, as the sentence names it."""
    best = result.probability_best()
    return result.algorithms[max(result.order(), key=lambda a: best[a])]


@plot(
    "model_probabilities",
    "The probability of having the highest level, and of being first on one new dataset.",
    table="model",
)
def plot_probabilities(result: ModelResult) -> Any:
    """Two bars per algorithm: P(best) and P(first on a new dataset)."""
    frame = result.to_frame()
    order = frame.get_column(c.ALGORITHM).to_list()
    panels: list[Chart] = []
    for column, title in (("probability_best", "best level"), ("probability_first", "first on a new dataset")):
        rows = [{c.ALGORITHM: row[c.ALGORITHM], "probability": row[column]} for row in frame.to_dicts()]
        bars = by_algorithm(rows, order, "probability", shared=bool(panels)).mark("bar", height={"band": 0.7})
        x = channel("probability:Q", title=None, scale={"domain": [0, 1]}, axis={"values": [0, 0.5, 1]})
        panels.append(bars.encode(x=x).properties(width=230, height=max(60, 20 * len(order)), title=panel_title(title)))
    return themed(
        hconcat(*panels, spacing=18),
        f"Who is best for datasets like these, {result.metric}",
        f"Posterior probabilities over {len(result.datasets)} datasets",
    )


@plot("model_beats", "How probably the row beats the column on a new dataset of this kind.", table="model_pairs")
def plot_beats(result: ModelResult) -> Any:
    """Algorithms against algorithms, best level first: the probability that the row wins a new dataset."""
    order = [result.algorithms[a] for a in result.order()]
    fill = channel(
        "probability:Q",
        scale={"scheme": DIVERGING, "domain": [0, 1], "reverse": True},
        legend={"title": "P(row wins)", "gradientLength": 120},
    )
    dark = "datum.probability < 0.15 || datum.probability > 0.85"
    return themed(
        square_map(order, result.algorithms, result.beats(), "probability", ".2f", fill, dark),
        "Who beats whom on a new dataset",
        "Probability that the row is better than the column",
    )


FIGURES = Plots([plot_probabilities, plot_beats])
SECTION = Section(
    ModelResult, "For datasets like these", "significance", "model", FIGURES, sentences, tables, order=20, leader=leader
)
