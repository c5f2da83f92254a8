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
one of C_j; both are on a grid, too. Draws come from chains of a Gibbs sampler that completes the table
(`full_covariance`). Above 50 algorithms S is that of a few factors (`few_factors`).

Whether the chains have met, and what their draws are worth: Vehtari et al. 2021, *Bayesian Analysis* 16.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recassay.analysis.inference.chains import Chains
from recassay.analysis.inference.families import renumbered
from recassay.analysis.inference.few_factors import FewFactors
from recassay.analysis.inference.full_covariance import FullCovariance
from recassay.core import ties
from recassay.core.content import content_order
from recassay.core.errors import UsageError
from recassay.core.types import FloatArray, IntArray

CHAINS, FEW_CHAINS = 32, 8
DRAWS, MOST_ROUNDS, ERROR = 4000, 10, 0.01
"""Draws of a round, over all chains, and rounds until the error of every P(best) by chance is below this one."""

MOST_TOGETHER = 50
"""Up to so many algorithms have a full covariance. More have few factors, fewer chains, and `FEWER_DRAWS` per round."""

FEWER_DRAWS = 1600


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
    number of each dataset's family (None: all are independent). Identical columns are one algorithm, and chance is
    dealt out in an order of the content, so that names and orders have no part in the draws. After a round of `draws`
    others follow, up to `rounds`, until the error of every P(best) by chance is below 0.01.
    """
    distinct, copies = np.unique(representatives(scores), return_inverse=True)
    content = content_order(scores[:, distinct])
    distinct, copies = distinct[content.columns], content.column_places[copies]
    known = (np.zeros(scores.shape) if noise is None else noise)[content.rows]
    scores = scores[content.rows]
    numbers = renumbered(np.arange(len(scores)) if families is None else families, content.rows)
    sampler: Chains
    if len(distinct) <= MOST_TOGETHER:
        sampler = FullCovariance(scores[:, distinct], known[:, distinct], numbers, CHAINS, rng)
    elif len(np.unique(numbers)) < len(numbers):
        raise UsageError(
            f"{len(distinct)} algorithms in families of datasets",
            fix=f"families need at most {MOST_TOGETHER} algorithms",
        )
    else:
        sampler, draws = FewFactors(scores[:, distinct], known[:, distinct], FEW_CHAINS, rng), min(draws, FEWER_DRAWS)
    parts, worth, error = [], np.zeros(1), 1.0
    for _ in range(rounds):
        parts.append(sampler.run(-(-draws // sampler.chains)))
        worth, error = _trust(np.concatenate([part[0] for part in parts], axis=1), sampler.negligible)
        if error <= ERROR:
            break
    level, new, cells, variances = (np.concatenate(part, axis=1) for part in zip(*parts, strict=True))
    flat = [part.reshape(-1, *part.shape[2:]) for part in (level, new, cells, variances)]
    outlying = sampler.outlying / len(flat[0])
    short = outlying * (flat[2].mean(axis=0) - np.nan_to_num(sampler.scores))  # missing cells are not outliers
    return HierarchicalDraws(
        level=flat[0][:, copies],
        new=flat[1][:, copies],
        cells=flat[2][:, content.row_places][:, :, copies],
        shared=flat[3][:, 0],
        interaction=flat[3][:, 1],
        outlying=outlying[content.row_places][:, copies],
        negligible=sampler.negligible,
        failing=short.mean(axis=0)[copies],
        r_hat=float(r_hat(level).max()),
        effective=float(min(effective_size(level).min(), worth.min())),
        error=error,
    )


def representatives(scores: FloatArray) -> IntArray:
    """For each algorithm the first one whose scores, and missing cells, are the same up to rounding."""
    missing = np.isnan(scores)
    first = np.arange(scores.shape[1])
    for a in range(1, len(first)):
        both = ~missing[:, a]
        same = (ties.sign(scores[both, :a], scores[both, a, None]) == 0).all(axis=0)
        same &= (missing[:, :a] == missing[:, a, None]).all(axis=0)
        if same.any():
            first[a] = first[int(same.argmax())]
    return first


def _trust(level: FloatArray, negligible: float) -> tuple[FloatArray, float]:
    """How many independent draws P(best) of each algorithm rests on, and its error by chance, the worst of all."""
    best = (level >= level.max(axis=2, keepdims=True) - negligible).astype(np.float64)
    share = best.mean(axis=(0, 1))
    worth = effective_size(best)
    return worth, float(np.sqrt(share * (1 - share) / worth).max())


def r_hat(draws: FloatArray) -> FloatArray:
    """Split R-hat of draws (chains x draws x quantities): about 1 where all halves of all chains agree."""
    halves = _split(draws)
    within = halves.var(axis=1, ddof=1).mean(axis=0)
    between = halves.mean(axis=1).var(axis=0, ddof=1)
    length = halves.shape[1]
    pooled = (length - 1) / length * within + between
    return np.sqrt(np.where(within > 0, pooled / np.where(within > 0, within, 1.0), 1.0))


def effective_size(draws: FloatArray) -> FloatArray:
    """How many independent draws these (chains x draws x quantities) are worth for a mean.

    Autocorrelations are summed in pairs until a pair is no longer positive (Geyer 1992); chains that disagree count as
    correlation. At most the number of draws; constant quantities count fully.
    """
    halves = _split(draws)
    chains, length, _ = halves.shape
    centred = halves - halves.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, 2 * length, axis=1)
    covariance = np.fft.irfft(spectrum * spectrum.conj(), axis=1)[:, :length].real.mean(axis=0) / length
    within = covariance[0] * length / (length - 1)
    pooled = covariance[0] + halves.mean(axis=1).var(axis=0, ddof=1)
    known = pooled > 1e-300
    correlation = 1 - (within - covariance) / np.where(known, pooled, 1.0)
    pairs = correlation[: length // 2 * 2].reshape(length // 2, 2, -1).sum(axis=1)
    positive = np.minimum.accumulate(np.where(np.cumprod(pairs > 0, axis=0), pairs, 0.0), axis=0)
    total = chains * length
    return np.where(known, np.minimum(total, total / np.maximum(2 * positive.sum(axis=0) - 1, 1e-3)), total)


def _split(draws: FloatArray) -> FloatArray:
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, half : 2 * half]])
