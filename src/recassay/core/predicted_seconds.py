"""What cells will cost, learned from those that were run.

    log seconds_ij = a + c_k(i) + u_i + (b + v_i) log(size_j) + d_j + e_ij

with normal priors: a is free, c (the class k of algorithm i, such as closed form, factor model or neural, where classes
are declared) and u vary by `BETWEEN`, b is near 1 and v near 0 by `SLOPE`, d (the dataset) and e vary by `DATASET` and
`REST`. All is linear and normal, so that the posterior is a system of linear equations.

A probe of a cell (a cheaper look at it) takes h + w_i more on that scale: h is near the logarithm of what it is said to
cost beside a cell, by `CHEAPER`, and w varies by `SLOPE`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
    expected: Mapping[str, float] | None = None,
    *,
    probes: FloatArray | None = None,
    ratio: float = 0.1,
) -> FloatArray:
    """Expected seconds of every cell (algorithms x datasets); those that were run (not NaN) keep what they took.

    `expected` are the prior means of c by class, 0 for those that it does not name. With `probes` (seconds of probes,
    as `seconds` are; `ratio` is their expected share of a cell's) those of the probes follow as further columns.
    """
    m, n = seconds.shape
    table = seconds if probes is None else np.hstack([seconds, probes])
    size = np.zeros(n) if log_size is None else log_size - log_size.mean()
    names, kinds = np.unique(list(classes or ["all"] * m), return_inverse=True)
    row, column = (axis.ravel() for axis in np.indices(table.shape))
    probe, column = column >= n, column % n
    widths = [len(names), m, m, n, 1, m]
    starts = np.cumsum([2, *widths])
    of_dataset = DATASET if log_size is not None else UNSIZED
    deviation = np.repeat([BETWEEN if classes else 1e-6, BETWEEN, SLOPE, of_dataset, CHEAPER, SLOPE], widths)
    prior = 1 / np.concatenate([[FREE, SLOPE], deviation]) ** 2
    centre = np.zeros(starts[-1])
    centre[1] = 1.0
    centre[2 : starts[1]] = [(expected or {}).get(name, 0.0) for name in names]
    centre[starts[4]] = np.log(ratio)
    # Eight coefficients matter to a cell or probe: which ones, and what each is multiplied by.
    one, scale, cheap = np.ones(table.size), size[column], probe.astype(np.float64)
    places = np.stack(
        [
            np.zeros_like(row),
            np.ones_like(row),
            starts[0] + kinds[row],
            starts[1] + row,
            starts[2] + row,
            starts[3] + column,
            np.full_like(row, starts[4]),
            starts[5] + row,
        ],
        axis=1,
    )
    factors = np.stack([one, scale, one, one, scale, one, cheap, cheap], axis=1)
    run = np.isfinite(table.ravel())
    known = np.zeros((int(run.sum()), starts[-1]))
    np.put_along_axis(known, places[run], factors[run], axis=1)
    rest = np.log(np.maximum(table.ravel()[run], 1e-3)) - known @ centre
    covariance = np.linalg.inv(np.diag(prior) + known.T @ known / REST**2)
    mean = (factors * (centre + covariance @ (known.T @ rest) / REST**2)[places]).sum(axis=1)
    variance = REST**2 + sum(
        factors[:, i] * factors[:, j] * covariance[places[:, i], places[:, j]] for i in range(8) for j in range(8)
    )
    predicted = np.exp(mean + np.minimum(variance, MOST_VARIANCE) / 2).reshape(table.shape)
    return np.where(np.isfinite(table), table, predicted)
