"""Calibration of popularity: does a user's list have the mix of popular and rare items that their profile
has?
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array
from scipy.special import rel_entr

from recassay.core.types import FloatArray, IntArray, TopK
from recassay.metrics.context import EvaluationContext
from recassay.metrics.protocol import MetricBase

GROUP_BOUNDS = (0.2, 0.8)
"""Head: the most popular items that cover 20 % of the interactions; tail: those past 80 %; mid: between."""

SMOOTHING = 0.01
"""Steck's alpha: the share of the profile mixed into the list so that the Kullback-Leibler divergence is
finite.
"""


class Calibration(MetricBase):
    """The divergence of the list's popularity groups from the profile's: 0 is calibrated, more is worse.

    Items fall into head, mid and tail by their training count (the head covers 20 % of the interactions, the
    tail begins past 80 %). p is the distribution of the user's training items over the groups, q that of the
    list. `js`: the Jensen-Shannon divergence in bits, KL(p||m)/2 + KL(q||m)/2 with m = (p + q)/2, between 0
    and 1 (Abdollahpouri's user popularity deviation before it is averaged over user groups). `kl`: Steck's
    KL(p || (1 - a) q + a p) in nats with a = 0.01. NaN for an empty list or an empty profile.
    """

    name = "calibration"
    formula = "JS(p, q) over head, mid and tail; p the profile's groups, q the list's"
    source = "Abdollahpouri et al., The connection between popularity bias, calibration, and fairness, RecSys 2020"
    variants: ClassVar[dict[str, str]] = {
        "js": "Jensen-Shannon divergence in bits (Abdollahpouri et al. 2020)",
        "kl": "Kullback-Leibler divergence from the smoothed list, in nats (Steck, RecSys 2018)",
    }

    def per_user(self, top: TopK, truth: csr_array, context: EvaluationContext) -> FloatArray:
        """One value a row of `top`; NaN for an empty list or profile."""
        group = popularity_groups(context)
        one_hot = np.eye(len(GROUP_BOUNDS) + 1)[group]
        items = top.items[:, : self.depth(top)]
        listed = np.where((items >= 0)[:, :, None], one_hot[items], 0.0).sum(axis=1)
        train = context.train
        pattern = csr_array((np.ones(train.nnz), train.indices, train.indptr), shape=train.shape)
        profile = np.asarray(pattern @ one_hot)[top.users]
        number = np.minimum(listed.sum(axis=1), profile.sum(axis=1))
        p, q = _shares(profile), _shares(listed)
        if self.variant == "kl":
            distance = rel_entr(p, (1 - SMOOTHING) * q + SMOOTHING * p).sum(axis=1)
        else:
            middle = (p + q) / 2
            distance = (rel_entr(p, middle) + rel_entr(q, middle)).sum(axis=1) / (2 * np.log(2))
        return np.where(number > 0, np.maximum(distance, 0.0), np.nan)


def popularity_groups(context: EvaluationContext) -> IntArray:
    """0 for head, 1 for mid, 2 for tail items."""
    group: IntArray = np.sum([context.beyond_share(bound) for bound in GROUP_BOUNDS], axis=0, dtype=np.int64)
    return group


def _shares(counts: FloatArray) -> FloatArray:
    shares: FloatArray = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return shares
