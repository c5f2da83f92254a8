"""What cells will cost, learned from those that were run.

    log seconds_ij = a + c_k(i) + u_i + (b + v_i) log(size_j) + d_j + e_ij

with normal priors: a is free, c (the class k of algorithm i, such as closed form, factor model or neural, where classes
are declared) and u vary by `BETWEEN`, b is near 1 and v near 0 by `SLOPE`, d (the dataset) and e vary by `DATASET` and
`REST`. All is linear and normal, so that the posterior is a system of linear equations.

A probe of a cell (a cheaper look at it) takes h + w_i more on that scale: h is near the logarithm of what it is said to
cost beside a cell, by `CHEAPER`, and w varies by `SLOPE`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recassay.core.types import FloatArray

FREE, BETWEEN, SLOPE, DATASET, REST = 10.0, 1.5, 0.3, 0.5, 0.4
"""Prior deviations on the scale of natural logarithms of seconds."""

CHEAPER = 0.7

UNSIZED = 1.5
"""The deviation of d where sizes are not known."""

MOST_VARIANCE = 1.0
"""Expected seconds are exp(mean + variance/2), the variance cut here: a cell of which nothing is known shall not count
for more than all others together.
"""


def predict_seconds(
    seconds: FloatArray,
    log_size: FloatArray | None = None,
    classes: Sequence[str] | None = None,
    *,
    probes: FloatArray | None = None,
    ratio: float = 0.1,
) -> FloatArray:
    """Expected seconds of every cell (algorithms x datasets); those that were run (not NaN) keep what they took.

    With `probes` (seconds of probes, as `seconds` are; `ratio` is their expected share of a cell's) those of the probes
    follow as further columns.
    """
    table = seconds if probes is None else np.hstack([seconds, probes])
    design, mean, deviation = _design(seconds.shape, log_size, classes)
    if probes is not None:
        design, mean, deviation = _with_probes(design, mean, deviation, len(seconds), ratio)
    # Rows of the design go by kind, algorithm and dataset; those of the table by algorithm and column.
    m, n = seconds.shape
    taken = table.reshape(m, -1, n).transpose(1, 0, 2).ravel()
    run = np.isfinite(taken)
    known = design[run]
    rest = np.log(np.maximum(taken[run], 1e-3)) - known @ mean
    covariance = np.linalg.inv(np.diag(1 / deviation**2) + known.T @ known / REST**2)
    centre = design @ (mean + covariance @ (known.T @ rest) / REST**2)
    variance = np.einsum("ij,jk,ik->i", design, covariance, design) + REST**2
    expected = np.exp(centre + np.minimum(variance, MOST_VARIANCE) / 2)
    expected = expected.reshape(-1, m, n).transpose(1, 0, 2).reshape(m, -1)
    return np.where(np.isfinite(table), table, expected)


def _design(
    shape: tuple[int, ...], log_size: FloatArray | None, classes: Sequence[str] | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Cells (a row each) by effects (a, b, c, u, v, d), and the prior means and deviations of these."""
    m, n = shape
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
    slope_near_one = np.zeros(ends[-1])
    slope_near_one[1] = 1.0
    return design, slope_near_one, np.concatenate([[FREE, SLOPE], deviation])


def _with_probes(
    design: FloatArray, mean: FloatArray, deviation: FloatArray, m: int, ratio: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The same for cells and then probes, with the effects h and w."""
    cells = len(design)
    more = np.zeros((2 * cells, 1 + m))
    more[cells:, 0] = 1.0
    more[np.arange(cells, 2 * cells), 1 + np.repeat(np.arange(m), cells // m)] = 1.0
    return (
        np.hstack([np.vstack([design, design]), more]),
        np.concatenate([mean, [np.log(ratio)], np.zeros(m)]),
        np.concatenate([deviation, [CHEAPER], np.full(m, SLOPE)]),
    )
