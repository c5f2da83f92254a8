"""Accuracy by counting hits: precision, recall, F1, hit rate and R-precision.

Relevance is binary: an item stored in the user's row of `truth` is relevant. In the formulas h is the number
of relevant items among the first k of the list, R the number of the user's relevant items, k the cut-off. A
list shorter than k is judged as if it ended in items that are not relevant. A user with R = 0 has no value
(NaN).
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

from recassay.core.types import BoolArray, FloatArray, IntArray, TopK
from recassay.metrics.context import EvaluationContext
from recassay.metrics.protocol import MetricBase


class AccuracyMetric(MetricBase):
    """A metric of where the hits stand in a list and how many there could be."""

    def per_user(self, top: TopK, truth: csr_array, context: EvaluationContext) -> FloatArray:
        """One value a row of `top`; NaN for a user without relevant items."""
        k = self.depth(top)
        relevant = context.relevant(top, truth)
        with np.errstate(divide="ignore", invalid="ignore"):
            values = self._values(context.hits(top, truth)[:, :k], relevant, k)
        return np.where(relevant > 0, values, np.nan)

    @abstractmethod
    def _values(self, hits: BoolArray, relevant: IntArray, k: int) -> FloatArray:
        """The values from the hits (rows x at most k); what comes out where nothing is relevant does not
        count.
        """


def count(hits: BoolArray) -> IntArray:
    """The hits of every list."""
    return np.asarray(np.count_nonzero(hits, axis=1), dtype=np.int64)


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

    def _values(self, hits: BoolArray, relevant: IntArray, k: int) -> FloatArray:
        return count(hits) / (k if self.variant == "by_k" else np.minimum(relevant, k))


class Recall(AccuracyMetric):
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
    }

    def _values(self, hits: BoolArray, relevant: IntArray, k: int) -> FloatArray:
        return count(hits) / (relevant if self.variant == "by_relevant" else np.minimum(relevant, k))


class F1(AccuracyMetric):
    """The harmonic mean of precision (h / k) and recall (h / R): 2 h / (k + R), and 0 without a hit."""

    name = "f1"
    formula = "2 h / (k + R)"
    source = "van Rijsbergen, Information Retrieval, 1979"
    variants: ClassVar[dict[str, str]] = {"by_k": "precision divides by k, recall by the relevant items"}

    def _values(self, hits: BoolArray, relevant: IntArray, k: int) -> FloatArray:
        return 2 * count(hits) / (k + relevant)


class HitRate(AccuracyMetric):
    """1 where at least one of the first k items is relevant, else 0; its mean is the share of users with a
    hit.
    """

    name = "hitrate"
    formula = "1 if h > 0 else 0"
    source = "Deshpande and Karypis, Item-based top-N recommendation algorithms, TOIS 2004"
    variants: ClassVar[dict[str, str]] = {"any": "one hit is enough; the mean is over users, not over relevant items"}

    def _values(self, hits: BoolArray, relevant: IntArray, k: int) -> FloatArray:
        return np.asarray(hits.any(axis=1), dtype=np.float64)


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

    def _values(self, hits: BoolArray, relevant: IntArray, k: int) -> FloatArray:
        within = np.arange(hits.shape[1]) < relevant[:, None]
        return count(hits & within) / (relevant if self.variant == "by_relevant" else np.minimum(relevant, k))
