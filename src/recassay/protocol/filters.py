"""Which interactions stay: the positive threshold, and the minimum counts of items and users."""

from __future__ import annotations

import numpy as np

from recassay.core.blocks import count_ids, row_blocks
from recassay.core.errors import InputError
from recassay.core.repeated import one_of_each, reaches
from recassay.core.specs.specs import ProtocolSpec
from recassay.core.types import BoolArray, Interactions


def positive_rows(interactions: Interactions, threshold: float | None) -> BoolArray:
    """Implicit feedback: which events have weight >= `threshold` (KDD'24, 3.1, tau); all where `threshold` is None.

    Events below the threshold are negative feedback and leave. A missing weight (NaN) is not >= anything and
    leaves too; weights are float32, and so is the comparison. Of several events of one pair, each is compared by what
    the pair is worth after it (`core.repeated.reaches`). Interactions without weights cannot be compared with a
    threshold: `InputError`.
    """
    if threshold is None:
        return np.ones(len(interactions), dtype=np.bool_)
    if interactions.weight is None:
        raise InputError(
            f"positive_threshold is {threshold:g}, and these interactions have no weights to compare with it",
            fix="leave positive_threshold out, or read the column of ratings",
        )
    return reaches(interactions, threshold=threshold)


def frequent_rows(interactions: Interactions, spec: ProtocolSpec, among: BoolArray) -> BoolArray:
    """Which of the rows `among` the filter of a protocol keeps (KDD'24, 3.1).

    `once` (F-filter): items with fewer than their minimum of events leave, then users with fewer than theirs, in one
    pass each, so that some items may have fewer than the minimum afterwards. `core` (F-core): the passes are repeated
    until every user and item left has its minimum; the result is the largest such subset, whatever the order of the
    passes, and may be empty. A user who comes back to an item counts once: pairs are counted, not events.
    """
    if spec.filter == "none":
        return among
    counted = one_of_each(interactions, among)
    item, user = interactions.item, interactions.user
    # How many of the counted rows that are still kept each item and each user has.
    of_item = count_ids(item, interactions.n_items, counted)
    of_user = count_ids(user, interactions.n_users, counted)
    kept = among.copy()
    while True:
        before = np.count_nonzero(kept)
        for ids, counts, least in (
            (item, of_item, spec.min_item_interactions),
            (user, of_user, spec.min_user_interactions),
        ):
            rare = counts < least
            for block in row_blocks(len(kept)) if rare.any() else ():
                rows = np.flatnonzero(kept[block] & rare[ids[block]]) + block.start
                kept[rows] = False
                gone = rows[counted[rows]]
                np.subtract.at(of_item, item[gone], 1)
                np.subtract.at(of_user, user[gone], 1)
        if spec.filter == "once" or np.count_nonzero(kept) == before:
            return kept
