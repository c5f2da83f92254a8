"""Resampling the datasets of a benchmark, and intervals from it."""

from __future__ import annotations

import numpy as np
from scipy import stats

from recassay.core.results import Matrix
from recassay.core.types import FloatArray


def dataset_weights(n_datasets: int, replicates: int, rng: np.random.Generator) -> FloatArray:
    """How often each dataset was drawn in each replicate (replicates x datasets): the bootstrap over datasets."""
    return rng.multinomial(n_datasets, np.full(n_datasets, 1 / n_datasets), size=replicates).astype(np.float64)


def resampled_values(matrix: Matrix, replicates: int, rng: np.random.Generator) -> FloatArray:
    """Cell values measured anew: replicates x algorithms x datasets, the second stage of a two-stage bootstrap.

    Repeated measurements (seeds or folds) are drawn with replacement; a value with a stated deviation instead gets
    normal noise of its standard error, within the range that the metric itself seems to have (0 upwards, to 1).
    """
    if not matrix.repeated:
        raise ValueError("the matrix has no repeated measurements")
    values = np.broadcast_to(matrix.values, (replicates, *matrix.values.shape))
    if matrix.replicates is not None:
        values = _redrawn(matrix, matrix.replicates, replicates, rng)
    if matrix.standard_errors is None:
        return values
    low = 0.0 if matrix.values.min() >= 0 else -np.inf
    high = 1.0 if matrix.values.max() <= 1 else np.inf
    return np.clip(values + rng.normal(size=values.shape) * matrix.standard_errors, low, high)


def _redrawn(matrix: Matrix, measured: FloatArray, replicates: int, rng: np.random.Generator) -> FloatArray:
    """Cell means with their repeated measurements drawn anew (Davison and Hinkley 1997, section 3.8).

    Folds, which are the same data for every algorithm, are drawn jointly for all algorithms of a dataset; seeds
    independently. Resampling n measurements understates the variance of their mean by (n - 1) / n, so deviations are
    scaled by sqrt(n / (n - 1)). The scaled mean is kept within the range of the cell's own measurements, so that no
    impossible value appears.
    """
    n_algorithms, n_datasets, depth = measured.shape
    count = np.isfinite(measured).sum(axis=2)
    who = 1 if matrix.paired else n_algorithms
    draw = rng.random((replicates, who, n_datasets, depth))
    limit = count if not matrix.paired else count.max(axis=0, keepdims=True)
    position = np.minimum((draw * limit[None, :, :, None]).astype(np.int64), limit[None, :, :, None] - 1)
    position = np.broadcast_to(position, (replicates, n_algorithms, n_datasets, depth))
    drawn = np.take_along_axis(measured[None], position, axis=3)
    used = np.arange(depth) < count[:, :, None]
    mean = np.where(used, drawn, 0.0).sum(axis=3) / count
    scale = np.sqrt(count / np.maximum(count - 1, 1))
    wide = matrix.values + (mean - matrix.values) * scale
    return np.clip(wide, np.nanmin(measured, axis=2), np.nanmax(measured, axis=2))


def expanded_tail(confidence: float, n: int) -> float:
    """The tail probability of the expanded percentile interval (Hesterberg 2015, section 4.2 of "What teachers should
    know about the bootstrap").

    A percentile interval from n observations is too narrow, like a normal interval without the t correction. Expanding
    the tail to Phi(-sqrt(n / (n - 1)) t_{1 - tail, n - 1}) repairs that for means.
    """
    tail = (1 - confidence) / 2
    if n < 2:
        return 0.0
    return float(stats.norm.cdf(-np.sqrt(n / (n - 1)) * stats.t.ppf(1 - tail, n - 1)))


def intervals(samples: FloatArray, n_datasets: int, confidence: float, *, discrete: bool = False) -> FloatArray:
    """Expanded percentile intervals of each column (columns x 2); `discrete` widens to attained values."""
    tail = expanded_tail(confidence, n_datasets)
    below, above = ("lower", "higher") if discrete else ("linear", "linear")
    low = np.quantile(samples, tail, axis=0, method=below)  # type: ignore[call-overload]
    high = np.quantile(samples, 1 - tail, axis=0, method=above)  # type: ignore[call-overload]
    return np.stack([low, high], axis=1)
