"""ComPer: one score out of five dimensions, and how far it can be relied on."""

from __future__ import annotations

from recassay.analysis.comper.result import ComPerResult
from recassay.reporting.numbers import number
from recassay.reporting.section import Figure, Section, Table


def sentences(result: ComPerResult) -> list[str]:
    """Who scores highest and why, whether that holds over settings, and how much it hangs on the weights."""
    return result.conclusions()


MOST_SETTINGS = 8
"""Settings that get a column of their own."""


def tables(result: ComPerResult) -> list[Table]:
    """Scores with what each dimension adds to them (means over settings), by setting, and whether the order holds."""
    table, order = result.table, result.order()
    mean, added = result.scores.mean(axis=1), result.by_dimension.mean(axis=1)
    shown = [
        Table(
            f"ComPer over {len(table.datasets)} settings: score, and what each dimension adds to it "
            f"({result.normalisation}, {result.matrix.name})",
            ["algorithm", "score", *result.dimensions],
            [[table.algorithms[a], f"{mean[a]:.3f}", *(f"{value:.3f}" for value in added[a])] for a in order],
        )
    ]
    if 1 < len(table.datasets) <= MOST_SETTINGS:
        scores = [[table.algorithms[a], *(f"{value:.3f}" for value in result.scores[a])] for a in order]
        shown.append(Table("Score in each setting", ["algorithm", *table.datasets], scores))
    if result.agreements:
        rows = [
            [row["measure"], row["scope"], row["settings"], number(row["tau"], missing="-"), row["first"],
             number(row["same_first"], missing="-"), number(row["reversed_share"], missing="-")]
            for row in result.agreement_frame().to_dicts()
            if row["scope"] == "all" or row["measure"] == "comper"
        ]  # fmt: skip
        shown.append(
            Table(
                "Does the order hold over settings? (reversed: pairs against the majority of settings)",
                ["measure", "scope", "settings", "Kendall's tau", "most often first", "share", "reversed"],
                rows,
                names=2,
                important=["reversed", "most often first", "share", "Kendall's tau", "scope"],
            )
        )
    return shown


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


SECTION = Section(ComPerResult, "ComPer", "beyond accuracy", "comper", figures, sentences, tables, order=20)
