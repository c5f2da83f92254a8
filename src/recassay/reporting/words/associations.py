"""Characteristics and performance: which associations survive the number of those that were tried."""

from __future__ import annotations

import numpy as np

from recassay.analysis.associations import AssociationsResult
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import listing


def sentences(result: AssociationsResult, words: Vocabulary = USUAL) -> list[str]:
    """The characteristics that go with performance beyond chance, by rank correlation averaged over algorithms."""
    rho, p = result.values["spearman"][-1], result.p_adjusted["spearman"][-1]
    sure = sorted(np.flatnonzero(p < result.alpha), key=lambda j: -abs(rho[j]))
    tried = f"{len(result.characteristics)} characteristics on {result.n_datasets} {words.datasets}"
    if not sure:
        return [
            f"No characteristic of the {words.datasets} goes with {result.metric} beyond chance ({tried}, corrected)."
        ]
    go = "goes" if len(sure) == 1 else "go"
    named = listing((f"{result.characteristics[j]} ({rho[j]:+.2f})" for j in sure), most=6)
    return [
        f"Of {tried}, {len(sure)} {go} with {result.metric} beyond chance (Spearman, mean over {words.algorithms}, "
        f"corrected at {result.alpha:g}): {named}. That is an association over {words.datasets}, not a cause."
    ]
