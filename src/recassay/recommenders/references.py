"""What a study's names of algorithms mean."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from recassay.algorithms.external.process import Lists
from recassay.core import columns as c
from recassay.core.errors import InputError
from recassay.core.registry import algorithms
from recassay.core.specs.search import SearchSpace
from recassay.core.system.plugin_file import plugin_path
from recassay.core.types import Interactions, Recommender
from recassay.core.words import listing
from recassay.data.lists.read import ReadLists, is_list_file, read_lists
from recassay.runner.references import is_part_file


def are_lists(reference: str) -> bool:
    """Whether a study means lists made elsewhere by this reference: a file of them, which nothing is fitted for."""
    return is_part_file(reference) and ".py:" not in reference and is_list_file(reference)


def load_algorithm(reference: str, base: str) -> type[Any]:
    """The class of an algorithm: registered, from a Python file (which is executed), or lists made elsewhere."""
    if is_part_file(reference):
        if are_lists(reference):
            return listed_algorithm(plugin_path(reference, base))
        from recassay.algorithms.external.plugins import load_plugin

        return load_plugin(reference, Path(base))
    return algorithms.get(reference)


def knows_users_only(reference: str) -> bool:
    """Whether an algorithm is known, without being loaded from a file, to have no answer after a history."""
    if is_part_file(reference):
        return are_lists(reference)
    return reference in algorithms and not getattr(algorithms.get(reference), "folds_in", True)


class ListedAlgorithm:
    """Lists of a file as an algorithm: columns user, item, and rank, score or both, ids as in the user's own data.

    A list stands by rising `rank` where there is one, else by falling `score`; equal ones keep the order of the table.
    `score` may be missing where there is a `rank`; a list's scores are lowered where needed so that they never rise.
    Users and items that the training data does not know are passed over, as are excluded items and second mentions.
    Nothing is learned: `fit` only looks the ids up, and refuses a table that names no user of the data.
    """

    name: ClassVar[str]
    source: ClassVar[str]
    space: ClassVar[SearchSpace] = {}
    folds_in: ClassVar[bool] = False
    lists: ClassVar[ReadLists]
    where: ClassVar[str]

    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Recommender:
        """Translate the ids into positions."""
        table = _ordered(self.lists.frame, self.where)
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
        return 64 * self.lists.frame.height + 64 * (n_users + n_items)


def _ordered(table: pl.DataFrame, where: str) -> pl.DataFrame:
    """Columns user, item, s (score) and r (what to sort by, rising)."""
    worth = [name for name in (c.SCORE, c.RANK) if name in table.columns]
    bad = [name for name in worth if table[name].null_count()]
    if bad:
        raise InputError(f"{bad[0]} is not a number in every row", where=where, fix="fill or remove those rows")
    score = pl.col(worth[0]).cast(pl.Float64) * (1.0 if worth[0] == c.SCORE else -1.0)
    order = pl.col(c.RANK).cast(pl.Float64) if c.RANK in worth else -score
    table = table.select(c.USER, c.ITEM, score.alias("s"), order.alias("r"))
    if table.select(~pl.col("s").is_finite().all()).item():
        raise InputError("a score is not a finite number", where=where, fix="remove the row or give it a number")
    return table


def listed_algorithm(path: Path) -> type[ListedAlgorithm]:
    """An algorithm class for the lists of one file, named after it."""
    lists = read_lists(path)
    if len(lists) > 1:
        raise InputError(
            f"holds the lists of {len(lists)} algorithms ({listing(named.name for named in lists)})",
            where=str(path),
            fix="give each algorithm a file of its own, or judge them with recassay evaluate",
        )
    described = {
        "name": path.stem,
        "where": path.name,
        "lists": lists[0],
        "source": f"Lists of {path.name}",
        "__doc__": f"Lists of {path.name}.",
    }
    return type("FileLists", (ListedAlgorithm,), described)


MOST_UNKNOWN = 0.5
"""Lists of known users of which a larger share of rows has an unknown item were made for other data."""


def refuse_other_data(kind: type[Any], train: Interactions) -> None:
    """Raise where `kind` are lists whose items are mostly none of the training data's."""
    if not issubclass(kind, ListedAlgorithm):
        return
    lists = kind.lists
    known = lists.frame.filter(pl.col(c.USER).cast(pl.String).is_in(train.users.cast(pl.String).implode()))
    strange = known.height - known.get_column(c.ITEM).cast(pl.String).is_in(train.items.cast(pl.String).implode()).sum()
    refuse_strange_items(int(strange), known.height, train, lists.where)


def refuse_strange_items(strange: int, rows: int, train: Interactions, where: str) -> None:
    """Raise `InputError` where so many `strange` of the rows of known users name an item that `train` does not know."""
    if strange > MOST_UNKNOWN * rows:
        raise InputError(
            f"{strange:,} of the {rows:,} rows of known users name an item that the data lacks",
            where=where,
            fix=f"these lists were made for other data; its items are called like {train.items[0]!r}",
        )


def refuse_other_split(kind: type[Any], fingerprint: str, dataset: str) -> None:
    """Raise where `kind` are lists that name another split than the one with this fingerprint."""
    if issubclass(kind, ListedAlgorithm):
        refuse_lists_of_another_split(kind.lists, fingerprint, f"that of {dataset}")


def refuse_lists_of_another_split(lists: ReadLists, fingerprint: str, which: str) -> None:
    """Raise `InputError` where the lists name a split, and it is not the one with this fingerprint."""
    if lists.split is not None and not fingerprint.startswith(lists.split):
        raise InputError(
            f"the lists were made for the split {lists.split[:12]} (named in {lists.named_in}), and {which} here is "
            f"{fingerprint[:12]}: another dataset, or another protocol",
            where=lists.where,
            fix="evaluate them on their own split, or make them again for this one",
        )
