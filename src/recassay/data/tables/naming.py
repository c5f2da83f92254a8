"""Metric labels and names of a long frame as we write them."""

from __future__ import annotations

import polars as pl

from recassay.core import columns as c
from recassay.data.tables.grid import Table, plain_name
from recassay.data.tables.labels import Spelled, has_cutoff, spelled
from recassay.data.tables.roles import CUTOFF, Layout


def labelled(frame: pl.DataFrame) -> pl.DataFrame:
    """Metric labels as we write them, and names without marks."""
    said = frame.get_column(c.METRIC).cast(pl.String).drop_nulls().unique().to_list()
    labels = {name: _label(name) for name in said}
    names = [
        pl.col(name).cast(pl.String).map_elements(plain_name, return_dtype=pl.String)
        for name in (c.ALGORITHM, c.DATASET)
        if name in frame.columns and frame.schema[name] == pl.String and _marked(frame.get_column(name))
    ]
    return frame.with_columns(pl.col(c.METRIC).cast(pl.String).replace(labels), *names)


def with_cutoffs(frame: pl.DataFrame, table: Table, layout: Layout) -> pl.DataFrame:
    """The frame with the cut-off of a column of its own in the labels of metrics that name none."""
    if CUTOFF not in layout.roles:
        return frame
    said = frame.get_column(c.METRIC).cast(pl.String).drop_nulls().unique().to_list()
    bare = [name for name in said if "@" not in name and (found := spelled(name)) and has_cutoff(found.label)]
    k = table.columns[layout.roles[CUTOFF]].cast(pl.String).str.strip_chars().alias(CUTOFF)
    labels = frame.select(pl.col(c.METRIC).cast(pl.String)).with_columns(k)
    cut = pl.when(pl.col(c.METRIC).is_in(bare)).then(pl.concat_str(c.METRIC, pl.lit("@"), CUTOFF)).otherwise(c.METRIC)
    return frame.with_columns(labels.select(cut.alias(c.METRIC)).to_series())


def _label(name: str) -> str:
    found: Spelled | None = spelled(name)
    return found.label if found is not None and not found.deviation and not found.phase else name


def _marked(column: pl.Series) -> bool:
    return bool(column.drop_nulls().str.contains(r"\\|\*\*|\$|</?(b|i|u|em|strong|sup|sub|br|span)\b").any())
