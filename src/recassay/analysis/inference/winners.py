"""Which algorithms could still be the best, and how few datasets would have to be left out for another winner."""

from __future__ import annotations

import numpy as np

from recassay.core import ties
from recassay.core.types import FloatArray

EXACT = 13
"""Up to so many datasets all signs are tried (2^n); beyond, `FLIPS` at random and the observed one."""

FLIPS = 4095


def possible_winners(ranks: FloatArray, rng: np.random.Generator) -> FloatArray:
    """For every algorithm the p-value of "it has the best mean rank of all": those above alpha could be the best.

    Ranks are algorithms x datasets. For algorithm i and each other l let d_lj = rank of i - rank of l on dataset j
    (above 0 where l is better), and T_i = max over l of sum_j d_lj / sqrt(sum_j d_lj^2 + n) (n, one rank squared
    per dataset, keeps a close race between two bad algorithms from counting as much as being far behind the best).
    If i were as good as the best, the signs of all its differences on a dataset could as well be turned, at worst
    for it where all are equal: T_i is compared with its values when the signs of whole datasets are flipped. One
    test per algorithm, each against k - 1 others at once, so that nothing needs correcting: the set of those with p
    > alpha holds the best with probability at least 1 - alpha (multiple comparisons with the best, Hsu 1984; the
    max-T permutation of Westfall and Young 1993).
    """
    k, n = ranks.shape
    if n <= EXACT:
        signs = 1.0 - 2.0 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
    else:
        signs = np.vstack([np.ones(n), rng.choice([-1.0, 1.0], size=(FLIPS, n))])
    p = np.empty(k)
    for i in range(k):
        gaps = np.delete(ranks[i] - ranks, i, axis=0)
        scaled = gaps / np.sqrt((gaps**2).sum(axis=1) + n)[:, None]
        flipped = (signs @ scaled.T).max(axis=1)
        p[i] = (flipped >= scaled.sum(axis=1).max() - 1e-9).mean()
    return p


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
