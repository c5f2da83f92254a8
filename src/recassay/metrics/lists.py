"""Lists made elsewhere: a table `user,item,score[,rank]` becomes a TopK over our ids."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from recassay.core import columns as c
from recassay.core.errors import InputError
from recassay.core.ranking import tie_order
from recassay.core.types import Interactions, TopK

_USER, _ITEM, _TIE = "user position", "item position", "tie order"


@dataclass(frozen=True, slots=True, eq=False)
class ListsRecord:
    """What a table of recommendations held: the lists, and what of it could not be placed.

    Rows of users the data does not know are left out. A row of an unknown item keeps its place in the list as
    -1, an item that is never a hit: moving the rest up would favour the algorithm that recommended it. `examples` names
    a few of each. `prefixes` are letters that all ids of a column began with and the data's do not: they were left out.
    """

    top: TopK
    """The lists."""
    rows: int
    """Rows of the table."""
    unknown_users: int
    """Users that the data does not know."""
    unknown_user_rows: int
    """Their rows."""
    unknown_items: int
    """Items that the data does not know."""
    unknown_item_rows: int
    """Their rows."""
    examples: dict[str, list[str]]
    prefixes: dict[str, str] = field(default_factory=dict)


def without_prefix(values: pl.Series, table: pl.Series) -> tuple[pl.Series, str | None]:
    """The ids as they are where `table` knows any of them; else, where that makes most of them known, without the
    letters that all begin with (`u17` for the user 17), and those letters."""
    if bool((_codes(values, table) >= 0).any()):
        return values, None
    text = values.cast(pl.String)
    begins = text.str.extract(r"^(\D+)\d", 1).unique()
    if begins.len() != 1 or begins[0] is None:
        return values, None
    bare = text.str.strip_prefix(begins[0])
    known = int((_codes(bare, table) >= 0).sum())
    return (bare, str(begins[0])) if 2 * known > values.len() else (values, None)


def recommendations_to_topk(
    frame: pl.DataFrame,
    interactions: Interactions,
    *,
    least: int = 1,
    rng: np.random.Generator,
    where: str = "recommendations",
) -> ListsRecord:
    """Lists from a table with the columns user, item and score, rank or both, in the ids of the user's own
    files.

    Sorted by rank (ascending) where the table has one, else by score (descending), equal scores in an order
    drawn from `rng` (`core.ranking.tie_order`), never in that of the rows. The lists are as wide as the longest, and at
    least `least`; shorter ones are padded. An item twice in one list, a rank twice, a missing id or a missing score
    raises.
    """
    ordering = c.RANK if c.RANK in frame.columns else c.SCORE
    _refuse_gaps(frame.select(c.USER, c.ITEM, ordering), where)
    rows = frame.select(name for name in (c.USER, c.ITEM, c.RANK, c.SCORE) if name in frame.columns)
    _refuse_repetition(rows, [c.USER, c.ITEM], "item", where)
    if ordering == c.RANK:
        _refuse_repetition(rows, [c.USER, c.RANK], "rank", where)
    prefixes = {}
    for name, table in ((c.USER, interactions.users), (c.ITEM, interactions.items)):
        bare, prefix = without_prefix(rows.get_column(name), table)
        if prefix is not None:
            rows, prefixes[name] = rows.with_columns(bare), prefix
    rows = rows.with_columns(
        _codes(rows.get_column(c.USER), interactions.users).alias(_USER),
        _codes(rows.get_column(c.ITEM), interactions.items).alias(_ITEM),
    )
    stranger, new_item = pl.col(_USER) < 0, (pl.col(_ITEM) < 0) & (pl.col(_USER) >= 0)
    strangers, new_items = rows.filter(stranger), rows.filter(new_item)
    order = np.append(tie_order(interactions.n_items, rng), interactions.n_items)
    known = rows.filter(~stranger)
    known = known.with_columns(pl.Series(_TIE, order[known.get_column(_ITEM).to_numpy()])).sort(
        _USER, ordering, _TIE, descending=[False, ordering == c.SCORE, False]
    )
    return ListsRecord(
        top=_matrix_of(known, least),
        rows=rows.height,
        unknown_users=strangers.get_column(c.USER).n_unique(),
        unknown_user_rows=strangers.height,
        unknown_items=new_items.get_column(c.ITEM).n_unique(),
        unknown_item_rows=new_items.height,
        examples={
            c.USER: strangers.get_column(c.USER).unique(maintain_order=True).head(5).cast(pl.String).to_list(),
            c.ITEM: new_items.get_column(c.ITEM).unique(maintain_order=True).head(5).cast(pl.String).to_list(),
        },
        prefixes=prefixes,
    )


def _matrix_of(known: pl.DataFrame, least: int) -> TopK:
    """The lists of a table sorted by user and then by place."""
    user = known.get_column(_USER).to_numpy()
    begins = np.flatnonzero(np.diff(user, prepend=-1))
    users = user[begins]
    row = np.repeat(np.arange(len(begins)), np.diff(begins, append=len(user)))
    place = np.arange(len(user)) - begins[row]
    top = TopK.empty(users.astype(np.int32), max(int(place.max(initial=0)) + 1, least))
    value = known.get_column(c.SCORE) if c.SCORE in known.columns else -known.get_column(c.RANK).cast(pl.Float64)
    top.items[row, place] = known.get_column(_ITEM).to_numpy()
    top.scores[row, place] = value.cast(pl.Float32).to_numpy()
    return top


def _codes(values: pl.Series, table: pl.Series) -> pl.Series:
    """The position of every value in `table`, -1 where it is not there; numbers and their text are one id."""
    if values.dtype.is_float():
        whole = values.cast(pl.Int64, strict=False)
        values = whole.set((whole.cast(values.dtype) != values).fill_null(True), None)
    return values.cast(table.dtype, strict=False).replace_strict(
        table, pl.int_range(table.len(), eager=True), default=-1, return_dtype=pl.Int64
    )


def _refuse_gaps(frame: pl.DataFrame, where: str) -> None:
    for name in frame.columns:
        column = frame.get_column(name)
        empty = column.is_null() | column.is_nan() if column.dtype.is_float() else column.is_null()
        if empty.any():
            first = int(empty.arg_true()[0]) + 1
            raise InputError(
                f"{int(empty.sum())} rows have no {name}, the first is data row {first}",
                where=where,
                fix="fill it in or remove the rows",
            )


def _refuse_repetition(rows: pl.DataFrame, key: list[str], what: str, where: str) -> None:
    twice = rows.select(pl.struct(key).is_duplicated()).to_series().arg_true()
    if twice.len():
        user, value = rows.select(key).row(int(twice[0]))
        raise InputError(
            f"the list of user {user!r} has the {what} {value!r} twice (data row {int(twice[0]) + 1}; "
            f"{twice.len()} rows take part in a repetition)",
            where=where,
            fix=f"give every {what} of a list once",
        )
