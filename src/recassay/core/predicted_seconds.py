"""What cells will cost, learned from those that were run.

    log seconds_ij = a + c_k(i) + u_i + (b + v_i) log(size_j) + d_j + e_ij

with normal priors: a is free, c (the class k of algorithm i, such as closed form, factor model or neural, where classes
are declared) and u vary by `BETWEEN`, b is near 1 and v near 0 by `SLOPE`. d (the dataset) and e vary by `DATASET` and
`REST`, each of three values, over which predictions are averaged by marginal likelihood: how much costs scatter is
learned. Given these, all is linear and normal, so that the posterior is a system of linear equations.

A probe of a cell (a cheaper look at it) takes h + w_i more on that scale: h is near the logarithm of what it is said to
cost beside a cell, by `CHEAPER`, and w varies by `SLOPE`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np

from recassay.core.types import FloatArray

FREE, BETWEEN, SLOPE = 10.0, 1.5, 0.3
"""Prior deviations on the scale of natural logarithms of seconds."""

DATASET, REST = (0.25, 0.5, 1.0), (0.2, 0.4, 0.8)
"""Those of d and e on a grid, all as likely before."""

ELSEWHERE, AS_ELSEWHERE = 0.7, 0.8
"""That of u where it is known how the algorithms' costs compare elsewhere, and how probable it is, before any cell was
run, that they compare so here. Predictions are averaged over both by marginal likelihood, too.
"""

CHEAPER = 0.7

UNSIZED = 3.0
"""How many times as much d varies where sizes are not known."""

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
    relative: FloatArray | None = None,
) -> FloatArray:
    """Expected seconds of every cell (algorithms x datasets); those that were run (not NaN) keep what they took.

    `expected` are the prior means of c by class, 0 for those that it does not name. With `probes` (seconds of probes,
    as `seconds` are; `ratio` is their expected share of a cell's) those of the probes follow as further columns.
    `relative` says by how much the algorithms' logarithms of seconds differ elsewhere, NaN where that is not known.
    """
    m, n = seconds.shape
    table = seconds if probes is None else np.hstack([seconds, probes])
    size = np.zeros(n) if log_size is None else log_size - log_size.mean()
    names, kinds = np.unique(list(classes or ["all"] * m), return_inverse=True)
    row, column = (axis.ravel() for axis in np.indices(table.shape))
    probe, column = column >= n, column % n
    widths = [len(names), m, m, n, 1, m]
    starts = np.cumsum([2, *widths])
    deviation = np.repeat([BETWEEN if classes else 1e-6, BETWEEN, SLOPE, 1.0, CHEAPER, SLOPE], widths)
    centre = np.zeros(starts[-1])
    centre[1] = 1.0
    centre[2 : starts[1]] = [(expected or {}).get(name, 0.0) for name in names]
    centre[starts[4]] = np.log(ratio)
    spread = np.concatenate([[FREE, SLOPE], deviation])
    compared = np.zeros(0, np.int64) if relative is None else np.flatnonzero(np.isfinite(relative))
    unlike = centre.copy()
    if relative is not None:
        centre[starts[1] + compared] = relative[compared] - centre[starts[0] + kinds[compared]]
    # Eight coefficients matter to a cell or probe: which ones, and what each is multiplied by.
    ones, scale, cheap = np.ones(table.size), size[column], probe.astype(np.float64)
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
    design = np.zeros((table.size, starts[-1]))
    np.put_along_axis(design, places, np.stack([ones, scale, ones, ones, scale, ones, cheap, cheap], axis=1), axis=1)
    run = np.isfinite(table.ravel())
    known = design[run]
    taken = np.log(np.maximum(table.ravel()[run], 1e-3))
    squares = known.T @ known
    predictions, likelihoods = [], []
    as_elsewhere = [(centre, ELSEWHERE, AS_ELSEWHERE), (unlike, BETWEEN, 1 - AS_ELSEWHERE)] if len(compared) else []
    for (middle, of_algorithm, chance), of_dataset, of_rest in product(
        as_elsewhere or [(centre, BETWEEN, 1.0)], DATASET, REST
    ):
        rest = taken - known @ middle
        moments = known.T @ rest
        spread[starts[1] + compared] = of_algorithm
        spread[starts[3] : starts[4]] = of_dataset * (1.0 if log_size is not None else UNSIZED)
        covariance = np.linalg.inv(np.diag(spread**-2) + squares / of_rest**2)
        shift = covariance @ moments / of_rest**2
        variance = of_rest**2 + ((design @ covariance) * design).sum(axis=1)
        predictions.append(np.exp(design @ (middle + shift) + np.minimum(variance, MOST_VARIANCE) / 2))
        size_of = np.linalg.slogdet(covariance)[1] - 2 * np.log(spread).sum() - 2 * len(rest) * np.log(of_rest)
        likelihoods.append(np.log(chance) + 0.5 * (size_of - rest @ rest / of_rest**2 + moments @ shift / of_rest**2))
    weight = np.exp(np.array(likelihoods) - max(likelihoods))
    predicted = (weight / weight.sum() @ np.array(predictions)).reshape(table.shape)
    return np.where(np.isfinite(table), table, predicted)
