"""BARS leaderboards (reczoo/BARS): `Year,Publication,Model,Paper URL,Recall@20,...`; a file for each dataset."""

from __future__ import annotations

import polars as pl

from recassay.core import columns as c
from recassay.data.importers.contract import Imported, Importer, Kind, melted
from recassay.data.importers.conventions import BINARY, accuracy, with_conventions
from recassay.data.importers.opened import OpenedFile
from recassay.data.tables.cells import numbers
from recassay.data.tables.labels import spelled

_COLUMNS = {"Year", "Publication", "Model", "Paper URL"}


def recognise(file: OpenedFile) -> Kind | None:
    """By the columns that every leaderboard begins with."""
    return "results" if set(file.header) >= _COLUMNS else None


def read(file: OpenedFile) -> Imported:
    """One row for each model and metric; a model that stands there twice keeps its last row."""
    frame = file.frame.with_columns(pl.col("Model").str.strip_chars())
    metrics = [name for name in frame.columns if spelled(name) is not None]
    repeated = frame.height - frame.get_column("Model").n_unique()
    frame = frame.unique("Model", keep="last", maintain_order=True)
    frame = frame.with_columns(numbers(frame.get_column(name), file.name).values.alias(name) for name in metrics)
    long = melted(frame, {"Model": c.ALGORITHM}, metrics)
    models = "1 model stands" if repeated == 1 else f"{repeated} models stand"
    notes = (f"{models} twice in the leaderboard; the last row was read",) if repeated else ()
    dataset = file.stem.removeprefix("ctr_").removeprefix("matching_")
    return Imported(with_conventions(long, accuracy(ndcg=BINARY), framework="BARS", dataset=dataset), notes)


IMPORTER = Importer("bars", "BARS", "a leaderboard as CSV, named after its dataset", recognise, read)
