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
    shares = np.exp(log_kinds)
    # The chains stand last, so that one instruction works on several of them.
    weights, variance = np.empty((k, others, chains)), np.empty((k, chains))
    for chain in range(chains):
        for a in range(k):
            variance[a, chain] = 1.0 / precision[chain, a, a if others else 0]
            for b in range(others):
                weights[a, b, chain] = precision[chain, a, b]
    # For the noise of an algorithm's last cell: the density of the first kind at 0, the most that the others add to it,
    # and the posterior of a cell of the first kind.
    last = np.full(k, np.nan)
    spread, density, most, usual, deviation = np.empty((5, k, chains))
    off, rest, chance = np.empty((k, chains)), np.empty(chains), np.empty(kinds)
    for j in range(n):
        for chain in range(chains):
            for a in range(k):
                off[a, chain] = table[chain, j, a] - expected[chain, j, a]
        for a in range(k):
            rest[:] = 0.0
            for b in range(others):
                if b != a:
                    for chain in range(chains):
                        rest[chain] += off[b, chain] * weights[a, b, chain]
            if not missing[j, a] and noise[j, a] != last[a]:
                last[a] = noise[j, a]
                for chain in range(chains):
                    spread[a, chain] = variance[a, chain] + noise[j, a] + added[a, 0]
                    density[a, chain] = shares[0] / np.sqrt(spread[a, chain])
                    most[a, chain] = 0.0
                    for kind in range(1, kinds):
                        most[a, chain] += shares[kind] / np.sqrt(variance[a, chain] + noise[j, a] + added[a, kind])
                    usual[a, chain] = 1.0 / (1.0 / variance[a, chain] + 1.0 / (noise[j, a] + added[a, 0]))
                    deviation[a, chain] = np.sqrt(usual[a, chain])
            for chain in range(chains):
                mean = expected[chain, j, a] - variance[a, chain] * rest[chain]
                if missing[j, a]:
                    outlier[chain, j, a] = False
                    table[chain, j, a] = mean + np.sqrt(variance[a, chain]) * normal[chain, j, a]
                    off[a, chain] = table[chain, j, a] - expected[chain, j, a]
                    continue
                error = scores[j, a] - mean
                chance[0] = density[a, chain] * np.exp(-0.5 * error**2 / spread[a, chain])
                kind, posterior, root = 0, usual[a, chain], deviation[a, chain]
                if uniform[chain, j, a] * (chance[0] + most[a, chain]) >= chance[0]:  # it may be another kind
                    total = chance[0]
                    for other in range(1, kinds):
                        wider = variance[a, chain] + noise[j, a] + added[a, other]
                        total += shares[other] * np.exp(-0.5 * error**2 / wider) / np.sqrt(wider)
                        chance[other] = total
                    while kind < kinds - 1 and uniform[chain, j, a] * total >= chance[kind]:
                        kind += 1
                known = 1.0 / (noise[j, a] + added[a, kind])
                if kind > 0:
                    posterior = 1.0 / (1.0 / variance[a, chain] + known)
                    root = np.sqrt(posterior)
                outlier[chain, j, a] = kind > 0
                shift = posterior * known * error
                table[chain, j, a] = mean + shift + root * normal[chain, j, a]
                off[a, chain] = table[chain, j, a] - expected[chain, j, a]
