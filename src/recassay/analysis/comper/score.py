"""The ComPer score: dimensions made comparable, then weighed by the correlation matrix (Algorithm 1)."""

from __future__ import annotations

import numpy as np

from recassay.analysis.comper.matrix import DIMENSIONS
from recassay.analysis.comper.table import DimensionTable
from recassay.core.choices import Normalisation
from recassay.core.errors import NotApplicableError
from recassay.core.types import FloatArray


def normalise(table: DimensionTable, how: Normalisation = "ratio") -> FloatArray:
    """d' of every value, in [0, 1] and with higher better everywhere.

    `ratio` is equation (4), d' = 1 - 1 / (d + 1), which needs nothing but the value itself but depends on its unit: a
    time of 2 has d' = 2/3, the same time in thousandths 0.9995. It is defined for values of at least 0. `min-max` is
    (d - min) / (max - min) of each dimension, and 1/2 where all values are equal. Negative dimensions become 1 - d'.
    """
    values = table.values
    if how == "ratio":
        below = values < 0
        if below.any():
            a, s, d = (int(axis[0]) for axis in np.nonzero(below))
            raise NotApplicableError(
                f"{DIMENSIONS[d]} of {table.algorithms[a]} on {table.datasets[s]} is {values[a, s, d]:g}, and equation "
                "(4) needs values of at least 0",
                fix="use the absolute shift and non-negative metrics, or `normalisation='min-max'`",
            )
        scaled = values / (values + 1.0)
    else:
        axes = (0, 1) if how == "min-max" else (0,)
        low, high = values.min(axis=axes, keepdims=True), values.max(axis=axes, keepdims=True)
        span = high - low
        scaled = np.where(span > 0, (values - low) / np.where(span > 0, span, 1.0), 0.5)
    return np.where(table.negative, 1.0 - scaled, scaled)


def score(normalised: FloatArray, matrix: FloatArray) -> FloatArray:
    """Equation (3): the sum over objectives o and dimensions d of d' Corr(d, o), for the last axis of `normalised`.

    As every objective sees the same d', this is the sum over d of d' times the sum of row d of the matrix.
    """
    return normalised @ matrix.sum(axis=1)


def contributions_by_dimension(normalised: FloatArray, matrix: FloatArray) -> FloatArray:
    """What each dimension adds to the score: d' times the sum of its row."""
    return normalised * matrix.sum(axis=1)


def contributions_by_objective(normalised: FloatArray, matrix: FloatArray) -> FloatArray:
    """What each learning objective adds to the score (step 2 of Algorithm 1): sum over d of d' Corr(d, o)."""
    return normalised @ matrix
