"""One model under a table of scores: algorithms, datasets, how they interact, and what was measured with noise.

z_ja, the transformed score of algorithm a on dataset j, is measured with an error of known variance v_ja around
theta_ja, and the theta_j (all k algorithms on dataset j) are draws from one population of datasets:

    z_ja | theta_ja ~ N(theta_ja, v_ja + o_ja),   theta_j | a, Sigma ~ N(a, Sigma),
    a | Sigma ~ N(m 1, Sigma / kappa),   Sigma ~ InverseWishart(nu, (nu - k - 1) (delta^2 1 1' + diag(tau_a^2))).

a is the level of each algorithm over the population, delta^2 the variance that all algorithms share on a dataset (some
datasets are easy), tau_a^2 that of the interaction (an algorithm suits a dataset). o_ja is 0 for most cells; now and
then it is large: an algorithm that fails on a dataset shall not move its level, nor make its every score uncertain. A
large kappa means that the algorithms hardly differ, a large nu that they vary over datasets as the prior says: both,
and the tau_a^2, are averaged over a grid by their marginal likelihood, which is closed for a complete table (Gelman et
al., Bayesian Data Analysis, 3rd edition, section 3.6). So the levels are shrunk to each other as far as the table
supports no difference, and a missing cell is only a value that is not known. Draws come from a Gibbs sampler that
completes the table.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, logsumexp

from recassay.core.types import BoolArray, FloatArray, IntArray

SPARE_DEGREES = (2.0, 6.0, 20.0, 100.0)
"""nu - k - 1 on the grid: how closely Sigma is thought to follow the prior."""

SHRINKAGES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 1e6)
"""kappa on the grid; the last stands for no difference at all."""

NO_DIFFERENCE = 0.25
"""Prior probability of the last of them; the others share the rest evenly."""

WIDTHS = (0.3, 0.6, 1.2, 2.4)
"""tau_a^2 on the grid, relative to the table's own."""

OWN = (0.0, 0.5, 1.0)
"""How far each algorithm has a tau_a^2 of its own: tau^2 (tau_a^2 / tau^2)^own, tau^2 being the geometric mean."""

OUTLIERS = (0.0, 6.0, 36.0, 216.0)
"""o on its grid, relative to tau^2, and below it the prior probability of each."""
OUTLIER_PRIOR = (0.94, 0.03, 0.02, 0.01)

SWEEPS, BURN_IN, HYPER_EVERY = 450, 100, 5
"""Sweeps of the sampler, those that are dropped, and how often the setting of the prior is drawn anew."""

SMALLEST = 1e-8
"""The least variance of an interaction beside that of the whole table: equal columns are no division by zero."""

ENOUGH = 8
"""Datasets from which on a failure can be told from an interaction."""

SMALL_NOISE = 1e-4
"""The noise of an exact score beside the variance of the interaction."""


@dataclass(frozen=True, slots=True, eq=False)
class HierarchicalDraws:
    """Draws from the posterior: `level[s, a]`, the level of each algorithm; `new[s, a]`, its score on a new dataset of
    the same population, failures included; `cells[t, j, a]`, the true scores on the datasets at hand (of a missing cell
    what would be measured, failures included); `shared` and
    `interaction`, the two variances, one for each draw; `outlying[j, a]`, the probability that the cell is an outlier.
    """

    level: FloatArray
    new: FloatArray
    cells: FloatArray
    shared: FloatArray
    interaction: FloatArray
    outlying: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class _Grid:
    """The settings of the prior that are averaged over, one entry each, and the log of their prior weight."""

    degrees: FloatArray
    shrinkage: FloatArray
    interaction: FloatArray
    shared: float
    weight: FloatArray

    @classmethod
    def around(cls, table: FloatArray) -> _Grid:
        """The grid whose variances are scaled to those of a complete table (datasets x algorithms)."""
        k = table.shape[1]
        interaction = _interactions(table)
        middle = float(np.exp(np.log(interaction).mean()))
        by_dataset = table.mean(axis=1)
        shared = max(float(by_dataset.var(ddof=1)) - middle / k, 0.1 * middle)
        prior = np.full(len(SHRINKAGES), (1 - NO_DIFFERENCE) / (len(SHRINKAGES) - 1))
        prior[-1] = NO_DIFFERENCE
        axes = np.meshgrid(SPARE_DEGREES, np.arange(len(SHRINKAGES)), WIDTHS, OWN, indexing="ij")
        spare, which, width, own = (axis.ravel() for axis in axes)
        which = which.astype(int)
        variances = middle * width[:, None] * (interaction / middle) ** own[:, None]
        return cls(k + 1 + spare, np.array(SHRINKAGES)[which], variances, shared, np.log(prior)[which])

    def scales(self, table: FloatArray, which: IntArray) -> FloatArray:
        """The scale matrices S_n of the posterior of Sigma under these settings, given a complete table."""
        n, k = table.shape
        centred = table - table.mean()
        total = centred.sum(axis=0)
        base = np.eye(k) * self.interaction[which, :, None] + self.shared
        spare = (self.degrees[which] - k - 1)[:, None, None]
        return spare * base + centred.T @ centred - np.outer(total, total) / (self.shrinkage[which] + n)[:, None, None]

    def weights(self, table: FloatArray, scale: FloatArray) -> FloatArray:
        """The posterior weights of all settings: prior times marginal likelihood of a complete table."""
        n, k = table.shape
        log_base = (
            k * np.log(self.degrees - k - 1)
            + np.log(self.interaction).sum(axis=1)
            + np.log1p(self.shared * (1 / self.interaction).sum(axis=1))
        )
        log_weight = (
            _log_multigamma((self.degrees + n) / 2, k)
            - _log_multigamma(self.degrees / 2, k)
            + self.degrees / 2 * log_base
            - (self.degrees + n) / 2 * np.linalg.slogdet(scale)[1]
            + k / 2 * (np.log(self.shrinkage) - np.log(self.shrinkage + n))
            + self.weight
        )
        weights: FloatArray = np.exp(log_weight - logsumexp(log_weight))
        return weights / weights.sum()

    def draw(
        self, setting: int, table: FloatArray, scale: FloatArray, count: int, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Levels, scores on a new dataset, and covariances, `count` of each, given one setting and a complete table.

        Sigma^-1 is Wishart, drawn by Bartlett's decomposition.
        """
        n, k = table.shape
        weight = self.shrinkage[setting] + n
        bartlett = np.zeros((count, k, k))
        below, diagonal = np.tril_indices(k, -1), np.arange(k)
        bartlett[:, below[0], below[1]] = rng.standard_normal((count, len(below[0])))
        bartlett[:, diagonal, diagonal] = np.sqrt(
            rng.chisquare(self.degrees[setting] + n - diagonal, size=(count, k))
        )  # fmt: skip
        factor = np.linalg.cholesky(scale) @ np.swapaxes(np.linalg.inv(bartlett), 1, 2)  # Sigma = factor factor'
        normal = factor @ rng.standard_normal((count, k, 2))
        level = table.mean() + (table - table.mean()).sum(axis=0) / weight + normal[:, :, 0] / np.sqrt(weight)
        return level, level + normal[:, :, 1], np.asarray(factor @ np.swapaxes(factor, 1, 2), dtype=np.float64)


def fit_hierarchical(
    scores: FloatArray, noise: FloatArray | None = None, *, draws: int = 4000, rng: np.random.Generator
) -> HierarchicalDraws:
    """Draws from the posterior for scores (datasets x algorithms, higher is better, NaN where missing).

    `noise` are the variances of the scores as measurements, in the same shape (None: they are exact).
    """
    missing = np.isnan(scores)
    table = _first_guess(scores, missing)
    grid = _Grid.around(table)
    everything = np.arange(len(grid.degrees))
    tau = _interactions(table)
    known = np.maximum(0.0 if noise is None else noise, SMALL_NOISE * tau) + np.zeros(scores.shape)
    each = -(-draws // (SWEEPS - BURN_IN))
    kept, cells, setting = [], [], 0
    outlying = np.zeros(scores.shape)
    for sweep in range(SWEEPS):
        if sweep % HYPER_EVERY == 0:
            setting = int(rng.choice(len(everything), p=grid.weights(table, grid.scales(table, everything))))
        scale = grid.scales(table, everything[setting : setting + 1])[0]
        level, new, covariance = grid.draw(setting, table, scale, each if sweep >= BURN_IN else 1, rng)
        table, outlier = _redraw(table, scores, known, missing, tau, level[-1], covariance[-1], rng)
        if sweep >= BURN_IN:
            failures = np.where(missing | ~outlier, 0.0, scores - table)
            kept.append((level, new + failures[rng.integers(len(table), size=each)], covariance))
            cells.append(np.where(missing, table + failures[rng.integers(len(table), size=len(table))], table))
            outlying += outlier
    level, new, covariance = (np.concatenate(part)[:draws] for part in zip(*kept, strict=True))
    shared, interaction = _variances(covariance)
    return HierarchicalDraws(level, new, np.stack(cells), shared, interaction, outlying / (SWEEPS - BURN_IN))


def _redraw(
    table: FloatArray,
    scores: FloatArray,
    noise: FloatArray,
    missing: BoolArray,
    tau: FloatArray,
    level: FloatArray,
    covariance: FloatArray,
    rng: np.random.Generator,
) -> tuple[FloatArray, BoolArray]:
    """The true scores anew, one algorithm after the other for all datasets at once, and which cells are outliers.

    Given the other algorithms' scores on dataset j, theta_ja is normal with mean m and variance s^2; whether the cell
    is an outlier is drawn with theta_ja integrated out, z_ja ~ N(m, s^2 + v_ja + o), then theta_ja given that.
    """
    from recassay.analysis.inference.sweep import sweep_cells

    n, k = table.shape
    table, outlier = table.copy(), np.zeros((n, k), dtype=np.bool_)
    normal, uniform = rng.standard_normal((k, n)), rng.random((k, n))
    added, log_prior = tau[:, None] * np.array(OUTLIERS), np.log(OUTLIER_PRIOR)
    precision: FloatArray = np.linalg.inv(covariance).astype(np.float64)
    sweep_cells(table, outlier, scores, noise, missing, precision, level, added, log_prior, normal, uniform)
    return table, outlier


def _first_guess(scores: FloatArray, missing: BoolArray) -> FloatArray:
    """The table with its holes filled by dataset and algorithm means (those of what was observed)."""
    present = ~missing
    if not present.any(axis=1).all() or not present.any(axis=0).all():
        raise ValueError("a dataset or an algorithm has no score at all")
    filled = np.where(missing, 0.0, scores)
    row, column = np.zeros(scores.shape[0]), np.zeros(scores.shape[1])
    for _ in range(20):  # alternating means: the additive fit
        row = np.where(present, filled - column, 0.0).sum(axis=1) / present.sum(axis=1)
        column = np.where(present, filled - row[:, None], 0.0).sum(axis=0) / present.sum(axis=0)
    return np.where(missing, row[:, None] + column, scores)


def _interactions(table: FloatArray) -> FloatArray:
    """The variance of each algorithm's interaction with the datasets, drawn to the mean of all where there are few.

    From `ENOUGH` datasets on, residuals are cut at three robust deviations (1.4826 median absolute residuals), so that
    failures do not count as interaction; with fewer nobody can tell a failure from an interaction.
    """
    n, k = table.shape
    middle = np.median if n >= ENOUGH else np.mean
    rest = table - middle(table, axis=1, keepdims=True)
    rest = rest - middle(rest, axis=0)
    if n >= ENOUGH:
        reach = 3 * 1.4826 * np.median(np.abs(rest), axis=0)
        rest = np.clip(rest, -reach, reach)
    own = (rest**2).sum(axis=0) / (n - 1) * k / max(k - 1, 1)
    mean = max(float(own.mean()), SMALLEST * float(table.var()), SMALLEST**2)
    return np.maximum((n * own + 5 * mean) / (n + 5), 0.01 * mean)


def _variances(covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The shared variance and that of the interaction: mean off the diagonal, and what the diagonal has beyond it."""
    k = covariance.shape[1]
    diagonal = np.trace(covariance, axis1=1, axis2=2)
    shared = (covariance.sum(axis=(1, 2)) - diagonal) / (k * (k - 1))
    return shared, diagonal / k - shared


def _log_multigamma(a: FloatArray, k: int) -> FloatArray:
    found: FloatArray = gammaln(a[:, None] - np.arange(k) / 2).sum(axis=1)
    return found
