"""What the whole grid would say, given the cells that were run.

Latent scores Z (m algorithms x n datasets) are matrix normal: Z ~ MN(0, Sigma, K). Sigma (m x m) says which algorithms
go together; K (n x n) what datasets share:

    K = l 11' + s xx' + I,

l the algorithms' levels, s their slopes over the size x of the datasets (its logarithm, standardised), and 1 for the
dataset alone. So a dataset that is larger than all that were run is predicted with less certainty, with a slope that is
hardly known. Of the scores only their order within a dataset is used (the rank likelihood of Hoff 2007, Annals of
Applied Statistics 1, 265-283): neither the scale of a dataset nor skewness matters. Sigma ~ InverseWishart(m + 1 + f,
f I), and (l, s) is averaged over a grid of settings.

A draw completes the grid, and its ranks are a draw of what the full run would have said. Failures are drawn apart
(`inference.failures`: their probability rises with size): a failed cell says nothing of the score that it would have
had, and the draws put it last on its dataset.

A probe is a cheaper look at a cell (without tuning, on fewer users, with fewer epochs): the same algorithms on the same
dataset, judged with more noise and perhaps a bias of its own. Probes are n further columns that share the levels and
slopes of the datasets; what a dataset has of its own correlates by c between the two, and t is how much cheapness
itself favours some algorithms:

    K(j, j') of a cell and a probe = l + s xx' + c [same dataset],   of two probes = l + s xx' + t + [same one].

c and t are averaged over a grid like the others, and so learned where both were run.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from recassay.analysis.adaptive.prior import DEGREES, Prior, Table, support
from recassay.analysis.adaptive.sampler import MOVES, sample
from recassay.analysis.inference.failures import draw_failures
from recassay.core import ties
from recassay.core.types import BoolArray, FloatArray, IntArray

LEVELS, INFORMED_LEVELS = (0.3, 1.0, 3.0), (0.03, 0.3, 1.0)
SLOPES: tuple[float, ...] = (0.0, 0.1, 0.4, 1.0)
"""l and s on the grid; with a prior of the levels, l is what is left beside it."""

NO_SLOPE = 0.5
"""How probable it is, before anything is known, that ranks do not depend on size (s = 0)."""

LINKS, BIASES = (0.3, 0.6, 0.9), (0.1, 0.6)
"""c and t on the grid."""

SPARE_DEGREES = 6.0
"""f: how closely Sigma is thought to follow the identity."""

SWEEPS, BURN_IN = 600, 60

UNSIZED = 1.5
"""By how much the logarithms of sizes scatter where they are not known."""


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """`ranks[s, i, j]`: the rank of algorithm i on dataset j in draw s of the completed grid, 1 the best; `failed`
    those cells that fail in the draw; `probes` the ranks of the probes, where there are any.
    """

    ranks: FloatArray
    failed: BoolArray
    probes: FloatArray | None = None
    expected: FloatArray | None = None
    """The mean rank of each algorithm if none fails that has not failed before: the best guess of the order. Claims
    are counted over `ranks`, in which any may fail.
    """
    weight: float = 0.0
    """How many measured datasets the prior of the levels counts for, on average over the algorithms that it knows and
    times the probability that it applies."""
    without: Belief | None = None
    """With a prior, the belief without it: a claim that it supports holds whatever the prior says."""

    @property
    def mean_ranks(self) -> FloatArray:
        """By draw and algorithm, the mean rank over the datasets of the grid."""
        return np.asarray(self.ranks.mean(axis=2))


def complete(
    values: FloatArray,
    log_size: FloatArray | None = None,
    *,
    probes: FloatArray | None = None,
    work: FloatArray | None = None,
    prior: Prior | None = None,
    rng: np.random.Generator,
) -> Belief:
    """Draws of the completed grid.

    `values` (algorithms x datasets) has higher values for better results, NaN where a cell was not run and -inf where
    it failed, which counts as the last place. `log_size` is the logarithm of the size of each dataset, None where the
    sizes are not known. Then `work`, the logarithm of what a dataset costs, tells failures by size (NaN: nothing was
    run there). `probes` are values of probes, as `values` are, and `prior` is what published tables say about the
    algorithms.
    """
    n = values.shape[1]
    table = values if probes is None else np.hstack([values, probes])
    failed, run = np.isneginf(table), ~np.isnan(table)
    scored = np.where(failed, np.nan, table)
    draws = SWEEPS - BURN_IN
    size = np.tile(_drawn_sizes(n, work, draws, rng) if log_size is None else log_size, table.shape[1] // n)
    applies = 0.0 if prior is None else support(prior, table)
    informed = round(draws * applies)
    record = None if prior is None or log_size is None or 2 * applies < 1 else (prior.succeeded, prior.log_size)
    fails = draw_failures(failed, run, size, draws, rng, elsewhere=record)
    whole = run.all(axis=0)
    certain = ties.ranks(table[:, whole], higher_is_better=True, axis=0)

    def drawn(known: Prior | None, count: int) -> tuple[FloatArray, float]:
        """So many draws of the latents with a prior or without, and what it counts."""
        if np.isnan(scored).all():
            shape = (count, *table.shape)
            return rng.random(shape) if known is None else _before(known, shape, rng), 0.0
        kernels = _kernels(n, log_size, with_probes=probes is not None, informed=known is not None)
        latent, weights = _latents(scored, *kernels, known, count, rng)
        return latent, 0.0 if known is None else float(weights[known.known].mean())

    def belief(latent: FloatArray, weight: float = 0.0, without: Belief | None = None) -> Belief:
        ranks, unfailing = _ranks(latent, fails), _ranks(latent, fails & failed.any(axis=1, keepdims=True))
        ranks[:, :, whole] = unfailing[:, :, whole] = certain
        expected = unfailing[:, :, :n].mean(axis=(0, 2))
        looked = None if probes is None else ranks[:, :, n:]
        return Belief(ranks[:, :, :n], fails[:, :, :n], looked, expected, weight, without)

    latent, _ = drawn(None, draws)
    without = belief(latent)
    if prior is None or not informed:
        return without
    with_prior, weight = drawn(prior, informed)
    return belief(np.concatenate([with_prior, latent[informed:]]), informed / draws * weight, without)


def _before(prior: Prior, shape: tuple[int, int, int], rng: np.random.Generator) -> FloatArray:
    """Draws x algorithms x datasets of the latents before any cell was run, from the prior alone."""
    deviation = np.where(prior.known, np.hypot(prior.deviations, np.median(MOVES)), 1.0)
    level = prior.levels + deviation * rng.standard_normal(shape[:2])
    return np.asarray(level[:, :, None] + np.linalg.cholesky(prior.covariance) @ rng.standard_normal(shape))


def as_evidence(
    name: str,
    algorithms: tuple[str, ...],
    values: FloatArray,
    seconds: FloatArray,
    log_size: FloatArray | None,
    rng: np.random.Generator,
) -> Table:
    """A published table as evidence for a prior: its latent scores, as this belief sees them."""
    run = np.isfinite(values)
    columns = np.flatnonzero(run.any(axis=0))
    scored = np.where(run, values, np.nan)[:, columns]
    kernels = _kernels(len(columns), None, with_probes=False, informed=False)
    drawn, _ = _latents(scored, *kernels, None, SWEEPS - BURN_IN, rng)
    centred = drawn - drawn.mean(axis=1, keepdims=True)
    deviation = (centred - centred.mean(axis=2, keepdims=True)).std(axis=(1, 2), keepdims=True)
    latent = (centred / deviation).mean(axis=0)
    size = np.full(values.shape[1], np.nan) if log_size is None else log_size
    log_seconds = np.log(np.where(seconds > 0, seconds, np.nan))
    return Table(name, algorithms, latent, log_seconds[:, columns], size[columns], run[:, columns])


def _latents(
    values: FloatArray,
    kernels: FloatArray,
    log_prior: FloatArray,
    prior: Prior | None,
    count: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """So many draws of the latents of every column (`values`, NaN: not seen), K being one of the `kernels`; and how
    many datasets the prior of each level counts for.
    """
    m, seen = len(values), ~np.isnan(values)
    touched, empty = np.flatnonzero(seen.any(axis=0)), np.flatnonzero(~seen.any(axis=0))
    # Of every K: the inverse and the determinant of its touched part, and the regression of the empty columns on it.
    inner = kernels[:, touched[:, None], touched]
    inverse = np.asarray(np.linalg.inv(inner), dtype=np.float64)
    log_weight = log_prior - m / 2 * np.asarray(np.linalg.slogdet(inner)[1], dtype=np.float64)
    across = kernels[:, empty[:, None], touched]
    slope = across @ inverse
    left = kernels[:, empty[:, None], empty] - slope @ np.swapaxes(across, 1, 2)
    order, group, start = _orders(values[:, touched])
    spare, none = SPARE_DEGREES if prior is None else DEGREES, np.zeros(0)
    drawn, weights = sample(
        start, order, group, seen[:, touched].sum(axis=0).astype(np.int64), np.ascontiguousarray(inverse), log_weight,
        np.ascontiguousarray(slope), np.ascontiguousarray(np.linalg.cholesky(left)),
        m + 1 + spare, spare * (np.eye(m) if prior is None else prior.covariance),
        none if prior is None else prior.levels, none if prior is None else prior.deviations,
        BURN_IN + count, BURN_IN, rng,
    )  # fmt: skip
    placed = np.empty_like(drawn)
    placed[:, :, np.concatenate([touched, empty])] = drawn
    return placed, weights


def _drawn_sizes(n: int, work: FloatArray | None, draws: int, rng: np.random.Generator) -> FloatArray:
    """Logarithms of sizes that are not known, as far as the work of a dataset tells them: one row per draw."""
    known = np.full(n, np.nan) if work is None else work
    middle = float(np.nanmean(known)) if not np.isnan(known).all() else 0.0
    return np.where(np.isnan(known), middle + UNSIZED * rng.standard_normal((draws, n)), known)


def _orders(values: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """For each column: the algorithms from worst to best, those without a value last; the number of each one's group
    of ties; and normal scores of the observed order to start from (0 where it has none).
    """
    m, touched = values.shape
    order = np.zeros((touched, m), dtype=np.int64)
    group = np.zeros((touched, m), dtype=np.int64)
    start = np.zeros((touched, m))
    for j in range(touched):
        seen = np.flatnonzero(~np.isnan(values[:, j]))
        level = ties.level(values[seen, j])
        by = np.argsort(level, kind="stable")
        place = np.unique(level, return_inverse=True)[1]
        order[j, : len(seen)] = seen[by]
        order[j, len(seen) :] = np.flatnonzero(np.isnan(values[:, j]))
        group[j, : len(seen)] = place[by]
        start[j, seen] = 3.0 * ((place + 1.0) / (place.max() + 2.0) - 0.5)
    return order, group, start


def _kernels(
    n: int, log_size: FloatArray | None, *, with_probes: bool, informed: bool
) -> tuple[FloatArray, FloatArray]:
    """K under every setting, and the log of its prior weight."""
    x, slopes = np.zeros(n), SLOPES[:1]
    if log_size is not None:
        x, slopes = (log_size - log_size.mean()) / (float(log_size.std()) or 1.0), SLOPES
    levels = INFORMED_LEVELS if informed else LEVELS
    settings = list(product(levels, slopes, LINKS, BIASES)) if with_probes else list(product(levels, slopes))
    none = np.array([setting[1] == 0 for setting in settings])
    identity = np.eye(n)
    kernels = []
    for level, slope, *of_probes in settings:
        common = level + slope * np.outer(x, x)
        if of_probes:
            link, bias = of_probes
            beside = common + link * identity
            kernels.append(np.block([[common + identity, beside], [beside, common + bias + identity]]))
        else:
            kernels.append(common + identity)
    weight = np.where(none, NO_SLOPE / none.sum(), (1 - NO_SLOPE) / max((~none).sum(), 1))
    return np.stack(kernels), np.log(weight)


def _ranks(latent: FloatArray, failed: BoolArray) -> FloatArray:
    """Ranks of the algorithms (second axis), 1 the best; failed ones share the last places, and latents never tie."""
    down = np.where(failed, np.inf, -latent)
    ranks = np.argsort(np.argsort(down, axis=1), axis=1) + 1.0
    count = failed.sum(axis=1, keepdims=True)
    return np.where(failed, latent.shape[1] - (count - 1) / 2, ranks)
