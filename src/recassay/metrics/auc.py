"""The area under the ROC curve over a user's whole candidate set."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

from recassay.core.types import FloatArray, TopK
from recassay.metrics.context import EvaluationContext, membership, ratio
from recassay.metrics.protocol import MetricBase


class AUC(MetricBase):
    """The chance that a relevant candidate stands above a candidate that is not relevant.

    AUC = sum over relevant candidates of (irrelevant candidates below it) / (R N), with R relevant and N
    irrelevant candidates. The candidates are the catalogue without the user's training items (`unseen`), or
    all of it (`all`, for recommenders that may repeat). A list that names all candidates gives the exact
    value. With a shorter list (or a cut-off) the candidates it leaves out stand below it in random order:
    each of its irrelevant ones is below an unlisted relevant one with chance 1/2, and the value is the
    expectation. NaN where R or N is 0. Listed items that are no candidates are passed over.
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
        """One value a row of `top`; NaN where there is nothing to compare."""
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
