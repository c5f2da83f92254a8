"""Resampling the datasets of a benchmark, subsets of them, and intervals from resampling."""

from __future__ import annotations

import numpy as np

from recassay.analysis.inference.distributions import normal_cdf, t_quantile
from recassay.analysis.inference.families import renumbered
from recassay.core.content import content_order, copies
from recassay.core.errors import UsageError
from recassay.core.types import FloatArray, IntArray

LEAST_REPLICATES = 100


def refuse_few(replicates: int) -> None:
    """Refuse fewer replicates than an interval needs."""
    if replicates < LEAST_REPLICATES:
        raise UsageError(
            f"{replicates} bootstrap replicates are too few for an interval", fix=f"use at least {LEAST_REPLICATES}"
        )


def dataset_weights(
    n_datasets: int, replicates: int, rng: np.random.Generator, families: IntArray | None = None
) -> FloatArray:
    """How often each dataset was drawn in each replicate (replicates x datasets): the bootstrap over datasets.

    With `families` (the number of each dataset's) whole families are drawn, and the weights of a replicate are scaled
    to the number of datasets: families are not of one size.
    """
    if families is None:
        return rng.multinomial(n_datasets, np.full(n_datasets, 1 / n_datasets), size=replicates).astype(np.float64)
    count = int(families.max()) + 1
    drawn = dataset_weights(count, replicates=replicates, rng=rng)[:, families]
    return np.asarray(drawn * (n_datasets / drawn.sum(axis=1, keepdims=True)))


def content_weights(
    values: FloatArray, replicates: int, rng: np.random.Generator, families: IntArray | None = None
) -> FloatArray:
    """`dataset_weights` of a table (algorithms x datasets), dealt out by its content: names, orders and copies of an
    algorithm have no part in it."""
    content = content_order(values[copies(values)[0]])
    numbers = None if families is None else renumbered(families, content.columns)
    return dataset_weights(values.shape[1], replicates=replicates, rng=rng, families=numbers)[:, content.column_places]


def random_subsets(n_datasets: int, k: int, count: int, rng: np.random.Generator) -> IntArray:
    """`count` subsets of k datasets, each uniformly at random (subsets x k)."""
    return np.argsort(rng.random((count, n_datasets)), axis=1)[:, :k]


def subset_weights(chosen: IntArray, n_datasets: int) -> FloatArray:
    """Subsets given as positions (subsets x k) as rows of 0 and 1."""
    weights = np.zeros((len(chosen), n_datasets))
    np.put_along_axis(weights, chosen, 1.0, axis=1)
    return weights


def expanded_tail(confidence: float, n: int) -> float:
    """The tail probability of the expanded percentile interval (Hesterberg 2015, section 4.2 of "What teachers should
    know about the bootstrap").

    A percentile interval from n observations is too narrow, like a normal interval without the t correction. Expanding
    the tail to Phi(-sqrt(n / (n - 1)) t_{1 - tail, n - 1}) repairs that for means.
    """
    tail = (1 - confidence) / 2
    if n < 2:
        return 0.0
    return float(normal_cdf(-np.sqrt(n / (n - 1)) * t_quantile(1 - tail, n - 1)))


def studentised(values: FloatArray, weights: FloatArray, confidence: float) -> FloatArray:
    """Bootstrap-t intervals of the mean of each row of `values` (rows x datasets): rows x 2 (Efron 1981).

    Each replicate's mean is judged by its own standard error, so that a long tail of large values, which moves both,
    moves the interval too: mean - t s / sqrt(n) for the outer quantiles of t = (mean* - mean) / (s* / sqrt(n)). Means
    of skewed scores are covered more often by it than by percentiles, at the price of width. `weights` are those of
    `dataset_weights`; replicates of one dataset alone have no spread and do not count.
    """
    n = values.shape[1]
    mean = values.mean(axis=1)
    centred = values - mean[:, None]
    drawn = weights @ centred.T / n
    spread = np.sqrt(np.maximum(weights @ (centred**2).T / n - drawn**2, 0.0) / (n - 1))
    error = centred.std(axis=1, ddof=1) / np.sqrt(n)
    known = spread > 1e-6 * np.maximum(error, 1e-300)  # beyond what rounding leaves of equal values
    t = np.where(known, drawn / np.where(known, spread, 1.0), np.nan)
    tail = (1 - confidence) / 2
    t[:, ~known.any(axis=0)] = 0.0
    low, high = _ends(t, tail).T if known.all() else np.nanquantile(t, [tail, 1 - tail], axis=0)
    return np.stack([mean - high * error, mean - low * error], axis=1)


def intervals(samples: FloatArray, n_datasets: int, confidence: float, *, discrete: bool = False) -> FloatArray:
    """Expanded percentile intervals of each column (columns x 2); `discrete` widens to attained values."""
    return _ends(samples, expanded_tail(confidence, n_datasets), discrete=discrete)


def _ends(samples: FloatArray, tail: float, *, discrete: bool = False) -> FloatArray:
    """The quantiles `tail` and 1 - `tail` of each column (columns x 2), interpolated or the next value outside.

    Sorting whole columns takes a quarter of the time of `np.quantile`, which parts them twice.
    """
    ordered = np.sort(samples.T.astype(np.float64), axis=1)
    ordered[np.isnan(ordered[:, -1])] = np.nan
    last = ordered.shape[1] - 1
    place = last * np.array([tail, 1 - tail])
    below, above = np.floor(place).astype(np.int64), np.ceil(place).astype(np.int64)
    if discrete:
        return np.asarray(ordered[:, [below[0], above[1]]])
    low, high, share = ordered[:, below], ordered[:, above], place - below
    return np.where(share < 0.5, low + (high - low) * share, high - (high - low) * (1 - share))
