"""How often who is first, and who is before whom, stays so under a change of the table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recassay.core.system.compiled import compiled_exactly
from recassay.core.types import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Survival:
    """`first[r, a]`: share of the changed tables in which a is first under rule r; `ahead[r, a, b]`: in which a is
    before b. Ties share the first place and count half. Tables without a (or b) do not count. `when` says what was
    changed, as the end of a sentence.
    """

    name: str
    when: str
    tried: int
    """How many changed tables there were."""
    exhaustive: bool
    """Whether these are all that are possible."""
    first: FloatArray
    ahead: FloatArray


def survival(name: str, when: str, ranks: FloatArray, *, exhaustive: bool) -> Survival:
    """From ranks (rules x tables x algorithms; NaN for an algorithm that a table lacks)."""
    n_rules, tried, count = ranks.shape
    first, ahead = np.empty((n_rules, count)), np.zeros((n_rules, count, count))
    present = np.isfinite(ranks[0])
    both = np.maximum(present.T.astype(np.float64) @ present, 1)
    for r in range(n_rules):
        filled = np.where(present, ranks[r], np.inf)
        leads = filled == filled.min(axis=1, keepdims=True)
        first[r] = (leads / leads.sum(axis=1, keepdims=True)).sum(axis=0) / np.maximum(present.sum(axis=0), 1)
        count_ahead(np.ascontiguousarray(ranks[r]), ahead[r])
        ahead[r] /= both
    return Survival(name, when, tried, exhaustive, first, ahead)


@compiled_exactly
def count_ahead(ranks: FloatArray, ahead: FloatArray) -> None:
    """Add to `ahead` (a x b) in how many rows a is before b, ties by half; a rank that is missing is before nobody."""
    for a in range(ranks.shape[1]):
        for row in ranks:
            for b in range(len(row)):
                ahead[a, b] += 1.0 if row[a] < row[b] else 0.5 if row[a] == row[b] else 0.0
