"""The hierarchical model of tables with many algorithms: what they share on a dataset is a few factors.

A full covariance of k algorithms takes k^3 steps per draw, and n datasets tell little of it where k is above n. So

    theta_ja = r_j + c_a + l_a' f_j + e_ja,   f_j ~ N(0, I),   l_af ~ N(0, s_f^2),   e_ja ~ N(0, psi_a),
    r_j ~ N(m, v),   p(m, v) ~ 1 / v,   c_a ~ N(0, tau^2 / kappa),   psi_a ~ InverseGamma(h, h t),   p(t) ~ 1 / t,

and the level of an algorithm is m + c_a. tau^2 is the table's own, kappa on the grid of `chains`, h on a grid of its
own. Everything is conjugate, and each draw takes as many steps as the table has cells. Levels, the means of the factors
and that of r_j would move slowly one after the other, so that they are drawn together, and kappa with all of them
summed out.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from recassay.analysis.inference.chains import SHRINKAGE_PRIOR, SHRINKAGES, Chains
from recassay.core.decompositions import signed_svd
from recassay.core.types import BoolArray, FloatArray

FACTORS = 4
CLOSENESS = (1.5, 4.0, 12.0, 50.0)
"""h on the grid: how closely the variances of the algorithms follow each other."""

FACTOR_PRIOR = 0.05
"""s_f^2 ~ InverseGamma(1/2, this times the variance of the interaction): factors that are not needed vanish."""

BURN_IN = 100


class FewFactors(Chains):
    """Chains whose covariance of algorithms is that of a few factors."""

    def __init__(self, scores: FloatArray, noise: FloatArray, chains: int, rng: np.random.Generator) -> None:
        super().__init__(scores, noise, chains, rng)
        start = self.table[0]
        self.row, self.column = start.mean(axis=1), start.mean(axis=0) - start.mean()
        left, size, right = signed_svd(start - self.row[:, None] - self.column)
        count = min(FACTORS, len(size))
        self.middle = float(np.exp(np.log(self.tau).mean()))
        stretch = size[:count] / np.sqrt(len(start))
        self.factor = np.repeat((left[:, :count] * np.sqrt(len(start)))[None], chains, axis=0)
        self.load = np.repeat((right[:count].T * stretch)[None], chains, axis=0)
        self.row = np.repeat(self.row[None], chains, axis=0)
        self.column = np.repeat(self.column[None], chains, axis=0)
        self.interaction = np.repeat(self.tau[None], chains, axis=0)  # psi
        self.scale = np.full(chains, self.middle)  # t
        self.closeness = rng.choice(CLOSENESS, size=chains)
        self.spread = np.repeat((stretch**2 / len(self.tau) + 1e-3 * self.middle)[None], chains, axis=0)  # s_f^2
        self.burn_in = BURN_IN

    def step(self) -> tuple[FloatArray, FloatArray, FloatArray, BoolArray]:
        """Factors, variances, levels and cells of every chain, each drawn given the others."""
        rng, (n, k) = self.rng, self.scores.shape
        self._factors()
        rest = self.table - self.factor @ self.load.swapaxes(1, 2)
        self._variances(rest - self.row[:, :, None] - self.column[:, None])
        # the effects of the datasets, and their population
        precision = 1 / self.interaction
        mean = self.row.mean(axis=1, keepdims=True)
        shared = ((self.row - mean) ** 2).sum(axis=1) / rng.chisquare(n - 1, size=self.chains)
        shared = np.maximum(shared, 1e-12 * self.middle)
        centre = mean[:, 0] + np.sqrt(shared / n) * rng.standard_normal(self.chains)
        weight = precision.sum(axis=1) + 1 / shared
        pull = ((rest - self.column[:, None]) @ precision[:, :, None])[:, :, 0] + (centre / shared)[:, None]
        self.row = pull / weight[:, None] + rng.standard_normal((self.chains, n)) / np.sqrt(weight)[:, None]
        shift = self._levels(rest)
        level = (centre + shift)[:, None] + self.column
        # a new dataset, and the cells
        common = (self.load @ rng.standard_normal((self.chains, self.load.shape[2], 1)))[:, :, 0]
        common += np.sqrt(shared)[:, None] * rng.standard_normal((self.chains, 1))
        new = level + common + np.sqrt(self.interaction) * rng.standard_normal((self.chains, k))
        expected = self.factor @ self.load.swapaxes(1, 2) + self.row[:, :, None] + self.column[:, None]
        outlier = self.sweep_cells(1 / self.interaction[:, :, None], expected)
        squared = (self.load**2).sum(axis=(1, 2))
        between = shared + ((self.load.sum(axis=1) ** 2).sum(axis=1) - squared) / (k * (k - 1))
        whole = shared + (squared + self.interaction.sum(axis=1)) / k
        return level, new, np.stack([between, whole - between], axis=1), outlier

    def _factors(self) -> None:
        """The factors given the loadings, and these given the factors: each a regression with a normal prior."""
        rng, count = self.rng, self.load.shape[2]
        rest = self.table - self.row[:, :, None] - self.column[:, None]
        weighted = self.load / self.interaction[:, :, None]
        lower = np.linalg.cholesky(np.eye(count) + self.load.swapaxes(1, 2) @ weighted)
        half = np.linalg.solve(lower, (rest @ weighted).swapaxes(1, 2))
        half += rng.standard_normal(half.shape)
        self.factor = np.linalg.solve(lower.swapaxes(1, 2), half).swapaxes(1, 2)
        # with loadings in units of their prior, every algorithm's precision has the same axes
        size = np.sqrt(self.spread)[:, None, :]
        known = self.factor * size
        value, axes = np.linalg.eigh(known.swapaxes(1, 2) @ known)
        precision = 1 + value[:, None, :] / self.interaction[:, :, None]
        pull = (rest.swapaxes(1, 2) @ known) @ axes / self.interaction[:, :, None]
        # The chance is turned into the axes, so that their signs, which depend on the processor, do not matter.
        drawn = pull / precision + (rng.standard_normal(pull.shape) @ axes) / np.sqrt(precision)
        self.load = (drawn @ axes.swapaxes(1, 2)) * size
        squares = (self.load**2).sum(axis=1) / 2 + FACTOR_PRIOR * self.middle
        self.spread = squares / rng.gamma(0.5 + self.load.shape[1] / 2, size=squares.shape)

    def _variances(self, rest: FloatArray) -> None:
        """The variance of each algorithm's own interaction, and the settings of its prior."""
        rng, (n, k) = self.rng, self.scores.shape
        rate = (self.closeness * self.scale)[:, None] + (rest**2).sum(axis=1) / 2
        self.interaction = rate / rng.gamma(self.closeness[:, None] + n / 2, size=rate.shape)
        self.scale = rng.gamma(k * self.closeness) / (self.closeness * (1 / self.interaction).sum(axis=1))
        h = np.array(CLOSENESS)
        scaled = self.scale[:, None] / self.interaction
        log_chance = k * (h * np.log(h) - gammaln(h)) + h * (np.log(scaled) - scaled).sum(axis=1, keepdims=True)
        self.closeness = h[self.pick(log_chance)]

    def _levels(self, rest: FloatArray) -> FloatArray:
        """kappa, then the means of the factors and datasets' effects, then the levels; what was added to the effects.

        With the datasets' deviations from these means taken off, the mean of algorithm a over datasets is
        c_a + x + l_a' g + noise of variance psi_a / n; x is free, and g, the mean of the factors, N(0, I / n).
        """
        rng, (n, k) = self.rng, self.scores.shape
        before = self.factor.mean(axis=1)
        mean = rest.mean(axis=1) - self.row.mean(axis=1, keepdims=True) + (self.load @ before[:, :, None])[:, :, 0]
        known = np.concatenate([np.ones((self.chains, k, 1)), self.load], axis=2)
        prior = np.diag([0.0, *[float(n)] * before.shape[1]])
        kappa = np.array(SHRINKAGES)
        variance = self.middle / kappa[:, None] + self.interaction[:, None] / n  # chains x kappa x algorithms
        weighted = known[:, None] / variance[..., None]
        precision = prior + weighted.swapaxes(2, 3) @ known[:, None]
        pull = (weighted * mean[:, None, :, None]).sum(axis=2)
        lower = np.linalg.cholesky(precision)
        half = np.linalg.solve(lower, pull[..., None])[..., 0]
        log_chance = (
            (half**2).sum(axis=2) / 2 - (mean[:, None] ** 2 / variance + np.log(variance)).sum(axis=2) / 2
            - np.log(np.diagonal(lower, axis1=2, axis2=3)).sum(axis=2) + np.log(SHRINKAGE_PRIOR)
        )  # fmt: skip
        chain, drawn = np.arange(self.chains), self.pick(log_chance)
        half = half[chain, drawn] + rng.standard_normal(half[chain, drawn].shape)
        moved = np.linalg.solve(lower[chain, drawn].swapaxes(1, 2), half[:, :, None])[:, :, 0]
        left = mean - (known @ moved[:, :, None])[:, :, 0]
        between, within = (self.middle / kappa[drawn])[:, None], self.interaction / n
        share = between / (between + within)
        self.column = share * left + np.sqrt(share * within) * rng.standard_normal(left.shape)
        self.factor += (moved[:, 1:] - before)[:, None]
        self.row += moved[:, :1]
        return moved[:, 0]
