"""MLflow: `mlflow.search_runs(...)` as CSV. Metrics are columns `metrics.*`; model, dataset and seed are parameters,
tags, or parts of the run's name. Runs that did not finish are left out, and so are metrics of validation data."""

from __future__ import annotations

import polars as pl

from recassay.core import columns as c
from recassay.core.names import canonical
from recassay.core.words import count_of, listing
from recassay.data.importers.contract import Imported, Importer, Kind, melted
from recassay.data.importers.opened import OpenedFile
from recassay.data.tables.labels import own_name, spelled
from recassay.data.tables.words import SYNONYMS


def recognise(file: OpenedFile) -> Kind | None:
    """By the columns that every export of runs has."""
    header = set(file.header)
    return "results" if {"run_id", "status"} <= header and any(name.startswith("metrics.") for name in header) else None


def read(file: OpenedFile) -> Imported:
    """One row for each finished run and metric."""
    frame = file.frame
    notes = []
    finished = frame.get_column("status") == "FINISHED"
    if not finished.all():
        unfinished = int((~finished).sum())
        notes.append(
            f"{count_of(unfinished, 'run')} that did not finish {'was' if unfinished == 1 else 'were'} left out"
        )
    frame = frame.filter(finished)
    places = {ours: _place(frame.columns, ours) for ours in (c.ALGORITHM, c.DATASET, c.SEED, c.FOLD)}
    if places[c.ALGORITHM] is None and "tags.mlflow.runName" in frame.columns:
        places[c.ALGORITHM] = "tags.mlflow.runName"
        notes.append("no parameter says the model: the name of the run was read as the algorithm")
    if places[c.ALGORITHM] is None:
        fix = "log it as the parameter model (and the dataset as dataset)"
        raise file.refused("no parameter or tag says the model", fix=fix)
    keys = {name: ours for ours, name in places.items() if name}
    labels, left = {}, []
    for column in (name for name in frame.columns if name.startswith("metrics.")):
        name = column.removeprefix("metrics.")
        metric = spelled(name)
        if metric is not None and (metric.phase or metric.deviation):
            left.append(name)
        else:
            labels[column] = metric.label if metric is not None else own_name(name)
    if left:
        notes.append(f"metrics that are not of test data were left out: {listing(left)}")
    long = melted(frame, keys, list(labels)).drop_nulls(c.VALUE)
    framed = long.with_columns(pl.col(c.METRIC).replace(labels), pl.lit("MLflow").alias(c.FRAMEWORK))
    return Imported(framed, tuple(notes))


def _place(columns: list[str], ours: str) -> str | None:
    """The parameter, else the tag, whose name means one of our columns."""
    for prefix in ("params.", "tags."):
        named = {canonical(name.removeprefix(prefix)): name for name in reversed(columns) if name.startswith(prefix)}
        column = next((named[word] for word in SYNONYMS[ours] if word in named), None)
        if column is not None:
            return column
    return None


IMPORTER = Importer("mlflow", "MLflow", "mlflow.search_runs(...).to_csv(...)", recognise, read)
