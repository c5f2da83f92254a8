"""The Gibbs sampler of `belief.py`, in machine code.

Z (algorithms x datasets) is matrix normal, Z ~ MN(0, Sigma, K), Sigma inverse Wishart; of Z only the order of the
observed cells within each dataset is known. A sweep draws

1. column by column, the observed latents, each normal given the others of its column and cut off at its neighbours in
   the observed order; then the missing ones of the column given those (jointly);
2. Sigma given Z (inverse Wishart, by Bartlett's decomposition);
3. now and then the setting of K by its marginal likelihood, |K|^(-m/2) |S + Z K^-1 Z'|^(-(nu+n)/2).

Columns without any observed cell carry no information: they are left out, and drawn once for each kept sweep.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from recassay.core.system.compiled import compiled
from recassay.core.types import FloatArray, IntArray

SETTING_EVERY = 3
"""How often, in sweeps, the setting of K is drawn anew."""


@compiled
def cut_normal(low: float, high: float, rng: np.random.Generator) -> float:
    """A standard normal draw between `low` and `high` (Robert 1995, Statistics and Computing 5, 121-125)."""
    if not low < high:
        return low
    if low > 0.0 or high < 0.0:
        mirrored = high < 0.0
        a, b = (-high, -low) if mirrored else (low, high)
        rate = 0.5 * (a + np.sqrt(a * a + 4.0))
        if b - a < 1.0 / rate:
            while True:
                x = a + (b - a) * rng.random()
                if rng.random() < np.exp(0.5 * (a * a - x * x)):
                    return -x if mirrored else x
        while True:
            x = a - np.log(1.0 - rng.random()) / rate
            if x < b and rng.random() < np.exp(-0.5 * (x - rate) ** 2):
                return -x if mirrored else x
    if high - low < 2.5:
        while True:
            x = low + (high - low) * rng.random()
            if rng.random() < np.exp(-0.5 * x * x):
                return x
    while True:
        x = rng.standard_normal()
        if low < x < high:
            return x


@compiled
def _draw_covariance(scale: FloatArray, degrees: float, rng: np.random.Generator) -> FloatArray:
    """Sigma ~ InverseWishart(degrees, scale)."""
    m = scale.shape[0]
    bartlett = np.zeros((m, m))
    for i in range(m):
        bartlett[i, i] = np.sqrt(rng.chisquare(degrees - i))
        for k in range(i):
            bartlett[i, k] = rng.standard_normal()
    factor = np.linalg.cholesky(scale) @ np.ascontiguousarray(np.linalg.inv(bartlett).T)
    covariance: Any = factor @ np.ascontiguousarray(factor.T)
    return covariance


@compiled
def _redraw_column(
    z: FloatArray, mean: FloatArray, sharpness: float, order: IntArray, group: IntArray, known: int,
    covariance: FloatArray, precision: FloatArray, rng: np.random.Generator,
) -> None:  # fmt: skip
    """Draw a column anew, in place: `order[:known]` are its observed algorithms from worst to best, `order[known:]` the
    others; `group` numbers the places of the observed ones, equal where they tie. Its covariance is Sigma/sharpness.
    """
    m = len(z)
    seen = order[:known]
    if known == m:
        told = precision
    else:
        told = np.zeros((m, m))
        inner = np.empty((known, known))
        for a in range(known):
            for b in range(known):
                inner[a, b] = covariance[seen[a], seen[b]]
        inverted = np.linalg.inv(inner)
        for a in range(known):
            for b in range(known):
                told[seen[a], seen[b]] = inverted[a, b]
    for a in range(known):
        i = seen[a]
        low, high = -np.inf, np.inf
        for b in range(a - 1, -1, -1):
            if group[b] < group[a]:
                if low > -np.inf and group[b] < group[a] - 1:
                    break
                low = max(low, z[seen[b]])
        for b in range(a + 1, known):
            if group[b] > group[a]:
                if high < np.inf and group[b] > group[a] + 1:
                    break
                high = min(high, z[seen[b]])
        pull = 0.0
        for b in range(known):
            k = seen[b]
            pull += told[i, k] * (z[k] - mean[k])
        pull -= told[i, i] * (z[i] - mean[i])
        centre = mean[i] - pull / told[i, i]
        spread = 1.0 / np.sqrt(told[i, i] * sharpness)
        z[i] = centre + spread * cut_normal((low - centre) / spread, (high - centre) / spread, rng)
    rest = m - known
    if rest == 0:
        return
    hidden = order[known:]
    slope = np.zeros((rest, m))
    for a in range(rest):
        for b in range(known):
            k = seen[b]
            total = 0.0
            for c in range(known):
                total += covariance[hidden[a], seen[c]] * told[seen[c], k]
            slope[a, k] = total
    left = np.empty((rest, rest))
    for a in range(rest):
        for b in range(rest):
            total = covariance[hidden[a], hidden[b]]
            for c in range(known):
                total -= slope[a, seen[c]] * covariance[seen[c], hidden[b]]
            left[a, b] = total
        left[a, a] += 1e-9 * covariance[hidden[a], hidden[a]]
    factor = np.linalg.cholesky(left)
    noise = rng.standard_normal(rest)
    for a in range(rest):
        total = mean[hidden[a]]
        for b in range(known):
            k = seen[b]
            total += slope[a, k] * (z[k] - mean[k])
        for b in range(a + 1):
            total += factor[a, b] * noise[b] / np.sqrt(sharpness)
        z[hidden[a]] = total


@compiled
def sample(
    start: FloatArray, order: IntArray, group: IntArray, known: IntArray, inverse: FloatArray, log_weight: FloatArray,
    slope: FloatArray, factor: FloatArray, degrees: float, scale: float, sweeps: int, burn_in: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, IntArray]:  # fmt: skip
    """Draws of the latents, kept sweeps x algorithms x (touched columns, then empty ones), and of the setting of K.

    For each touched column (rows of `start`): `order`, `group` and `known` as in `_redraw_column`. For each setting of
    K: `inverse` of its touched part, `log_weight` (prior times |K|^(-m/2)), and for the empty columns their regression
    on the touched ones (`slope`) and the Cholesky factor of what is left (`factor`). The prior of Sigma is inverse
    Wishart with `degrees` and the matrix `scale` times the identity.
    """
    touched, m = start.shape
    empty = slope.shape[1]
    settings = len(log_weight)
    z = start.copy()
    base = np.eye(m) * scale
    setting = 0
    covariance = np.eye(m)
    drawn = np.empty((sweeps - burn_in, m, touched + empty))
    chosen = np.empty(sweeps - burn_in, dtype=np.int64)
    for sweep in range(sweeps):
        if sweep % SETTING_EVERY == 0:
            score = np.empty(settings)
            for g in range(settings):
                matrix = base + z.T @ (inverse[g] @ z)
                root = np.linalg.cholesky(matrix)
                half = 0.0
                for i in range(m):
                    half += np.log(root[i, i])
                score[g] = log_weight[g] - (degrees + touched) * half
            score = np.cumsum(np.exp(score - score.max()))
            setting = min(int(np.searchsorted(score, rng.random() * score[-1])), settings - 1)
        q = inverse[setting]
        covariance = _draw_covariance(base + z.T @ (q @ z), degrees + touched, rng)
        precision: Any = np.linalg.inv(covariance)
        for j in range(touched):
            mean = np.zeros(m)
            for k in range(touched):
                if k != j:
                    for i in range(m):
                        mean[i] -= q[j, k] * z[k, i]
            mean /= q[j, j]
            _redraw_column(z[j], mean, q[j, j], order[j], group[j], known[j], covariance, precision, rng)
        if sweep >= burn_in:
            at = sweep - burn_in
            chosen[at] = setting
            drawn[at, :, :touched] = z.T
            if empty:
                root = np.linalg.cholesky(covariance)
                noise = rng.standard_normal((empty, m)) @ np.ascontiguousarray(root.T)
                drawn[at, :, touched:] = (slope[setting] @ z + factor[setting] @ noise).T
    return drawn, chosen
