"""Lists for many users from a fitted recommender, batch by batch; each fault of an answer has its own message."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from recassay.core.errors import RecAssayError
from recassay.core.ranking import batches
from recassay.core.types import BoolArray, IdArray, Recommender, TopK, read_only_matrix
from recassay.metrics.context import membership

MEMORY_BUDGET = 256 << 20
"""Bytes that the dense scores of one batch may take, unless the caller sets another limit."""


def recommend_all(
    recommender: Recommender,
    users: IdArray,
    k: int,
    *,
    exclude: csr_array | None,
    n_items: int,
    memory_budget: int = MEMORY_BUDGET,
) -> TopK:
    """The k best items for each of `users`, asked for in batches whose dense float32 scores fit
    `memory_budget` bytes.

    `exclude` has a row for every user of the id table (usually the training matrix), `n_items` is the size of the
    catalogue. A wrong answer (shape, other users, NaN, ids outside the tables, an item twice, an excluded item) raises
    `RecAssayError` that names the recommender. The recommender gets `exclude` read-only.
    """
    if not callable(getattr(recommender, "recommend", None)):
        raise RecAssayError(
            f"fit returned a {type(recommender).__name__}", fix="return what has recommend(users, k, *, exclude)"
        )
    wanted = np.asarray(users, dtype=np.int32)
    barred = None if exclude is None else read_only_matrix(exclude)
    top, where = TopK.empty(wanted, k), str(getattr(recommender, "name", type(recommender).__name__))
    for part in batches(len(wanted), n_items, memory_budget):
        answer = recommender.recommend(wanted[part].copy(), k, exclude=barred)
        check_answer(answer, wanted[part], k, n_items=n_items, exclude=exclude, where=where)
        top.items[part], top.scores[part] = answer.items, answer.scores
    return top


def check_answer(top: object, users: IdArray, k: int, *, n_items: int, exclude: csr_array | None, where: str) -> None:
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
    what = "the score of item {item} for user {user} is NaN ({count} such scores)"
    fix = "the model diverged or divides by zero: give every listed item a number"
    _refuse_places(np.isnan(top.scores) & (top.items >= 0), users, top.items, what, where=where, fix=fix)
    what = f"item {{item}} of user {{user}} is not one of the {n_items} items"
    fix = "use positions in the item table, and -1 where a list is shorter"
    _refuse_places((top.items < -1) | (top.items >= n_items), users, top.items, what, where=where, fix=fix)
    ordered = np.sort(top.items, axis=1)
    repeated = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
    what = "the list of user {user} names item {item} twice ({lists} lists repeat an item)"
    _refuse_places(repeated, users, ordered, what, where=where, fix="list every item once")
    if exclude is not None:
        seen = membership(exclude, users, top.items)
        what = "the list of user {user} names the excluded item {item} ({count} listed items were excluded)"
        fix = "leave the items of exclude out of the list"
        _refuse_places(seen, users, top.items, what, where=where, fix=fix)


def _refuse_places(fault: BoolArray, users: IdArray, items: IdArray, what: str, *, where: str, fix: str) -> None:
    """Raise where places of lists have a fault; `what` names the user and item of the first, and how many there are."""
    if fault.any():
        row, place = np.unravel_index(fault.argmax(), fault.shape)
        counts = {"count": fault.sum(), "lists": fault.any(axis=1).sum()}
        raise RecAssayError(what.format(user=users[row], item=items[row, place], **counts), where=where, fix=fix)
