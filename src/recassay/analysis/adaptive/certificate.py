"""What may be claimed of the whole grid, and with what probability.

A claim is counted over draws of the completed grid, with the draws' deviations from their mean stretched by `STRETCH`:
the margin for a model that is wrong. The stretch was calibrated on synthetic grids with other truths than the model's
(docs/evidence/adaptive.md); it does nothing to what is known, because there the draws do not differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from recassay.core.types import BoolArray, FloatArray, IntArray

STRETCH = 1.1
"""By how much the draws of the mean ranks are spread around their mean before claims are counted."""

SLACK = 1e-9
"""Sums of ranks are compared up to rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class Certificate:
    """Probabilities of claims about the mean ranks of the whole grid. `order` are the algorithms (indices), best first.

    `sets[k]`: that the first k + 1 of them are the best k + 1. `probabilities` of the targets: `first` and `top3` are
    those of one and of three; `order`: that no algorithm stands before one whose mean rank is better by more than
    `indifference`; `rho`: that Spearman's correlation of this order with that of the whole grid is at least the one
    asked for.
    """

    order: IntArray
    mean_ranks: FloatArray
    deviations: FloatArray
    sets: FloatArray
    probabilities: Mapping[str, float]
    indifference: float


def certify(
    mean_ranks: FloatArray,
    expected: FloatArray | None = None,
    *,
    indifference: float = 1.0,
    rho: float = 0.97,
    stretch: float = STRETCH,
) -> Certificate:
    """The certificate that draws of mean ranks (draws x algorithms) support, for the order of the `expected` mean ranks
    (by default the means of the draws).
    """
    centre = mean_ranks.mean(axis=0)
    guess = centre if expected is None else expected
    order = np.argsort(guess, kind="stable")
    draws = (centre + stretch * (mean_ranks - centre))[:, order]
    count, m = draws.shape
    before = np.maximum.accumulate(draws, axis=1)
    after = np.minimum.accumulate(draws[:, ::-1], axis=1)[:, ::-1]
    known = bool((np.ptp(mean_ranks, axis=0) == 0).all())

    def share(held: BoolArray) -> FloatArray:
        """Of the draws in which a claim held, as if one more had denied it: no claim is certain by counting."""
        return np.ones(held.shape[1:]) if known else np.asarray(held.sum(axis=0) / (len(held) + 1), dtype=np.float64)

    sets = np.ones(m)
    sets[:-1] = share(before[:, :-1] <= after[:, 1:] + SLACK)
    ordered = (before[:, :-1] - draws[:, 1:] <= indifference + SLACK).all(axis=1) if m > 1 else np.ones(count, bool)
    place = np.argsort(np.argsort(draws, axis=1, kind="stable"), axis=1)
    spearman = 1 - 6 * ((place - np.arange(m)) ** 2).sum(axis=1) / max(m * (m * m - 1), 1)
    return Certificate(
        order=order,
        mean_ranks=guess,
        deviations=stretch * mean_ranks.std(axis=0),
        sets=sets,
        probabilities={
            "first": float(sets[0]),
            "top3": float(sets[min(3, m) - 1]),
            "order": float(share(ordered)),
            "rho": float(share(spearman >= rho - SLACK)),
        },
        indifference=indifference,
    )
