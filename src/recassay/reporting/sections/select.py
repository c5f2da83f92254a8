"""The choice of a few datasets: how well each way keeps the ranking, honestly judged."""

from __future__ import annotations

from recassay.analysis.select.result import PRESERVING, SelectResult
from recassay.reporting.section import Figure, Section


def sentences(result: SelectResult) -> list[str]:
    """What a random choice keeps, and whether the best choice keeps more on what it did not see."""
    said = []
    random, best = result.choices.get("random"), result.choices.get(PRESERVING)
    if random is not None and random.simulated is not None:
        said.append(
            f"{result.k} of the {len(result.datasets)} datasets, taken at random, keep the ranking in {result.metric} "
            f"with a Spearman correlation of {random.simulated.mean:.2f} on average "
            f"({random.simulated.low:.2f} to {random.simulated.high:.2f})."
        )
    if best is None:
        return said
    named = ", ".join(best.datasets)
    held = best.held_out_algorithms
    if held is None or random is None or random.held_out_algorithms is None:
        said.append(
            f"The choice that best preserves it ({named}) reaches {best.rho:.2f} on the numbers it was made on, which "
            "flatters it."
        )
        return said
    p = 1.0 if best.held_out_p is None else best.held_out_p
    verdict = (
        f"more than luck (p = {p:.3f})"
        if p < 0.05
        else f"no more than subsets that know nothing may reach (p = {p:.2f})"
    )
    said.append(
        f"The choice that best preserves it ({named}) reaches {best.rho:.2f} on the numbers it was made on; chosen on "
        f"one half of the algorithms and judged by the other it reaches {held.mean:.2f}, a random choice "
        f"{random.held_out_algorithms.mean:.2f}: {verdict}."
    )
    return said


def figures(result: SelectResult) -> list[Figure]:
    """Agreement by method at one size, and by the number of datasets."""
    from recassay.plots.select import plot_selection, plot_selection_curve

    drawn = [
        Figure(
            "dataset_selection",
            f"How well the ranking on {result.k} datasets agrees with that on all {len(result.datasets)}, by how the "
            "datasets were chosen.",
            plot_selection(result),
            "selection",
        )
    ]
    if result.curve:
        drawn.append(
            Figure(
                "dataset_selection_curve",
                "Agreement with the ranking on all datasets against the number of datasets, by how they were chosen.",
                plot_selection_curve(result),
                "selection_curve",
            )
        )
    return drawn


SECTION = Section(SelectResult, "How few datasets are enough?", "datasets", "select", figures, sentences)
