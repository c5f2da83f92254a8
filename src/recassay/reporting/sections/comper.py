"""ComPer: one score out of five dimensions, and how far it can be relied on."""

from __future__ import annotations

from recassay.analysis.comper.result import ComPerResult
from recassay.reporting.section import Figure, Section


def sentences(result: ComPerResult) -> list[str]:
    """Who scores highest and why, whether that holds over settings, and how much it hangs on the weights."""
    return result.conclusions()


def figures(result: ComPerResult) -> list[Figure]:
    """The scores, the dimensions behind them, and the sensitivity to the matrix."""
    from recassay.plots.comper import plot_dimensions, plot_scores, plot_sensitivity

    scores = Figure(
        "comper_scores",
        "ComPer score of each algorithm in each setting: correctness, coverage, diversity, robustness and scalability, "
        f"normalised and weighed by {result.matrix.name}.",
        plot_scores(result),
        "comper_scores",
    )
    dimensions = Figure(
        "comper_dimensions",
        "The five dimensions between 0 and 1, higher better everywhere: what the score adds up.",
        plot_dimensions(result),
        "comper_scores",
    )
    if len(result.table.algorithms) < 2:
        return [scores, dimensions]
    sensitivity = Figure(
        "comper_sensitivity",
        "How often each algorithm has the highest mean score when the entries of the matrix are off by up to half "
        "(perturbed), drawn from its range (random), or when the dimensions have any weights (any).",
        plot_sensitivity(result),
        "comper_sensitivity",
    )
    return [scores, dimensions, sensitivity]


SECTION = Section(ComPerResult, "ComPer", "beyond accuracy", "comper", figures, sentences)
