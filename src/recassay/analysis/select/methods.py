"""The ways to choose k datasets, under one signature."""

from __future__ import annotations

from typing import Literal

import numpy as np

from recassay.analysis.aggregation.rules import Rule
from recassay.analysis.dataset_space.kmeans import kmeans_runs
from recassay.analysis.dataset_space.space import DatasetSpace
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


START = 2
"""Random datasets that a greedy design begins with; with two, D-optimality comes out as in Table 4."""

_RIDGE = 1e-3
"""Added to the diagonal of x'x, so that fewer datasets than components have a criterion, too."""


def kmeans_choices(space: DatasetSpace, k: int, runs: int, rng: np.random.Generator) -> tuple[IntArray, FloatArray]:
    """For each run of k-means into k clusters, the dataset nearest to each centre; and minus the inertia of the run.

    Outliers are set aside first (all datasets stay where fewer than k would be left). Runs that lose a cluster are left
    out, so that there may be fewer than `runs`.
    """
    pool = np.flatnonzero(~space.outlier) if (~space.outlier).sum() >= k else np.arange(len(space.points))
    points = space.points[pool]
    labels, centres, inertia = kmeans_runs(points[None], k, rng, starts=runs)
    whole = np.isfinite(inertia[0])
    if not whole.any():
        return np.sort(pool[random_subsets(len(pool), k, 1, rng)], axis=1), np.zeros(1)
    labels, centres = labels[0, whole], centres[0, whole]
    distance = ((points[None, :, None, :] - centres[:, None, :, :]) ** 2).sum(axis=3)
    own = np.where(labels[:, :, None] == np.arange(k), distance, np.inf)
    return np.sort(pool[own.argmin(axis=1)], axis=1), -inertia[0, whole]


def optimal_choices(
    space: DatasetSpace, k: int, criterion: Literal["A", "D"], runs: int, rng: np.random.Generator
) -> tuple[IntArray, FloatArray]:
    """Greedy designs of k datasets, one for each random start, and their criterion (higher is better).

    With x the chosen datasets on the principal components: D-optimality maximises log det x'x (the least volume of the
    confidence region of a linear model's parameters), A-optimality minimises tr (x'x)^-1 (their mean variance). Each
    run starts from `START` random datasets and adds the best one at a time.
    """
    n, width = space.points.shape
    chosen = np.zeros((runs, n), dtype=np.bool_)
    rows = np.arange(runs)
    np.put_along_axis(chosen, random_subsets(n, min(START, k), runs, rng), True, axis=1)
    products = space.points[:, :, None] * space.points[:, None, :]
    information = np.einsum("rd,dij->rij", chosen.astype(np.float64), products) + _RIDGE * np.eye(width)
    for _ in range(k - min(START, k)):
        best = np.where(chosen, -np.inf, _gain(information, space.points, criterion)).argmax(axis=1)
        chosen[rows, best] = True
        information = information + products[best]
    return np.nonzero(chosen)[1].reshape(runs, k), _value(information, criterion)


def _gain(information: FloatArray, points: FloatArray, criterion: Literal["A", "D"]) -> FloatArray:
    """What every dataset x would add to the criterion of every design M (designs x datasets), by rank-one updates.

    log det (M + xx') = log det M + log(1 + x'M^-1 x); tr (M + xx')^-1 = tr M^-1 - |M^-1 x|^2 / (1 + x'M^-1 x).
    """
    solved = np.linalg.inv(information) @ points.T
    leverage = 1 + (points.T * solved).sum(axis=1)
    return np.log(leverage) if criterion == "D" else (solved**2).sum(axis=1) / leverage


def _value(information: FloatArray, criterion: Literal["A", "D"]) -> FloatArray:
    if criterion == "D":
        return np.linalg.slogdet(information)[1]
    trace: FloatArray = -np.trace(np.linalg.inv(information), axis1=-2, axis2=-1)
    return trace
