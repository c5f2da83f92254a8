"""Nearest neighbours of items and of users."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

from recassay.algorithms.kernels.device import DEVICES, settled_device
from recassay.algorithms.kernels.device_products import sparse_recommender
from recassay.algorithms.kernels.fold_in import ProfileRecommender
from recassay.algorithms.kernels.similarity import SIMILARITIES, WEIGHTINGS, NeighbourLists
from recassay.algorithms.kernels.sparse_scoring import SparseRecommender, sparse_lists_bytes
from recassay.core.specs.search import Tunable, choice, fixed, whole
from recassay.core.types import Interactions, Recommender

MOST_NEIGHBOURS = 2500
"""The upper end of the search for k; a smaller catalogue has fewer neighbours to give."""


SHRINKS = (0.0, 3.0, 10.0, 30.0, 100.0)


class _Neighbourhood(Tunable):
    """Parameters that item and user neighbours have in common; see `similarity` for their meaning.

    `shrink` is searched at five values. The KDD'24 study searches 0 to 1, which is added to a denominator of the order
    of an item's number of users and changes rare items alone; others found values up to 1000 useful (Ferrari Dacrema
    et al., RecSys 2019). A few values instead of a range let trials share neighbour lists. The dot product was never
    among the best and is not searched. On a GPU (`device`) similarities, lists and scores are computed there.
    """

    k: int = whole(20, MOST_NEIGHBOURS, default=100, log=True)
    shrink: float = choice(SHRINKS, default=0.0, least=0)
    similarity: str = choice(("cosine", "jaccard"), default="cosine", among=SIMILARITIES)
    weighting: str = choice(WEIGHTINGS, default="none", among=WEIGHTINGS)
    device: str = fixed("auto", among=DEVICES)

    of_items: ClassVar[bool]
    """Whether neighbours of items are looked for, by their users, or neighbours of users, by their items."""

    @classmethod
    def shared(cls, train: Interactions) -> NeighbourLists:
        """Neighbour lists, kept from trial to trial: a smaller k is a cut of a larger one."""
        history = train.csr()
        return NeighbourLists(history.T.tocsr() if cls.of_items else history)

    def fit(
        self, train: Interactions, *, rng: np.random.Generator, shared: NeighbourLists | None = None
    ) -> Recommender:
        """Find the neighbours of every item, or of every user."""
        device = settled_device(self.device, self.name)
        lists = self.shared(train) if shared is None else shared
        near = lists.nearest(self.k, (self.similarity, self.weighting, float(self.shrink)), device).matrix()
        left, right = self._factors(train.csr(), near)
        return self._lists(left, right, rng, device)

    @staticmethod
    def _lists(left: csr_array, right: csr_array, rng: np.random.Generator, device: str) -> Recommender:
        """Lists by the rows of left x right."""
        if device != "cpu":
            return sparse_recommender(left, right, rng=rng, device=device)
        return SparseRecommender(left, right, rng=rng)

    def _factors(self, history: csr_array, near: csr_array) -> tuple[csr_array, csr_array]:
        """The two matrices whose product are the scores; row a of `near` holds the similarities of the neighbours."""
        return near, history

    def memory_bytes(self, n_users: int, n_items: int, n_interactions: int) -> int:
        """Lists of k neighbours in three forms, the history three times, and the sums of each thread."""
        n_profiles = n_items if self.of_items else n_users
        lists, sums = n_profiles * min(self.k, n_profiles), sparse_lists_bytes(max(n_profiles, n_items))
        return 3 * 8 * lists + 64 * n_interactions + 16 * (n_users + n_items) + 2 * sums


class ItemKNN(_Neighbourhood):
    """Items similar to those of the user: score(u, i) = sum of s(i, j) over the user's items j that are kept.

    With `keep = "target"` j is kept if it is among the k nearest of i (Deshpande and Karypis keep columns in their
    model; on ml-1m this gives nDCG@10 0.37), with `keep = "history"` if i is among the k nearest of j (what `implicit`
    does; 0.31).
    """

    name: ClassVar[str] = "ItemKNN"
    aliases: ClassVar[tuple[str, ...]] = ("item-item", "ibcf")
    source: ClassVar[str] = "Deshpande, Karypis: Item-based top-N recommendation algorithms (TOIS 2004)"
    of_items: ClassVar[bool] = True

    k: int = whole(20, MOST_NEIGHBOURS, default=500, log=True)
    shrink: float = choice(SHRINKS, default=10.0)
    weighting: str = choice(WEIGHTINGS, default="length")
    keep: str = fixed("target", among=("target", "history"))

    def _factors(self, history: csr_array, near: csr_array) -> tuple[csr_array, csr_array]:
        return history, near if self.keep == "history" else near.T.tocsr()

    @staticmethod
    def _lists(left: csr_array, right: csr_array, rng: np.random.Generator, device: str) -> Recommender:
        return ProfileRecommender(lambda rows, rng: _Neighbourhood._lists(rows, right, rng, device), left, rng=rng)


class UserKNN(_Neighbourhood):
    """Items of similar users: score(u, i) = sum of s(u, v) over those of the user's k nearest v who have i."""

    name: ClassVar[str] = "UserKNN"
    folds_in: ClassVar[bool] = False
    aliases: ClassVar[tuple[str, ...]] = ("user-user", "ubcf")
    source: ClassVar[str] = (
        "Herlocker, Konstan, Borchers, Riedl: An algorithmic framework for collaborative filtering (SIGIR 1999)"
    )
    of_items: ClassVar[bool] = False
