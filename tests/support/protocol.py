"""Interactions for the tests of the protocol: by hand, and drawn by hypothesis."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from hypothesis import settings
from hypothesis import strategies as st

from recassay.core.types import Interactions

Row = tuple[Any, ...]
few = settings(max_examples=20)


def interactions(rows: Iterable[Row], *, weight: bool = True, time: bool = True) -> Interactions:
    """Interactions of rows (user, item, weight, time), ids numbered by first appearance."""
    rows = list(rows)
    users = list(dict.fromkeys(row[0] for row in rows))
    items = list(dict.fromkeys(row[1] for row in rows))
    return Interactions(
        user=np.array([users.index(row[0]) for row in rows], dtype=np.int32),
        item=np.array([items.index(row[1]) for row in rows], dtype=np.int32),
        users=pl.Series("user", users, dtype=None if users else pl.String),
        items=pl.Series("item", items, dtype=None if items else pl.String),
        weight=np.array([row[2] for row in rows], dtype=np.float32) if weight else None,
        time=np.array([row[3] for row in rows], dtype=np.int64) if time else None,
    )


def rows_of(part: Interactions) -> list[Row]:
    """The events in the user's own ids, sorted: what a part says, whatever its order and numbering."""
    weight = [None] * len(part) if part.weight is None else part.weight.tolist()
    time = [None] * len(part) if part.time is None else part.time.tolist()
    users, items = part.users.to_list(), part.items.to_list()
    pairs = ((str(users[u]), str(items[i])) for u, i in zip(part.user, part.item, strict=True))
    return sorted((*pair, w, t) for pair, w, t in zip(pairs, weight, time, strict=True))


def pairs_of(part: Interactions) -> set[tuple[str, str]]:
    """The different pairs of user and item."""
    return {row[:2] for row in rows_of(part)}


def synthetic(users: int, items: int, events: int, seed: int = 0, *, weight: bool = True) -> Interactions:
    """Different pairs with skewed popularity, ratings 1 to 5 and times with ties."""
    rng = np.random.default_rng(seed)
    user = rng.integers(0, users, events)
    item = (items * rng.random(events) ** 2).astype(np.int64)
    code = np.unique(user * items + item)
    rng.shuffle(code)
    return Interactions(
        user=(code // items).astype(np.int32),
        item=(code % items).astype(np.int32),
        users=pl.Series(np.arange(users) + 100),
        items=pl.Series([f"i{number}" for number in range(items)]),
        weight=rng.integers(1, 6, len(code)).astype(np.float32) if weight else None,
        time=rng.integers(0, events // 4, len(code)),
    )


def shuffled(data: Interactions, seed: int) -> Interactions:
    """The same events in another row order, with ids numbered otherwise and read as text."""
    rng = np.random.default_rng(seed)
    data = data.take(rng.permutation(len(data)))
    users, items = rng.permutation(data.n_users), rng.permutation(data.n_items)
    return replace(
        data,
        user=np.argsort(users)[data.user].astype(np.int32),
        item=np.argsort(items)[data.item].astype(np.int32),
        users=data.users.gather(users).cast(pl.String),
        items=data.items.gather(items).cast(pl.String),
    )


@st.composite
def drawn_interactions(draw: st.DrawFn, *, repeats: bool = False, least: int = 1) -> Interactions:
    """A few dozen events with many ties in time; `repeats` lets a pair occur more than once."""
    row = st.tuples(st.integers(0, 8), st.integers(0, 11), st.integers(1, 5), st.integers(0, 9))
    unique = None if repeats else (lambda event: event[:2])
    rows = draw(st.lists(row, min_size=least, max_size=60, unique_by=unique))
    return interactions(rows)
