"""The hierarchical model: who is best for datasets like these, and what more would tell."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from recassay.analysis.model.result import ModelResult
from recassay.core.choices import FEWEST_DATASETS
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import listing
from recassay.reporting.numbers import percent, probability


def sentences(result: ModelResult, words: Vocabulary = USUAL) -> list[str]:
    """Who is probably best, what that means on a new dataset, and where the uncertainty comes from.

    Nothing below five datasets: so few say nothing of datasets like these.
    """
    if len(result.datasets) < FEWEST_DATASETS:
        return []
    best, first, order = result.probability_best(), result.probability_first(), result.order()
    name = leader(result)
    subject = result.algorithms.index(name)
    rivals = [result.algorithms[a] for a in sorted(order, key=lambda a: -best[a]) if a != subject and best[a] >= 0.05]
    also = f" {listing(rivals)} also {'has' if len(rivals) == 1 else 'have'} at least a 5 % chance." if rivals else ""
    lead = (
        f"By the hierarchical model, {name} has the highest level of {result.metric} for {words.datasets} like these "
        f"with probability {probability(best[subject])}.{also} On a single new {words.dataset} it is first with "
        f"probability {probability(first[subject])}."
    )
    shares = result.shares.of_a_difference()
    source = max(shares, key=lambda key: shares[key])
    cure = {"datasets": f"more {words.datasets}", "repeats": "more seeds or folds", "users": "larger test parts"}[
        source
    ]
    where = (
        f"{percent(shares[source])} of the variance of a difference between two {words.algorithms} comes from "
        f"{words.filled(_SOURCES[source])}: {cure} would tell more."
        if shares[source] < 1
        else f"Nothing was measured repeatedly, so all uncertainty counts as {words.filled(_SOURCES['datasets'])}."
    )
    twins = [f"{listing(group)} have the same value on every {words.dataset}." for group in result.identical]
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
        f"By the hierarchical model, {nearest.leader} would lead if the {cells} of {nearest.algorithm} were "
        f"{nearest.needed:.4g} or {'better' if up else 'worse'}{average} (expected: {nearest.expected:.4g})."
    )


_SOURCES = {
    "datasets": "how the {algorithms} suit different {datasets}",
    "repeats": "the noise of seeds or folds",
    "users": "the {users} of the test parts",
}


def leader(result: ModelResult) -> str:
    """The algorithm that probably has the highest level; of several the first in order, as the sentence names it."""
    best = result.probability_best()
    return result.algorithms[max(result.order(), key=lambda a: best[a])]
