"""One table of a paper as results."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from recassay.core import columns as c
from recassay.core.errors import InputError, UsageError
from recassay.core.tables.labels import is_share
from recassay.core.tables.printed import PaperTable
from recassay.core.words import listing
from recassay.data.papers.read import read_paper
from recassay.data.tables.form import Asked
from recassay.data.tables.join import Part


def table_of_paper(path: Path, asked: Asked) -> Part:
    """The results of the table whose number was asked for."""
    if asked.rows is not None or asked.columns:
        raise UsageError("the tables of a paper say themselves what they hold", fix="keep `table`, leave the rest out")
    paper = read_paper(path, asked.metric)
    held = [table.number for table in paper.tables if table.entries]
    table = next((table for table in paper.tables if table.number == asked.table), None)
    fix = f"tables with results: {listing(held, most=20)}" if held else "recassay review shows what was read"
    if table is None:
        raise UsageError(f"there is no table {asked.table} among {len(paper.tables)}", where=str(path), fix=fix)
    if not table.entries:
        raise InputError(f"table {table.number} holds no results: {table.reason}", where=str(path), fix=fix)
    return Part(frame_of(table, asked.dataset or path.stem), table.notes, where=f"{path}, table {table.number}",
                source=paper.sources[0])  # fmt: skip


def frame_of(table: PaperTable, dataset: str) -> pl.DataFrame:
    """The long frame of a table: percentages of shares as shares; what else a row or a column says is in the names."""
    rows = []
    for entry in table.entries:
        unit = table.unit if is_share(entry.metric) else 1.0
        deviation = entry.cell.deviation
        rows.append({
            c.ALGORITHM: " ".join(filter(None, (entry.group, entry.algorithm))) or "the method",
            c.DATASET: ", ".join(filter(None, (entry.dataset, entry.condition))) or dataset,
            c.METRIC: entry.metric,
            c.VALUE: (entry.cell.value or 0.0) / unit,
            c.DEVIATION: None if deviation is None else deviation / unit,
        })  # fmt: skip
    frame = pl.DataFrame(rows, schema_overrides={c.DEVIATION: pl.Float64})
    return frame if frame.get_column(c.DEVIATION).drop_nulls().len() else frame.drop(c.DEVIATION)
