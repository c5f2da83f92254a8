"""The subset of datasets that best preserves a ranking under bootstrap: greedy start, then swaps, all at once."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np

from recassay.analysis.inference.bootstrap import dataset_weights
from recassay.analysis.select.subsets import SubsetAgreement, as_weights, random_subsets
from recassay.core.ties import ROUNDING
from recassay.core.types import FloatArray, IntArray

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
    that the whole benchmark cannot order either; the second punishes a subset whose agreement hangs on one of its
    datasets, which is what an optimum by plain rho overfits to.
    """

    def __init__(self, agreement: SubsetAgreement, rng: np.random.Generator, *, draws: int = DRAWS) -> None:
        self.agreement = agreement
        n = agreement.n_datasets
        self.target = agreement.directions(dataset_weights(n, _REPLICATES, rng)).mean(axis=0)
        self.draws = rng.exponential(size=(draws, n))

    def __call__(self, weights: FloatArray) -> FloatArray:
        """J of every subset (rows of 0 and 1)."""
        drawn = weights[:, None, :] * self.draws
        drawn *= weights.sum(axis=1)[:, None, None] / drawn.sum(axis=2, keepdims=True)
        value = self.agreement.directions(drawn.reshape(-1, weights.shape[1])) @ self.target
        mean: FloatArray = value.reshape(len(weights), -1).mean(axis=1)
        return mean


def best_subset(criterion: Criterion, k: int, rng: np.random.Generator) -> IntArray:
    """The k datasets (sorted positions) with the highest criterion that was found.

    All subsets are tried where there are at most `_EXHAUSTIVE`. Otherwise one start is greedy (the best dataset added
    at a time) and the others are the best of a random pool; from each, the best exchange of a dataset inside for one
    outside is made until none improves.
    """
    n = criterion.agreement.n_datasets
    if comb(n, k) <= _EXHAUSTIVE:
        every = np.array(list(combinations(range(n), k)))
        return every[int(criterion(as_weights(every, n)).argmax())]
    pool = as_weights(random_subsets(n, k, _POOL, rng), n)
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
