"""Adjacency lists as LightGCN and its successors publish them: one line per user, `user item item item`."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from recassay.core.columns import ITEM, USER
from recassay.core.specs.specs import ReadSpec
from recassay.data.reading.records import SHOWN_BAD_ROWS, BadRow, RawTable, brief
from recassay.data.reading.sniffing import Head

_LINE, _FIELDS = "line", "fields"


def read_adjacency(text: Path, head: Head, spec: ReadSpec) -> RawTable:
    """One row for each item after the first field of a line.

    Fields stand between blanks (or `spec.delimiter`); a line with a user and no item is a bad row. Blank
    lines are passed over. There are neither ratings nor times.
    """
    lines = pl.scan_csv(
        text,
        has_header=False,
        separator="\x1f",
        quote_char=None,
        schema={_LINE: pl.String},
        truncate_ragged_lines=True,
        glob=False,
    )
    numbered = lines.with_row_index("number", offset=1)
    trimmed = pl.col(_LINE).str.strip_chars()
    if spec.delimiter and spec.delimiter != " ":
        fields = trimmed.str.split(spec.delimiter)
    else:
        fields = trimmed.str.replace_all(r"\s+", " ").str.split(" ")
    cut = numbered.filter(trimmed.is_not_null() & (trimmed != "")).select("number", fields.alias(_FIELDS))
    user, items = pl.col(_FIELDS).list.first().alias(USER), pl.col(_FIELDS).list.slice(1).alias(ITEM)
    bare = cut.filter(pl.col(_FIELDS).list.len() < 2).select("number", user).collect()
    full = cut.filter(pl.col(_FIELDS).list.len() > 1)
    pairs = full.select("number", user, items).explode(ITEM)

    def lines_of(wanted: list[int]) -> list[int]:
        numbers = pairs.select("number").collect().get_column("number")
        return [int(numbers[row]) for row in wanted]

    shown = tuple(
        BadRow(int(number), f"user {brief(name)} has no items")
        for number, name in bare.head(SHOWN_BAD_ROWS).iter_rows()
    )
    if bare.height and full.select(pl.len()).collect().item() == 0:
        raise head.refused("no line lists an item after its user", fix="check the format and delimiter")
    return RawTable(
        frame=pairs.select(USER, ITEM),
        source=head.where,
        format="adjacency",
        columns={USER: "first field", ITEM: "further fields"},
        text=True,
        lines_of=lines_of,
        lost=bare.height,
        lost_rows=shown,
    )
