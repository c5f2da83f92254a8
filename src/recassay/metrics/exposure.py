"""How the lists of all users together spread over the catalogue: coverage, Gini, entropy.

These are catalogue metrics: they have no value for a single user. In the formulas x(i) is the number of lists
that name item i among their first k, n the size of the catalogue (items never listed have x = 0 and count),
and p(i) = x(i) / sum x.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

from recassay.core.types import FloatArray, TopK
from recassay.metrics.context import EvaluationContext
from recassay.metrics.protocol import MetricBase, Scope


def exposure(top: TopK, k: int, n_items: int) -> FloatArray:
    """x: in how many lists each item of the catalogue stands among the first k."""
    items = top.items[:, :k]
    return np.bincount(items[items >= 0], minlength=n_items).astype(np.float64)


class Coverage(MetricBase):
    """The share of the catalogue that is recommended to anybody; 0 where all lists are empty."""

    name = "coverage"
    scope: ClassVar[Scope] = "catalogue"
    formula = "|{i : x(i) > 0}| / n"
    source = "Ge et al., Beyond accuracy, RecSys 2010 (catalogue coverage); Kaminskas and Bridge, TiiS 2016"
    variants: ClassVar[dict[str, str]] = {
        "catalogue": "of all items of the catalogue",
        "train": "of the items with a training interaction, counting only those",
    }

    def catalogue(self, top: TopK, truth: csr_array, context: EvaluationContext) -> float:
        """The value over all lists; NaN for an empty catalogue."""
        shown = exposure(top, self.depth(top), context.n_items) > 0
        eligible = np.ones_like(shown) if self.variant == "catalogue" else context.popularity > 0
        return float(np.count_nonzero(shown & eligible) / eligible.sum()) if eligible.any() else float("nan")


class Gini(MetricBase):
    """The inequality of exposure: 0 where all items are listed equally often, near 1 where one item has all
    places.

    With x sorted from small to large, sum over i of (2 i - n - 1) x_i / (n sum x). `over_n_minus_1` has n - 1
    in place of n, and reaches 1; `over_n_plus_1` has n + 1, as the Gini of the dataset characteristics.
    """

    name = "gini"
    scope: ClassVar[Scope] = "catalogue"
    formula = "sum_i (2i - n - 1) x_(i) / (n sum x), x sorted ascending"
    source = "Adomavicius and Kwon, TKDE 2012; Castells et al., Recommender Systems Handbook, 2015, for n - 1"
    variants: ClassVar[dict[str, str]] = {
        "over_n": "divided by n (largest value 1 - 1/n)",
        "over_n_minus_1": "divided by n - 1 (largest value 1)",
        "over_n_plus_1": "divided by n + 1 (KDD'24 characteristics)",
    }

    def catalogue(self, top: TopK, truth: csr_array, context: EvaluationContext) -> float:
        """The value over all lists; NaN where nothing is listed."""
        counts = np.sort(exposure(top, self.depth(top), context.n_items))
        n = len(counts)
        divisor = {"over_n": n, "over_n_minus_1": n - 1, "over_n_plus_1": n + 1}[self.variant] * counts.sum()
        weights = 2 * np.arange(1, n + 1) - n - 1
        return float(weights @ counts / divisor) if divisor > 0 else float("nan")


class Entropy(MetricBase):
    """The Shannon entropy of exposure: 0 where one item has all places, log2(n) where all have as many."""

    name = "entropy"
    scope: ClassVar[Scope] = "catalogue"
    formula = "- sum_i p(i) log2 p(i)"
    source = "Adomavicius and Kwon, Improving aggregate recommendation diversity, TKDE 2012"
    variants: ClassVar[dict[str, str]] = {
        "bits": "in bits",
        "nats": "in nats (natural logarithm)",
        "normalised": "in bits, divided by log2(n)",
    }

    def catalogue(self, top: TopK, truth: csr_array, context: EvaluationContext) -> float:
        """The value over all lists; NaN where nothing is listed."""
        counts = exposure(top, self.depth(top), context.n_items)
        if not counts.any():
            return float("nan")
        share = counts[counts > 0] / counts.sum()
        bits = float(np.abs(share @ np.log2(share)))
        if self.variant == "bits":
            return bits
        if self.variant == "nats":
            return bits * float(np.log(2))
        return bits / float(np.log2(len(counts))) if len(counts) > 1 else float("nan")
