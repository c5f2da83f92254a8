"""A table before the hierarchical model is fitted: which columns are one, first guesses of cells and of variances."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from recassay.core import ties
from recassay.core.types import BoolArray, FloatArray, IntArray

SMALLEST = 1e-10
"""The least variance of an interaction beside that of the whole table: equal columns are no division by zero."""

ENOUGH = 5
"""Datasets from which on a failure can be told from an interaction."""

OUTLIER_STEP = 6.0
"""The variance of an outlier is that of the interaction times a power of this."""


def representatives(scores: FloatArray) -> IntArray:
    """For each algorithm the first one whose scores, and missing cells, are the same up to rounding."""
    missing = np.isnan(scores)
    found = np.arange(scores.shape[1])
    for a in range(1, len(found)):
        both = ~missing[:, a]
        same = (ties.sign(scores[both, :a], scores[both, a, None]) == 0).all(axis=0)
        same &= (missing[:, :a] == missing[:, a, None]).all(axis=0)
        if same.any():
            found[a] = found[int(same.argmax())]
    return found


def first_guess(scores: FloatArray, missing: BoolArray) -> FloatArray:
    """The table with its holes filled by dataset and algorithm means (those of what was observed)."""
    present = ~missing
    if not present.any(axis=1).all() or not present.any(axis=0).all():
        raise ValueError("a dataset or an algorithm has no score at all")
    filled = np.where(missing, 0.0, scores)
    row, column = np.zeros(scores.shape[0]), np.zeros(scores.shape[1])
    for _ in range(20):  # alternating means: the additive fit
        row = np.where(present, filled - column, 0.0).sum(axis=1) / present.sum(axis=1)
        column = np.where(present, filled - row[:, None], 0.0).sum(axis=0) / present.sum(axis=0)
    return np.where(missing, row[:, None] + column, scores)


def _residuals(table: FloatArray) -> FloatArray:
    """What dataset and algorithm do not explain, by medians from `ENOUGH` datasets on and by means below."""
    middle = np.median if len(table) >= ENOUGH else np.mean
    rest = table - middle(table, axis=1, keepdims=True)
    return rest - middle(rest, axis=0)


def interactions(table: FloatArray) -> FloatArray:
    """The variance of each algorithm's interaction with the datasets, drawn to the mean of all where there are few.

    From `ENOUGH` datasets on, residuals are cut at three robust deviations (1.4826 median absolute residuals), so that
    failures do not count as interaction; with fewer nobody can tell a failure from an interaction.
    """
    n, k = table.shape
    rest = _residuals(table)
    if n >= ENOUGH:
        reach = 3 * 1.4826 * np.median(np.abs(rest), axis=0)
        rest = np.clip(rest, -reach, reach)
    own = (rest**2).sum(axis=0) / (n - 1) * k / max(k - 1, 1)
    mean = max(float(own.mean()), SMALLEST * float(table.var()), SMALLEST**2)
    return np.maximum((n * own + 5 * mean) / (n + 5), 0.01 * mean)


def without_outliers(table: FloatArray, tau: FloatArray) -> tuple[FloatArray, float]:
    """The table with residuals cut at four deviations of the interaction, where chains start: one that starts within a
    failure takes long to leave it. And the largest squared residual, in variances of the interaction."""
    rest = _residuals(table)
    reach = 4 * np.sqrt(tau)
    return table - rest + np.clip(rest, -reach, reach), max(float((rest**2 / tau).max()), OUTLIER_STEP)


def log_multigamma(a: FloatArray, k: int) -> FloatArray:
    """The logarithm of the multivariate gamma function of dimension k, up to a constant of k."""
    found: FloatArray = gammaln(a[:, None] - np.arange(k) / 2).sum(axis=1)
    return found
