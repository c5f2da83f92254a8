"""Lists to judge a metric by: full, short and empty ones, users without relevant items, users without a past."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from recassay.core.seeds import derived_rng
from recassay.core.types import IdArray, TopK

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
    given = Judged(TopK(users, items, scores), csr_array(truth.astype(np.float32)), csr_array(train))
    for matrix in (given.truth, given.train):
        for part in (matrix.data, matrix.indices, matrix.indptr):
            part.flags.writeable = False
    for part in (users, items, scores):
        part.flags.writeable = False
    return given


def _one_unseen(train: NDArray[np.float32], rng: np.random.Generator) -> NDArray[np.bool_]:
    """One item of each row that the row does not have."""
    chosen = np.zeros(train.shape, dtype=bool)
    chosen[np.arange(len(train)), np.where(train == 0, rng.random(train.shape), -1).argmax(axis=1)] = True
    return chosen
