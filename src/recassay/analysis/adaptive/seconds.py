"""What cells will cost, learned from those that were run.

    log seconds_ij = a + c_k(i) + u_i + (b + v_i) log(size_j) + d_j + e_ij

with normal priors: a is free, c (the class k of algorithm i, such as closed form, factor model or neural, where classes
are declared) and u vary by `BETWEEN`, b is near 1 and v near 0 by `SLOPE`, d (the dataset) and e vary by `DATASET` and
`REST`. All is linear and normal, so that the posterior is a system of linear equations.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recassay.core.types import FloatArray

FREE, BETWEEN, SLOPE, DATASET, REST = 10.0, 1.5, 0.3, 0.5, 0.4
"""Prior deviations on the scale of natural logarithms of seconds."""

UNSIZED = 1.5
"""The deviation of d where sizes are not known."""

MOST_VARIANCE = 1.0
"""Expected seconds are exp(mean + variance/2), the variance cut here: a cell of which nothing is known shall not count
for more than all others together.
"""


def predict_seconds(
    seconds: FloatArray, log_size: FloatArray | None = None, classes: Sequence[str] | None = None
) -> FloatArray:
    """Expected seconds of every cell (algorithms x datasets); those that were run (not NaN) keep what they took."""
    m, n = seconds.shape
    size = np.zeros(n) if log_size is None else log_size - log_size.mean()
    kinds = np.unique(list(classes or ["all"] * m), return_inverse=True)[1]
    row, column = (axis.ravel() for axis in np.indices((m, n)))
    widths = [kinds.max() + 1, m, m, n]
    ends = np.cumsum([2, *widths])
    design = np.zeros((m * n, ends[-1]))
    cell = np.arange(m * n)
    design[:, 0], design[:, 1] = 1.0, size[column]
    design[cell, ends[0] + kinds[row]] = 1.0
    design[cell, ends[1] + row] = 1.0
    design[cell, ends[2] + row] = size[column]
    design[cell, ends[3] + column] = 1.0
    of_dataset = DATASET if log_size is not None else UNSIZED
    deviation = np.repeat([BETWEEN if classes else 1e-6, BETWEEN, SLOPE, of_dataset], widths)
    prior = 1 / np.concatenate([[FREE, SLOPE], deviation]) ** 2
    slope_near_one = np.zeros(ends[-1])
    slope_near_one[1] = 1.0
    run = np.isfinite(seconds.ravel())
    known = design[run]
    rest = np.log(np.maximum(seconds.ravel()[run], 1e-3)) - known @ slope_near_one
    covariance = np.linalg.inv(np.diag(prior) + known.T @ known / REST**2)
    mean = design @ (slope_near_one + covariance @ (known.T @ rest) / REST**2)
    variance = np.einsum("ij,jk,ik->i", design, covariance, design) + REST**2
    expected = np.exp(mean + np.minimum(variance, MOST_VARIANCE) / 2).reshape(m, n)
    return np.where(np.isfinite(seconds), seconds, expected)
