"""From scores to ranks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recassay.analysis.aggregation.rules import RULES, Rule
from recassay.analysis.aggregation.ties import exceeds
from recassay.core.errors import UsageError
from recassay.core.names import did_you_mean
from recassay.core.types import FloatArray

def score_ranks(scores: FloatArray, *, higher_is_better: bool) -> FloatArray:
    """Ranks of each row of scores, 1 the best; ties (up to rounding) share the mean of their positions."""
    up = scores if higher_is_better else -scores
    better = exceeds(up[:, None, :], up[:, :, None])
    above = better.sum(axis=2)
    tied = scores.shape[1] - above - better.sum(axis=1)
    return above + (tied + 1) / 2


def first_shares(ranks: FloatArray) -> FloatArray:
    """Each row's win, shared by those that hold its best rank; the mean over rows is the probability of being first."""
    first = ranks == ranks.min(axis=1, keepdims=True)
    return first / first.sum(axis=1, keepdims=True)


def choose_rules(names: Sequence[str] | None) -> list[Rule]:
    """The rules of these names, in the order of `RULES`; an unknown one raises with the nearest."""
    if names is None:
        return list(RULES.values())
    for name in names:
        if name not in RULES:
            raise UsageError(f"unknown aggregation {name!r}", fix=did_you_mean(name, RULES))
    return [rule for name, rule in RULES.items() if name in names]
