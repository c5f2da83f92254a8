"""ranx: the report of a comparison as JSON or CSV; its runs and qrels as JSON, Parquet or lz4. Gains are linear."""

from __future__ import annotations

from typing import Any

import polars as pl

from recassay.core import columns as c
from recassay.data.importers.contract import Imported, Importer, Kind, long_frame, melted
from recassay.data.importers.conventions import BY_RELEVANT, LINEAR, accuracy, with_conventions
from recassay.data.importers.opened import OpenedFile
from recassay.data.tables.labels import spelled

METRICS = accuracy(ndcg=LINEAR, map=BY_RELEVANT)
_LZ4 = b"\x04\x22\x4d\x18"


def recognise(file: OpenedFile) -> Kind | None:
    """A report by its keys `metrics` and `model_names`; lists by user, item and a number."""
    if file.data[:4] == _LZ4:
        return "lists"
    if {"metrics", "model_names"} <= file.document.keys() or "model_names" in file.header:
        return "results"
    if set(file.header) >= {"q_id", "doc_id", "score"}:
        return "judgements" if file.is_parquet and file.schema["score"].is_integer() else "lists"
    return _lists(file.document)


def read(file: OpenedFile) -> Imported:
    """One row for each model and metric; the tests between models are left to `recassay compare`."""
    if file.json is None:
        long = melted(file.frame.drop("", "column_0", strict=False), {"model_names": c.ALGORITHM})
    else:
        long = long_frame(
            {c.ALGORITHM: model, c.METRIC: metric, c.VALUE: value}
            for model in file.json["model_names"]
            for metric, value in file.json[model]["scores"].items()
        )
    # Its `hits` counts the hits of a list; a hit rate is called `hit_rate`.
    long = long.with_columns(pl.col(c.METRIC).str.replace(r"^hits(@|$)", "hit_count$1"))
    return Imported(with_conventions(long, METRICS, framework="ranx"))


def _lists(document: dict[str, Any]) -> Kind | None:
    """`{user: {item: number}}`: judgements where all numbers are whole, else lists."""
    some = list(document.values())[:20]
    if not all(isinstance(items, dict) and items for items in some):
        return None
    numbers = [value for items in some for value in items.values()]
    if not all(isinstance(value, (int, float)) for value in numbers) or len(document) < 5:
        return None
    if any(spelled(str(name)) for name in (*list(document)[:20], *some[0])):
        return None
    return "judgements" if all(isinstance(value, int) for value in numbers) else "lists"


IMPORTER = Importer("ranx", "ranx", "a report (report.save, report.to_dataframe) as JSON or CSV", recognise, read)
