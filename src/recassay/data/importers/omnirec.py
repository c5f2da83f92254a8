"""OmniRec: `{dataset-hash: [{algorithm, fold, name, k, value}]}`."""

from __future__ import annotations

import re

from recassay.core import columns as c
from recassay.data.importers.contract import Imported, Importer, Kind, long_frame, shortened
from recassay.data.importers.conventions import ACCURACY, with_conventions
from recassay.data.importers.instances import mapping
from recassay.data.importers.opened import OpenedFile

_ROW = {"algorithm", "name", "value"}


def recognise(file: OpenedFile) -> Kind | None:
    """By the keys of its rows; a dictionary of columns user, item and score is a list."""
    first = [mapping(rows[0]) if isinstance(rows, list) and rows else {} for rows in file.document.values()]
    if first and all(row.keys() >= _ROW for row in first):
        return "results"
    return "lists" if {"user", "item", "score"} <= file.document.keys() else None


def read(file: OpenedFile) -> Imported:
    """One row for each measurement; the hash after a name is left out where names stay apart without it."""
    datasets = shortened(file.json, _without_hash)
    algorithms = shortened((str(row["algorithm"]) for rows in file.json.values() for row in rows), _without_hash)
    rows = [
        {
            c.ALGORITHM: algorithms[str(row["algorithm"])],
            c.DATASET: datasets[dataset],
            c.METRIC: f"{row['name']}@{row['k']}" if row.get("k") is not None else str(row["name"]),
            c.VALUE: row["value"] if isinstance(row["value"], (int, float)) else None,
            c.FOLD: row.get("fold"),
        }
        for dataset, measured in file.json.items()
        for row in measured
    ]
    return Imported(with_conventions(long_frame(rows), ACCURACY, framework="OmniRec"))


def _without_hash(name: str) -> str:
    return re.sub(r"-[0-9a-f]{4,64}$", "", name)


IMPORTER = Importer("omnirec", "OmniRec", "the results of an evaluator as JSON", recognise, read)
