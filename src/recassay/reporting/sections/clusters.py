"""Clusters of datasets: how firm they are, and whether the algorithms rank differently in them."""

from __future__ import annotations

from recassay.analysis.clusters.result import ClustersResult
from recassay.reporting.section import Figure, Section


def sentences(result: ClustersResult) -> list[str]:
    """Whether there are clusters at all, and whether they matter for the ranking."""
    reached, chance = result.number.best_silhouette, result.number.chance[1]
    firm = (
        f"above the {chance:.2f} that points without any clusters reach in 5 % of cases"
        if reached > chance
        else f"which points without any clusters reach, too ({chance:.2f} in 5 % of cases): read the groups as a "
        "convenient division, not as kinds of data"
    )
    groups = "random groups of these sizes"
    differ = (
        f"Mean ranks differ between the clusters more than between {groups} (p = {result.p_differ:.2g})."
        if result.p_differ < 0.05
        else f"That mean ranks differ between the clusters is not shown: {groups} differ as much with p = "
        f"{result.p_differ:.2g}."
    )
    return [
        f"By their characteristics the {len(result.labels)} datasets fall into {len(result.sizes)} clusters with a "
        f"silhouette of {reached:.2f}, {firm}.",
        differ,
    ]


def figures(result: ClustersResult) -> list[Figure]:
    """The plane of the first two components, and the ranks by cluster."""
    from recassay.plots.clusters import plot_cluster_ranks, plot_clusters

    return [
        Figure(
            "dataset_clusters",
            "Datasets by their characteristics on the first two principal components, coloured by cluster.",
            plot_clusters(result),
            "clusters",
        ),
        Figure(
            "cluster_ranks",
            f"Mean rank (and geometric mean) in {result.metric} of each algorithm within each cluster of datasets.",
            plot_cluster_ranks(result),
            "cluster_ranks",
        ),
    ]


SECTION = Section(ClustersResult, "Kinds of datasets", "datasets", "select", figures, sentences, order=30)
