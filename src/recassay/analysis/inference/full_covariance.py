"""The hierarchical model with a full covariance of algorithms: a Gibbs sampler that completes the table.

For a complete table the settings of the prior (nu, the widths, kappa, how far families share) have a closed marginal
likelihood, and S and the levels a closed posterior (Gelman et al., Bayesian Data Analysis, 3rd edition, section 3.6).
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from recassay.analysis.inference.chains import SHRINKAGE_PRIOR, SHRINKAGES, Chains
from recassay.core.decompositions import helmert_contrasts
from recassay.core.types import BoolArray, FloatArray, IntArray

SPARE_DEGREES = (2.0, 6.0, 20.0, 100.0)
"""nu - k on the grid: how closely S is thought to follow the prior."""

WIDTHS = (0.3, 0.6, 1.2, 2.4)
"""tau_a^2 on the grid, relative to the table's own."""

OWN = (0.0, 0.5, 1.0)
"""How far each algorithm has a tau_a^2 of its own: tau^2 (tau_a^2 / tau^2)^own, tau^2 being the geometric mean."""

RELATIONS = (0.0, 0.3, 0.6, 0.8, 0.9, 0.96)
"""rho on the grid, where families of datasets are known."""

BURN_IN = 60


class FullCovariance(Chains):
    """Chains with a covariance S of their own for all contrasts of algorithms, and the settings of its prior."""

    def __init__(
        self, scores: FloatArray, noise: FloatArray, families: IntArray, chains: int, rng: np.random.Generator
    ) -> None:
        super().__init__(scores, noise, chains, rng)
        (n, k), tau = scores.shape, self.tau
        self.weights = (1 / tau) / (1 / tau).sum()
        self.contrasts = helmert_contrasts(k)
        self.back = self.contrasts.T - self.weights @ self.contrasts.T  # theta = r + back C
        # the grid
        middle = float(np.exp(np.log(tau).mean()))
        spreads = middle * (tau / middle) ** np.array(OWN)[:, None]
        self.bases = np.einsum("xa,oa,ya->oxy", self.contrasts, spreads, self.contrasts)
        self.log_bases = np.linalg.slogdet(self.bases)[1]
        degrees = np.array(SPARE_DEGREES) + k
        self.log_gammas = _log_multigamma((degrees + n) / 2, k - 1) - _log_multigamma(degrees / 2, k - 1)
        related = (families[:, None] == families).astype(np.float64)
        self.relations = np.array(RELATIONS if related.sum() > n else RELATIONS[:1])
        rows = (1 - self.relations)[:, None, None] * np.eye(n) + self.relations[:, None, None] * related
        self.log_rows, self.row_precision, self.related = np.linalg.slogdet(rows)[1], np.linalg.inv(rows), related
        self.sizes = self.row_precision.sum(axis=(1, 2))
        # where the chains are
        self.state = np.stack([rng.integers(len(axis), size=chains) for axis in self._axes()], axis=1)
        self.kappa = rng.choice(SHRINKAGES, size=chains)
        self.burn_in, self.sweep = BURN_IN, 0

    def _axes(self) -> tuple[FloatArray, ...]:
        return np.array(SPARE_DEGREES), np.array(WIDTHS), np.array(OWN), self.relations

    def step(self) -> tuple[FloatArray, FloatArray, FloatArray, BoolArray]:
        """Settings, covariance, levels and cells of every chain, each drawn given the others."""
        rng, chains, (n, k) = self.rng, self.chains, self.scores.shape
        if k == 1:
            return self._alone()
        d = k - 1
        contrast, row = self.table @ self.contrasts.T, self.table @ self.weights
        products, totals = self._products(contrast)
        self._settings(products, totals)
        spare, _, _, relation = self.state.T
        size = self.sizes[relation] + self.kappa
        chain = np.arange(chains)
        scale, total = self._prior(self.state) + products[relation, chain], totals[relation, chain]
        scale -= total[:, :, None] * total[:, None, :] / size[:, None, None]
        # the covariance S = factor factor' of the contrasts by Bartlett's decomposition of a Wishart matrix
        bartlett = np.tril(rng.standard_normal((chains, d, d)), -1)
        degrees = np.array(SPARE_DEGREES)[spare, None] + k + n - np.arange(d)
        bartlett[:, np.arange(d), np.arange(d)] = np.sqrt(rng.chisquare(degrees))
        lower = np.linalg.cholesky(scale)
        factor = lower @ np.linalg.inv(bartlett).swapaxes(1, 2)
        normal = factor @ rng.standard_normal((chains, d, 2))
        middle = (total + np.sqrt(size)[:, None] * normal[:, :, 0]) / size[:, None]
        # the effects of the datasets: Student's t, as for any mean
        row_relation, centre, squares = self._rows(row)
        shared = squares / rng.chisquare(n - 1, size=chains)
        centre = centre + np.sqrt(shared / self.sizes[row_relation]) * rng.standard_normal(chains)
        level = centre[:, None] + middle @ self.back.T
        new = level + np.sqrt(shared)[:, None] * rng.standard_normal((chains, 1)) + normal[:, :, 1] @ self.back.T
        # the cells, given what datasets of a family share
        expected = np.repeat(level[:, None], n, axis=1)
        if len(self.relations) > 1:
            expected += self._common(contrast - middle[:, None], relation, factor) @ self.back.T
            deviation = np.sqrt(shared)[:, None, None]
            expected += self._common((row - centre[:, None])[:, :, None], row_relation, deviation)
        half = np.linalg.solve(factor, np.broadcast_to(self.contrasts, (chains, d, k)))
        half /= np.sqrt(1 - self.relations[relation])[:, None, None]
        variance = (shared * (1 - self.relations[row_relation]))[:, None, None]
        precision = half.swapaxes(1, 2) @ half + np.outer(self.weights, self.weights) / variance
        outlier = self.sweep_cells(precision, expected)
        loads = self.back @ factor
        squared = (loads**2).sum(axis=(1, 2))
        between = shared + ((loads.sum(axis=1) ** 2).sum(axis=1) - squared) / (k * d)
        return level, new, np.stack([between, shared + squared / k - between], axis=1), outlier

    def _settings(self, products: FloatArray, totals: FloatArray) -> None:
        """One axis of the grid, in turn, and the shrinkage with it, by the marginal likelihood of a complete table.

        The root of [[A, b], [b', c]] has below that of A the numbers whose squares add up to b' A^-1 b.
        """
        axes, n, d = self._axes(), len(self.scores), totals.shape[2]
        axis = self.sweep % (len(axes) if len(self.relations) > 1 else len(axes) - 1)
        self.sweep += 1
        tried = np.repeat(self.state[:, None], len(axes[axis]), axis=1)
        tried[:, :, axis] = np.arange(len(axes[axis]))
        flat = tried.reshape(-1, len(axes))
        spare, width, spread, relation = flat.T
        chain = np.repeat(np.arange(self.chains), len(axes[axis]))
        bordered = np.empty((len(flat), d + 1, d + 1))
        bordered[:, :d, :d] = self._prior(flat) + products[relation, chain]
        bordered[:, d, :d] = bordered[:, :d, d] = totals[relation, chain]
        bordered[:, d, d] = 2 * self.sizes[relation]
        lower = np.linalg.cholesky(bordered)
        leverage = (lower[:, d, :d] ** 2).sum(axis=1)
        degrees = np.array(SPARE_DEGREES)[spare] + d + 1
        kappa, size = np.array(SHRINKAGES), self.sizes[relation][:, None]
        log_scale = 2 * np.log(np.diagonal(lower, axis1=1, axis2=2)[:, :d]).sum(axis=1)
        log_base = d * np.log(np.array(SPARE_DEGREES)[spare] * np.array(WIDTHS)[width]) + self.log_bases[spread]
        rest = np.maximum(1 - leverage[:, None] / (kappa + size), 1e-300)
        log_chance = (
            (self.log_gammas[spare] + degrees / 2 * log_base - d / 2 * self.log_rows[relation])[:, None]
            - ((degrees + n) / 2)[:, None] * (log_scale[:, None] + np.log(rest))
            + d / 2 * (np.log(kappa) - np.log(kappa + size))
            + np.log(SHRINKAGE_PRIOR)
        )
        drawn = self.pick(log_chance.reshape(self.chains, -1))
        self.state[:, axis], self.kappa = drawn // len(kappa), kappa[drawn % len(kappa)]

    def _prior(self, state: IntArray) -> FloatArray:
        """The scale of S before anything was measured."""
        spare, width, spread, _ = state.T
        prior = (np.array(SPARE_DEGREES)[spare] * np.array(WIDTHS)[width])[:, None, None] * self.bases[spread]
        return np.asarray(prior)

    def _products(self, contrast: FloatArray) -> tuple[FloatArray, FloatArray]:
        """By relation and chain, what the contrasts add to the scale of S before its level is taken off, and their sum;
        both weigh datasets by the precision of their rows."""
        turned = contrast.swapaxes(1, 2)
        if len(self.relations) == 1:
            return (turned @ contrast)[None], contrast.sum(axis=1)[None]
        weighted = self.row_precision[:, None] @ contrast
        return turned @ weighted, weighted.sum(axis=2)

    def _rows(self, row: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
        """The relation of the datasets' own effects by its marginal likelihood, their mean and weighted squares."""
        centre = np.einsum("gij,mj->mg", self.row_precision, row) / self.sizes
        off = row[:, None] - centre[:, :, None]
        squares = np.einsum("mgi,gij,mgj->mg", off, self.row_precision, off)
        squares = np.maximum(squares, max(1e-12 * float((row**2).mean()), 1e-300))
        log_chance = -(self.log_rows + np.log(self.sizes) + (row.shape[1] - 1) * np.log(squares)) / 2
        relation = self.pick(log_chance)
        chain = np.arange(self.chains)
        return relation, centre[chain, relation], squares[chain, relation]

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
        variance = scores.var() * len(scores) / rng.chisquare(len(scores) - 1, size=(self.chains, 1))
        level = scores.mean() + np.sqrt(variance / len(scores)) * rng.standard_normal((self.chains, 1))
        new = level + np.sqrt(variance) * rng.standard_normal((self.chains, 1))
        return level, new, np.hstack([variance, 0 * variance]), np.zeros(self.table.shape, dtype=np.bool_)


def _log_multigamma(a: FloatArray, k: int) -> FloatArray:
    """The logarithm of the multivariate gamma function of dimension k, up to a constant of k."""
    return np.asarray(gammaln(a[:, None] - np.arange(k) / 2).sum(axis=1))
