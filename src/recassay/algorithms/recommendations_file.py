"""Lists that were made elsewhere: a file of recommendations counts as an algorithm."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from recassay.core import columns as c
from recassay.core.errors import InputError, UsageError, listing
from recassay.core.search import SearchSpace
from recassay.core.types import Float32Array, IdArray, IntArray, Interactions, Recommender, TopK

SUFFIXES = (".csv", ".tsv", ".parquet")


class RecommendationsFile:
    """The lists of a table `user,item,score[,rank]` (CSV, TSV or Parquet), ids as in the user's own data.

    A list stands by rising `rank` where there is one, else by falling `score`; equal ones keep the order of the file.
    `score` may be missing where there is a `rank`; a list's scores are lowered where needed so that they never rise.
    Users and items that the training data does not know are passed over, as are excluded items and second mentions.
    Nothing is learned: `fit` only looks the ids up.
    """

    name: ClassVar[str] = "RecommendationsFile"
    space: ClassVar[SearchSpace] = {}
    source: ClassVar[str] = "Lists made elsewhere"
    path: ClassVar[Path | None] = None

    def __init__(self, path: str | Path | None = None) -> None:
        chosen = type(self).path if path is None else Path(path)
        if chosen is None:
            raise UsageError("no file of recommendations is named", fix='give its path: RecommendationsFile("top.csv")')
        self._path = chosen

    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Recommender:
        """Read the file and translate its ids into positions."""
        where = self._path.name
        table = _read(self._path)
        users, items = (
            pl.DataFrame({"id": ids.cast(pl.String), position: np.arange(ids.len(), dtype=np.int32)})
            for ids, position in ((train.users, "u"), (train.items, "i"))
        )
        known = (
            table.with_columns(pl.col(c.USER, c.ITEM).cast(pl.String))
            .join(users, left_on=c.USER, right_on="id", how="inner", maintain_order="left")
            .join(items, left_on=c.ITEM, right_on="id", how="inner", maintain_order="left")
        )
        if table.height and not known.height:
            raise InputError(
                f"none of its {table.height} rows has a user and an item of the training data",
                where=where,
                fix=f"use the ids of the data, such as {' and '.join(map(str, (train.users[0], train.items[0])))}",
            )
        if known.select(pl.col("s").is_nan().any() | pl.col("s").is_infinite().any()).item():
            raise InputError("a score is not a finite number", where=where, fix="remove the row or give it a number")
        ordered = known.sort("u", "r", maintain_order=True).unique(["u", "i"], keep="first", maintain_order=True)
        ordered = ordered.with_columns(pl.col("s").cum_min().over("u"))
        length = np.bincount(ordered["u"].to_numpy(), minlength=train.n_users)
        return Lists(
            start=np.concatenate([[0], np.cumsum(length)]).astype(np.int64),
            item=ordered["i"].to_numpy(),
            score=ordered["s"].cast(pl.Float32).to_numpy(),
            n_items=train.n_items,
        )

    def memory_bytes(self, n_users: int, n_items: int, n_interactions: int) -> int:
        """A guess: the table is taken to hold a hundred items a user."""
        return 100 * 64 * n_users + 64 * (n_users + n_items)


def recommendations_file(path: Path) -> type[RecommendationsFile]:
    """An algorithm class for one file, named after it."""
    described = {
        "name": path.stem,
        "path": path,
        "source": f"Lists of {path.name}",
        "__doc__": f"Lists of {path.name}.",
    }
    return type("FileLists", (RecommendationsFile,), described)


class Lists:
    """Ready-made lists: those of user u are at `start[u]` to `start[u + 1]`, best first."""

    def __init__(self, *, start: IntArray, item: IdArray, score: Float32Array, n_items: int) -> None:
        self._start, self._item, self._score, self._n_items = start, item, score, n_items

    def recommend(self, users: IdArray, k: int, *, exclude: csr_array | None) -> TopK:
        """The first k of each user's list that are not excluded."""
        items = np.full((len(users), k), -1, dtype=np.int32)
        scores = np.full((len(users), k), -np.inf, dtype=np.float32)
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
        items[row[kept], place[kept]] = self._item[event[kept]]
        scores[row[kept], place[kept]] = self._score[event[kept]]
        return TopK(users=users, items=items, scores=scores)


def _read(path: Path) -> pl.DataFrame:
    """Columns user, item, s (score) and r (what to sort by, rising)."""
    where = path.name
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(
            f"cannot read {path.suffix or 'a file without a suffix'}", where=where, fix="use .csv, .tsv or .parquet"
        )
    if not path.is_file():
        raise InputError("there is no such file of recommendations", where=str(path), fix="check the path")
    try:
        if path.suffix.lower() == ".parquet":
            table = pl.read_parquet(path)
        else:
            ids = {c.USER: pl.String, c.ITEM: pl.String}
            separator = "\t" if path.suffix.lower() == ".tsv" else ","
            table = pl.read_csv(path, separator=separator, schema_overrides=ids, infer_schema_length=10_000)
    except pl.exceptions.PolarsError as error:
        raise InputError(f"cannot be read: {str(error).splitlines()[0]}", where=where) from error
    missing = [name for name in (c.USER, c.ITEM) if name not in table.columns]
    if not {c.SCORE, c.RANK} & set(table.columns):
        missing.append(f"{c.SCORE} or {c.RANK}")
    if missing:
        raise InputError(
            f"lacks {listing(missing)} and has {listing(table.columns)}",
            where=where,
            fix="name the columns in its header",
        )
    worth = [name for name in (c.SCORE, c.RANK) if name in table.columns]
    bad = [name for name in worth if not table[name].dtype.is_numeric() or table[name].null_count()]
    if bad:
        raise InputError(f"{listing(bad)} is not a number in every row", where=where, fix="fill or remove those rows")
    score = pl.col(worth[0]).cast(pl.Float64) * (1.0 if worth[0] == c.SCORE else -1.0)
    order = pl.col(c.RANK).cast(pl.Float64) if c.RANK in worth else -score
    return table.select(c.USER, c.ITEM, score.alias("s"), order.alias("r"))
