"""Which cells to run next: those that tell most about the target per predicted second.

What a target leaves open are pairs of algorithms. A pair weighs p (1 - p), p being the probability that it stands the
other way round, and not less than `LEAST_WEIGHT` where the target asks about it. Running both on a dataset is worth the
pair's weight, whichever dataset it is: to the mean rank every dataset counts the same. The value of a set of algorithms
on a dataset is the sum over the pairs that it completes; the set with the most value per second on each dataset is
found by leaving out one algorithm after another (greedy peeling, Charikar 2000), and the best dataset's set is run. So
cheap datasets are run whole, and expensive cells are run only where the order is still undecided.

A cell also tells whether its algorithm fails there and on datasets like it (`inference.failures`). That is worth, for
each pair of the algorithm, the share of the variance of D (below) which the failure tells, beside the share that a
pair's ranks on a dataset tell on average.

A probe of a dataset (see `belief`) is a further column. It is worth less than a cell, by as much less as it tells. For
a pair, D = mean rank of a - mean rank of b varies over the draws, and so does d_j, the difference of their ranks in
column j: running both there tells the share cov(D, d_j)^2 / (var(D) var(d_j)) of the variance of D.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from recassay.analysis.adaptive.belief import Belief
from recassay.analysis.adaptive.certificate import Certificate
from recassay.core.types import BoolArray, FloatArray

LEAP, WORTH = 0.3, 0.2
"""A block that costs more than this share of what was spent waits while there is a smaller one that tells at least this
share of its value per second: what is learned meanwhile may spare it.
"""

LEAST_WEIGHT = 0.02
"""Of a pair that the target asks about. What seems settled after few datasets is so run along where it is cheap."""


@dataclass(frozen=True, slots=True)
class Block:
    """Algorithms (indices) to be run on one dataset, what that tells and what it costs.

    `dataset` is a column: that of a dataset, or, from the number of datasets on, of a probe of it.
    """

    dataset: int
    algorithms: tuple[int, ...]
    value: float
    seconds: float


def opening(done: BoolArray, seconds: FloatArray) -> Block:
    """Before anything is known: every algorithm on the cheapest dataset."""
    cost = np.where(done, 0.0, seconds).sum(axis=0)
    cost[done.all(axis=0)] = np.inf
    dataset = int(cost.argmin())
    return Block(dataset, tuple(int(i) for i in np.flatnonzero(~done[:, dataset])), 1.0, float(cost[dataset]))


def choose(
    belief: Belief,
    certificate: Certificate,
    target: str,
    done: BoolArray,
    seconds: FloatArray,
    *,
    cells: int = 1,
    least_seconds: float = 0.0,
    most_seconds: float = np.inf,
) -> list[Block]:
    """Blocks of at least so many cells and so many seconds together (fewer where no more are left), best first.

    Cells that would take more than `most_seconds` are not considered.
    """
    gain, alone = _gains(belief, pair_weights(belief.mean_ranks, certificate, target))
    open_cells = ~done & (seconds <= most_seconds)
    candidates = [
        block
        for j in range(done.shape[1])
        if (block := _best_block(j, gain[:, :, j], alone[:, j], open_cells[:, j], done[:, j], seconds[:, j]))
    ]
    candidates.sort(key=lambda block: -block.value / block.seconds)
    # Blocks that are too large a step wait, where smaller ones are nearly as good.
    most, least = LEAP * seconds[done].sum(), WORTH * candidates[0].value / candidates[0].seconds if candidates else 0.0
    small = [block for block in candidates if block.seconds <= most and block.value / block.seconds >= least]
    blocks: list[Block] = []
    for block in small or candidates[:1]:
        blocks.append(block)
        if sum(len(b.algorithms) for b in blocks) >= cells and sum(b.seconds for b in blocks) >= least_seconds:
            break
    return blocks


def pair_weights(mean_ranks: FloatArray, certificate: Certificate, target: str) -> FloatArray:
    """What each pair (a before b in the certificate's order) weighs for the target; symmetric, 0 for other pairs."""
    order, m = certificate.order, len(certificate.order)
    centre = mean_ranks.mean(axis=0)
    spread = np.sqrt(np.maximum(_of_differences(np.cov(mean_ranks, rowvar=False)), 1e-12))
    slack = certificate.indifference if target == "order" else 0.0
    wrong = ndtr((centre[:, None] - centre - slack) / spread)  # for a before b: that a's mean rank is worse after all
    place = np.argsort(order)
    asked = place[:, None] < place
    if target in ("first", "top3"):
        cut = 1 if target == "first" else min(3, m - 1)
        asked &= (place < cut)[:, None] & (place >= cut)
    weight = np.where(asked, np.maximum(wrong * (1 - wrong), LEAST_WEIGHT), 0.0)
    return weight + weight.T


def _gains(belief: Belief, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """By pair and column, what running both algorithms there is worth; by algorithm and column, what it is worth to
    see whether it fails.
    """
    cells = np.repeat(weight[:, :, None], belief.ranks.shape[2], axis=2)
    usual = max(_told(belief.mean_ranks, belief.ranks), 1e-12)
    alone = (weight[:, :, None] * _told_by_failures(belief)).sum(axis=1) / usual
    if belief.probes is None:
        return cells, alone
    less = min(_told(belief.mean_ranks, belief.probes) / usual, 1.0)
    return np.concatenate([cells, less * cells], axis=2), np.hstack([alone, less * alone])


def _told_by_failures(belief: Belief) -> FloatArray:
    """For a pair (i, b) and a dataset j: the share of the variance of D that the failure of i on j tells."""
    draws, m, n = belief.failed.shape
    means = belief.mean_ranks - belief.mean_ranks.mean(axis=0)
    fails = belief.failed - belief.failed.mean(axis=0)
    across = (means.T @ fails.reshape(draws, -1) / draws).reshape(m, m, n)  # cov(mean rank of b, failure of i on j)
    variances = np.diagonal(across, axis1=0, axis2=1).T  # i x j
    joint = variances[:, None, :] - across.transpose(1, 0, 2)
    whole = _of_differences(means.T @ means / draws)
    both = whole[:, :, None] * (fails**2).mean(axis=0)[:, None, :]
    share = np.divide(joint**2, both, out=np.zeros_like(joint), where=both > 1e-9)
    return np.maximum(share - 4.0 / draws, 0.0)  # chance alone correlates by 1/draws, and there are many cells


def _told(mean_ranks: FloatArray, ranks: FloatArray) -> float:
    """The share of the variance of D that running a pair in a column tells, on average over those not known."""
    draws = len(ranks)
    means = mean_ranks - mean_ranks.mean(axis=0)
    centred_ranks = np.ascontiguousarray((ranks - ranks.mean(axis=0)).transpose(2, 0, 1))  # column x draw x algorithm
    across = means.T @ centred_ranks / draws  # column x m x m: cov(mean rank of a, rank of b on j)
    variances = np.diagonal(across, axis1=1, axis2=2)
    joint = variances[:, :, None] + variances[:, None, :] - across - across.transpose(0, 2, 1)
    inner = _of_differences(centred_ranks.transpose(0, 2, 1) @ centred_ranks / draws)
    whole = _of_differences(means.T @ means / draws)
    open_pairs = (inner > 1e-9) & (whole > 1e-9)
    if not open_pairs.any():
        return 0.0
    shares = joint[open_pairs] ** 2 / (inner * whole)[open_pairs]
    return max(float(shares.mean()) - 1.0 / draws, 0.0)  # chance alone correlates by 1/draws


def _of_differences(covariance: FloatArray) -> FloatArray:
    """The variances of the differences of all pairs, from their covariance (... x m x m)."""
    variance = np.diagonal(covariance, axis1=-2, axis2=-1)
    return variance[..., :, None] + variance[..., None, :] - 2 * covariance


def _best_block(
    dataset: int, gain: FloatArray, alone: FloatArray, open_cells: BoolArray, done: BoolArray, seconds: FloatArray
) -> Block | None:
    """The set of open algorithms with the most value per second on one dataset."""
    chosen = open_cells.copy()
    inside = chosen | done
    if not chosen.any() or inside.sum() < 2:
        return None
    best: Block | None = None
    while chosen.any():
        pairs = (gain[np.ix_(inside, inside)].sum() - gain[np.ix_(done, done)].sum()) / 2
        value = float(pairs + alone[chosen].sum())
        cost = float(seconds[chosen].sum())
        if best is None or value / cost > best.value / best.seconds:
            best = Block(dataset, tuple(int(i) for i in np.flatnonzero(chosen)), value, cost)
        # A cell that is done may have taken 0 s, and is not left out.
        lost = np.divide(gain @ inside.astype(float) + alone, seconds, out=np.full(len(seconds), np.inf), where=chosen)
        leaves = int(lost.argmin())
        chosen[leaves] = inside[leaves] = False
    return best
