"""What samplers of the hierarchical model have in common: a table and first guesses of it, chains side by side,
outliers, what a run keeps."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from recassay.core.types import BoolArray, FloatArray, IntArray

SMALLEST = 1e-10
"""The least variance of an interaction beside that of the whole table: equal columns must not divide by zero."""

ENOUGH = 5
"""Datasets from which on a failure can be distinguished from an interaction."""

OUTLIER_STEP = 6.0
"""The variance of an outlier is that of the interaction times a power of this."""

OUTLIER_PRIOR = (0.94, 0.03, 0.02, 0.01)
"""The variance of an outlier is tau_a^2 times a power of `OUTLIER_STEP`. The prior is that of none, the first and
second power, and all higher ones together: as many as the table's farthest cell needs."""

SHRINKAGES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 1e6)
"""kappa on the grid; the last stands for no difference at all."""

SHRINKAGE_PRIOR = (0.14, 0.14, 0.18, 0.18, 0.14, 0.12, 0.1)

NEGLIGIBLE = 1e-4
"""Levels that differ by less than this share of the deviation of all scores are the same level."""

SMALL_NOISE = 1e-4
"""The noise of an exact score beside the variance of the interaction."""

MOST_CELLS = 8_000_000
"""Draws of cells that are kept, over all chains and cells of the table."""


class Chains(ABC):
    """Chains of one table (datasets x algorithms), side by side; `step` moves all of them once."""

    burn_in: int

    def __init__(self, scores: FloatArray, noise: FloatArray, chains: int, rng: np.random.Generator) -> None:
        self.scores, self.missing = np.ascontiguousarray(scores), np.isnan(scores)
        self.chains, self.rng = chains, rng
        fitted = first_guess(scores, self.missing)
        self.negligible = NEGLIGIBLE * float(fitted.std())
        self.tau = interactions(fitted)
        self.noise = np.maximum(noise, SMALL_NOISE * self.tau)
        start, farthest = without_outliers(fitted, self.tau)
        powers = max(3, int(np.ceil(np.log(farthest) / np.log(OUTLIER_STEP))) + 1)
        self.added = self.tau[:, None] * np.concatenate([[0.0], OUTLIER_STEP ** np.arange(1, powers + 1)])
        self.log_kinds = np.log([*OUTLIER_PRIOR[:3], *[OUTLIER_PRIOR[3] / (powers - 2)] * (powers - 2)])
        self.outlying = np.zeros(scores.shape)
        self.table = np.repeat(start[None], chains, axis=0)

    @abstractmethod
    def step(self) -> tuple[FloatArray, FloatArray, FloatArray, BoolArray]:
        """Every chain once: levels, scores on a new dataset, the two variances, and which cells are outliers."""

    def run(self, sweeps: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Levels, new scores, cells (of some sweeps) and variances, chains x sweeps x ... each."""
        every = max(1, min(10, sweeps // 10), -(-sweeps * self.table.size // MOST_CELLS))
        kept: list[list[FloatArray]] = [[], [], [], []]
        known, chain, n = np.nan_to_num(self.scores), np.arange(self.chains), len(self.scores)
        for at in range(-self.burn_in, sweeps):
            level, new, variances, outlier = self.step()
            if at < 0:
                continue
            failures = np.where(outlier, known - self.table, 0.0)
            kept[0].append(level)
            kept[1].append(new + failures[chain, self.rng.integers(n, size=self.chains)])
            kept[3].append(variances)
            self.outlying += outlier.sum(axis=0)
            if at % every == 0:
                like = self.rng.integers(n, size=(n, self.chains))
                kept[2].append(np.where(self.missing, self.table + failures[chain, like].swapaxes(0, 1), self.table))
        self.burn_in = 0
        level, new, cells, variances = (np.stack(part, axis=1) for part in kept)
        return level, new, cells, variances

    def sweep_cells(self, precision: FloatArray, expected: FloatArray) -> BoolArray:
        """Draw every cell of the table given what is expected of it; which are outliers (see `sweep`)."""
        from recassay.analysis.inference.sweep import sweep_cells

        outlier = np.zeros(self.table.shape, dtype=np.bool_)
        sweep_cells(
            self.table, outlier, self.scores, self.noise, self.missing, precision, expected, self.added,
            self.log_kinds, self.rng.standard_normal(self.table.shape), self.rng.random(self.table.shape),
        )  # fmt: skip
        return outlier

    def pick(self, log_chance: FloatArray) -> IntArray:
        """One column for every chain, drawn by the exponentials of these (chains x columns)."""
        chance = np.cumsum(np.exp(log_chance - log_chance.max(axis=1, keepdims=True)), axis=1)
        return np.asarray((chance < self.rng.random((self.chains, 1)) * chance[:, -1:]).sum(axis=1))


def first_guess(scores: FloatArray, missing: BoolArray) -> FloatArray:
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


def _residuals(table: FloatArray) -> FloatArray:
    """What dataset and algorithm do not explain, by medians from `ENOUGH` datasets on and by means below."""
    middle = np.median if len(table) >= ENOUGH else np.mean
    rest = table - middle(table, axis=1, keepdims=True)
    return rest - middle(rest, axis=0)


def interactions(table: FloatArray) -> FloatArray:
    """The variance of each algorithm's interaction with the datasets, drawn to the mean of all where there are few.

    From `ENOUGH` datasets on, residuals are cut at three robust deviations (1.4826 median absolute residuals), so that
    failures do not count as interaction; with fewer nobody can tell a failure from an interaction.
    """
    n, k = table.shape
    rest = _residuals(table)
    if n >= ENOUGH:
        reach = 3 * 1.4826 * np.median(np.abs(rest), axis=0)
        rest = np.clip(rest, -reach, reach)
    within = (rest**2).sum(axis=0) / (n - 1) * k / max(k - 1, 1)
    mean = max(float(within.mean()), SMALLEST * float(table.var()), SMALLEST**2)
    return np.maximum((n * within + 5 * mean) / (n + 5), 0.01 * mean)


def without_outliers(table: FloatArray, tau: FloatArray) -> tuple[FloatArray, float]:
    """The table with residuals cut at four deviations of the interaction, where chains start: one that starts within a
    failure takes long to leave it. And the largest squared residual, in variances of the interaction."""
    rest = _residuals(table)
    reach = 4 * np.sqrt(tau)
    return table - rest + np.clip(rest, -reach, reach), max(float((rest**2 / tau).max()), OUTLIER_STEP)
