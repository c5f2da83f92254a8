"""Which cells fail: one account of failures, apart from the scores of the cells that succeed.

An algorithm i fails on a dataset of log size x with the probability

    q_i + (most - q_i) / (1 + exp(-(x - t_i) / w)):

q_i at any size (crashes), and nearly always far above its limit t_i (out of memory or time). A share of the algorithms
has a limit; it lies at any quantile of the sizes with the same probability. The share, and how common crashes are, are
learned from all algorithms together; q_i and t_i from the cells of the algorithm. All of them are on small grids, so
that the posterior is exact. Nothing was seen of a size that no cell has had: there only the shares speak.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logsumexp

from recassay.core.types import BoolArray, FloatArray

LIMITED = np.array([0.35, 0.7])
LIMITED_WEIGHT = np.array([0.5, 0.5])
"""The share of algorithms that have a limit of size, on a grid, and what each share weighs before anything is known."""

CRASHES = np.array([0.001, 0.1, 0.5])
CRASH_WEIGHTS = np.array([[0.99, 0.008, 0.002], [0.7, 0.2, 0.1]])
"""q on a grid, and how common each is: in a benchmark where hardly anything crashes, and in one with many crashes."""

MOST, WIDTH = 0.98, 0.25
"""The probability of failing far above the limit, and w in standard deviations of the log sizes."""

LIMITS = 24
"""Quantiles of the sizes at which a limit may lie."""


def draw_failures(
    failed: BoolArray,
    run: BoolArray,
    size: FloatArray,
    draws: int,
    rng: np.random.Generator,
    *,
    elsewhere: tuple[FloatArray, FloatArray] | None = None,
) -> BoolArray:
    """Draws x algorithms x datasets: which cells fail. Those that were `run` keep what they did.

    `size` is the logarithm of the size of each dataset, or one row of it per draw where sizes are uncertain.
    `elsewhere` are cells of other datasets that succeeded: how much each counts (algorithms x datasets), and the
    logarithms of the sizes.
    """
    m, n = failed.shape
    sizes = np.broadcast_to(size, (draws, n))
    centre, spread = float(sizes.mean()), float(sizes.std()) or 1.0
    x = (sizes - centre) / spread
    limits = np.quantile(x, (np.arange(LIMITS) + 0.5) / LIMITS)
    where, succeeded = x.mean(axis=0), (~failed & run).astype(np.float64)
    if elsewhere is not None:
        where = np.concatenate([where, (elsewhere[1] - centre) / spread])
        succeeded = np.hstack([succeeded, elsewhere[0]])
    above = np.vstack([np.zeros(len(where)), expit((where - limits[:, None]) / WIDTH)])  # the first: no limit
    fails = CRASHES[:, None] + (MOST - CRASHES)[:, None] * above[:, None, :]  # limit x crash rate x dataset
    happened = np.log(fails[:, :, :n]) @ (failed & run).T + np.log1p(-fails) @ succeeded.T  # limit x rate x algorithm
    # The prior of (limit, rate) under each pair of shares, then which pair, by the likelihood of all algorithms.
    has = np.column_stack([1 - LIMITED, np.repeat(LIMITED[:, None] / LIMITS, LIMITS, axis=1)])
    prior = np.log(has[:, None, :, None] * CRASH_WEIGHTS[None, :, None, :]).reshape(-1, (LIMITS + 1) * len(CRASHES))
    joint = prior[:, None, :] + happened.transpose(2, 0, 1).reshape(m, -1)[None]
    evidence = logsumexp(joint, axis=2)
    total = evidence.sum(axis=1) + np.log(np.repeat(LIMITED_WEIGHT / len(CRASH_WEIGHTS), len(CRASH_WEIGHTS)))
    shares = rng.choice(len(total), size=draws, p=np.exp(total - logsumexp(total)))
    up_to = np.cumsum(np.exp(joint - evidence[:, :, None]), axis=2)
    state = (up_to[shares] < rng.random((draws, m, 1))).sum(axis=2).clip(max=up_to.shape[2] - 1)
    limit, rate = np.divmod(state, len(CRASHES))
    at = np.concatenate([[np.inf], limits])[limit]
    q = CRASHES[rate][:, :, None]
    chance = q + (MOST - q) * expit((x[:, None, :] - at[:, :, None]) / WIDTH)
    return np.where(run, failed, rng.random(chance.shape) < chance)
