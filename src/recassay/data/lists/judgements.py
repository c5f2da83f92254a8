"""Relevance judgements as other tools keep them: TREC qrels, and ranx's JSON, LZ4 and Parquet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from recassay.core import columns as c
from recassay.core.errors import InputError
from recassay.core.system.parquet import parquet_schema
from recassay.data.lists.nested import json_table, lz4_table
from recassay.data.lists.roles import list_roles
from recassay.data.lists.text import qrels_table
from recassay.data.tables.read import read_bytes, read_frame

SUFFIXES = (".qrels", ".trec", ".qrel", ".json", ".lz4", ".txt", ".parquet", ".pq")


def read_judgements(source: Any) -> pl.DataFrame | None:
    """User, item and rating of judgements, those that say "not relevant" (0 or less) left out; None for other files.

    Text of four fields whose second is 0 is TREC's; JSON and LZ4 are ranx's `{user: {item: relevance}}`; a Parquet file
    is one of judgements where its columns are ranx's `q_id, doc_id, score`.
    """
    if not isinstance(source, str | Path) or not Path(source).is_file() or not str(source).lower().endswith(SUFFIXES):
        return None
    data, origin = read_bytes(Path(source), empty_fix="give user, 0, item and relevance in each line")
    where, kind = origin.file, Path(source).suffix.lower()
    if kind in (".parquet", ".pq"):
        try:
            columns = parquet_schema(data).keys()
        except (pl.exceptions.PolarsError, OSError):
            return None
        frame = read_frame(data, where, parquet=True) if {"q_id", "doc_id"} <= columns else None
    elif kind == ".lz4":
        frame = lz4_table(data, where)
    elif data.lstrip()[:1] in (b"{", b"["):
        frame = json_table(data, where)
    else:
        frame = qrels_table(data, where)
    if frame is None:
        return None
    roles = list_roles(frame.columns, where)
    worth = roles.get(c.SCORE)  # a rank says the order, and nothing of how relevant an item is
    table = frame.select(
        pl.col(roles[c.USER]).alias(c.USER),
        pl.col(roles[c.ITEM]).alias(c.ITEM),
        (pl.lit(1.0) if worth is None else pl.col(worth).cast(pl.Float64, strict=False)).alias(c.RATING),
    )
    if table.get_column(c.RATING).null_count():
        raise InputError("a relevance is not a number", where=where, fix="give whole numbers")
    return table.filter(pl.col(c.RATING) > 0)
