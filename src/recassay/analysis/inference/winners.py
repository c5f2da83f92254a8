"""Which algorithms could still be the best: comparisons with the best by flipping signs."""

from __future__ import annotations

import numpy as np

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
    signs = _all_signs(n) if n <= EXACT else np.vstack([np.ones(n), rng.choice([-1.0, 1.0], size=(FLIPS, n))])
    found = np.empty(k)
    for i in range(k):
        gap = np.delete(ranks[i] - ranks, i, axis=0)
        told = gap / np.sqrt((gap**2).sum(axis=1) + n)[:, None]
        flipped = (signs @ told.T).max(axis=1)
        observed = told.sum(axis=1).max()
        found[i] = (flipped >= observed - 1e-9).mean()
    return found


def _all_signs(n: int) -> FloatArray:
    bits = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    signs: FloatArray = 1.0 - 2.0 * bits.astype(np.float64)
    return signs
