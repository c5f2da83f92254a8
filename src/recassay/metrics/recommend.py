"""Lists for many users from a fitted recommender, batch by batch; each fault of an answer has its own message."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from recassay.core.errors import RecAssayError, UsageError
from recassay.core.ranking import batches
from recassay.core.types import BoolArray, IdArray, Recommender, TopK, read_only_matrix
from recassay.metrics.context import membership

MEMORY_BUDGET = 256 << 20
"""Bytes that the dense scores of one batch may take, unless told otherwise."""


def recommend_all(
    recommender: Recommender,
    users: IdArray,
    k: int,
    *,
    exclude: csr_array | None,
    n_items: int | None = None,
    memory_budget: int = MEMORY_BUDGET,
) -> TopK:
    """The k best items for each of `users`, asked for in batches whose dense float32 scores fit
    `memory_budget` bytes.

    `exclude` has a row for every user of the id table (usually the training matrix), and gives the size of
    the catalogue; without it `n_items` must. A wrong answer (shape, other users, NaN, ids outside the tables,
    an item twice, an excluded item) raises `RecAssayError` that names the recommender. The recommender gets
    `exclude` read-only.
    """
    if exclude is None and n_items is None:
        raise UsageError("the size of the catalogue is unknown", fix="pass exclude or n_items")
    if not callable(getattr(recommender, "recommend", None)):
        raise RecAssayError(
            f"fit returned a {type(recommender).__name__}", fix="return what has recommend(users, k, *, exclude)"
        )
    width = int(exclude.shape[1]) if exclude is not None else int(n_items or 0)
    wanted = np.asarray(users, dtype=np.int32)
    n_users = int(exclude.shape[0]) if exclude is not None else int(wanted.max(initial=-1)) + 1
    barred = None if exclude is None else read_only_matrix(exclude)
    top, where = TopK.empty(wanted, k), str(getattr(recommender, "name", type(recommender).__name__))
    for part in batches(len(wanted), width, memory_budget):
        answer = recommender.recommend(wanted[part].copy(), k, exclude=barred)
        check_answer(answer, wanted[part], k, n_users=n_users, n_items=width, exclude=exclude, where=where)
        top.items[part], top.scores[part] = answer.items, answer.scores
    return top


def check_ids(top: TopK, n_users: int, n_items: int, *, where: str) -> None:
    """Users and items are positions in the id tables (-1 is an empty place), and no user has two lists."""
    strange = (top.users < 0) | (top.users >= n_users)
    if strange.any():
        raise RecAssayError(
            f"user {top.users[strange.argmax()]} is not one of the {n_users} users",
            where=where,
            fix="use positions in the user table",
        )
    twice = np.bincount(top.users, minlength=n_users) > 1
    if twice.any():
        raise RecAssayError(f"user {twice.argmax()} has several lists", where=where, fix="give each user one list")
    outside = (top.items < -1) | (top.items >= n_items)
    if outside.any():
        row, place = _first(outside)
        raise RecAssayError(
            f"item {top.items[row, place]} of user {top.users[row]} is not one of the {n_items} items",
            where=where,
            fix="use positions in the item table, and -1 where a list is shorter",
        )


def check_distinct(top: TopK, *, where: str) -> None:
    """No list names an item twice."""
    ordered = np.sort(top.items, axis=1)
    repeated = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
    if repeated.any():
        row, place = _first(repeated)
        raise RecAssayError(
            f"the list of user {top.users[row]} names item {ordered[row, place]} twice "
            f"({int(repeated.any(axis=1).sum())} lists repeat an item)",
            where=where,
            fix="list every item once",
        )


def check_answer(
    top: object, users: IdArray, k: int, *, n_users: int, n_items: int, exclude: csr_array | None, where: str
) -> None:
    """Raise where what a recommender returned for `users` is not what it should be."""
    if not isinstance(top, TopK):
        raise RecAssayError(f"recommend returned a {type(top).__name__}", where=where, fix="return a TopK")
    for what, given, kinds in (("items", top.items, "iu"), ("scores", top.scores, "fiu")):
        if given.dtype.kind not in kinds:
            raise RecAssayError(
                f"recommend returned {what} of type {given.dtype}",
                where=where,
                fix=f"return {'positions in the item table, as integers' if what == 'items' else 'numbers'}",
            )
    if top.items.shape != (len(users), k):
        raise RecAssayError(
            f"recommend returned lists of shape {top.items.shape} for {len(users)} users and k = {k}",
            where=where,
            fix="return one row per user and k columns, with item -1 where a list is shorter",
        )
    if not np.array_equal(top.users, users):
        raise RecAssayError("recommend returned the lists of other users", where=where, fix="keep the order of users")
    nan = np.isnan(top.scores) & (top.items >= 0)
    if nan.any():
        row, place = _first(nan)
        raise RecAssayError(
            f"the score of item {top.items[row, place]} for user {top.users[row]} is NaN "
            f"({int(nan.sum())} such scores)",
            where=where,
            fix="the model diverged or divides by zero: give every listed item a number",
        )
    check_ids(top, n_users, n_items, where=where)
    check_distinct(top, where=where)
    if exclude is not None:
        seen = membership(exclude, top.users, top.items)
        if seen.any():
            row, place = _first(seen)
            raise RecAssayError(
                f"the list of user {top.users[row]} names the excluded item {top.items[row, place]} "
                f"({int(seen.sum())} listed items were excluded)",
                where=where,
                fix="leave the items of exclude out of the list",
            )


def _first(fault: BoolArray) -> tuple[int, int]:
    row, place = np.unravel_index(int(fault.argmax()), fault.shape)
    return int(row), int(place)
