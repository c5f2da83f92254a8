"""Who wins: who could still be the best, how few datasets decide it, and who is likely to be first again."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np

from recassay.analysis.inference.distributions import chi_square_quantile, t_quantile
from recassay.analysis.inference.pair_rows import count_wins
from recassay.core import ties
from recassay.core.choices import VERY_MANY
from recassay.core.content import content_order
from recassay.core.types import FloatArray

DRAWS = 20_000
DRAWS_OF_MANY = 5_000
"""The same with more than 400 algorithms: a standard error of at most 0.007."""

SPREAD = 5.0
"""The scale of the prior of what lies between true mean ranks, in deviations of ranks by lot."""

SPHERE, CHANCE = 0.5, 0.5
"""How many datasets' weight the covariance gives to equal variances (times the algorithms), and to ranks by lot."""


def fewest_to_remove(ranks: FloatArray) -> tuple[int, list[int]] | None:
    """(who then leads, the datasets) whose removal brings the leader by mean rank behind another; None where no removal
    does: it is behind nobody on any dataset.

    `ranks` are algorithms x datasets. For one challenger the sum of rank differences must change its sign, and taking
    the datasets that speak most for the leader first does that with the fewest: so the number is exact. Where another
    algorithm than the challenger is then first, that one is named.
    """
    leader = int(np.argmin(ranks.mean(axis=1)))
    fewest: list[int] | None = None
    for challenger in range(len(ranks)):
        lead = ranks[challenger] - ranks[leader]
        if challenger == leader or not (lead < 0).any():
            continue
        order = np.argsort(-lead, kind="stable")
        left = lead.sum() - np.cumsum(lead[order])
        count = int(np.flatnonzero(left < 0)[0]) + 1
        if fewest is None or count < len(fewest):
            fewest = sorted(int(d) for d in order[:count])
    if fewest is None:
        return None
    kept = np.delete(ranks, fewest, axis=1).mean(axis=1)
    return int(np.flatnonzero(~ties.beats(kept, kept.min()))[0]), fewest


MOST_WAYS = 20_000


def ways_to_lose(ranks: FloatArray, count: int) -> tuple[int, int] | None:
    """Without how many choices of `count` datasets the leader by mean rank is behind another, and of how many; None
    where there are more than `MOST_WAYS`."""
    _k, n = ranks.shape
    if comb(n, count) > MOST_WAYS:
        return None
    left_out = np.array(list(combinations(range(n), count)))
    kept = ranks.sum(axis=1) - ranks.T[left_out].sum(axis=1)
    leader = int(np.argmin(ranks.mean(axis=1)))
    lost = ties.beats(kept[:, [leader]], kept).any(axis=1)
    return int(lost.sum()), len(left_out)


def mean_rank_intervals(ranks: FloatArray, confidence: float) -> FloatArray:
    """Intervals of the mean ranks over datasets like these (algorithms x 2), from ranks (algorithms x datasets).

    With m and s^2 the mean and variance of an algorithm's n ranks, one dataset ranked by lot is added to the mean and
    two to the variance: centre (n m + (k + 1) / 2) / (n + 1), variance ((n - 1) s^2 + 2 (k^2 - 1) / 12) / (n + 1), and
    Student's t with n + 1 degrees of freedom, within 1 and k. An algorithm that was first everywhere has no spread, and
    resampling its ranks would promise that it always will be (as Wilson 1927 does for shares, this does not).
    """
    k, n = ranks.shape
    mean = ranks.mean(axis=1)
    squares = (_deviations(ranks) ** 2).sum(axis=1) + 2 * (k * k - 1) / 12
    centre = (n * mean + (k + 1) / 2) / (n + 1)
    half = t_quantile(0.5 + confidence / 2, n + 1) * np.sqrt(squares / (n + 1) / (n + 1))
    return np.clip(np.stack([centre - half, centre + half], axis=1), 1.0, float(k))


def probability_first(ranks: FloatArray, rng: np.random.Generator, *, draws: int | None = None) -> FloatArray:
    """P(best mean rank in a new benchmark of as many datasets, or families), from ranks (algorithms x datasets).

    The share of bootstrap replicates in which the observed first is first again is not that probability: the replicates
    repeat the luck that made it first. Here the luck is taken out before a new benchmark is drawn:

    - The observed mean ranks m are Normal(mu, V); V is the covariance of the ranks over datasets, divided by their
      number. Few datasets do not tell it, so it is drawn towards equal variances and towards those of random ranks, and
      its size is uncertain like that of a variance with n - 1/2 degrees of freedom.
    - The true mean ranks mu are Normal((k + 1) / 2, tau^2). tau is unknown as well: half-Cauchy, with `SPREAD` times
      the deviation of ranks by lot as its scale.
    - tau and the size of V are drawn given m, then mu, then the mean ranks of a new benchmark, Normal(mu, V); the
      answer is who is first how often.

    How near that comes to the truth in simulations stands in the documentation (calibration).
    """
    k, n = ranks.shape
    draws = draws or (DRAWS if k <= VERY_MANY else DRAWS_OF_MANY)
    content = content_order(ranks)
    ranks = content.sorted(ranks)
    variance, axes = _between_datasets(ranks)
    seen = axes.T @ (ranks.mean(axis=1) - (k + 1) / 2)
    tau, size = _spreads(seen, variance, n, np.sqrt((k * k - 1) / 12), draws)
    variance = variance * size[:, None]
    kept = tau[:, None] ** 2 / (tau[:, None] ** 2 + variance)
    # Chance is drawn by algorithm and turned into the axes, so that the answer does not depend on which axes they are.
    truth = kept * seen + np.sqrt(kept * variance) * (rng.normal(size=(draws, k)) @ axes)
    again = truth + np.sqrt(variance) * (rng.normal(size=(draws, k)) @ axes)
    first = (again @ axes.T).argmin(axis=1)
    return _with_ties(np.bincount(first, minlength=k) / draws, ranks)[content.row_places]


def _spreads(
    seen: FloatArray, variance: FloatArray, n: int, by_lot: float, draws: int
) -> tuple[FloatArray, FloatArray]:
    """`draws` values of tau, and of the size of the variance, by their posterior on a grid."""
    tau = np.concatenate([[1e-4], np.geomspace(0.02, 1.2, 30)]) * by_lot
    freedom = n - 1 + CHANCE
    size = freedom / chi_square_quantile((np.arange(8) + 0.5) / 8, freedom)
    prior = np.log(np.gradient(tau) / (1 + (tau / (SPREAD * by_lot)) ** 2))
    total = tau[:, None, None] ** 2 + size[:, None] * variance
    fit = prior[:, None] - 0.5 * (np.log(total) + seen**2 / total).sum(axis=2)
    share = np.cumsum(np.exp(fit - fit.max()))
    at = np.searchsorted(share, (np.arange(draws) + 0.5) / draws * share[-1])
    return tau[at // len(size)], size[at % len(size)]


def _with_ties(shares: FloatArray, ranks: FloatArray) -> FloatArray:
    """The shares of first places where ranks tie so much that no normal distribution describes them.

    Algorithms with the same rank on every dataset share. One that ties another on half of the datasets or more, is
    never better and is worse somewhere is not first without it: it counts as last.
    """
    better, n = count_wins(ranks), ranks.shape[1]
    tied = n - better - better.T
    behind = (better == 0) & (better.T > 0) & (tied >= 0.5 * n)
    kept = np.where(behind.any(axis=1), 0.0, shares)
    same = tied == n
    shared: FloatArray = same @ kept / same.sum(axis=1)
    return shared / shared.sum() if shared.sum() > 0 else shares


def _between_datasets(ranks: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The variances of the mean ranks along k - 1 axes (the ranks of a dataset have a constant sum), and the axes."""
    k, n = ranks.shape
    centred = _deviations(ranks)
    products = centred @ centred.T
    level = np.eye(k) - 1 / k
    equal = SPHERE * k * np.trace(products) / max(n - 1, 1) / (k - 1) * level
    by_lot = CHANCE * k * (k + 1) / 12 * level
    whole = (products + equal + by_lot) / (n - 1 + SPHERE * k + CHANCE) / n
    variance, axes = np.linalg.eigh(whole)
    return np.maximum(variance[1:], 1e-12), axes[:, 1:]


def _deviations(ranks: FloatArray) -> FloatArray:
    """The ranks less the mean rank of their algorithm, which counts by the weight of a column: the mean over a family
    weighs as many datasets as it has, and all its ranks are larger for that (`family_means`)."""
    weight = ranks.mean(axis=0) / ((len(ranks) + 1) / 2)
    return ranks - ranks.mean(axis=1)[:, None] * weight
