"""What needs no learning: chance and popularity. Every algorithm should beat these."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

from recassay.algorithms.kernels.fold_in import ProfileRecommender
from recassay.algorithms.kernels.scoring import ScoreRecommender, scoring_bytes
from recassay.core.errors import NotApplicableError, UsageError
from recassay.core.histories import Histories
from recassay.core.ranking import tie_order
from recassay.core.seeds import splitmix
from recassay.core.specs.search import SearchSpace, Tunable, choice, real
from recassay.core.types import Float32Array, IdArray, Interactions, Recommender, TopK

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""The step of splitmix64 from one state to the next."""


class Random:
    """Every history gets the catalogue in an order of its own, drawn at random.

    With h the finaliser of splitmix64, a history has the number s = h(seed + sum of h(seed, item) over its items, each
    once), and an item the score h(s, item). So a list depends neither on the batch nor on the order of the history, and
    a user of training gets the list of the user's history. 24 bits are kept; equal scores stand in one random order.
    """

    name: ClassVar[str] = "Random"
    space: ClassVar[SearchSpace] = {}
    source: ClassVar[str] = "Uniform chance; hash: Steele, Lea, Flood, Fast splittable generators (OOPSLA 2014)"

    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Recommender:
        """Draw a seed."""
        seed = rng.integers(2**63, size=1).astype(np.uint64)
        items = np.arange(train.n_items, dtype=np.uint64)
        of_item = splitmix((seed + items) * GOLDEN)

        def lists_of(profiles: csr_array, rng: np.random.Generator) -> Recommender:
            sums = np.append(np.uint64(0), np.cumsum(of_item[profiles.indices], dtype=np.uint64))
            streams = splitmix(seed + sums[profiles.indptr[1:]] - sums[profiles.indptr[:-1]])

            def score(rows: IdArray) -> Float32Array:
                drawn = splitmix((streams[rows][:, None] + items) * GOLDEN) >> np.uint64(40)
                return drawn.astype(np.float32) / np.float32(2**24)

            return ScoreRecommender(score, n_items=train.n_items, rng=rng)

        return ProfileRecommender(lists_of, train.csr(), rng=rng)

    def memory_bytes(self, n_users: int, n_items: int, n_interactions: int) -> int:
        """The matrix (twice while it is built), sums of hashes, item ids, and a block of hashes beside its scores."""
        return 56 * n_interactions + 24 * n_users + 16 * n_items + 5 * scoring_bytes(n_items)


class MostPop:
    """The same items for everyone: those with the most users in training, less the user's own."""

    name: ClassVar[str] = "MostPop"
    space: ClassVar[SearchSpace] = {}
    source: ClassVar[str] = "Cremonesi, Koren, Turrin: Performance of recommender algorithms on top-N (RecSys 2010)"

    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Recommender:
        """Count the users of every item, each once."""
        users_of_item = np.bincount(train.csr().indices, minlength=train.n_items)
        return OneOrder(users_of_item.astype(np.float32), rng=rng)

    def memory_bytes(self, n_users: int, n_items: int, n_interactions: int) -> int:
        """The matrix (twice while it is built), the counts and their order."""
        return 40 * n_interactions + 8 * n_users + 40 * n_items


class RecentPop(Tunable):
    """The items that were popular lately.

    With `kind = "window"` an event counts 1 if it lies in the last `window` of the time from the first to the last
    event of training (a share of it), else 0. With `kind = "decay"` it counts 2 ** -(age / (window x time)): half as
    much for every `window` that it is old. Repeated events count each. Times must be known.
    """

    name: ClassVar[str] = "RecentPop"
    source: ClassVar[str] = (
        "Ji, Sun, Zhang, Li: A re-visit of the popularity baseline (SIGIR 2020), RecentPop, DecayPop"
    )

    window: float = real(0.005, 1.0, default=0.1, log=True, above=0, most=1)
    kind: str = choice(("window", "decay"), default="window", among=("window", "decay"))

    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Recommender:
        """Weigh every event by its age and add up."""
        if train.time is None:
            raise NotApplicableError(
                "RecentPop needs the time of every interaction and the data has none",
                fix="use MostPop, or read the data with its column of times",
            )
        age = (train.time.max(initial=train.time.min(initial=0)) - train.time).astype(np.float64)
        scale = self.window * max(float(age.max(initial=0.0)), 1.0)
        weight = (age <= scale).astype(np.float64) if self.kind == "window" else np.exp2(-age / scale)
        recent = np.bincount(train.item, weights=weight, minlength=train.n_items)
        return OneOrder(recent.astype(np.float32), rng=rng)

    def memory_bytes(self, n_users: int, n_items: int, n_interactions: int) -> int:
        """Three columns of event ages and weights, the counts and their order."""
        return 32 * n_interactions + 40 * n_items


REACH = 8
"""Most lists of k are found among the first 8 k of the order; the rest are looked for as far as need be."""


class OneOrder:
    """Lists by one score per item, the same for everybody; equal scores stand in the order of `select_top`.

    The catalogue is sorted once. With the items to leave out at ranks r_0 < r_1 < ... of the order, r_j comes before
    position p of a user's list exactly if r_j - j <= p: position p holds the item of rank p + #{j: r_j - j <= p}.
    """

    def __init__(self, scores: Float32Array, *, rng: np.random.Generator) -> None:
        self._order = np.lexsort((tie_order(len(scores), rng), -scores)).astype(np.int32)
        self._scores = scores[self._order]

    def recommend(self, users: IdArray, k: int, *, exclude: csr_array | None) -> TopK:
        """The k best items for each of `users`; see `Recommender`."""
        if k < 1:
            raise UsageError(f"lists of {k} items were asked for", fix="ask for at least one item")
        position = np.arange(k, dtype=np.int64)
        rank = np.broadcast_to(position, (len(users), k))
        if exclude is not None:
            rank = rank + self._passed_over(exclude[users], k)
        rank = np.minimum(rank, len(self._order))  # what is beyond the catalogue ends the list
        items = np.append(self._order, np.int32(-1))[rank]
        return TopK(users=users, items=items, scores=np.append(self._scores, np.float32(-np.inf))[rank])

    def recommend_from(self, histories: Histories, k: int, *, exclude: csr_array | None) -> TopK:
        """The same k items after each history; see `FoldsIn`."""
        return self.recommend(np.arange(len(histories), dtype=np.int32), k, exclude=exclude)

    def _passed_over(self, struck: csr_array, k: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
        """Rows x k: how many of a row's struck items stand before position p of its list."""
        n_rows, n_items = struck.shape
        rank_of = np.empty(n_items, dtype=np.int64)
        rank_of[self._order] = np.arange(n_items)
        length = np.diff(struck.indptr)
        row, rank = np.repeat(np.arange(n_rows, dtype=np.int64), length), rank_of[struck.indices]
        near = rank < min(REACH * k, n_items)
        short = min(REACH * k, n_items) - np.bincount(row[near], minlength=n_rows) < k
        near |= np.repeat(short, length) & (rank < np.repeat(length + k, length))  # no list reaches further
        met = np.unique(row[near] * n_items + rank[near])
        row, rank = np.divmod(met, n_items)
        before = np.searchsorted(row, np.arange(n_rows))
        step = np.minimum(rank - (np.arange(len(met)) - before[row]), k)
        wanted = np.arange(n_rows)[:, None] * (k + 1) + np.arange(k)
        return np.searchsorted(row * (k + 1) + step, wanted, side="right") - before[:, None]
