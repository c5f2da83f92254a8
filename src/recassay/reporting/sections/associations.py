"""Characteristics and performance: which associations survive the number of those that were tried."""

from __future__ import annotations

import numpy as np

from recassay.analysis.associations import AssociationsResult
from recassay.core.errors import listing
from recassay.reporting.section import Figure, Section


def sentences(result: AssociationsResult) -> list[str]:
    """The characteristics that go with performance beyond chance, by rank correlation averaged over algorithms."""
    rho, p = result.values["spearman"][-1], result.p_adjusted["spearman"][-1]
    sure = sorted(np.flatnonzero(p < result.alpha), key=lambda j: -abs(rho[j]))
    tried = f"{len(result.characteristics)} characteristics on {result.n_datasets} datasets"
    if not sure:
        return [f"No characteristic of the datasets goes with {result.metric} beyond chance ({tried}, corrected)."]
    named = listing((f"{result.characteristics[j]} ({rho[j]:+.2f})" for j in sure), most=6)
    return [
        f"Of {tried}, {len(sure)} go with {result.metric} beyond chance (Spearman, mean over algorithms, corrected at "
        f"{result.alpha:g}): {named}. That is an association over datasets, not a cause."
    ]


FEWEST_DRAWN = 10
"""Datasets below which a correlation of ranks has hardly any value that chance does not give, and is not drawn."""


def figures(result: AssociationsResult) -> list[Figure]:
    """Correlations by algorithm, and mutual information beside what chance gives; none that tell nothing."""
    if result.n_datasets < FEWEST_DRAWN and not any(np.any(p < result.alpha) for p in result.p_adjusted.values()):
        return []
    from recassay.plots.associations import plot_associations, plot_mutual_information

    table = "characteristics_and_performance"
    return [
        Figure(
            table,
            f"Correlation over {result.n_datasets} datasets between a characteristic and {result.metric}; an "
            "algorithm's cell shows its number where it survives the correction for all cells.",
            plot_associations(result),
            table,
        ),
        Figure(
            "mutual_information",
            "Mutual information between characteristics and performance, beside what it is for shuffled datasets.",
            plot_mutual_information(result),
            table,
        ),
    ]


SECTION = Section(
    AssociationsResult, "Characteristics and performance", "datasets", "select", figures, sentences, order=20
)
