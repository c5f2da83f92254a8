"""Lists for many users from a fitted recommender, batch by batch, each answer checked."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from recassay.core.errors import RecAssayError, UsageError
from recassay.core.ranking import batches
from recassay.core.types import IdArray, Recommender, TopK, read_only_matrix
from recassay.metrics.checks import check_answer

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
    if k < 1:
        raise UsageError(f"lists of {k} items were asked for", fix="ask for at least one item")
    width = int(exclude.shape[1]) if exclude is not None else int(n_items or 0)
    wanted = np.asarray(users, dtype=np.int32)
    n_users = int(exclude.shape[0]) if exclude is not None else int(wanted.max(initial=-1)) + 1
    barred = None if exclude is None else read_only_matrix(exclude)
    parts = [
        check_answer(
            recommender.recommend(wanted[part].copy(), k, exclude=barred),
            wanted[part],
            k,
            n_users=n_users,
            n_items=width,
            exclude=exclude,
            where=str(getattr(recommender, "name", type(recommender).__name__)),
        )
        for part in batches(len(wanted), width, memory_budget)
    ]
    return TopK(
        users=wanted,
        items=np.concatenate([*(p.items for p in parts), np.empty((0, k), dtype=np.int32)]).astype(np.int32),
        scores=np.concatenate([*(p.scores for p in parts), np.empty((0, k), dtype=np.float32)]).astype(np.float32),
    )
