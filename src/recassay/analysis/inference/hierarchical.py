"""One model under a table of scores: algorithms, datasets, how they interact, and what was measured with noise.

z_ja, the transformed score of algorithm a on dataset j, is measured with an error of known variance v_ja around
theta_ja. Each theta_j (all k algorithms on dataset j) has an effect of the dataset r_j = w' theta_j, some datasets
being easy, and k - 1 contrasts of algorithms C_j = H theta_j:

    z_ja | theta_ja ~ N(theta_ja, v_ja + o_ja),
    r_j ~ N(m, v),   p(m, v) ~ 1 / v,
    C_j | c, S ~ N(c, S),   c | S ~ N(0, S / kappa),   S ~ InverseWishart(nu, (nu - k) H diag(tau_a^2) H').

The level of an algorithm over the population of datasets is that of m and c together; tau_a^2 is the variance of its
interaction (an algorithm suits a dataset). The weights w_a are proportional to 1 / tau_a^2: then effects and contrasts
are independent where interactions are. o_ja is 0 for most cells and, now and then, large without limit: an algorithm
that fails on a dataset shall not move its level, nor make all its scores uncertain. A large kappa means that algorithms
hardly differ, a large nu that they vary over datasets as the prior says. Both, and the tau_a^2, are averaged over a
grid by their marginal likelihood, which is closed for a complete table (Gelman et al., Bayesian Data Analysis, 3rd
edition, section 3.6). So the levels are shrunk to each other as far as the table supports no difference, and a missing
cell is only a value that is not known. Datasets of one family share a part of what is theirs, one part of r_j and
one of C_j; both are on a grid, too. Draws come from chains of a Gibbs sampler that completes the table.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recassay.analysis.inference.convergence import effective_size, r_hat
from recassay.analysis.inference.first_guess import (
    OUTLIER_STEP,
    first_guess,
    interactions,
    log_multigamma,
    representatives,
    without_outliers,
)
from recassay.core.types import BoolArray, FloatArray, IntArray

SPARE_DEGREES = (2.0, 6.0, 20.0, 100.0)
"""nu - k on the grid: how closely S is thought to follow the prior."""

SHRINKAGES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 1e6)
"""kappa on the grid; the last stands for no difference at all."""

SHRINKAGE_PRIOR = (0.14, 0.14, 0.18, 0.18, 0.14, 0.12, 0.1)

WIDTHS = (0.3, 0.6, 1.2, 2.4)
"""tau_a^2 on the grid, relative to the table's own."""

OWN = (0.0, 0.5, 1.0)
"""How far each algorithm has a tau_a^2 of its own: tau^2 (tau_a^2 / tau^2)^own, tau^2 being the geometric mean."""

RELATIONS = (0.0, 0.3, 0.6, 0.8, 0.9, 0.96)
"""rho on the grid, where families of datasets are known."""

OUTLIER_PRIOR = (0.94, 0.03, 0.02, 0.01)
"""The variance of an outlier is tau_a^2 times a power of `OUTLIER_STEP`. The prior is that of none, the first and
second power, and all higher ones together: as many as the table's farthest cell needs."""

CHAINS, BURN_IN = 32, 60
DRAWS, MOST_ROUNDS, ERROR = 4000, 10, 0.01
"""Draws of a round, over all chains, and rounds until the error of every P(best) by chance is below this one."""

NEGLIGIBLE = 1e-4
"""Levels that differ by less than this share of the deviation of all scores are the same level."""

SMALL_NOISE = 1e-4
"""The noise of an exact score beside the variance of the interaction."""


@dataclass(frozen=True, slots=True, eq=False)
class HierarchicalDraws:
    """Draws from the posterior: `level[s, a]`, the level of each algorithm; `new[s, a]`, its score on a new dataset of
    the same population, failures included; `cells[t, j, a]`, the true scores on the datasets at hand (of a missing cell
    what would be measured, failures included); `shared` and `interaction`, the two variances, one for each draw;
    `outlying[j, a]`, the probability that the cell is an outlier. Levels nearer than `negligible` are the same, and
    `failing[a]` is what an algorithm's failures cost it on average. `r_hat`, `effective` (draws) and `error` (of
    P(best), by chance) say how far the draws can be trusted: the worst of all algorithms.
    """

    level: FloatArray
    new: FloatArray
    cells: FloatArray
    shared: FloatArray
    interaction: FloatArray
    outlying: FloatArray
    negligible: float
    failing: FloatArray
    r_hat: float
    effective: float
    error: float


def fit_hierarchical(
    scores: FloatArray,
    noise: FloatArray | None = None,
    *,
    families: IntArray | None = None,
    draws: int = DRAWS,
    rounds: int = MOST_ROUNDS,
    rng: np.random.Generator,
) -> HierarchicalDraws:
    """Draws from the posterior for scores (datasets x algorithms, higher is better, NaN where missing).

    `noise` are the variances of the scores as measurements, in the same shape (None: they are exact), `families` the
    number of each dataset's family (None: all are independent). Identical columns are one algorithm. After a round of
    `draws` others follow, up to `rounds`, until the error of every P(best) by chance is below 0.01.
    """
    distinct, copies = np.unique(representatives(scores), return_inverse=True)
    known = np.zeros(scores.shape) if noise is None else noise
    sampler = _Sampler(
        scores[:, distinct], known[:, distinct], np.arange(len(scores)) if families is None else families, rng
    )
    parts, r_hats, effective, error = [], 1.0, 0.0, 1.0
    for _ in range(rounds):
        parts.append(sampler.run(-(-draws // CHAINS)))
        level = np.concatenate([part[0] for part in parts], axis=1)
        r_hats, effective, error = _trust(level, sampler.negligible)
        if error <= ERROR:
            break
    level, new, cells, variances = (np.concatenate(part, axis=1) for part in zip(*parts, strict=True))
    flat = [one.reshape(-1, *one.shape[2:]) for one in (level, new, cells, variances)]
    outlying = sampler.outlying / len(flat[0])
    short = np.where(sampler.missing, 0.0, outlying * (flat[2].mean(axis=0) - np.nan_to_num(sampler.scores)))
    return HierarchicalDraws(
        level=flat[0][:, copies],
        new=flat[1][:, copies],
        cells=flat[2][:, :, copies],
        shared=flat[3][:, 0],
        interaction=flat[3][:, 1],
        outlying=outlying[:, copies],
        negligible=sampler.negligible,
        failing=short.mean(axis=0)[copies],
        r_hat=r_hats,
        effective=effective,
        error=error,
    )


class _Sampler:
    """Chains of one table, side by side, and the settings of the prior that they move on."""

    def __init__(self, scores: FloatArray, noise: FloatArray, families: IntArray, rng: np.random.Generator) -> None:
        self.scores, self.missing, self.rng = np.ascontiguousarray(scores), np.isnan(scores), rng
        fitted = first_guess(scores, self.missing)
        self.negligible = NEGLIGIBLE * float(fitted.std())
        n, k = scores.shape
        tau = interactions(fitted)
        self.noise = np.maximum(noise, SMALL_NOISE * tau)
        self.weights = (1 / tau) / (1 / tau).sum()
        self.contrasts = np.ascontiguousarray(np.linalg.svd(np.eye(k) - 1 / k)[2][: k - 1])
        self.back = self.contrasts.T - self.weights @ self.contrasts.T  # theta = r + back C
        # the grid
        middle = float(np.exp(np.log(tau).mean()))
        own = middle * (tau / middle) ** np.array(OWN)[:, None]
        self.bases = np.einsum("xa,oa,ya->oxy", self.contrasts, own, self.contrasts)
        self.log_bases = np.linalg.slogdet(self.bases)[1]
        degrees = np.array(SPARE_DEGREES) + k
        self.log_gammas = log_multigamma((degrees + n) / 2, k - 1) - log_multigamma(degrees / 2, k - 1)
        related = (families[:, None] == families).astype(np.float64)
        self.relations = np.array(RELATIONS if related.sum() > n else RELATIONS[:1])
        rows = (1 - self.relations)[:, None, None] * np.eye(n) + self.relations[:, None, None] * related
        self.log_rows, self.row_precision, self.related = np.linalg.slogdet(rows)[1], np.linalg.inv(rows), related
        self.sizes = self.row_precision.sum(axis=(1, 2))
        # outliers
        start, farthest = without_outliers(fitted, tau)
        powers = max(3, int(np.ceil(np.log(farthest) / np.log(OUTLIER_STEP))) + 1)
        self.added = tau[:, None] * np.concatenate([[0.0], OUTLIER_STEP ** np.arange(1, powers + 1)])
        self.log_kinds = np.log([*OUTLIER_PRIOR[:3], *[OUTLIER_PRIOR[3] / (powers - 2)] * (powers - 2)])
        self.outlying = np.zeros(scores.shape)
        # where the chains are
        self.table = np.repeat(start[None], CHAINS, axis=0)
        self.state = np.stack([rng.integers(len(axis), size=CHAINS) for axis in self._axes()], axis=1)
        self.kappa = rng.choice(SHRINKAGES, size=CHAINS)
        self.burn_in, self.sweep = BURN_IN, 0

    def _axes(self) -> tuple[FloatArray, ...]:
        return np.array(SPARE_DEGREES), np.array(WIDTHS), np.array(OWN), self.relations

    def run(self, sweeps: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Levels, new scores, cells (of some sweeps) and variances, chains x sweeps x ... each."""
        k, every = self.scores.shape[1], max(1, min(10, sweeps // 10))
        kept: list[list[FloatArray]] = [[], [], [], []]
        for at in range(-self.burn_in, sweeps):
            level, new, variances, outlier = self._alone() if k == 1 else self._step()
            if at < 0:
                continue
            failures = np.where(outlier, np.nan_to_num(self.scores) - self.table, 0.0)
            chain = np.arange(CHAINS)
            kept[0].append(level)
            kept[1].append(new + failures[chain, self.rng.integers(len(self.scores), size=CHAINS)])
            kept[3].append(variances)
            self.outlying += outlier.sum(axis=0)
            if at % every == 0:
                like = self.rng.integers(len(self.scores), size=(len(self.scores), CHAINS))
                kept[2].append(np.where(self.missing, self.table + failures[chain, like].swapaxes(0, 1), self.table))
        self.burn_in = 0
        level, new, cells, variances = (np.stack(part, axis=1) for part in kept)
        return level, new, cells, variances

    def _step(self) -> tuple[FloatArray, FloatArray, FloatArray, BoolArray]:
        """Settings, covariance, levels and cells of every chain, each drawn given the others."""
        from recassay.analysis.inference.sweep import sweep_cells

        rng, (n, k) = self.rng, self.scores.shape
        d = k - 1
        contrast, row = self.table @ self.contrasts.T, self.table @ self.weights
        self._settings(contrast)
        spare, _, _, relation = self.state.T
        size = self.sizes[relation] + self.kappa
        scale, total = self._moments(contrast, self.state)
        scale -= total[:, :, None] * total[:, None, :] / size[:, None, None]
        # the covariance S = factor factor' of the contrasts by Bartlett's decomposition of a Wishart matrix
        bartlett = np.tril(rng.standard_normal((CHAINS, d, d)), -1)
        degrees = np.array(SPARE_DEGREES)[spare, None] + k + n - np.arange(d)
        bartlett[:, np.arange(d), np.arange(d)] = np.sqrt(rng.chisquare(degrees))
        lower = np.linalg.cholesky(scale)
        factor = lower @ np.linalg.inv(bartlett).swapaxes(1, 2)
        normal = factor @ rng.standard_normal((CHAINS, d, 2))
        middle = (total + np.sqrt(size)[:, None] * normal[:, :, 0]) / size[:, None]
        # the effects of the datasets: Student's t, as for any mean
        row_relation, centre, squares = self._rows(row)
        shared = squares / rng.chisquare(n - 1, size=CHAINS)
        centre = centre + np.sqrt(shared / self.sizes[row_relation]) * rng.standard_normal(CHAINS)
        level = centre[:, None] + middle @ self.back.T
        new = level + np.sqrt(shared)[:, None] * rng.standard_normal((CHAINS, 1)) + normal[:, :, 1] @ self.back.T
        # the cells, given what datasets of a family share
        expected = np.repeat(level[:, None], n, axis=1)
        if len(self.relations) > 1:
            expected += self._common(contrast - middle[:, None], relation, factor) @ self.back.T
            deviation = np.sqrt(shared)[:, None, None]
            expected += self._common((row - centre[:, None])[:, :, None], row_relation, deviation)
        half = np.linalg.solve(factor, np.broadcast_to(self.contrasts, (CHAINS, d, k)))
        half /= np.sqrt(1 - self.relations[relation])[:, None, None]
        own = (shared * (1 - self.relations[row_relation]))[:, None, None]
        outlier = np.zeros(self.table.shape, dtype=np.bool_)
        sweep_cells(
            self.table, outlier, self.scores, self.noise, self.missing,
            half.swapaxes(1, 2) @ half + np.outer(self.weights, self.weights) / own, expected, self.added,
            self.log_kinds, rng.standard_normal(self.table.shape), rng.random(self.table.shape),
        )  # fmt: skip
        loads = self.back @ factor
        squared = (loads**2).sum(axis=(1, 2))
        between = shared + ((loads.sum(axis=1) ** 2).sum(axis=1) - squared) / (k * d)
        return level, new, np.stack([between, shared + squared / k - between], axis=1), outlier

    def _settings(self, contrast: FloatArray) -> None:
        """One axis of the grid, in turn, and the shrinkage with it, by the marginal likelihood of a complete table."""
        axes, (n, d) = self._axes(), contrast.shape[1:]
        axis = self.sweep % (len(axes) if len(self.relations) > 1 else len(axes) - 1)
        self.sweep += 1
        tried = np.repeat(self.state[:, None], len(axes[axis]), axis=1)
        tried[:, :, axis] = np.arange(len(axes[axis]))
        flat = tried.reshape(-1, len(axes))
        spare, width, own, relation = flat.T
        scale, total = self._moments(np.repeat(contrast, len(axes[axis]), axis=0), flat)
        lower = np.linalg.cholesky(scale)
        leverage = (np.linalg.solve(lower, total[:, :, None]) ** 2).sum(axis=(1, 2))
        degrees = np.array(SPARE_DEGREES)[spare] + d + 1
        kappa, size = np.array(SHRINKAGES), self.sizes[relation][:, None]
        log_scale = 2 * np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1)
        log_base = d * np.log(np.array(SPARE_DEGREES)[spare] * np.array(WIDTHS)[width]) + self.log_bases[own]
        rest = np.maximum(1 - leverage[:, None] / (kappa + size), 1e-300)
        log_chance = (
            (self.log_gammas[spare] + degrees / 2 * log_base - d / 2 * self.log_rows[relation])[:, None]
            - ((degrees + n) / 2)[:, None] * (log_scale[:, None] + np.log(rest))
            + d / 2 * (np.log(kappa) - np.log(kappa + size))
            + np.log(SHRINKAGE_PRIOR)
        )
        drawn = self._pick(log_chance.reshape(CHAINS, -1))
        self.state[:, axis], self.kappa = drawn // len(kappa), kappa[drawn % len(kappa)]

    def _moments(self, contrast: FloatArray, state: IntArray) -> tuple[FloatArray, FloatArray]:
        """The scale of the posterior of S before its level is taken off, and the sum of the contrasts."""
        spare, width, own, relation = state.T
        weighted = contrast if len(self.relations) == 1 else self.row_precision[relation] @ contrast
        prior = (np.array(SPARE_DEGREES)[spare] * np.array(WIDTHS)[width])[:, None, None] * self.bases[own]
        return prior + contrast.swapaxes(1, 2) @ weighted, weighted.sum(axis=1)

    def _rows(self, row: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
        """The relation of the datasets' own effects by its marginal likelihood, their mean and weighted squares."""
        centre = np.einsum("gij,mj->mg", self.row_precision, row) / self.sizes
        off = row[:, None] - centre[:, :, None]
        squares = np.einsum("mgi,gij,mgj->mg", off, self.row_precision, off)
        squares = np.maximum(squares, max(1e-12 * float((row**2).mean()), 1e-300))
        log_chance = -(self.log_rows + np.log(self.sizes) + (row.shape[1] - 1) * np.log(squares)) / 2
        relation = self._pick(log_chance)
        chain = np.arange(CHAINS)
        return relation, centre[chain, relation], squares[chain, relation]

    def _pick(self, log_chance: FloatArray) -> IntArray:
        """One column for every chain, drawn by the exponentials of these (chains x columns)."""
        chance = np.cumsum(np.exp(log_chance - log_chance.max(axis=1, keepdims=True)), axis=1)
        return np.asarray((chance < self.rng.random((CHAINS, 1)) * chance[:, -1:]).sum(axis=1))

    def _common(self, residual: FloatArray, relation: IntArray, factor: FloatArray) -> FloatArray:
        """What each dataset has in common with its family, drawn given the residuals of its members."""
        first = np.argmax(self.related, axis=1)  # the first member stands for the family
        rho = self.relations[relation][:, None]
        among = 1 - rho + rho * self.related.sum(axis=1)
        chance = self.rng.standard_normal(residual.shape)[:, first] @ factor.swapaxes(1, 2)
        slack = np.sqrt(rho * (1 - rho) / among)
        return (rho / among)[:, :, None] * (self.related @ residual) + slack[:, :, None] * chance

    def _alone(self) -> tuple[FloatArray, FloatArray, FloatArray, BoolArray]:
        """Where all algorithms are one: a mean with Student's t."""
        scores, rng = self.table[0, :, 0], self.rng
        variance = scores.var() * len(scores) / rng.chisquare(len(scores) - 1, size=(CHAINS, 1))
        level = scores.mean() + np.sqrt(variance / len(scores)) * rng.standard_normal((CHAINS, 1))
        new = level + np.sqrt(variance) * rng.standard_normal((CHAINS, 1))
        return level, new, np.hstack([variance, 0 * variance]), np.zeros(self.table.shape, dtype=np.bool_)


def _trust(level: FloatArray, negligible: float) -> tuple[float, float, float]:
    """R-hat, effective draws and the error of P(best) by chance: the worst of all algorithms."""
    best = (level >= level.max(axis=2, keepdims=True) - negligible).astype(np.float64)
    share = best.mean(axis=(0, 1))
    worth = effective_size(best)
    error = np.sqrt(share * (1 - share) / worth)
    return float(r_hat(level).max()), float(min(effective_size(level).min(), worth.min())), float(error.max())
