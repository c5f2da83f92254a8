"""The ways to choose k datasets, under one signature."""

from __future__ import annotations

import numpy as np

from recassay.analysis.aggregation.rules import Rule
from recassay.analysis.dataset_space.space import DatasetSpace
from recassay.analysis.select.designs import kmeans_choices, optimal_choices
from recassay.analysis.select.preserving import Criterion, best_subset
from recassay.analysis.select.result import METHODS
from recassay.analysis.select.subsets import SubsetAgreement, random_subsets
from recassay.core.errors import UsageError
from recassay.core.names import did_you_mean
from recassay.core.types import FloatArray, IntArray

BY_CHARACTERISTICS = ("kmeans", "d_optimal", "a_optimal")


def choose_methods(names: str | list[str] | tuple[str, ...]) -> tuple[str, ...]:
    """The methods of these names (`all` for each); an unknown one raises with the nearest."""
    wanted = [names] if isinstance(names, str) else list(names)
    if "all" in wanted:
        return tuple(METHODS)
    for name in wanted:
        if name not in METHODS:
            raise UsageError(f"unknown way to choose datasets {name!r}", fix=did_you_mean(name, ["all", *METHODS]))
    return tuple(name for name in METHODS if name in wanted)


def simulate(method: str, space: DatasetSpace | None, n: int, k: int, runs: int, rng: np.random.Generator) -> IntArray:
    """What a method that does not look at the results chooses, `runs` times from other starts (runs x k).

    The run with the best criterion of the method (inertia, determinant, trace) comes first: it is the choice.
    """
    if method == "random":
        return random_subsets(n, k, runs, rng)
    if space is None:
        raise ValueError(f"{method} needs the datasets' characteristics")
    if method == "kmeans":
        subsets, value = kmeans_choices(space, k, runs, rng)
    else:
        subsets, value = optimal_choices(space, k, "D" if method == "d_optimal" else "A", runs, rng)
    order = np.argsort(-value, kind="stable")
    return subsets[order]


def preserving(values: FloatArray, rule: Rule, k: int, rng: np.random.Generator, *, higher_is_better: bool) -> IntArray:
    """The subset that best preserves the ranking of these algorithms (see `preserving.Criterion`)."""
    agreement = SubsetAgreement(values, rule, higher_is_better=higher_is_better)
    return best_subset(Criterion(agreement, rng), k, rng)
