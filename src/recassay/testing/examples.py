"""Small interactions to try an algorithm on: edge cases, and tastes that can be learned."""

from __future__ import annotations

import numpy as np
import polars as pl

from recassay.core.seeds import derived_rng
from recassay.core.types import IdArray, IntArray, Interactions


def example_interactions(
    user: IdArray | IntArray, item: IdArray | IntArray, *, n_users: int, n_items: int
) -> Interactions:
    """Events over tables of `n_users` and `n_items`, with ratings of 1 to 5 and a second between events.

    The arrays are copies and cannot be written to.
    """
    events = len(user)
    columns = (
        np.array(user, dtype=np.int32),
        np.array(item, dtype=np.int32),
        (1 + np.arange(events) % 5).astype(np.float32),
        np.arange(events, dtype=np.int64) + 1_000_000_000,
    )
    for column in columns:
        column.flags.writeable = False
    return Interactions(
        user=columns[0],
        item=columns[1],
        weight=columns[2],
        time=columns[3],
        users=pl.Series("user", [f"u{position}" for position in range(n_users)]),
        items=pl.Series("item", [f"i{position}" for position in range(n_items)]),
    )


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
    own = group_of_user[:, None] == group_of_item[None, :]
    # The largest of log p + Gumbel noise are a draw without replacement in proportion to p.
    keys = np.log(popularity) + np.where(own, 0.0, -4.0) + rng.gumbel(size=(n_users, n_items))
    chosen = np.argsort(-keys, axis=1)[:, :12]
    own_first = np.argsort(
        ~np.take_along_axis(own, chosen, axis=1) + rng.random(chosen.shape) * 0.5, axis=1, kind="stable"
    )
    chosen = np.take_along_axis(chosen, own_first, axis=1)
    users = np.broadcast_to(np.arange(n_users)[:, None], chosen.shape)
    parts = []
    for columns in (slice(held_out, None), slice(0, held_out)):
        user, item = users[:, columns].ravel(), chosen[:, columns].ravel()
        order = rng.permutation(len(user))
        parts.append(example_interactions(user[order], item[order], n_users=n_users, n_items=n_items))
    return parts[0], parts[1]
