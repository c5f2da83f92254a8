"""Lists without some of their items: what follows moves up."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from recassay.core.types import TopK
from recassay.metrics.context import membership


def without_items(top: TopK, banned: csr_array, k: int) -> tuple[TopK, int]:
    """The first k of every list without the items stored in its user's row of `banned`, and how many fell short.

    A list falls short where it was full before, has fewer than k items left, and so might have gone on: its values at
    cut-offs up to k are a lower bound. Lists that were not full named all their candidates, and stay exact.
    """
    gone = membership(banned, top.users, top.items) | (top.items < 0)
    order = np.argsort(gone, axis=1, kind="stable")[:, :k]
    items = np.take_along_axis(np.where(gone, -1, top.items), order, axis=1)
    scores = np.take_along_axis(np.where(gone, -np.inf, top.scores).astype(np.float32), order, axis=1)
    short = (top.items[:, -1] >= 0) & (np.count_nonzero(~gone, axis=1) < k)
    return TopK(top.users, items.astype(np.int32), scores), int(np.count_nonzero(short))
