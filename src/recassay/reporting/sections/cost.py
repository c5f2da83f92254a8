"""Seconds and memory."""

from __future__ import annotations

from recassay.analysis.cost import CostResult
from recassay.core import columns as c
from recassay.reporting.section import Figure, Section, no_sentences


def figures(result: CostResult) -> list[Figure]:
    """By algorithm and by dataset."""
    from recassay.plots.cost import plot_cost

    return [
        Figure("cost_by_algorithm", "What each algorithm took over the datasets, on log scales.",
               plot_cost(result, c.ALGORITHM), "cost_by_algorithm"),
        Figure("cost_by_dataset", "What each dataset asked of the algorithms, on log scales.",
               plot_cost(result, c.DATASET), "cost_by_dataset"),
    ]  # fmt: skip


SECTION = Section(CostResult, "Time and memory", "cost", "report", figures, no_sentences, order=10)
