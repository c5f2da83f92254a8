"""What algorithms and metrics are tried on.

Small interactions: edge cases, and tastes that can be learned. Lists: full, short and empty ones, users without
relevant items, users without a past.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array

from recassay.core.seeds import derived_rng
from recassay.core.types import IdArray, IntArray, Interactions, TopK, read_only_matrix


def example_interactions(
    user: IdArray | IntArray, item: IdArray | IntArray, *, n_users: int, n_items: int
) -> Interactions:
    """Events over tables of `n_users` and `n_items`, with ratings of 1 to 5 and a second between events.

    The arrays are copies and cannot be written to.
    """
    events = len(user)
    return Interactions(
        user=np.array(user, dtype=np.int32),
        item=np.array(item, dtype=np.int32),
        weight=(1 + np.arange(events) % 5).astype(np.float32),
        time=np.arange(events, dtype=np.int64) + 1_000_000_000,
        users=pl.Series("user", [f"u{position}" for position in range(n_users)]),
        items=pl.Series("item", [f"i{position}" for position in range(n_items)]),
    ).read_only()


def learnable_tastes(
    *, n_groups: int = 4, users_per_group: int = 60, items_per_group: int = 40, held_out: int = 3, seed: int = 0
) -> tuple[Interactions, Interactions]:
    """(train, test): users of a group choose 12 items, mostly among the group's own, by popularity.

    Within a group the item at rank r is chosen in proportion to 1 / r, so that popularity alone says something and
    the group says more. `held_out` of each user's own-group choices are the test part. Events come in random order of
    time.
    """
    rng = derived_rng(seed, "learnable tastes")
    n_users, n_items = n_groups * users_per_group, n_groups * items_per_group
    popularity = np.tile(1.0 / np.arange(1, items_per_group + 1), n_groups)
    group_of_user = np.repeat(np.arange(n_groups), users_per_group)
    group_of_item = np.repeat(np.arange(n_groups), items_per_group)
    alike = group_of_user[:, None] == group_of_item[None, :]
    # The largest of log p + Gumbel noise are a draw without replacement in proportion to p.
    keys = np.log(popularity) + np.where(alike, 0.0, -4.0) + rng.gumbel(size=(n_users, n_items))
    chosen = np.argsort(-keys, axis=1)[:, :12]
    own_first = np.argsort(
        ~np.take_along_axis(alike, chosen, axis=1) + rng.random(chosen.shape) * 0.5, axis=1, kind="stable"
    )
    chosen = np.take_along_axis(chosen, own_first, axis=1)
    users = np.broadcast_to(np.arange(n_users)[:, None], chosen.shape)
    parts = []
    for columns in (slice(held_out, None), slice(0, held_out)):
        user, item = users[:, columns].ravel(), chosen[:, columns].ravel()
        order = rng.permutation(len(user))
        parts.append(example_interactions(user[order], item[order], n_users=n_users, n_items=n_items))
    return parts[0], parts[1]


USERS, ITEMS, WIDTH = 18, 14, 8


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """Lists, the relevant items, and the training data (users x items)."""

    top: TopK
    truth: csr_array
    train: csr_array

    def of(self, users: IdArray) -> Judged:
        """The lists of these users, in this order."""
        row = {int(user): at for at, user in enumerate(self.top.users)}
        at = [row[int(user)] for user in users]
        return Judged(TopK(users, self.top.items[at], self.top.scores[at]), self.truth, self.train)

    def with_items(self, items: IdArray) -> Judged:
        """The same users with other lists."""
        scores = np.where(items >= 0, self.top.scores.max() - np.arange(items.shape[1]), -np.inf)
        return Judged(TopK(self.top.users, items, scores.astype(np.float32)), self.truth, self.train)

    def with_relevant(self, *, first: bool) -> Judged:
        """Lists of unseen items that begin with all relevant ones, or hold none."""
        relevant, seen = self.truth.toarray() > 0, self.train.toarray() > 0
        key = np.where(seen, 2, np.where(relevant, 0 if first else 2, 1))
        order = np.argsort(key, axis=1, kind="stable").astype(np.int32)
        items = np.where(np.take_along_axis(key, order, axis=1) < 2, order, np.int32(-1))
        return self.with_items(items[self.top.users][:, : self.top.k])

    def renamed(self) -> Judged:
        """The same with users and items under other numbers."""
        rng = derived_rng(1, "renamed")
        user, item = rng.permutation(USERS).astype(np.int32), rng.permutation(ITEMS).astype(np.int32)
        items = np.where(self.top.items >= 0, item[self.top.items], np.int32(-1))
        truth, train = (
            csr_array(part.toarray()[np.argsort(user)][:, np.argsort(item)]) for part in (self.truth, self.train)
        )
        return Judged(TopK(user[self.top.users], items, self.top.scores), truth, train)


def judged_lists() -> Judged:
    """Lists of unseen items for all but one user, in no order of users; every array is read-only.

    Items differ in popularity, so that no order of the item table has to break ties. Two users have no training items,
    three no relevant ones; of the lists one is empty, some are short, and some have what is relevant at their end.
    """
    rng = derived_rng(0, "judged lists")
    train = np.zeros((USERS, ITEMS), dtype=np.float32)
    for item in range(ITEMS):
        train[rng.permutation(USERS - 2)[: item + 1], item] = 1
    truth = (rng.random((USERS, ITEMS)) < 0.3) & (train == 0)
    truth[[2, 7, 17]] = False
    truth[[0, 16]] = _one_unseen(train[[0, 16]], rng)
    users = rng.permutation(USERS - 1).astype(np.int32)
    items = np.full((len(users), WIDTH), -1, dtype=np.int32)
    for row, user in enumerate(users):
        unseen = rng.permutation(np.flatnonzero(train[user] == 0))[: WIDTH if user % 4 else 3]
        if user % 3 == 1:
            unseen = unseen[np.argsort(truth[user, unseen], kind="stable")]
        items[row, : len(unseen)] = unseen
    items[users == 5] = -1
    scores = np.where(items >= 0, 1 - np.arange(WIDTH) / 10, -np.inf).astype(np.float32)
    for part in (users, items, scores):
        part.flags.writeable = False
    relevant, seen = (read_only_matrix(csr_array(matrix.astype(np.float32))) for matrix in (truth, train))
    return Judged(TopK(users, items, scores), relevant, seen)


def _one_unseen(train: NDArray[np.float32], rng: np.random.Generator) -> NDArray[np.bool_]:
    """One item of each row that the row does not have."""
    chosen = np.zeros(train.shape, dtype=bool)
    chosen[np.arange(len(train)), np.where(train == 0, rng.random(train.shape), -1).argmax(axis=1)] = True
    return chosen
