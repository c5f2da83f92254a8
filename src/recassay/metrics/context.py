"""What metrics share while they look at one set of lists: hits, popularity and groups, each computed once."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.sparse import csc_array, csr_array

from recassay.core.types import BoolArray, FloatArray, IdArray, IntArray, Interactions, TopK
from recassay.metrics.weighted import PropensityTable, Weighting

HEAD_SHARE = 0.8
"""Items sorted by count that cover this share of the interactions are the head; the long tail is the rest."""

_TABLE_BYTES = 1 << 22


@dataclass(eq=False)
class EvaluationContext:
    """The training data of an evaluation (events, or users x items with an interaction each entry) and what
    follows from it.

    `hits` and `weights` remember their last answer, so that many metrics over the same lists share one look-up.
    `propensity`, where it is given, says how likely relevant items were to be in the data; only weighted metrics ask.
    """

    data: csr_array | Interactions
    propensity: PropensityTable | None = None
    _weighted: tuple[csr_array, Weighting, csr_array] | None = field(default=None, init=False, repr=False)
    _last: tuple[TopK, csr_array, BoolArray] | None = field(default=None, init=False, repr=False)

    @property
    def n_items(self) -> int:
        """The size of the catalogue."""
        return self.data.n_items if isinstance(self.data, Interactions) else int(self.data.shape[1])

    @cached_property
    def train(self) -> csr_array:
        """The training matrix, users x items; made when the first metric asks for it."""
        return as_matrix(self.data)

    @cached_property
    def popularity(self) -> IntArray:
        """For every item, the number of training users who have it."""
        return np.bincount(self.train.indices, minlength=self.n_items).astype(np.int64)

    @cached_property
    def n_train_users(self) -> int:
        """The number of users with at least one training interaction."""
        return int(np.count_nonzero(np.diff(self.train.indptr)))

    def owners(self, users: IdArray) -> IntArray:
        """For every item, how many of these users have it in training."""
        return np.bincount(self.train[users].indices, minlength=self.n_items).astype(np.int64)

    @cached_property
    def columns(self) -> csc_array:
        """The training data by item."""
        return csc_array(self.train)

    @cached_property
    def by_popularity(self) -> IntArray:
        """Items from the most to the least popular; equal counts in the order of the item table."""
        return np.argsort(-self.popularity, kind="stable")

    def beyond_share(self, share: float) -> BoolArray:
        """The items past the point where the most popular items cover `share` of the training interactions.

        The item that crosses the point still belongs to the covering set.
        """
        counts = self.popularity[self.by_popularity]
        before = np.cumsum(counts) - counts
        past = np.empty(self.n_items, dtype=bool)
        past[self.by_popularity] = before >= share * counts.sum()
        return past

    @cached_property
    def long_tail(self) -> BoolArray:
        """The items past the point where items sorted by count cover 80 % of the training interactions."""
        return self.beyond_share(HEAD_SHARE)

    def hits(self, top: TopK, truth: csr_array) -> BoolArray:
        """Whether each listed item (rows x k) is relevant to the user of its list; padding is not."""
        if self._last is None or self._last[0] is not top or self._last[1] is not truth:
            self._last = top, truth, membership(truth, top.users, top.items)
        return self._last[2]

    def weights(self, truth: csr_array, weighting: Weighting) -> csr_array:
        """The inverse propensities of the relevant items, 1 on average, in the form of `truth`."""
        if self._weighted is None or self._weighted[0] is not truth or self._weighted[1] != weighting:
            values = weighting.weights(truth, self.popularity, self.propensity)
            matrix = csr_array((values, truth.indices, truth.indptr), shape=truth.shape)
            self._weighted = truth, weighting, matrix
        return self._weighted[2]

    def relevant(self, top: TopK, truth: csr_array) -> IntArray:
        """The number of relevant items of each list's user."""
        return np.diff(truth.indptr)[top.users].astype(np.int64)


def as_matrix(data: csr_array | Interactions) -> csr_array:
    """A users x items matrix whose stored entries are distinct and not zero; the input is left as it was."""
    if isinstance(data, Interactions):
        return data.csr()
    matrix = data if isinstance(data, csr_array) else csr_array(data)
    if not matrix.has_canonical_format or not matrix.data.all():
        matrix = matrix.copy()
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    return matrix


def ratio(total: FloatArray, number: FloatArray | IntArray) -> FloatArray:
    """`total / number`, NaN where `number` is 0."""
    return np.divide(total, number, out=np.full(len(total), np.nan), where=number > 0)


def membership(matrix: csr_array, users: IdArray, items: IdArray) -> BoolArray:
    """Whether `items[r, j]` is stored in row `users[r]` of `matrix`; item -1 is in no row.

    A table of marks for a block of rows: mark the stored entries, look the items up, take the marks away.
    Each row has one column more than there are items, never marked, where item -1 of the next row falls.
    """
    width = int(matrix.shape[1]) + 1
    rows = int(np.clip(_TABLE_BYTES // width, 16, 4096))
    table = np.zeros(rows * width, dtype=bool)
    stored = np.empty(items.shape, dtype=bool)
    starts, lengths = matrix.indptr[users].astype(np.int64), np.diff(matrix.indptr)[users].astype(np.int64)
    offsets = np.arange(rows, dtype=np.int64) * width
    for first in range(0, len(users), rows):
        block = slice(first, min(first + rows, len(users)))
        count = lengths[block]
        ends = np.cumsum(count)
        entry = np.arange(int(ends[-1])) + np.repeat(starts[block] - ends + count, count)
        marked = matrix.indices[entry] + np.repeat(offsets[: len(count)], count)
        table[marked] = True
        np.take(table, items[block] + offsets[: len(count), None], mode="wrap", out=stored[block])
        table[marked] = False
    return stored
