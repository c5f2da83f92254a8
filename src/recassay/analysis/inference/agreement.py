"""How far two rankings of the same algorithms agree."""

from __future__ import annotations

import numpy as np

from recassay.core.types import FloatArray


def spearman(left: FloatArray, right: FloatArray) -> FloatArray:
    """Spearman's rho of two stacks of ranks (ties share the mean of their positions) along the last axis.

    rho is Pearson's correlation of the ranks. Where one ranking puts everybody level the correlation is not defined:
    it counts as 1 where the other does so, too (nothing changed), and as 0 otherwise (nothing of the order is left).
    The other axes broadcast.
    """
    x = left - left.mean(axis=-1, keepdims=True)
    y = right - right.mean(axis=-1, keepdims=True)
    x_size, y_size = (x * x).sum(axis=-1), (y * y).sum(axis=-1)
    both = np.sqrt(x_size * y_size)
    level = (x_size == 0) & (y_size == 0)
    rho = np.where(level, 1.0, (x * y).sum(axis=-1) / np.where(both > 0, both, 1.0))
    return np.clip(rho, -1.0, 1.0)
