"""What published tables say about the algorithms of a new grid, as a prior of the belief.

From the tables come, for the algorithms that they know by name: levels on the latent scale of `belief` and how
uncertain they are, which algorithms err together, how their costs compare, and up to which sizes they ran. An
algorithm that no table knows gets the mean level of its class with the spread of all algorithms.

How much the levels count is learned in the new grid (`sampler`). The level of a known algorithm is

    m_i ~ N(c_i, s_i^2 + t^2)   with probability 1 - e,   else N(0, 1):

c and s from the tables, t how far levels move between benchmarks, e how often a table says nothing about an algorithm.
t and e have priors and are drawn. Beside that stands the belief without any prior. `support` weighs the two: how likely
the orders on the datasets at hand are under the one and under the other. So a table that disagrees with the new cells
as a whole (another task's, or names that mean something else) soon counts for nothing, nor do its correlations. A claim
is certified when either belief supports it (`decide`), so that a prior which is wrong about the leaders delays nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from recassay.core.names import canonical
from recassay.core.types import BoolArray, FloatArray, IntArray

ALIASES = {
    "pop": "mostpop", "popularity": "mostpop", "toppop": "mostpop", "itemcf": "itemknn", "usercf": "userknn",
    "mfbpr": "bpr", "bprmf": "bpr", "easer": "ease", "multvae": "multivae", "multdae": "multidae", "ials": "als",
    "implicitmf": "als",
}  # fmt: skip
"""Other names of an algorithm, both without case and separators."""

APPLIES = 0.5
"""How probable it is, before any cell was run, that the tables speak of the algorithms at hand."""

LEVEL_SPREADS, LEVEL_MOVES = (0.3, 1.0, 3.0), (0.01, 0.04, 0.16, 0.5)
"""Variances of the levels without a prior, and t^2 with it, on grids, all as likely before."""

GUMBEL = float(np.pi / np.sqrt(6))
"""The deviation of the errors of Plackett and Luce's model."""

NEWTON_STEPS = 30

LEAST_SHARED = 3
"""A table that knows fewer of the grid's algorithms says nothing about their order."""

TOGETHER, DEGREES = 0.7, 12.0
"""How much the correlations of the tables count against none, and the degrees of freedom f of Sigma with a prior."""

OTHER_MACHINE = 0.5
"""A cell that ran elsewhere counts as so many that ran here, in the account of failures."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A published table as evidence: latent scores (algorithms x datasets) in units of a dataset's own deviation,
    logarithms of seconds and of sizes, NaN where they are not known, and which cells ran.
    """

    name: str
    algorithms: tuple[str, ...]
    latent: FloatArray
    log_seconds: FloatArray
    log_size: FloatArray
    ran: BoolArray


@dataclass(frozen=True, slots=True, eq=False)
class Prior:
    """For each algorithm of a grid: `levels` and their `deviations` (infinite where no table knows it), `covariance`
    of what datasets have of their own, `log_seconds` relative to each other (NaN: unknown); and the `succeeded` cells
    (algorithms x published datasets, weighted) of `log_size`.
    """

    sources: tuple[str, ...]
    """In words: which tables, with how many of the algorithms and on how many datasets."""
    levels: FloatArray
    deviations: FloatArray
    covariance: FloatArray
    log_seconds: FloatArray
    succeeded: FloatArray
    log_size: FloatArray

    @property
    def known(self) -> BoolArray:
        """Which algorithms a table knows."""
        return np.asarray(np.isfinite(self.deviations))

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Prior:
        """The prior that `plain` made plain for a journal; a missing number was infinite or unknown."""
        arrays = {
            name: np.array(stored[name], dtype=np.float64) for name in cls.__dataclass_fields__ if name != "sources"
        }
        arrays["deviations"] = np.where(np.isnan(arrays["deviations"]), np.inf, arrays["deviations"])
        return cls(sources=tuple(stored["sources"]), **arrays)


def same_name(name: str) -> str:
    """A name without case and separators; other names of an algorithm become one."""
    plain = canonical(name)
    return ALIASES.get(plain, plain)


def prior_from(
    tables: Sequence[Table], algorithms: Sequence[str], classes: Sequence[str] | None = None, *, between: float = 0.0
) -> Prior | None:
    """The prior for a grid of `algorithms`; None where no table knows at least three of them.

    Levels differ between benchmarks (other tuning, protocols, code) with a variance of at least `between`; where tables
    share algorithms, it is estimated from them. The new grid is one benchmark more.
    """
    m = len(algorithms)
    names = [same_name(name) for name in algorithms]
    cost, costs, known_levels = np.zeros(m), np.zeros(m), []
    together, pairs = np.zeros((m, m)), np.zeros((m, m))
    sources, succeeded, sizes = [], [], []
    for table in tables:
        at = {same_name(name): i for i, name in enumerate(table.algorithms)}
        ours = np.array([i for i, name in enumerate(names) if name in at], dtype=np.int64)
        theirs = np.array([at[names[i]] for i in ours], dtype=np.int64)
        if len(ours) < LEAST_SHARED:
            continue
        latent = table.latent[theirs]
        n = latent.shape[1]
        # The levels are relative to the algorithms that both have.
        level = latent.mean(axis=1)
        residual = latent - level[:, None]
        known_levels.append((ours, level, np.maximum(residual.var(axis=1), 0.25) / n))
        together[np.ix_(ours, ours)] += residual @ residual.T
        pairs[np.ix_(ours, ours)] += n
        timed = np.isfinite(table.log_seconds[theirs]).sum(axis=1)
        if (timed >= 2).all():
            seconds = np.nanmean(table.log_seconds[theirs] - np.nanmean(table.log_seconds[theirs], axis=0), axis=1)
            cost[ours] += n * seconds
            costs[ours] += n
        if np.isfinite(table.log_size).all():
            ran = np.zeros((m, n))
            ran[ours] = OTHER_MACHINE * table.ran[theirs]
            succeeded.append(ran)
            sizes.append(table.log_size)
        sources.append(f"{table.name} ({len(ours)} of {m} algorithms, {n} datasets)")
    if not sources:
        return None
    variance_between = max(between, _between(known_levels))
    precision, weighted = np.zeros(m), np.zeros(m)
    for ours, level, variance in known_levels:
        precision[ours] += 1 / (variance + variance_between)
        weighted[ours] += (level - level.mean()) / (variance + variance_between)
    known = precision > 0
    levels = np.divide(weighted, precision, out=np.zeros(m), where=known)
    kinds = np.array(list(classes) if classes is not None else ["other"] * m)
    for i in np.flatnonzero(~known):
        alike = known & (kinds == kinds[i]) & (kinds != "other")
        levels[i] = levels[alike].mean() if alike.any() else 0.0
    covariance = np.divide(together, pairs, out=np.eye(m), where=pairs > 0)
    scale = np.sqrt(np.maximum(np.diagonal(covariance), 1e-6))
    correlation = TOGETHER * covariance / np.outer(scale, scale) + (1 - TOGETHER) * np.eye(m)
    return Prior(
        sources=tuple(sources),
        levels=levels,
        deviations=np.sqrt(np.divide(1.0, precision, out=np.full(m, np.inf), where=known) + variance_between),
        covariance=_positive(correlation),
        log_seconds=np.divide(cost, costs, out=np.full(m, np.nan), where=costs > 0),
        succeeded=np.hstack(succeeded) if succeeded else np.zeros((m, 0)),
        log_size=np.concatenate(sizes) if sizes else np.zeros(0),
    )


def _between(levels: Sequence[tuple[IntArray, FloatArray, FloatArray]]) -> float:
    """The variance of a level between tables, by moments, from every two that share enough algorithms; else 0."""
    estimates = []
    for (ours, left, noise), (theirs, right, noise_right) in combinations(levels, 2):
        _, at, places = np.intersect1d(ours, theirs, return_indices=True)
        if len(at) >= LEAST_SHARED:
            gap = left[at] - right[places]
            spread = float(gap.var(ddof=1) - (noise[at] + noise_right[places]).mean())
            estimates.append((spread / 2, len(at) - 1))
    return max(sum(spread * weight for spread, weight in estimates) / max(sum(w for _, w in estimates), 1), 0.0)


def _positive(matrix: FloatArray) -> FloatArray:
    """The matrix with its eigenvalues at least 0.05: tables that know different pairs need not agree."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.maximum(values, 0.05)) @ vectors.T)


def support(prior: Prior, values: FloatArray) -> float:
    """The probability that the tables speak of these algorithms, by the orders of `values` (not run: NaN or -inf).

    Given levels u, an order has Plackett and Luce's probability; u is N(c, s^2 + t^2) with the prior and N(0, l)
    without. The marginal likelihoods are Laplace's, averaged over t and over l.
    """
    ran = np.isfinite(values)
    down = np.argsort(-np.where(ran, values, -np.inf), axis=0, kind="stable").T
    # By dataset and place of the order, who is chosen and who is left to choose from: datasets x places x algorithms.
    left = (np.argsort(down, axis=1)[:, None, :] >= np.arange(len(values))[:, None]) & ran.T[:, None, :]
    open_choices = left.sum(axis=2) > 1
    left, chosen = left[open_choices], down[open_choices]
    if not len(left):
        return APPLIES
    variances = np.where(prior.known, prior.deviations, 0.0) ** 2
    informed = [_evidence(left, chosen, prior.levels, np.where(prior.known, variances + t, 1.0)) for t in LEVEL_MOVES]
    without = [_evidence(left, chosen, np.zeros(len(values)), np.full(len(values), spread)) for spread in LEVEL_SPREADS]
    ahead = np.logaddexp.reduce(informed) - np.log(len(informed)) + np.log(APPLIES)
    behind = np.logaddexp.reduce(without) - np.log(len(without)) + np.log(1 - APPLIES)
    return float(1 / (1 + np.exp(np.clip(behind - ahead, -500.0, 500.0))))


def _evidence(left: BoolArray, chosen: IntArray, mean: FloatArray, variance: FloatArray) -> float:
    """The logarithm of Laplace's marginal likelihood of the choices, levels being N(mean, variance) before."""
    level = mean.copy()
    counts = np.bincount(chosen, minlength=len(mean))
    for _ in range(NEWTON_STEPS):
        weight = np.where(left, np.exp(GUMBEL * (level - level.max())), 0.0)
        share = weight / weight.sum(axis=1, keepdims=True)
        gradient = GUMBEL * (counts - share.sum(axis=0)) - (level - mean) / variance
        curvature = np.diag(GUMBEL**2 * share.sum(axis=0) + 1 / variance) - GUMBEL**2 * share.T @ share
        step = np.linalg.solve(curvature, gradient)
        level = level + step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < 1e-3:
            break
    fit = float(np.log(share[np.arange(len(chosen)), chosen]).sum())
    prior = 0.5 * float(((level - mean) ** 2 / variance + np.log(variance)).sum())
    return fit - prior - 0.5 * float(np.linalg.slogdet(curvature)[1])
