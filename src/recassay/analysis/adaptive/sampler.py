"""The Gibbs sampler of `belief.py`, in machine code.

Z (algorithms x datasets) is matrix normal, Z ~ MN(0, Sigma, K), Sigma inverse Wishart; of Z only the order of the
observed cells within each dataset is known. A sweep draws

1. column by column, the observed latents, each normal given the others of its column and cut off at its neighbours in
   the observed order; then the missing ones of the column given those (jointly);
2. Sigma given Z (inverse Wishart, by Bartlett's decomposition);
3. now and then the setting of K by its marginal likelihood, |K|^(-m/2) |S + Z K^-1 Z'|^(-(nu+n)/2);
4. with a prior of the levels (`prior.py`), Z has the mean m 1': m given Z and Sigma (normal), which algorithms the
   prior says something about, how often it does not (e), and how far levels move between benchmarks (t).

Columns without any observed cell carry no information: they are left out, and drawn once for each kept sweep.
"""

from __future__ import annotations

import numpy as np

from recassay.analysis.adaptive.draws import cholesky, cut_normal, draw_bartlett, pick, solve_transposed
from recassay.core.system.compiled import compiled
from recassay.core.types import FloatArray, IntArray

SETTING_EVERY = 6
"""How often, in sweeps, the setting of K is drawn again."""

MOVES = np.array([0.1, 0.2, 0.4, 0.7])
"""t on a grid, all as likely before."""

MISSED, MET = 1.0, 12.0
"""Parameters of the beta prior of e: as if so many levels had been seen that the prior missed, and that it met. Few are
missed: a prior that is wrong as a whole is dropped as a whole (`prior.support`)."""


@compiled
def redraw_column(
    z: FloatArray, mean: FloatArray, sharpness: float, order: IntArray, group: IntArray, known: int,
    precision: FloatArray, rng: np.random.Generator,
) -> None:  # fmt: skip
    """Redraw a column in place: `order[:known]` are its observed algorithms from worst to best, `order[known:]` the
    others; `group` numbers the places of the observed ones, equal where they tie. P = `precision` is Sigma^-1, and the
    column's covariance Sigma/`sharpness`.

    With h the hidden ones, o the observed, P_hh = L L' and W = L^-1 P_ho, the observed alone have the precision
    P_oo - W'W, and the hidden given them are mean - L'^-1 (W (z_o - mean_o) + noise).
    """
    m = len(z)
    rest = m - known
    root = np.zeros((rest, rest))  # L
    across = np.empty((rest, known))  # W
    # Cholesky of the hidden block, and W beside it, row by row.
    for a in range(rest):
        row = precision[order[known + a]]
        for b in range(a + 1):
            total = row[order[known + b]]
            for c in range(b):
                total -= root[a, c] * root[b, c]
            root[a, b] = np.sqrt(total) if a == b else total / root[b, b]
        for b in range(known):
            across[a, b] = row[order[b]]
        for c in range(a):
            for b in range(known):
                across[a, b] -= root[a, c] * across[c, b]
        for b in range(known):
            across[a, b] /= root[a, a]
    # The precision of the observed alone: P_oo - W'W.
    alone = np.empty((known, known))
    terms = np.empty(known)
    for a in range(known):
        row = precision[order[a]]
        for b in range(known):
            alone[a, b] = row[order[b]]
        terms[a] = z[order[a]] - mean[order[a]]
    for c in range(rest):
        for a in range(known):
            for b in range(known):
                alone[a, b] -= across[c, a] * across[c, b]
    # Each observed one between its neighbours in the observed order, from a cut normal density.
    for a in range(known):
        i = order[a]
        low, high = -np.inf, np.inf
        for b in range(a - 1, -1, -1):
            if group[b] < group[a]:
                if low > -np.inf and group[b] < group[a] - 1:
                    break
                low = max(low, z[order[b]])
        for b in range(a + 1, known):
            if group[b] > group[a]:
                if high < np.inf and group[b] > group[a] + 1:
                    break
                high = min(high, z[order[b]])
        pull = 0.0
        for b in range(known):
            pull += alone[a, b] * terms[b]
        centre = z[i] - pull / alone[a, a]
        spread = 1.0 / np.sqrt(alone[a, a] * sharpness)
        z[i] = centre + spread * cut_normal((low - centre) / spread, (high - centre) / spread, rng)
        terms[a] = z[i] - mean[i]
    # The hidden ones given the observed, by back substitution with L'.
    for a in range(rest - 1, -1, -1):
        total = rng.standard_normal() / np.sqrt(sharpness)
        for b in range(known):
            total -= across[a, b] * terms[b]
        for c in range(a + 1, rest):
            total -= root[c, a] * (z[order[known + c]] - mean[order[known + c]])
        z[order[known + a]] = mean[order[known + a]] + total / root[a, a]


@compiled
def _draw_levels(
    z: FloatArray, q: FloatArray, precision: FloatArray, mean: FloatArray, variance: FloatArray,
    rng: np.random.Generator,
) -> FloatArray:  # fmt: skip
    """m given the latents (columns x algorithms): q = K^-1, `precision` = Sigma^-1, m ~ N(mean, variance) before."""
    m, whole = len(mean), 0.0
    pull, drawn, matrix = np.zeros(m), np.empty(m), np.empty((m, m))
    for k in range(len(z)):
        weight = 0.0
        for j in range(len(z)):
            weight += q[k, j]
        whole += weight
        for a in range(m):
            pull[a] += weight * z[k, a]
    for a in range(m):
        drawn[a] = mean[a] / variance[a]
        for b in range(m):
            matrix[a, b] = whole * precision[a, b]
            drawn[a] += precision[a, b] * pull[b]
        matrix[a, a] += 1.0 / variance[a]
    root = cholesky(matrix)
    for a in range(m):
        for c in range(a):
            drawn[a] -= root[a, c] * drawn[c]
        drawn[a] /= root[a, a]
    for a in range(m):
        drawn[a] += rng.standard_normal()
    solve_transposed(root, drawn)
    return drawn


@compiled
def _draw_trust(
    level: FloatArray, centre: FloatArray, spread: FloatArray, trusted: FloatArray, missed: float, moved: float,
    rng: np.random.Generator,
) -> tuple[float, float]:  # fmt: skip
    """Which levels follow the prior (`trusted`, in place), e and t, given the levels."""
    m = len(level)
    follow, others = 0.0, 0.0
    for i in range(m):
        if np.isfinite(spread[i]):
            variance = spread[i] ** 2 + moved**2
            log_ratio = -0.5 * (level[i] - centre[i]) ** 2 / variance - 0.5 * np.log(variance) + 0.5 * level[i] ** 2
            odds = (1.0 - missed) / missed * np.exp(min(log_ratio, 50.0))
            trusted[i] = 1.0 if rng.random() * (1.0 + odds) < odds else 0.0
            follow += trusted[i]
            others += 1.0 - trusted[i]
    missed = min(max(rng.beta(MISSED + others, MET + follow), 1e-6), 1.0 - 1e-6)
    score = np.zeros(len(MOVES))
    for k in range(len(MOVES)):
        for i in range(m):
            if trusted[i] > 0.0:
                variance = spread[i] ** 2 + MOVES[k] ** 2
                score[k] -= 0.5 * (level[i] - centre[i]) ** 2 / variance + 0.5 * np.log(variance)
    return missed, MOVES[pick(score, rng)]


@compiled
def _add_products(total: FloatArray, left: FloatArray, right: FloatArray) -> None:
    """Add left'right to `total`."""
    for k in range(len(left)):
        for a in range(len(total)):
            for b in range(len(total)):
                total[a, b] += left[k, a] * right[k, b]


@compiled
def _root_of_sigma(base: FloatArray, z: FloatArray, level: FloatArray, inverse: FloatArray) -> FloatArray:
    """L with L L' = S + (Z - m 1') K^-1 (Z - m 1')', for the latents `z` (columns x algorithms)."""
    centred, pulled, total = np.empty(z.shape), np.zeros(z.shape), base.copy()
    for k in range(len(z)):
        for a in range(len(level)):
            centred[k, a] = z[k, a] - level[a]
    for j in range(len(z)):
        for k in range(len(z)):
            for a in range(len(level)):
                pulled[j, a] += inverse[j, k] * centred[k, a]
    _add_products(total, centred, pulled)
    return cholesky(total)


@compiled
def _unseen_noise(empty: int, root: FloatArray, bartlett: FloatArray, rng: np.random.Generator) -> FloatArray:
    """What columns without observations have beyond their regression on the touched ones: rows with covariance Sigma.

    As the precision is (L'^-1 B)(L'^-1 B)', x with (L'^-1 B)' x = noise is L B'^-1 noise.
    """
    m = len(root)
    noise = np.empty((empty, m))
    for i in range(m):
        for k in range(empty):
            noise[k, i] = rng.standard_normal()
    for k in range(empty):
        solve_transposed(bartlett, noise[k])
        for i in range(m - 1, -1, -1):
            noise[k, i] *= root[i, i]
            for c in range(i):
                noise[k, i] += root[i, c] * noise[k, c]
    return noise


@compiled
def sample(
    start: FloatArray, order: IntArray, group: IntArray, known: IntArray, inverse: FloatArray, log_weight: FloatArray,
    slope: FloatArray, factor: FloatArray, degrees: float, base: FloatArray, centre: FloatArray, spread: FloatArray,
    sweeps: int, burn_in: int, rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:  # fmt: skip
    """Draws of the latents, kept sweeps x algorithms x (touched columns, then empty ones), and how many datasets the
    prior of each level counts for, averaged over the draws.

    For each touched column (rows of `start`): `order`, `group` and `known` as in `redraw_column`. For each setting of
    K: `inverse` of its touched part, `log_weight` (prior times |K|^(-m/2)), and for the empty columns their regression
    on the touched ones (`slope`) and the Cholesky factor of what is left (`factor`). The prior of Sigma is inverse
    Wishart with `degrees` and the matrix `base`. `centre` and `spread` are the prior of the levels; without any
    `centre` they are 0.
    """
    touched, m = start.shape
    empty = slope.shape[1]
    settings = len(log_weight)
    z = start.copy()
    setting = 0
    informed = len(centre) > 0
    level, weight = np.zeros(m), np.zeros(m)
    trusted = np.zeros(len(spread))
    for i in range(len(spread)):
        trusted[i] = 1.0 if np.isfinite(spread[i]) else 0.0
    missed, moved = 0.2, 0.4
    drawn = np.empty((sweeps - burn_in, m, touched + empty))
    for sweep in range(sweeps):
        # The setting of K, from its discrete posterior given the latents.
        if sweep % SETTING_EVERY == 0:
            score = np.empty(settings)
            for g in range(settings):
                root = _root_of_sigma(base, z, level, inverse[g])
                score[g] = log_weight[g]
                for i in range(m):
                    score[g] -= (degrees + touched) * np.log(root[i, i])
            setting = pick(score, rng)
        # Sigma given the latents.
        q = inverse[setting]
        root = _root_of_sigma(base, z, level, q)
        bartlett = draw_bartlett(m, degrees + touched, rng)
        sigma, precision = np.empty((m, m)), np.zeros((m, m))  # Sigma^-1 is (L'^-1 B)(L'^-1 B)'; `sigma`: its factor'
        for i in range(m):
            for a in range(m):
                sigma[i, a] = bartlett[a, i]
            solve_transposed(root, sigma[i])
        _add_products(precision, sigma, sigma)
        # With a prior of the levels: the levels, and how far it is trusted.
        if informed:
            mean, variance = centre.copy(), np.ones(m)
            for i in range(m):
                if np.isfinite(spread[i]):
                    mean[i] *= trusted[i]
                if trusted[i] > 0.0:
                    variance[i] = spread[i] ** 2 + moved**2
            level = _draw_levels(z, q, precision, mean, variance, rng)
            missed, moved = _draw_trust(level, centre, spread, trusted, missed, moved, rng)
            if sweep >= burn_in:
                for i in range(m):
                    weight[i] += trusted[i] / (spread[i] ** 2 + moved**2) / (sweeps - burn_in)
        # Every touched column given the others.
        for j in range(touched):
            mean = np.zeros(m)
            for k in range(touched):
                if k != j:
                    for i in range(m):
                        mean[i] -= q[j, k] * (z[k, i] - level[i])
            for i in range(m):
                mean[i] = level[i] + mean[i] / q[j, j]
            redraw_column(z[j], mean, q[j, j], order[j], group[j], known[j], precision, rng)
        if sweep >= burn_in:
            at = sweep - burn_in
            for j in range(touched):
                for i in range(m):
                    drawn[at, i, j] = z[j, i]
            if empty:
                noise = _unseen_noise(empty, root, bartlett, rng)
                for k in range(empty):
                    for i in range(m):
                        total = level[i]
                        for j in range(touched):
                            total += slope[setting, k, j] * (z[j, i] - level[i])
                        for j in range(k + 1):
                            total += factor[setting, k, j] * noise[j, i]
                        drawn[at, i, touched + k] = total
    return drawn, weight
