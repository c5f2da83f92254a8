"""The rules by name, and shares of the first place."""

from __future__ import annotations

from collections.abc import Sequence

from recassay.analysis.aggregation.rules import RULES, Rule
from recassay.core.errors import UsageError
from recassay.core.names import did_you_mean
from recassay.core.types import FloatArray


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
    if len(set(names)) < len(names):
        raise UsageError("an aggregation is asked for twice", fix="name each once")
    return [rule for name, rule in RULES.items() if name in names]
