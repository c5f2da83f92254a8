"""Which cells to run next: those that tell most about the target per predicted second.

What a target leaves open are pairs of algorithms. For a pair (a, b), D = mean rank of a - mean rank of b varies over
the draws, and so does d_j, the difference of their ranks on dataset j. Running both there tells the share
cov(D, d_j)^2 / (var(D) var(d_j)) of the variance of D: what the dataset is of the mean, and what it says of others. A
pair weighs p (1 - p), p being the probability that it stands the other way round, so that pairs that are settled weigh
nothing. The value of a set of algorithms on a dataset is the sum over the pairs that it completes; the set with the
most value per second on each dataset is found by leaving out one algorithm after another (greedy peeling, Charikar
2000), and the best dataset's set is run. A probe of a dataset (see `belief`) is a further column, judged in the same
way by what it tells about D and by what it costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from recassay.analysis.adaptive.belief import Belief
from recassay.analysis.adaptive.certificate import Certificate
from recassay.core.types import BoolArray, FloatArray

SHARED = 0.5
"""How far the gain of a pair on a dataset is drawn to its mean over datasets: it is counted over few draws, and cells
whose gain is large by chance would be run first.
"""

LEAP, WORTH = 0.3, 0.2
"""A block that costs more than this share of what was spent waits while there is a smaller one that tells at least this
share of its value per second: what is learned meanwhile may spare it.
"""

LEAST_WEIGHT = 1e-6
"""Of a pair that the target asks about: when all is settled but not certified, it still counts."""


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
    gain = _gains(belief, pair_weights(belief.mean_ranks, certificate, target))
    open_cells = ~done & (seconds <= most_seconds)
    candidates = [
        block
        for j in range(done.shape[1])
        if (block := _best_block(j, gain[:, :, j], open_cells[:, j], done[:, j], seconds[:, j])) is not None
    ]
    candidates.sort(key=lambda block: (-block.value / block.seconds, block.dataset))
    found: list[Block] = []
    for block in _in_steps(candidates, float(seconds[done].sum())):
        found.append(block)
        if sum(len(b.algorithms) for b in found) >= cells and sum(b.seconds for b in found) >= least_seconds:
            break
    return found


def _in_steps(blocks: list[Block], spent: float) -> list[Block]:
    """The blocks without those that are too large a step, where smaller ones are nearly as good."""
    least = WORTH * blocks[0].value / blocks[0].seconds if blocks else 0.0
    small = [block for block in blocks if block.seconds <= LEAP * spent and block.value / block.seconds >= least]
    return small or blocks[:1]


def pair_weights(mean_ranks: FloatArray, certificate: Certificate, target: str) -> FloatArray:
    """What each pair (a before b in the certificate's order) weighs for the target; symmetric, 0 for other pairs."""
    order, m = certificate.order, len(certificate.order)
    centre = mean_ranks.mean(axis=0)
    covariance = np.cov(mean_ranks, rowvar=False)
    variance = np.diagonal(covariance)
    spread = np.sqrt(np.maximum(variance[:, None] + variance - 2 * covariance, 1e-12))
    slack = certificate.indifference if target == "order" else 0.0
    wrong = ndtr((centre[:, None] - centre - slack) / spread)  # for a before b: that a's mean rank is worse after all
    place = np.argsort(order)
    asked = place[:, None] < place
    if target in ("first", "top3"):
        cut = 1 if target == "first" else min(3, m - 1)
        asked &= (place < cut)[:, None] & (place >= cut)
    weight = np.where(asked, np.maximum(wrong * (1 - wrong), LEAST_WEIGHT), 0.0)
    return weight + weight.T


def _gains(belief: Belief, weight: FloatArray) -> FloatArray:
    """By pair and column, what running both algorithms there tells about the target."""
    told = [_told(belief.mean_ranks, ranks) for ranks in (belief.ranks, belief.probes) if ranks is not None]
    return (weight * np.concatenate(told)).transpose(1, 2, 0)


def _told(mean_ranks: FloatArray, ranks: FloatArray) -> FloatArray:
    """By column and pair, the share of the variance of D that running both algorithms there tells."""
    draws = len(ranks)
    whole_mean = mean_ranks - mean_ranks.mean(axis=0)
    apart = np.ascontiguousarray((ranks - ranks.mean(axis=0)).transpose(2, 0, 1))  # column x draw x algorithm
    across = whole_mean.T @ apart / draws  # column x m x m: cov(mean rank of a, rank of b on j)
    within = apart.transpose(0, 2, 1) @ apart / draws
    own, total = np.diagonal(across, axis1=1, axis2=2), whole_mean.T @ whole_mean / draws
    joint = own[:, :, None] + own[:, None, :] - across - across.transpose(0, 2, 1)
    inner = np.diagonal(within, axis1=1, axis2=2)
    inner = inner[:, :, None] + inner[:, None, :] - 2 * within
    whole = np.diagonal(total)[:, None] + np.diagonal(total) - 2 * total
    floor = 1e-9
    told = np.where((inner > floor) & (whole > floor), joint**2 / np.maximum(inner * whole, floor**2), 0.0)
    told = np.maximum(told - 1.0 / draws, 0.1 / draws * (inner > floor))  # chance alone correlates by 1/draws
    mean = told.sum(axis=0) / np.maximum((told > 0).sum(axis=0), 1)
    return np.where(told > 0, (1 - SHARED) * told + SHARED * mean, 0.0)


def _best_block(
    dataset: int, gain: FloatArray, open_cells: BoolArray, done: BoolArray, seconds: FloatArray
) -> Block | None:
    """The set of open algorithms with the most value per second on one dataset."""
    chosen = open_cells.copy()
    inside = chosen | done
    if not chosen.any() or inside.sum() < 2:
        return None
    best: Block | None = None
    while chosen.any():
        value = float((gain[np.ix_(inside, inside)].sum() - gain[np.ix_(done, done)].sum()) / 2)
        cost = float(seconds[chosen].sum())
        if best is None or value / cost > best.value / best.seconds:
            best = Block(dataset, tuple(int(i) for i in np.flatnonzero(chosen)), value, cost)
        lost = np.where(chosen, gain @ inside.astype(float) / seconds, np.inf)
        leaves = int(lost.argmin())
        chosen[leaves] = inside[leaves] = False
    return best


def cells_of(blocks: Sequence[Block], datasets: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The cells (algorithm, dataset) of blocks, and the probes."""
    every = [(i, block.dataset) for block in blocks for i in block.algorithms]
    return [(i, j) for i, j in every if j < datasets], [(i, j - datasets) for i, j in every if j >= datasets]
