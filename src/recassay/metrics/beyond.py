"""What a list says beyond being right: novelty, popularity, long-tail share, serendipity, calibration.

Popularity is counted in the training data: c(i) is the number of training users who have item i, m the number
of training users. Averages are over the items the list names (at most k); an empty list has no value (NaN),
since 0 would be a good score for some of these metrics.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array
from scipy.special import rel_entr

from recassay.core.types import FloatArray, IdArray, IntArray, TopK
from recassay.metrics.context import EvaluationContext, ratio
from recassay.metrics.protocol import MetricBase


def mean_over_list(items: IdArray, value: FloatArray) -> FloatArray:
    """The mean of `value` over the items each row names; NaN where it names none."""
    listed = items >= 0
    total = np.where(listed, value[items], 0.0).sum(axis=1)
    number = np.count_nonzero(listed, axis=1)
    return ratio(total, number)


class Novelty(MetricBase):
    """The mean self-information of the listed items: -log2 of the share of training users who have the item.

    An item that no training user has counts as if one had it, which bounds the value by log2(m). `normalised`
    divides by that bound (undefined for a single training user).
    """

    name = "novelty"
    formula = "mean over the list of -log2(max(c(i), 1) / m)"
    source = "Zhou et al., Solving the apparent diversity-accuracy dilemma of recommender systems, PNAS 2010"
    variants: ClassVar[dict[str, str]] = {
        "bits": "self-information in bits (KDD'24, RecTools MeanInvUserFreq)",
        "normalised": "divided by log2 of the number of training users",
    }

    def per_user(self, top: TopK, truth: csr_array, context: EvaluationContext) -> FloatArray:
        """One value per row of `top`; NaN for an empty list."""
        if context.n_train_users == 0:
            return np.full(len(top.users), np.nan)
        information = np.log2(context.n_train_users) - np.log2(np.maximum(context.popularity, 1))
        if self.variant == "normalised":
            bound = np.log2(context.n_train_users)
            information = information / bound if bound > 0 else np.full_like(information, np.nan)
        return mean_over_list(top.items[:, : self.depth(top)], information)


class Popularity(MetricBase):
    """The mean popularity of the listed items (average recommendation popularity, ARP)."""

    name = "popularity"
    formula = "mean over the list of c(i)"
    source = "Yin et al., Challenging the long tail recommendation, VLDB 2012; Abdollahpouri et al., FLAIRS 2019"
    variants: ClassVar[dict[str, str]] = {
        "count": "the number of training users who have the item",
        "share": "that number divided by the number of training users",
    }

    def per_user(self, top: TopK, truth: csr_array, context: EvaluationContext) -> FloatArray:
        """One value per row of `top`; NaN for an empty list."""
        divisor = 1 if self.variant == "count" else max(context.n_train_users, 1)
        return mean_over_list(top.items[:, : self.depth(top)], context.popularity / divisor)


class LongTail(MetricBase):
    """The share of the list that comes from the long tail (average percentage of long-tail items, APLT).

    The long tail are the items past the point where items sorted by training count cover 80 % of the training
    interactions; equal counts are sorted by their place in the item table.
    """

    name = "longtail"
    formula = "listed long-tail items / listed items"
    source = "Abdollahpouri et al., Managing popularity bias, FLAIRS 2019; the tail as in KDD'24, 4.3"
    variants: ClassVar[dict[str, str]] = {"beyond_80": "the tail begins where the head covers 80 % of the interactions"}

    def per_user(self, top: TopK, truth: csr_array, context: EvaluationContext) -> FloatArray:
        """One value per row of `top`; NaN for an empty list."""
        return mean_over_list(top.items[:, : self.depth(top)], context.long_tail.astype(np.float64))


class Serendipity(MetricBase):
    """Listed items that are relevant and that a list of the most popular items would not have shown.

    An item is expected for a user where it is at least as popular as the k-th most popular item the user has
    not in training: where popularity ties, all of the tied items are expected, so that no chance is needed.
    `by_k` divides the relevant unexpected items by k; `by_unexpected` by the number of unexpected items in
    the list (Ge et al.'s SRDP, 0 where the list has none). NaN for a user without relevant items; an empty
    list scores 0.
    """

    name = "serendipity"
    formula = "relevant listed items outside the user's k most popular unseen ones / k"
    source = "Ge et al., Beyond accuracy, RecSys 2010; Kaminskas and Bridge, TiiS 2016"
    variants: ClassVar[dict[str, str]] = {
        "by_k": "divided by k",
        "by_unexpected": "divided by the unexpected items of the list (Ge et al.)",
    }

    def per_user(self, top: TopK, truth: csr_array, context: EvaluationContext) -> FloatArray:
        """One value per row of `top`; NaN for a user without relevant items."""
        k = self.depth(top)
        items = top.items[:, :k]
        threshold = expected_from(context, k)[top.users]
        unexpected = (items >= 0) & (context.popularity[items] < threshold[:, None])
        surprising = np.count_nonzero(unexpected & context.hits(top, truth)[:, :k], axis=1)
        divisor = np.full(len(items), k) if self.variant == "by_k" else np.count_nonzero(unexpected, axis=1)
        values = surprising / np.maximum(divisor, 1)
        return np.where(context.relevant(top, truth) > 0, values, np.nan)


def expected_from(context: EvaluationContext, k: int) -> IntArray:
    """For every user the count of their k-th most popular unseen item, 0 where fewer than k are unseen.

    With items numbered by popularity and s_0 < s_1 < ... the numbers of a user's training items, the number
    of unseen items before s_j is s_j - j, which never falls with j: the k-th unseen item has the number k - 1
    + |{j : s_j - j <= k - 1}|.
    """
    train, n_items = context.train, context.n_items
    number = np.empty(n_items, dtype=train.indices.dtype)
    number[context.by_popularity] = np.arange(n_items, dtype=number.dtype)
    renumbered = csr_array((train.data, number[train.indices], train.indptr), shape=train.shape, copy=True)
    renumbered.sort_indices()
    lengths = np.diff(train.indptr)
    row = np.repeat(np.arange(train.shape[0]), lengths)
    within = np.arange(train.nnz) - np.repeat(train.indptr[:-1], lengths)
    passed = np.bincount(row[renumbered.indices - within <= k - 1], minlength=train.shape[0])
    counts = np.append(context.popularity[context.by_popularity], 0)
    return counts[np.minimum(k - 1 + passed, n_items)]


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
        """One value per row of `top`; NaN for an empty list or profile."""
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
    return np.sum([context.beyond_share(bound) for bound in GROUP_BOUNDS], axis=0, dtype=np.int64)


def _shares(counts: FloatArray) -> FloatArray:
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
