"""Lists that were made elsewhere count as an algorithm."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from recassay.core import columns as c
from recassay.core.errors import InputError, UsageError, listing
from recassay.core.specs.search import SearchSpace
from recassay.core.types import IdArray, Interactions, Recommender, TopK


class RecommendationsFile:
    """Lists of a table with the columns user, item, and rank, score or both, ids as in the user's own data.

    A list stands by rising `rank` where there is one, else by falling `score`; equal ones keep the order of the table.
    `score` may be missing where there is a `rank`; a list's scores are lowered where needed so that they never rise.
    Users and items that the training data does not know are passed over, as are excluded items and second mentions.
    Nothing is learned: `fit` only looks the ids up, and refuses a table that names no user of the data.
    """

    name: ClassVar[str] = "RecommendationsFile"
    space: ClassVar[SearchSpace] = {}
    source: ClassVar[str] = "Lists made elsewhere"
    table: ClassVar[pl.DataFrame | None] = None
    where: ClassVar[str] = "the lists"

    def __init__(self, table: pl.DataFrame | None = None) -> None:
        chosen = type(self).table if table is None else table
        if chosen is None:
            raise UsageError("no lists are given", fix="give a table with the columns user, item and score or rank")
        self._table = chosen

    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Recommender:
        """Translate the ids into positions."""
        table = _ordered(self._table, self.where)
        users, items = (
            pl.DataFrame({"id": ids.cast(pl.String), position: np.arange(ids.len(), dtype=np.int32)})
            for ids, position in ((train.users, "u"), (train.items, "i"))
        )
        joined = (
            table.with_columns(pl.col(c.USER, c.ITEM).cast(pl.String))
            .join(users, left_on=c.USER, right_on="id", how="left", maintain_order="left")
            .join(items, left_on=c.ITEM, right_on="id", how="left", maintain_order="left")
        )
        known = joined.drop_nulls("u")
        if table.height and not known.height:
            raise InputError(
                f"none of its {table.height:,} rows has a user of the training data",
                where=self.where,
                fix=f"use the ids of the data, such as {listing((train.users[0], train.items[0]), last='and')}",
            )
        ordered = known.drop_nulls("i").sort("u", "r", maintain_order=True)
        ordered = ordered.unique(["u", "i"], keep="first", maintain_order=True)
        ordered = ordered.with_columns(pl.col("s").cum_min().over("u"))
        return Lists(ordered["u"], ordered["i"], ordered["s"], train)

    def memory_bytes(self, n_users: int, n_items: int, n_interactions: int) -> int:
        """The table and what is looked up in it."""
        return 64 * self._table.height + 64 * (n_users + n_items)


class Lists:
    """Ready-made lists, from the rows of a table that is sorted by user, then best first; all are positions."""

    def __init__(self, user: pl.Series, item: pl.Series, score: pl.Series, train: Interactions) -> None:
        length = np.bincount(user.to_numpy(), minlength=train.n_users)
        self._start = np.concatenate([[0], np.cumsum(length)])  # the list of user u begins at `_start[u]`
        self._item, self._score = item.to_numpy().astype(np.int32), score.to_numpy().astype(np.float32)
        self._n_items = train.n_items

    def recommend(self, users: IdArray, k: int, *, exclude: csr_array | None) -> TopK:
        """The first k of each user's list that are not excluded."""
        top = TopK.empty(users, k)
        length = self._start[users + 1] - self._start[users]
        row = np.repeat(np.arange(len(users)), length)
        event = np.arange(len(row)) - np.repeat(np.cumsum(length) - length, length) + self._start[users][row]
        if exclude is not None:
            rows = exclude[users]
            barred = np.repeat(np.arange(len(users)), np.diff(rows.indptr)) * self._n_items + rows.indices
            allowed = ~np.isin(row * self._n_items + self._item[event], barred)
            row, event = row[allowed], event[allowed]
        place = np.arange(len(row)) - np.searchsorted(row, row)
        kept = place < k
        top.items[row[kept], place[kept]] = self._item[event[kept]]
        top.scores[row[kept], place[kept]] = self._score[event[kept]]
        return top


def _ordered(table: pl.DataFrame, where: str) -> pl.DataFrame:
    """Columns user, item, s (score) and r (what to sort by, rising)."""
    worth = [name for name in (c.SCORE, c.RANK) if name in table.columns]
    missing = [name for name in (c.USER, c.ITEM) if name not in table.columns]
    if missing or not worth:
        raise InputError(
            f"lacks {', '.join([*missing, *([] if worth else ['score or rank'])])}",
            where=where,
            fix="name the columns user, item and score or rank",
        )
    bad = [name for name in worth if not table[name].dtype.is_numeric() or table[name].null_count()]
    if bad:
        raise InputError(f"{bad[0]} is not a number in every row", where=where, fix="fill or remove those rows")
    score = pl.col(worth[0]).cast(pl.Float64) * (1.0 if worth[0] == c.SCORE else -1.0)
    order = pl.col(c.RANK).cast(pl.Float64) if c.RANK in worth else -score
    table = table.select(c.USER, c.ITEM, score.alias("s"), order.alias("r"))
    if table.select(~pl.col("s").is_finite().all()).item():
        raise InputError("a score is not a finite number", where=where, fix="remove the row or give it a number")
    return table
