"""Orders and draws that depend on what the rows say, never on where they stand in a file.

Three tools: a canonical order of interactions, a seeded pseudo-random key for every row that is made from its
ids, and the place of a row among those of its user.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recassay.core.blocks import Number, looked_up, row_blocks
from recassay.core.pairs import UserRanges, pair_codes
from recassay.core.repeated import sorted_groups
from recassay.core.seeds import derived_rng, splitmix
from recassay.core.types import BoolArray, IdArray, IntArray, Interactions

KeyArray: TypeAlias = NDArray[np.uint64]


def used_ids(ids: IdArray, size: int) -> BoolArray:
    """Which positions of an id table of this size occur in `ids`."""
    used = np.zeros(size, dtype=np.bool_)
    for block in row_blocks(len(ids)):
        used[ids[block]] = True
    return used


def canonical_ids(table: pl.Series, used: BoolArray) -> IdArray:
    """The positions of the `used` ids of a table in the order of their text, byte by byte.

    Text, because a file format may bring the id 7 as a number or as the string "7".
    """
    positions = np.flatnonzero(used).astype(np.int32)
    text = table.cast(pl.String).gather(positions)
    return positions[text.arg_sort().to_numpy()]


def renumber(positions: NDArray[np.integer[Any]], size: int) -> IdArray:
    """The table old position -> new position (-1: not kept) that makes `positions` 0, 1, 2, ..."""
    lookup = np.full(size, -1, dtype=np.int32)
    lookup[positions] = np.arange(len(positions), dtype=np.int32)
    return lookup


def canonical(interactions: Interactions, *, overwrite: bool = False) -> Interactions:
    """The same events with unused ids dropped, ids in the order of their text, rows by user, item, time and
    weight.

    Two Interactions with the same events have equal canonical forms, whatever the order of their rows and id
    tables. Rows are sorted a range of users at a time. With `overwrite` the columns given are those that are sorted,
    and what the interactions said before is lost; else copies are.
    """
    users = canonical_ids(interactions.users, used_ids(interactions.user, interactions.n_users))
    items = canonical_ids(interactions.items, used_ids(interactions.item, interactions.n_items))
    user, item = _own(interactions.user, overwrite), _own(interactions.item, overwrite)
    weight = None if interactions.weight is None else _own(interactions.weight, overwrite)
    time = None if interactions.time is None else _own(interactions.time, overwrite)
    looked_up(renumber(users, interactions.n_users), user, out=user)
    looked_up(renumber(items, interactions.n_items), item, out=item)
    ranges = UserRanges(user, len(users))
    keys: list[NDArray[Any]] = [column for column in (time, weight) if column is not None]
    ranges.arrange(*keys, item, user)
    for part in ranges:
        order = pair_order(user[part], item[part], len(items))
        near_user, near_item = user[part][order], item[part][order]
        tied = (near_user[1:] == near_user[:-1]) & (near_item[1:] == near_item[:-1])
        if tied.any():
            order = settle_ties(order, tied, *(key[part] for key in keys))
        user[part], item[part] = near_user, near_item
        for key in keys:
            key[part] = key[part][order]
    return Interactions(
        user=user,
        item=item,
        users=interactions.users.gather(users),
        items=interactions.items.gather(items),
        weight=weight,
        time=time,
        repeated=interactions.repeated,
    )


def _own(column: NDArray[Number], overwrite: bool) -> NDArray[Number]:
    return column if overwrite and column.flags.writeable else column.copy()


def pair_order(user: IdArray, item: IdArray, n_items: int) -> IntArray:
    """The stable order of rows by user, then item."""
    first = user.min() if len(user) else np.int32(0)
    return sorted_groups(pair_codes(user - first, item, n_items), None)[0]


def counting_order(group: IdArray, n_groups: int, order: IdArray | None = None) -> IdArray:
    """The stable order of rows by `group`, of all rows or of those in `order`: linear, through a sparse
    matrix.

    The matrix has a row for each group and the positions as its columns; its canonical form lists the columns
    of each row ascending, which is the stable order.
    """
    position = np.arange(len(group) if order is None else len(order), dtype=np.int32)
    if not len(position):
        return position
    from scipy.sparse import csr_array

    rows, data = (group, position) if order is None else (group[order], order)
    return csr_array((data, (rows, position)), shape=(n_groups, len(position))).data


def settle_ties(order: IntArray, tied: BoolArray, *keys: NDArray[Any]) -> IntArray:
    """`order` with each run of ties sorted by `keys`, the first key first; `tied[r]`: row r+1 ties with row
    r."""
    member = np.zeros(len(order), dtype=np.bool_)
    member[1:] = tied
    member[:-1] |= tied
    run_starts = np.ones(len(order), dtype=np.bool_)
    run_starts[1:] = ~tied
    places = np.flatnonzero(member)
    rows = order[places]
    runs = np.cumsum(run_starts[places])
    settled = order.copy()
    settled[places] = rows[np.lexsort((*(key[rows] for key in reversed(keys)), runs))]
    return settled


def pair_keys(interactions: Interactions, seed: int, *names: str) -> KeyArray:
    """A pseudo-random 64-bit key for each row, from the seed and its user and item alone.

    Each id draws a word by the rank of its text among all ids of the table; the sum of the two words goes
    through the finaliser of SplitMix64 (Steele, Lea and Flood, 2014). Rows of one pair share their key.
    """
    words = []
    for table, side in ((interactions.users, "user"), (interactions.items, "item")):
        by_rank = derived_rng(seed, *names, side).integers(0, 2**64, table.len(), dtype=np.uint64)
        word = np.empty_like(by_rank)
        word[canonical_ids(table, np.ones(table.len(), dtype=np.bool_))] = by_rank
        words.append(word)
    key = words[0][interactions.user]
    key += words[1][interactions.item]
    return splitmix(key)


def event_keys(interactions: Interactions, seed: int, *names: str) -> KeyArray:
    """As `pair_keys`, but rows of one pair with different weights differ too."""
    key = pair_keys(interactions, seed, *names)
    if interactions.weight is not None:
        key += interactions.weight.astype(np.float32, copy=False).view(np.uint32)
        key = splitmix(key)
    return key


def blocks_in_user(interactions: Interactions, values: NDArray[Any]) -> tuple[IdArray, IdArray]:
    """Where the block of each row begins and ends among its user's rows, ordered by `values` (positions 0, 1, ...).

    A block are the rows of one user with one value, so that no row order can tell its rows apart; the end is the
    position after its last row.
    """
    user = interactions.user
    by_value = pl.Series(values).arg_sort().to_numpy().astype(np.int32)
    order = counting_order(user, interactions.n_users, by_value)
    del by_value
    begins = np.ones(len(order), dtype=np.bool_)
    begins[1:] = ~(_equal_neighbours(user, order) & _equal_neighbours(values, order))
    bounds = np.append(np.flatnonzero(begins), len(order)).astype(np.int32)
    block = np.cumsum(begins, dtype=np.int32)
    counts = np.bincount(user, minlength=interactions.n_users)
    first = (np.cumsum(counts) - counts).astype(np.int32)[user]
    start, end = np.empty_like(order), np.empty_like(order)
    start[order], end[order] = bounds[block - 1], bounds[block]
    start -= first
    end -= first
    return start, end


def _equal_neighbours(values: NDArray[Any], order: IdArray) -> BoolArray:
    ordered = values[order]
    return ordered[1:] == ordered[:-1]
