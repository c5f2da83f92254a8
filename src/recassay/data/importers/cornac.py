"""Cornac: the table of an experiment's log (`CornacExp-*.log`), and the values of each user as JSON.

A log holds a table of the validation before that of the test; the last table is read. A cross-validation writes a table
for each model below its name in square brackets, with a row for each fold. MAP, MRR and AUC are over the
whole ranking.
"""

from __future__ import annotations

import re
from typing import Any

import polars as pl

from recassay.core import columns as c
from recassay.data.importers.contract import Imported, Importer, Kind, long_frame
from recassay.data.importers.conventions import BINARY, WHOLE_LIST, Known, accuracy, with_conventions
from recassay.data.importers.opened import OpenedFile
from recassay.data.tables.form import Asked
from recassay.data.tables.grid import table_of
from recassay.data.tables.labels import spelled
from recassay.data.tables.shapes import long_form
from recassay.data.tables.textual import barred_grids
from recassay.data.tables.words import STATISTICS

METRICS = accuracy(ndcg=BINARY, map=WHOLE_LIST, mrr=Known("mrr", "first: the first hit of the whole ranking counts"))


def recognise(file: OpenedFile) -> Kind | None:
    """TEST: above a table of bars and pluses; or values by model, metric and user."""
    if re.search(r"^TEST:\s*$", file.head, re.MULTILINE) and re.search(r"-\s\+\s-", file.head):
        return "results"
    return "user results" if _by_user(file.document) else None


def read(file: OpenedFile) -> Imported:
    """The table of the test, or means over the values of the users."""
    if file.json is not None:
        long = long_frame(
            {c.ALGORITHM: model, c.METRIC: metric, c.USER: user, c.VALUE: value}
            for model, metrics in file.json.items()
            for metric, users in metrics.items()
            for user, value in users.items()
        )
        return Imported(with_conventions(long, METRICS, framework="Cornac"))
    parts = []
    for block in re.split(r"^TEST:\s*$", file.text, flags=re.MULTILINE)[1:]:
        tested = re.split(r"^VALIDATION:", block, flags=re.MULTILINE)[0]
        sections = re.split(r"^\[(.+)\]\s*$", tested, flags=re.MULTILINE)
        for model, text in zip([None, *sections[1::2]], sections[::2], strict=True):
            table = next(filter(None, map(table_of, barred_grids(text))), None)
            if table is not None:
                frame = long_form(table, Asked(wide=True), file.name, file.dataset()).frame
                if model is not None:  # of a cross-validation: rows are its folds, then their mean and deviation
                    fold = pl.col(c.ALGORITHM).str.extract(r"^Fold\s*(\d+)$")
                    frame = frame.with_columns(fold.alias(c.FOLD), pl.lit(model).alias(c.ALGORITHM))
                    frame = frame.drop_nulls(c.FOLD)
                parts.append(frame)
    if not parts:
        raise file.refused("holds no table below TEST:", fix="give the log of an experiment that ended")
    frame = pl.concat(parts, how="diagonal_relaxed")
    keys = [name for name in (c.ALGORITHM, c.METRIC, c.FOLD) if name in frame.columns]
    frame = frame.unique(keys, keep="last", maintain_order=True)
    return Imported(with_conventions(frame.drop(c.DATASET), METRICS, framework="Cornac"))


def _by_user(document: dict[str, Any]) -> bool:
    """`{model: {metric: {user: number}}}` with known metrics; `{"mean": ..., "std": ...}` are not users."""
    return bool(document) and all(
        isinstance(metrics, dict) and metrics
        and all(spelled(str(name)) is not None and isinstance(users, dict) and users
                and all(isinstance(value, (int, float)) for value in list(users.values())[:5])
                and not {str(user).lower() for user in users} <= STATISTICS.keys()
                for name, users in metrics.items())
        for metrics in document.values()
    )  # fmt: skip


IMPORTER = Importer(
    "cornac", "Cornac", "the log of an experiment (CornacExp-*.log) or user results as JSON", recognise, read
)
