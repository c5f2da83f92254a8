"""Clusters of datasets: how firm they are, and whether the algorithms rank differently in them."""

from __future__ import annotations

from recassay.analysis.clusters.result import ClustersResult
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.reporting.numbers import p_text


def sentences(result: ClustersResult, words: Vocabulary = USUAL) -> list[str]:
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
        f"Mean ranks differ between the clusters more than between {groups} ({p_text(result.p_differ)})."
        if result.p_differ < 0.05
        else f"That mean ranks differ between the clusters is not shown: {groups} differ as much with "
        f"{p_text(result.p_differ)}."
    )
    return [
        f"By their characteristics the {len(result.labels)} {words.datasets} fall into {len(result.sizes)} clusters "
        f"with a silhouette of {reached:.2f}, {firm}.",
        differ,
    ]
