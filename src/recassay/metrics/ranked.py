"""Accuracy by the place of hits: nDCG, average precision and reciprocal rank.

Notation as in `accuracy`: rel(j) is 1 where the item in place j (from 1) is relevant, R the number of
relevant items.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from recassay.core.types import BoolArray, FloatArray, IntArray
from recassay.metrics.accuracy import AccuracyMetric, count


class NDCG(AccuracyMetric):
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
    }

    def _values(self, hits: BoolArray, relevant: IntArray, k: int) -> FloatArray:
        discounts = 1 / np.log2(np.arange(2, k + 2))
        gained: FloatArray = hits.astype(np.float64) @ discounts[: hits.shape[1]]
        ideal = np.cumsum(discounts)
        best = ideal[-1] if self.variant == "ideal_k" else ideal[np.clip(relevant, 1, k) - 1]
        return gained / best


class AveragePrecision(AccuracyMetric):
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
    }

    def _values(self, hits: BoolArray, relevant: IntArray, k: int) -> FloatArray:
        places = np.arange(1, hits.shape[1] + 1)
        gained: FloatArray = (np.cumsum(hits, axis=1) * hits) @ (1 / places)
        if self.variant == "by_relevant":
            return gained / relevant
        if self.variant == "by_k":
            return gained / k
        if self.variant == "by_hits":
            return gained / np.maximum(count(hits), 1)
        return gained / np.minimum(relevant, k)


class ReciprocalRank(AccuracyMetric):
    """1 / the place of the first relevant item, 0 where none is among the first k; its mean over users is
    MRR@k.
    """

    name = "mrr"
    formula = "1 / place of the first hit, 0 without a hit"
    source = "Voorhees, The TREC-8 question answering track report, 1999; trec_eval recip_rank"
    variants: ClassVar[dict[str, str]] = {"first": "the first hit within the first k counts"}

    def _values(self, hits: BoolArray, relevant: IntArray, k: int) -> FloatArray:
        return np.where(hits.any(axis=1), 1 / (hits.argmax(axis=1) + 1), 0.0)
