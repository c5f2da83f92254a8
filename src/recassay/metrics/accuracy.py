"""Accuracy: hits counted (precision, recall, F1, hit rate, R-precision), by their place (nDCG, MAP, MRR), and AUC.

Relevance is binary: an item stored in the user's row of `truth` is relevant. In the formulas h is the number of
relevant items among the first k of the list, R the number of the user's relevant items, k the cut-off, and rel(j) is 1
where the item in place j (from 1) is relevant. A list shorter than k is judged as if it ended in items that are not
relevant. A user with R = 0 has no value (NaN).
"""

from __future__ import annotations

from typing import Any, ClassVar, TypeAlias

import numpy as np
from scipy.sparse import csr_array

from recassay.core.types import BoolArray, FloatArray, IntArray, TopK
from recassay.metrics.context import EvaluationContext, membership, ratio
from recassay.metrics.protocol import MetricBase
from recassay.metrics.weighted import WEIGHTED, Weighting, hit_weights

Hits: TypeAlias = BoolArray | FloatArray


class AccuracyMetric(MetricBase):
    """A metric of where the hits stand in a list and how many there could be."""

    def per_user(self, top: TopK, truth: csr_array, context: EvaluationContext) -> FloatArray:
        """One value per row of `top`; NaN for a user without relevant items."""
        k = self.depth(top)
        relevant = context.relevant(top, truth)
        with np.errstate(divide="ignore", invalid="ignore"):
            values = self._values(context.hits(top, truth)[:, :k], relevant, k)
        return np.where(relevant > 0, values, np.nan)

    def _values(self, hits: Hits, relevant: IntArray, k: int) -> FloatArray:
        """The values from the hits (rows x at most k) or their weights, by default their number, divided as the variant
        says; what comes out where nothing is relevant does not count.
        """
        return count(hits) / self.divisor(hits, relevant, k)

    def divisor(self, hits: Hits, relevant: IntArray, k: int) -> int | IntArray:
        """What the variant `by_k`, `by_relevant`, `by_min` or `by_hits` divides by."""
        if self.variant == "by_k":
            return k
        if self.variant == "by_relevant":
            return relevant
        return np.maximum(count(hits), 1) if self.variant == "by_hits" else np.minimum(relevant, k)


def count(hits: Hits) -> Any:
    """The hits of every list, or the sum of their weights."""
    return np.count_nonzero(hits, axis=1) if hits.dtype.kind == "b" else hits.sum(axis=1)


class WeightableMetric(AccuracyMetric):
    """One that may weight hits by inverse propensity (`metrics/weighted.py`): variants `ips` and `snips`."""

    weighting: Weighting | None = None

    def __init__(self, k: int | None = None, variant: str | None = None) -> None:
        weighting = Weighting.parse(variant)
        if weighting is None or weighting.kind not in self.variants:
            super().__init__(k, variant)
        else:
            super().__init__(k, weighting.kind)
            self.weighting, self.variant = weighting, str(weighting)

    def per_user(self, top: TopK, truth: csr_array, context: EvaluationContext) -> FloatArray:
        """One value per row of `top`; NaN for a user without relevant items."""
        if self.weighting is None:
            return super().per_user(top, truth, context)
        k, relevant = self.depth(top), context.relevant(top, truth)
        weights = context.weights(truth, self.weighting)
        weight = hit_weights(weights, top.users, top.items, context.hits(top, truth)[:, :k])
        with np.errstate(divide="ignore", invalid="ignore"):
            values = self._values(weight, relevant, k)
        return np.where(relevant > 0, values, np.nan)


class Precision(AccuracyMetric):
    """The share of the list that is relevant.

    `by_k`: h / k. trec_eval's P_k, where a short list is punished for the places it leaves empty. `by_min`:
    h / min(k, R), as in the code of the KDD'24 study, where 1 can be reached by a user with fewer than k
    relevant items.
    """

    name = "precision"
    formula = "h / k"
    source = "trec_eval P_k; Shevchenko et al., KDD 2024, code for by_min"
    variants: ClassVar[dict[str, str]] = {
        "by_k": "hits divided by k (trec_eval, ranx, RecTools)",
        "by_min": "hits divided by min(k, relevant) (KDD'24 code)",
    }


class Recall(WeightableMetric):
    """The share of the relevant items that are listed.

    `by_relevant`: h / R. `by_min`: h / min(k, R), which a list of k can bring to 1 however many items are
    relevant (Liang et al., Variational autoencoders for collaborative filtering, WWW 2018).
    """

    name = "recall"
    formula = "h / R"
    source = "trec_eval recall_k; Liang et al., WWW 2018, for by_min"
    variants: ClassVar[dict[str, str]] = {
        "by_relevant": "hits divided by the number of relevant items (trec_eval, ranx, RecTools)",
        "by_min": "hits divided by min(k, relevant) (Liang et al. 2018)",
        **WEIGHTED,
    }

    def divisor(self, hits: Hits, relevant: IntArray, k: int) -> int | IntArray:
        """The relevant items, or min(k, R) as `by_min`."""
        return super().divisor(hits, relevant, k) if self.weighting is None else relevant


class F1(AccuracyMetric):
    """The harmonic mean of precision (h / k) and recall (h / R): 2 h / (k + R), and 0 without a hit."""

    name = "f1"
    formula = "2 h / (k + R)"
    source = "van Rijsbergen, Information Retrieval, 1979"
    variants: ClassVar[dict[str, str]] = {"by_k": "precision divides by k, recall by the relevant items"}

    def _values(self, hits: Hits, relevant: IntArray, k: int) -> FloatArray:
        return 2 * count(hits) / (k + relevant)


class HitRate(WeightableMetric):
    """1 where at least one of the first k items is relevant, else 0; its mean is the share of users with a
    hit.
    """

    name = "hitrate"
    formula = "1 if h > 0 else 0"
    source = "Deshpande and Karypis, Item-based top-N recommendation algorithms, TOIS 2004"
    variants: ClassVar[dict[str, str]] = {
        "any": "one hit is enough; the mean is over users, not over relevant items",
        **WEIGHTED,
    }

    def _values(self, hits: Hits, relevant: IntArray, k: int) -> FloatArray:
        return np.asarray(1.0 - np.prod(1.0 - hits, axis=1))  # weighted: each relevant item is a chance of a hit


class RPrecision(AccuracyMetric):
    """Precision at the user's own number of relevant items: hits among the first R, divided by R.

    It needs lists of at least R items. Where the list or the cut-off is shorter, `by_relevant` counts the
    missing places as not relevant (a lower bound, as trec_eval does); `by_min` looks at the first min(k, R)
    and divides by as many.
    """

    name = "rprecision"
    formula = "hits in the first R / R"
    source = "trec_eval Rprec; Manning et al., Introduction to Information Retrieval, 2008"
    variants: ClassVar[dict[str, str]] = {
        "by_relevant": "divided by the relevant items; places beyond the list are not relevant (trec_eval)",
        "by_min": "divided by min(k, relevant): what a list of k can reach",
    }

    def _values(self, hits: Hits, relevant: IntArray, k: int) -> FloatArray:
        within = np.arange(hits.shape[1]) < relevant[:, None]
        return count(hits * within) / self.divisor(hits, relevant, k)


class NDCG(WeightableMetric):
    """Normalised discounted cumulative gain with binary gain and the discount 1 / log2(place + 1).

    DCG@k = sum over j <= k of rel(j) / log2(j + 1), divided by the DCG of the best list. `ideal_min`: the
    best list has min(k, R) hits, so that every user can reach 1. `ideal_k`: it has k hits for every
    user, which a user with fewer relevant items can never reach (the default of RecTools).
    """

    name = "ndcg"
    formula = "sum_{j<=k} rel(j)/log2(j+1) / sum_{j<=min(k,R)} 1/log2(j+1)"
    source = "Järvelin and Kekäläinen, Cumulated gain-based evaluation, TOIS 2002; log2 as in trec_eval"
    variants: ClassVar[dict[str, str]] = {
        "ideal_min": "the ideal list has min(k, relevant) hits (trec_eval, ranx, recommenders, torchmetrics)",
        "ideal_k": "the ideal list has k hits for every user (RecTools by default)",
        **WEIGHTED,
    }

    def _values(self, hits: Hits, relevant: IntArray, k: int) -> FloatArray:
        discounts = 1 / np.log2(np.arange(2, k + 2))
        gained: FloatArray = hits.astype(np.float64) @ discounts[: hits.shape[1]]
        ideal = np.cumsum(discounts)
        best = ideal[-1] if self.variant == "ideal_k" else ideal[np.clip(relevant, 1, k) - 1]
        return gained / best


class AveragePrecision(WeightableMetric):
    """Average precision at k, whose mean over users is MAP@k: sum over j <= k of precision(j) rel(j),
    divided.

    The divisor is what libraries disagree on. `by_min`, min(k, R), is the default: it is the largest number
    of terms the sum can have, so that a perfect list of k scores 1 for every user, and it is the convention
    of the KDD'24 code. `by_relevant` (trec_eval's map_cut_k, ranx) divides by R: with R > k a perfect list
    stays below 1. `by_k` divides by k. `by_hits` divides by the number of hits, and a list with one hit in
    the first place scores 1 (0 without a hit).
    """

    name = "map"
    formula = "sum_{j<=k} precision(j) rel(j) / min(k, R)"
    source = "trec_eval map_cut_k; Shevchenko et al., KDD 2024, code for the default divisor"
    variants: ClassVar[dict[str, str]] = {
        "by_min": "divided by min(k, relevant): a perfect list of k scores 1 (KDD'24 code)",
        "by_relevant": "divided by the number of relevant items (trec_eval, ranx)",
        "by_k": "divided by k",
        "by_hits": "divided by the number of hits",
        **WEIGHTED,
    }

    def _values(self, hits: Hits, relevant: IntArray, k: int) -> FloatArray:
        places = np.arange(1, hits.shape[1] + 1)
        weight: FloatArray = np.asarray(hits, dtype=np.float64)
        gained: FloatArray = ((np.cumsum(weight, axis=1) - weight + 1) * weight) @ (1 / places)
        return gained / self.divisor(hits, relevant, k)


class ReciprocalRank(AccuracyMetric):
    """1 / the place of the first relevant item, 0 where none is among the first k; its mean over users is
    MRR@k.
    """

    name = "mrr"
    formula = "1 / place of the first hit, 0 without a hit"
    source = "Voorhees, The TREC-8 question answering track report, 1999; trec_eval recip_rank"
    variants: ClassVar[dict[str, str]] = {"first": "the first hit within the first k counts"}

    def _values(self, hits: Hits, relevant: IntArray, k: int) -> FloatArray:
        return np.where(hits.any(axis=1), 1 / (hits.argmax(axis=1) + 1), 0.0)


class AUC(MetricBase):
    """The chance that a relevant candidate stands above a candidate that is not relevant.

    AUC = sum over relevant candidates of (irrelevant candidates below it) / (R N), with R relevant and N
    irrelevant candidates. The candidates are the catalogue without the user's training items (`unseen`), or
    all of it (`all`, for recommenders that may repeat). A list that names all candidates gives the exact
    value. With a shorter list (or a cut-off) the candidates it leaves out stand below it in random order:
    each of its irrelevant ones is below an unlisted relevant one with chance 1/2, and the value is the
    expectation. NaN where R or N is 0. Listed items that are not candidates are passed over.
    """

    name = "auc"
    whole_ranking = True
    formula = "sum_{relevant i} irrelevant candidates below i / (R N); unlisted candidates in random order"
    source = "Rendle et al., BPR, UAI 2009"
    variants: ClassVar[dict[str, str]] = {
        "unseen": "candidates are the items outside the user's training row",
        "all": "candidates are all items",
    }

    def per_user(self, top: TopK, truth: csr_array, context: EvaluationContext) -> FloatArray:
        """One value per row of `top`; NaN where there is nothing to compare."""
        k = self.depth(top)
        items = top.items[:, :k]
        hits = context.hits(top, truth)[:, :k]
        candidate = items >= 0
        relevant = context.relevant(top, truth).astype(np.float64)
        candidates = np.full(len(items), float(context.n_items))
        if self.variant == "unseen":
            candidate = candidate & ~membership(context.train, top.users, items)
            hits = hits & candidate
            relevant -= _overlap(truth, context.train)[top.users]
            candidates -= np.diff(context.train.indptr)[top.users]
        irrelevant = candidates - relevant
        listed_irrelevant = np.count_nonzero(candidate, axis=1) - np.count_nonzero(hits, axis=1)
        row, place = np.nonzero(hits)
        above = np.cumsum(candidate & ~hits, axis=1, dtype=np.int32)[row, place]
        below_listed = np.bincount(row, weights=irrelevant[row] - above, minlength=len(items))
        unlisted = relevant - np.count_nonzero(hits, axis=1)
        total = below_listed + unlisted * (irrelevant - listed_irrelevant) / 2
        pairs = relevant * irrelevant
        return ratio(total, pairs)


def _overlap(truth: csr_array, train: csr_array) -> FloatArray:
    """For every user, the number of relevant items that are also training items."""
    patterns = [
        csr_array((np.ones(matrix.nnz, dtype=np.float32), matrix.indices, matrix.indptr), shape=matrix.shape)
        for matrix in (truth, train)
    ]
    return np.diff(patterns[0].multiply(patterns[1]).tocsr().indptr).astype(np.float64)
