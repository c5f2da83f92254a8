"""What the whole grid would say, given the cells that were run.

Latent scores Z (m algorithms x n datasets) are matrix normal: Z ~ MN(0, Sigma, K). Sigma (m x m) says which algorithms
go together; K (n x n) what datasets share:

    K = l 11' + s xx' + I,

l the algorithms' levels, s their slopes over the size x of the datasets (its logarithm, standardised), and 1 for the
dataset alone. So a dataset that is larger than all that were run is predicted with less certainty, with a slope that is
hardly known. Of the scores only their order within a dataset is used (the rank likelihood of Hoff 2007, Annals of
Applied Statistics 1, 265-283): neither the scale of a dataset nor skewness matters. Sigma ~ InverseWishart(m + 1 + f,
f I), and (l, s) is averaged over a grid of settings.

A draw completes the grid, and its ranks are a draw of what the full run would have said.

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

from recassay.analysis.adaptive.sampler import sample
from recassay.core import ties
from recassay.core.types import FloatArray, IntArray

LEVELS = (0.3, 1.0, 3.0)
SLOPES: tuple[float, ...] = (0.0, 0.1, 0.4, 1.0)
"""l and s on the grid."""

NO_SLOPE = 0.5
"""How probable it is, before anything is known, that ranks do not depend on size (s = 0)."""

LINKS, BIASES = (0.3, 0.6, 0.9), (0.1, 0.6)
"""c and t on the grid."""

SPARE_DEGREES = 6.0
"""f: how closely Sigma is thought to follow the identity."""

SWEEPS, BURN_IN = 600, 60


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """`ranks[s, i, j]`: the rank of algorithm i on dataset j in draw s of the completed grid, 1 the best; `probes` the
    same of the probes, where there are any.
    """

    ranks: FloatArray
    probes: FloatArray | None = None

    @property
    def mean_ranks(self) -> FloatArray:
        """By draw and algorithm, the mean rank over the datasets of the grid."""
        means: FloatArray = self.ranks.mean(axis=2)
        return means


def complete(
    values: FloatArray,
    features: FloatArray | None = None,
    *,
    probes: FloatArray | None = None,
    rng: np.random.Generator,
) -> Belief:
    """Draws of the completed grid.

    `values` (algorithms x datasets) has higher values for better results, NaN where a cell was not run and -inf where
    it failed, which counts as the last place. `features` (datasets x p) are characteristics of the datasets, of which
    the first is read, the logarithm of the size; None where nothing is known of them. `probes` are values of
    probes, as `values` are.
    """
    m, n = values.shape
    table = values if probes is None else np.hstack([values, probes])
    run = ~np.isnan(table)
    touched, empty = np.flatnonzero(run.any(axis=0)), np.flatnonzero(~run.any(axis=0))
    if not len(touched):  # nothing is known: any order of any dataset
        places = np.tile(np.arange(1.0, m + 1), (SWEEPS - BURN_IN, run.shape[1], 1))
        return _belief(rng.permuted(places, axis=2).transpose(0, 2, 1), n)
    columns = np.concatenate([touched, empty])
    order, group, start = _orders(table[:, touched])
    kernels, log_prior = _kernels(n, features, with_probes=probes is not None)
    inverse, log_weight, slope, factor = _solved(kernels, log_prior, touched, empty, m)
    drawn, _ = sample(
        start, order, group, run[:, touched].sum(axis=0).astype(np.int64), inverse, log_weight, slope, factor,
        m + 1 + SPARE_DEGREES, SPARE_DEGREES, SWEEPS, BURN_IN, rng,
    )  # fmt: skip
    ranks = np.empty(drawn.shape)
    ranks[:, :, columns] = _ranks(drawn)
    whole = run.all(axis=0)
    ranks[:, :, whole] = ties.ranks(_finite(table[:, whole]), higher_is_better=True, axis=0)
    return _belief(ranks, n)


def _belief(ranks: FloatArray, n: int) -> Belief:
    """Ranks of all columns as those of the grid's n, and of the probes that follow."""
    return Belief(ranks[:, :, :n], ranks[:, :, n:] if ranks.shape[2] > n else None)


def standardised(size: FloatArray) -> FloatArray:
    """Sizes in standard deviations from their mean; 0 where they are all the same."""
    spread = float(size.std())
    return (size - size.mean()) / spread if spread > 0 else np.zeros(len(size))


def _finite(values: FloatArray) -> FloatArray:
    """Failures as a number below every other of the table."""
    finite = values[np.isfinite(values)]
    low = float(finite.min()) - 1.0 - abs(float(finite.min())) if finite.size else 0.0
    return np.where(np.isneginf(values), low, values)


def _orders(values: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """For each column: the algorithms from worst to best, those that were not run last; the number of each one's group
    of ties; and normal scores of the observed order to start from (0 where it was not run).
    """
    m, touched = values.shape
    order = np.zeros((touched, m), dtype=np.int64)
    group = np.zeros((touched, m), dtype=np.int64)
    start = np.zeros((touched, m))
    up = _finite(values)
    for j in range(touched):
        seen = np.flatnonzero(~np.isnan(up[:, j]))
        level = ties.level(up[seen, j])
        by = np.argsort(level, kind="stable")
        place = np.unique(level, return_inverse=True)[1]
        order[j, : len(seen)] = seen[by]
        order[j, len(seen) :] = np.flatnonzero(np.isnan(up[:, j]))
        group[j, : len(seen)] = place[by]
        start[j, seen] = 3.0 * ((place + 1.0) / (place.max() + 2.0) - 0.5)
    return order, group, start


def _kernels(n: int, features: FloatArray | None, *, with_probes: bool) -> tuple[FloatArray, FloatArray]:
    """K under every setting, and the log of its prior weight."""
    if features is None or features.shape[1] == 0:
        x, slopes = np.zeros(n), SLOPES[:1]
    else:
        x, slopes = standardised(features[:, 0]), SLOPES
    settings = list(product(LEVELS, slopes, LINKS, BIASES)) if with_probes else list(product(LEVELS, slopes))
    none = np.array([setting[1] == 0 for setting in settings])
    own = np.eye(n)
    kernels = []
    for level, slope, *of_probes in settings:
        common = level + slope * np.outer(x, x)
        if of_probes:
            link, bias = of_probes
            beside = common + link * own
            kernels.append(np.block([[common + own, beside], [beside, common + bias + own]]))
        else:
            kernels.append(common + own)
    weight = np.where(none, NO_SLOPE / none.sum(), (1 - NO_SLOPE) / max((~none).sum(), 1))
    return np.stack(kernels), np.log(weight)


def _solved(
    kernels: FloatArray, log_prior: FloatArray, touched: IntArray, empty: IntArray, m: int
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """What the sampler needs of every K: see `sampler.sample`."""
    inner = kernels[:, touched[:, None], touched]
    inverse = np.asarray(np.linalg.inv(inner), dtype=np.float64)
    log_weight = log_prior - m / 2 * np.asarray(np.linalg.slogdet(inner)[1], dtype=np.float64)
    across = kernels[:, empty[:, None], touched]
    slope = across @ inverse
    left = kernels[:, empty[:, None], empty] - slope @ np.swapaxes(across, 1, 2)
    return (
        np.ascontiguousarray(inverse),
        log_weight,
        np.ascontiguousarray(slope),
        np.ascontiguousarray(np.linalg.cholesky(left)),
    )


def _ranks(latent: FloatArray) -> FloatArray:
    """Ranks of the algorithms (second axis), 1 the best; latents never tie."""
    return np.argsort(np.argsort(-latent, axis=1), axis=1).astype(np.float64) + 1.0
