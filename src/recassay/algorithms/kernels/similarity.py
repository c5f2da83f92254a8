"""The nearest rows of a binary matrix, by several similarities.

The rows are profiles: the users of an item, or the items of a user. What the profile is made of are its terms.
Weighting of a binary entry of profile a and term t, with N profiles, n_t those with the term, L_a the terms of a:

- none: 1
- tfidf: idf(t) = ln((1 + N) / (1 + n_t)) (a term that everyone has says nothing)
- bm25: idf(t) (k1 + 1) / (1 + k1 (1 - b + b L_a / mean L)), k1 = 1.2, b = 0.75 (Robertson et al., TREC-3)
- length: 1 / sqrt(n_t) (every user's row has the same length, as in Deshpande and Karypis: one of the five items of a
  user says more than one of five hundred)

Similarity of the weighted rows x_a and x_b:

- cosine: x_a . x_b / (|x_a| |x_b| + shrink)
- jaccard: x_a . x_b / (|x_a|^2 + |x_b|^2 - x_a . x_b + shrink) (Tanimoto's form: Jaccard's for unweighted rows)
- dot: x_a . x_b (shrink has nothing to shrink and is not used)

`shrink` is a number of common terms: before it is added it is multiplied by the mean squared weight of an entry (1 for
unweighted rows). A similarity is thus multiplied by d / (d + shrink), d its denominator, which draws those on little
evidence towards 0, alike under every weighting.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.sparse import csr_array

from recassay.algorithms.kernels.device_products import nearest_on
from recassay.algorithms.kernels.products import SparseRows
from recassay.algorithms.kernels.sparse_neighbours import largest_products
from recassay.core.ranking import tie_order
from recassay.core.seeds import derived_rng
from recassay.core.types import Float32Array, IdArray

SIMILARITIES = ("cosine", "jaccard", "dot")
WEIGHTINGS = ("none", "tfidf", "bm25", "length")
SETTINGS_KEPT = 3
"""How many kinds of neighbour lists are kept between trials."""

Setting: TypeAlias = tuple[str, str, float]
"""Similarity, weighting, shrink."""


@dataclass(frozen=True, slots=True, eq=False)
class Neighbours:
    """The nearest of every profile, best first: positions (-1 where there are fewer) and similarities."""

    profile: IdArray
    similarity: Float32Array

    def cut(self, k: int) -> Neighbours:
        """The k nearest."""
        return Neighbours(self.profile[:, :k], self.similarity[:, :k])

    def matrix(self) -> csr_array:
        """Row a holds the similarities of the neighbours of a."""
        listed = self.profile >= 0
        start = np.concatenate([[0], np.cumsum(listed.sum(axis=1))])
        shape = (len(self.profile), len(self.profile))
        return csr_array((self.similarity[listed], self.profile[listed], start), shape=shape)


class NeighbourLists:
    """Neighbours by setting, kept for the largest k asked for so far; the settings used last are kept."""

    def __init__(self, profiles: csr_array) -> None:
        self._profiles = profiles
        self._known: OrderedDict[Setting, Neighbours] = OrderedDict()

    def nearest(self, k: int, setting: Setting, device: str = "cpu") -> Neighbours:
        """What `nearest` answers, from memory where possible."""
        known = self._known.pop(setting, None)
        if known is None or known.profile.shape[1] < min(k, self._profiles.shape[0]):
            known = nearest(self._profiles, k, setting, device)
        self._known[setting] = known
        while len(self._known) > SETTINGS_KEPT:
            self._known.popitem(last=False)
        return known.cut(k)


def nearest(profiles: csr_array, k: int, setting: Setting, device: str = "cpu") -> Neighbours:
    """The k most similar other rows of every row of `profiles`, those of similarity 0 left out.

    Equal similarities at the end of a list are decided by one random order of the rows, always the same.
    """
    similarity, weighting, shrink = setting
    n_profiles = profiles.shape[0]
    width = max(1, min(k, n_profiles))
    weighted = weigh(profiles, weighting)
    squares = np.asarray(weighted.multiply(weighted).sum(axis=1), dtype=np.float32).reshape(-1)
    shrink *= float(squares.sum(dtype=np.float64)) / max(weighted.nnz, 1)
    place = tie_order(n_profiles, derived_rng(0, "neighbours"))
    if device != "cpu":
        return Neighbours(*nearest_on(weighted, squares, width, similarity, shrink, place, device))
    rows, columns = SparseRows.of(weighted), SparseRows.of(weighted.T.tocsr())
    best = largest_products(rows, columns, width, place, similarity=similarity, shrink=shrink, squares=squares)
    return Neighbours(*best)


def weigh(profiles: csr_array, weighting: str) -> csr_array:
    """`profiles` with every stored one replaced by its weight."""
    if weighting == "none":
        return profiles
    n_profiles, n_terms = profiles.shape
    having = np.bincount(profiles.indices, minlength=n_terms)
    if weighting == "length":
        weight = 1 / np.sqrt(having[profiles.indices])
    else:
        weight = np.log((1 + n_profiles) / (1 + having))[profiles.indices]
    if weighting == "bm25":
        length = np.diff(profiles.indptr)
        relative = np.repeat(length / max(length.mean(), 1e-12), length)
        weight = weight * (1.2 + 1) / (1 + 1.2 * (1 - 0.75 + 0.75 * relative))
    return csr_array((weight.astype(np.float32), profiles.indices, profiles.indptr), shape=profiles.shape)
