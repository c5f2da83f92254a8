"""Fold-in: lists after a history, by models that know a user by nothing but the items that the user has."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from scipy.sparse import csr_array

from recassay.core.histories import Histories
from recassay.core.types import IdArray, Recommender, TopK

ListsOf: TypeAlias = Callable[[csr_array, np.random.Generator], Recommender]
"""From profiles (rows x items, ones) to lists for the rows; the generator draws the order of equal scores."""


class ProfileRecommender:
    """Lists for the rows of any profiles: for the users of training, and for histories.

    `known` gives the lists of the users of training; by default those are `lists_of(history, rng)`. Equal scores stand
    in the same order in both.
    """

    def __init__(
        self, lists_of: ListsOf, history: csr_array, *, rng: np.random.Generator, known: Recommender | None = None
    ) -> None:
        self._lists_of, self._rng, self._n_items = lists_of, copy.deepcopy(rng), int(history.shape[1])
        self._known = lists_of(history, self._rng) if known is None else known

    def recommend(self, users: IdArray, k: int, *, exclude: csr_array | None) -> TopK:
        """The k best items for each of `users`; see `Recommender`."""
        return self._known.recommend(users, k, exclude=exclude)

    def recommend_from(self, histories: Histories, k: int, *, exclude: csr_array | None) -> TopK:
        """The k best items after each history; see `FoldsIn`."""
        lists = self._lists_of(histories.csr(self._n_items), self._rng)
        return lists.recommend(np.arange(len(histories), dtype=np.int32), k, exclude=exclude)
