"""One sweep over the cells of the hierarchical model in machine code; see `hierarchical`."""

from __future__ import annotations

import numpy as np

from recassay.core.system.compiled import compiled_exactly
from recassay.core.types import BoolArray, FloatArray


@compiled_exactly
def sweep_cells(
    table: FloatArray,
    outlier: BoolArray,
    scores: FloatArray,
    noise: FloatArray,
    missing: BoolArray,
    precision: FloatArray,
    level: FloatArray,
    added: FloatArray,
    log_prior: FloatArray,
    normal: FloatArray,
    uniform: FloatArray,
) -> None:
    """Draw the true score of every cell of `table` anew and say which are outliers, both in place.

    `added[a]` are the variances of the kinds of cell (the first none), `log_prior` the logarithms of their shares;
    `normal` and `uniform` (algorithms x datasets) are what chance brings.
    """
    n, k = table.shape
    kinds = len(log_prior)
    chance = np.empty(kinds)
    for a in range(k):
        variance = 1.0 / precision[a, a]
        for j in range(n):
            rest = 0.0
            for b in range(k):
                if b != a:
                    rest += (table[j, b] - level[b]) * precision[a, b]
            mean = level[a] - variance * rest
            if missing[j, a]:
                outlier[j, a] = False
                table[j, a] = mean + np.sqrt(variance) * normal[a, j]
                continue
            error = scores[j, a] - mean
            highest = -np.inf
            for kind in range(kinds):
                spread = variance + noise[j, a] + added[a, kind]
                chance[kind] = log_prior[kind] - 0.5 * np.log(spread) - 0.5 * error**2 / spread
                highest = max(highest, chance[kind])
            total = 0.0
            for kind in range(kinds):
                total += np.exp(chance[kind] - highest)
                chance[kind] = total
            kind = 0
            while kind < kinds - 1 and uniform[a, j] * total > chance[kind]:
                kind += 1
            outlier[j, a] = kind > 0
            told = 1.0 / (noise[j, a] + added[a, kind])
            posterior = 1.0 / (1.0 / variance + told)
            table[j, a] = mean + posterior * told * error + np.sqrt(posterior) * normal[a, j]
