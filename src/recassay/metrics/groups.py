"""What lists do for groups of items and of users: exposure of head and tail, novelty to users, users served.

In the formulas c(i) is the number of training users who have item i, m the number of training users, and the tail are
the items past the point where items sorted by c cover 80 % of the training interactions; the others are the head. The
functions at the end are for groups that are given: `analysis/groups` asks them.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

from recassay.core.types import FloatArray, TopK
from recassay.metrics.beyond import mean_over_list
from recassay.metrics.context import EvaluationContext
from recassay.metrics.protocol import MetricBase, Scope

TAIL = {"beyond_80": "the tail begins where the head covers 80 % of the interactions"}
"""The only convention of what the long tail is."""


class TailCount(MetricBase):
    """The number of long-tail items in a list (average coverage of long-tail items, ACLT); its share is `longtail`."""

    name = "aclt"
    formula = "number of listed long-tail items"
    source = "Abdollahpouri et al., Managing popularity bias, FLAIRS 2019; the tail as in KDD'24, 4.3"
    variants: ClassVar[dict[str, str]] = TAIL

    def per_user(self, top: TopK, truth: csr_array, context: EvaluationContext) -> FloatArray:
        """One value per row of `top`; NaN for an empty list."""
        items = top.items[:, : self.depth(top)]
        share = mean_over_list(items, context.long_tail.astype(np.float64))
        return share * np.count_nonzero(items >= 0, axis=1)


class _Discovery(MetricBase):
    """What a listed item tells its user, by how few know it; `list` or `relevant`."""

    variants: ClassVar[dict[str, str]] = {
        "list": "the mean over the list",
        "relevant": "hits only, discounted by place and divided by the sum of the discounts",
    }

    def per_user(self, top: TopK, truth: csr_array, context: EvaluationContext) -> FloatArray:
        """One value per row of `top`; NaN for an empty list, or for a user without relevant items."""
        k = self.depth(top)
        items, worth = top.items[:, :k], self._worth(context)
        if self.variant == "list":
            return mean_over_list(items, worth)
        discounts = 1 / np.log2(np.arange(2, k + 2))
        hits = context.hits(top, truth)[:, :k]
        found: FloatArray = np.where(hits, worth[items], 0.0) @ discounts[: items.shape[1]] / discounts.sum()
        return np.where(context.relevant(top, truth) > 0, found, np.nan)

    def _worth(self, context: EvaluationContext) -> FloatArray:
        raise NotImplementedError


class PopularityComplement(_Discovery):
    """The share of training users who do not have the listed items (expected popularity complement, EPC)."""

    name = "epc"
    formula = "mean over the list of 1 - c(i) / m"
    source = "Vargas and Castells, Rank and relevance in novelty and diversity metrics, RecSys 2011"

    def _worth(self, context: EvaluationContext) -> FloatArray:
        return 1 - context.popularity / max(context.n_train_users, 1)


class FreeDiscovery(_Discovery):
    """The mean of -log2 of each listed item's share of all training interactions (expected free discovery, EFD).

    An item without training interactions counts as if it had one.
    """

    name = "efd"
    formula = "mean over the list of -log2(max(c(i), 1) / sum c)"
    source = "Vargas and Castells, Rank and relevance in novelty and diversity metrics, RecSys 2011"

    def _worth(self, context: EvaluationContext) -> FloatArray:
        return np.log2(max(context.popularity.sum(), 1)) - np.log2(np.maximum(context.popularity, 1))


class UserCoverage(MetricBase):
    """The share of the judged users who get a list at all."""

    name = "user_coverage"
    scope: ClassVar[Scope] = "catalogue"
    formula = "lists with an item / judged users"
    source = "Ge et al., Beyond accuracy, RecSys 2010 (user space coverage)"
    variants: ClassVar[dict[str, str]] = {"any": "a list of at least one item", "full": "a list of k items"}

    def catalogue(self, top: TopK, truth: csr_array, context: EvaluationContext) -> float:
        """The value over all lists; NaN where nobody is judged."""
        items = top.items[:, : self.depth(top)] >= 0
        enough = self.depth(top) if self.variant == "full" else 1
        return float(np.mean(items.sum(axis=1) >= enough)) if len(items) else float("nan")


class StatisticalParity(MetricBase):
    """How unequal the chances of head and tail items to be listed are (PopRSP): 0 where both are as likely.

    P(g) = places with items of g / pairs of a judged user and an item of g that the user does not have in training. NaN
    where head or tail has no candidate, or nothing of either is listed.
    """

    name = "poprsp"
    scope: ClassVar[Scope] = "catalogue"
    formula = "deviation of P(head), P(tail) / their mean; P(g) = listed items of g / candidates of g"
    source = "Zhu et al., Measuring and mitigating item under-recommendation bias, SIGIR 2020 (ranking-based SP)"
    variants: ClassVar[dict[str, str]] = TAIL

    def catalogue(self, top: TopK, truth: csr_array, context: EvaluationContext) -> float:
        """The value over all lists."""
        return parity(top, self.depth(top), context, head_and_tail(context))


class EqualOpportunity(MetricBase):
    """How unequal the chances of relevant head and tail items to be listed are (PopREO): 0 where both are as likely.

    P(g) = hits with items of g / relevant items of g, over the judged users. NaN where nothing of head or tail is
    relevant, or there is no hit.
    """

    name = "popreo"
    scope: ClassVar[Scope] = "catalogue"
    formula = "deviation of P(head), P(tail) / their mean; P(g) = hits of g / relevant items of g"
    source = "Zhu et al., Measuring and mitigating item under-recommendation bias, SIGIR 2020 (ranking-based EO)"
    variants: ClassVar[dict[str, str]] = TAIL

    def catalogue(self, top: TopK, truth: csr_array, context: EvaluationContext) -> float:
        """The value over all lists."""
        return opportunity(top, self.depth(top), truth, context, head_and_tail(context))


def head_and_tail(context: EvaluationContext) -> FloatArray:
    """Items x head and tail: 1 where the item belongs."""
    return np.stack([~context.long_tail, context.long_tail], axis=1).astype(np.float64)


def parity(top: TopK, k: int, context: EvaluationContext, groups: FloatArray) -> float:
    """RSP of groups of items (`groups`: items x groups, the shares of an item in its groups)."""
    items = top.items[:, :k]
    listed = np.bincount(items[items >= 0], minlength=len(groups))
    return disparity(listed @ groups, (len(top.users) - context.owners(top.users)) @ groups)


def opportunity(top: TopK, k: int, truth: csr_array, context: EvaluationContext, groups: FloatArray) -> float:
    """REO of groups of items, as in `parity`."""
    hits = np.bincount(top.items[:, :k][context.hits(top, truth)[:, :k]], minlength=len(groups))
    relevant = np.bincount(truth[top.users].indices, minlength=len(groups))
    return disparity(hits @ groups, relevant @ groups)


def disparity(found: FloatArray, possible: FloatArray) -> float:
    """The deviation of found / possible over groups, divided by its mean; NaN where that is not defined."""
    if not len(possible) or (possible <= 0).any() or found.sum() <= 0:
        return float("nan")
    chance = found / possible
    return float(chance.std() / chance.mean())


def exposure_by_user(top: TopK, k: int, groups: FloatArray) -> FloatArray:
    """The share of each list that each group has (lists x groups); NaN for an empty list."""
    return np.stack([mean_over_list(top.items[:, :k], share) for share in groups.T], axis=1)
