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
    expected: FloatArray,
    added: FloatArray,
    log_kinds: FloatArray,
    normal: FloatArray,
    uniform: FloatArray,
) -> None:
    """Draw the true score of every cell of `table` (chains x datasets x algorithms) and whether it is an outlier, both
    in place.

    Given the other algorithms' scores on dataset j, theta_ja is normal with mean m and variance s^2. The kind of the
    cell is drawn with theta_ja integrated out, z_ja ~ N(m, s^2 + v_ja + o), then theta_ja given that. `added[a]` are
    the variances o of the kinds (the first 0), `log_kinds` the logarithms of their shares; `normal` and `uniform` are
    what chance brings, `precision` and `expected` those of theta in each chain; a precision of chains x algorithms x 1
    is that of algorithms which are independent given what is expected of them.
    """
    chains, n, k = table.shape
    kinds = len(log_kinds)
    others = k if precision.shape[2] > 1 else 0
    chance, shares = np.empty(kinds), np.exp(log_kinds)
    for chain in range(chains):
        for j in range(n):
            for a in range(k):
                variance = 1.0 / precision[chain, a, a if others else 0]
                rest = 0.0
                for b in range(others):
                    if b != a:
                        rest += (table[chain, j, b] - expected[chain, j, b]) * precision[chain, a, b]
                mean = expected[chain, j, a] - variance * rest
                if missing[j, a]:
                    outlier[chain, j, a] = False
                    table[chain, j, a] = mean + np.sqrt(variance) * normal[chain, j, a]
                    continue
                error = scores[j, a] - mean
                total = 0.0
                for kind in range(kinds):
                    spread = variance + noise[j, a] + added[a, kind]
                    total += shares[kind] * np.exp(-0.5 * error**2 / spread) / np.sqrt(spread)
                    chance[kind] = total
                kind = 0
                while kind < kinds - 1 and uniform[chain, j, a] * total >= chance[kind]:
                    kind += 1
                outlier[chain, j, a] = kind > 0
                known = 1.0 / (noise[j, a] + added[a, kind])
                posterior = 1.0 / (1.0 / variance + known)
                shift = posterior * known * error
                table[chain, j, a] = mean + shift + np.sqrt(posterior) * normal[chain, j, a]
