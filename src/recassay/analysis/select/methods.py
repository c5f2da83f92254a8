"""The ways to choose k datasets, and how well the ranking from a choice agrees with that from all of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import Literal

import numpy as np

from recassay.analysis.aggregation.contest import Contest
from recassay.analysis.aggregation.rules import DolanMore, Rule
from recassay.analysis.dataset_space.kmeans import central_points, kmeans_runs
from recassay.analysis.dataset_space.space import DatasetSpace
from recassay.analysis.inference.bootstrap import dataset_weights, random_subsets, subset_weights
from recassay.analysis.select.result import METHODS
from recassay.core import ties
from recassay.core.blocks import number_blocks
from recassay.core.errors import UsageError
from recassay.core.names import did_you_mean
from recassay.core.ties import ROUNDING
from recassay.core.types import FloatArray, IntArray

BY_CHARACTERISTICS = ("kmeans", "d_optimal", "a_optimal")


def choose_methods(names: str | Sequence[str]) -> tuple[str, ...]:
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
    chosen = central_points(points, centres, labels[:, :, None] == np.arange(k))
    return np.sort(pool[chosen], axis=1), -inertia[0, whole]


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
    if criterion == "D":
        value = np.linalg.slogdet(information)[1]
    else:
        value = -np.trace(np.linalg.inv(information), axis1=-2, axis2=-1)
    return np.nonzero(chosen)[1].reshape(runs, k), value


def _gain(information: FloatArray, points: FloatArray, criterion: Literal["A", "D"]) -> FloatArray:
    """What every dataset x would add to the criterion of every design M (designs x datasets), by rank-one updates.

    log det (M + xx') = log det M + log(1 + x'M^-1 x); tr (M + xx')^-1 = tr M^-1 - |M^-1 x|^2 / (1 + x'M^-1 x).
    """
    solved = np.linalg.inv(information) @ points.T
    leverage = 1 + (points.T * solved).sum(axis=1)
    return np.log(leverage) if criterion == "D" else (solved**2).sum(axis=1) / leverage


_ROWS = 20_000
"""Weightings scored at once."""


class SubsetAgreement:
    """Spearman's rho between the ranking under dataset weights and the ranking under all datasets alike.

    `values` is algorithms x datasets; the rule ranks the algorithms for every row of weights. Ties share ranks; a
    ranking without any order (all tied) agrees with nothing: its rho is 0.
    """

    def __init__(self, values: FloatArray, rule: Rule, *, higher_is_better: bool) -> None:
        self.rule = rule
        self.contest = Contest(values[None], higher_is_better=higher_is_better)
        self.upward = rule.higher_is_better(higher_is_better)
        self.n_datasets = values.shape[1]
        self.full = self.directions(np.ones((1, self.n_datasets)))[0]

    def directions(self, weights: FloatArray) -> FloatArray:
        """The ranks for every row of weights, centred and of length 1: their inner products are Spearman's rho."""
        parts = []
        for part in number_blocks(len(weights), 1, _ROWS):
            scores = self.rule.score(self.contest, weights[part], DolanMore())
            ranks = ties.ranks(scores, higher_is_better=self.upward)
            ranks -= (ranks.shape[1] + 1) / 2  # the mean of ranks, ties or not
            length = np.sqrt(np.einsum("ra,ra->r", ranks, ranks))[:, None]
            parts.append(ranks / np.where(length > 0, length, np.inf))
        return np.concatenate(parts)

    def rho(self, weights: FloatArray) -> FloatArray:
        """Spearman's rho of each row of weights with the whole benchmark."""
        return np.asarray(self.directions(weights) @ self.full)

    def left_out(self, weights: FloatArray) -> FloatArray:
        """Spearman's rho of each row of weights (0 or 1) with the datasets that it leaves out.

        The whole benchmark contains the subset, which so agrees with itself in part; what it leaves out does not.
        """
        return np.asarray((self.directions(weights) * self.directions(1 - weights)).sum(axis=1))


DRAWS = 12
"""Weightings of the chosen datasets over which the agreement is averaged."""

_REPLICATES = 500
_POOL = 200
_STARTS = 3
_EXHAUSTIVE = 1500
_MOST_SWAPS = 50


class Criterion:
    """Expected Spearman's rho between the ranking from a subset and that from the benchmark, both drawn again.

    J(S) = mean over b of mean over w of rho(ranking of S with weights w, ranking of the benchmark's replicate b).
    Replicates draw as many datasets as there are, with replacement; w are the weights of the Bayesian bootstrap (Rubin
    1981: exponential, normalised) of the datasets in S. Rho being an inner product of standardised ranks, the mean over
    b is one inner product with the mean ranking of the replicates. The first mean forgives the exchange of algorithms
    that the whole benchmark cannot order either; the second punishes a subset whose agreement depends on one of its
    datasets, which is what an optimum by plain rho overfits to.
    """

    def __init__(self, agreement: SubsetAgreement, rng: np.random.Generator) -> None:
        self.agreement = agreement
        n = agreement.n_datasets
        self.target = agreement.directions(dataset_weights(n, replicates=_REPLICATES, rng=rng)).mean(axis=0)
        self.draws = rng.exponential(size=(DRAWS, n))

    def __call__(self, weights: FloatArray) -> FloatArray:
        """J of every subset (rows of 0 and 1)."""
        drawn = weights[:, None, :] * self.draws
        drawn *= weights.sum(axis=1)[:, None, None] / drawn.sum(axis=2, keepdims=True)
        value = self.agreement.directions(drawn.reshape(-1, weights.shape[1])) @ self.target
        return np.asarray(value.reshape(len(weights), -1).mean(axis=1))


def best_subset(criterion: Criterion, k: int, rng: np.random.Generator) -> IntArray:
    """The k datasets (sorted positions) with the highest criterion that was found.

    All subsets are tried where there are at most `_EXHAUSTIVE`. Otherwise one start is greedy (the best dataset added
    at a time) and the others are the best of a random pool; from each, the best exchange of a dataset inside for one
    outside is made until none improves.
    """
    n = criterion.agreement.n_datasets
    if comb(n, k) <= _EXHAUSTIVE:
        every = np.array(list(combinations(range(n), k)))
        return every[int(criterion(subset_weights(every, n)).argmax())]
    pool = subset_weights(random_subsets(n, k, _POOL, rng), n)
    current = np.concatenate([_greedy(criterion, k), pool[np.argsort(-criterion(pool), kind="stable")[: _STARTS - 1]]])
    value = criterion(current)
    live = np.arange(len(current))
    for _ in range(_MOST_SWAPS):
        candidates = _swaps(current[live], k)
        reached = criterion(candidates.reshape(-1, n)).reshape(len(live), -1)
        best = reached.argmax(axis=1)
        gain = reached[np.arange(len(live)), best] > value[live] + ROUNDING
        if not gain.any():
            break
        moved = live[gain]
        current[moved] = candidates[gain, best[gain]]
        value[moved] = reached[gain, best[gain]]
        live = moved
    return np.flatnonzero(current[int(value.argmax())])


def _greedy(criterion: Criterion, k: int) -> FloatArray:
    """One row: the dataset with the highest criterion added at a time."""
    n = criterion.agreement.n_datasets
    chosen = np.zeros((1, n))
    for _ in range(k):
        free = np.flatnonzero(chosen[0] == 0)
        candidates = np.repeat(chosen, len(free), axis=0)
        candidates[np.arange(len(free)), free] = 1.0
        chosen = candidates[[int(criterion(candidates).argmax())]]
    return chosen


def _swaps(chosen: FloatArray, k: int) -> FloatArray:
    """Every exchange of one dataset inside for one outside: subsets x k (n - k) x n."""
    count, n = chosen.shape
    inside = np.nonzero(chosen)[1].reshape(count, k)
    outside = np.nonzero(chosen == 0)[1].reshape(count, n - k)
    leave = np.repeat(inside, n - k, axis=1)
    enter = np.tile(outside, (1, k))
    rows = np.repeat(chosen[:, None, :], k * (n - k), axis=1)
    np.put_along_axis(rows, leave[..., None], 0.0, axis=2)
    np.put_along_axis(rows, enter[..., None], 1.0, axis=2)
    return rows
