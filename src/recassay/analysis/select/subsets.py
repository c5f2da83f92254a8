"""Subsets of a benchmark's datasets, and how well the ranking from a subset agrees with that from all of them."""

from __future__ import annotations

import numpy as np

from recassay.analysis.aggregation.contest import Contest
from recassay.analysis.aggregation.rules import DolanMore, Rule
from recassay.core import ties
from recassay.core.types import FloatArray

_ROWS = 20_000
"""Weightings scored at once."""


class SubsetAgreement:
    """Spearman's rho between the ranking under dataset weights and the ranking under all datasets alike.

    `values` is algorithms x datasets; the rule ranks the algorithms for every row of weights. Ties share ranks; a
    ranking without any order (all tied) agrees with nothing: its rho is 0.
    """

    def __init__(self, values: FloatArray, rule: Rule, *, higher_is_better: bool) -> None:
        self.rule = rule
        self.contest = Contest(values[None], higher_is_better=higher_is_better)
        self.upward = rule.higher_is_better(higher_is_better)
        self.n_datasets = values.shape[1]
        self.full = self.directions(np.ones((1, self.n_datasets)))[0]

    def directions(self, weights: FloatArray) -> FloatArray:
        """The ranks for every row of weights, centred and of length 1: their inner products are Spearman's rho."""
        parts = []
        for start in range(0, len(weights), _ROWS):
            scores = self.rule.score(self.contest, weights[start : start + _ROWS], DolanMore())
            ranks = ties.ranks(scores, higher_is_better=self.upward)
            ranks -= (ranks.shape[1] + 1) / 2  # the mean of ranks, ties or not
            length = np.sqrt(np.einsum("ra,ra->r", ranks, ranks))[:, None]
            parts.append(ranks / np.where(length > 0, length, np.inf))
        return np.concatenate(parts)

    def rho(self, weights: FloatArray) -> FloatArray:
        """Spearman's rho of each row of weights with the whole benchmark."""
        agreement: FloatArray = self.directions(weights) @ self.full
        return agreement

    def apart(self, weights: FloatArray) -> FloatArray:
        """Spearman's rho of each row of weights (0 or 1) with the datasets that it leaves out.

        The whole benchmark contains the subset, which so agrees with itself in part; what it leaves out does not.
        """
        return np.asarray((self.directions(weights) * self.directions(1 - weights)).sum(axis=1))
