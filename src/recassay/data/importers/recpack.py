"""RecPack: `results.json` of a pipeline (`{"NDCGK_10": {"ItemKNN(K=20)": value}}`) or its metrics as CSV.

`HitK` counts the hits of a list. The results of an optimisation are settings that were tried, not results.
"""

from __future__ import annotations

import re
from typing import Any

from recassay.core import columns as c
from recassay.data.importers.contract import Imported, Importer, Kind, long_frame
from recassay.data.importers.conventions import BINARY, BY_MIN, SHARE, Known, accuracy, with_conventions
from recassay.data.importers.opened import OpenedFile

METRICS = accuracy(
    ndcg=BINARY,
    hit=Known("hit_count"),
    hits=Known("hit_count"),
    hitrate=Known("hit_count"),
    coverage=Known("coverage", SHARE),
    calibratedrecall=Known("recall", BY_MIN),
)
_LABEL = re.compile(r"^(?P<name>\w+?)K?_(?P<k>\d+)$")


def recognise(file: OpenedFile) -> Kind | None:
    """Every key is a metric with K and a cut-off, and holds values by algorithm."""
    document = file.json
    if not isinstance(document, dict) or not document:
        return None
    if {"identifier", "params"} <= set(document) and isinstance(document["identifier"], dict):
        return "other"
    return (
        "results"
        if all(re.fullmatch(r"\w+K_\d+", name) and _values(value) for name, value in document.items())
        else None
    )


def read(file: OpenedFile) -> Imported:
    """One row for each metric and algorithm; settings in brackets are left out where names stay apart."""
    names = list(dict.fromkeys(name for values in file.json.values() for name in values))
    short = {name: name.partition("(")[0] for name in names}
    if len(set(short.values())) < len(short):
        short = {name: name for name in names}
    rows = [
        {c.ALGORITHM: short[name], c.METRIC: _label(metric), c.VALUE: value}
        for metric, values in file.json.items()
        for name, value in values.items()
    ]
    frame = with_conventions(long_frame(rows), METRICS, framework="RecPack")
    counted = "RecPack's HitK counts the hits of a list: it was read as hit_count, not as a hit rate"
    return Imported(frame, (counted,) if any(name.lower().startswith("hitk") for name in file.json) else ())


def _label(metric: str) -> str:
    found = _LABEL.match(metric)
    return f"{found['name']}@{found['k']}" if found else metric


def _values(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(one, (int, float, type(None))) for one in value.values())


IMPORTER = Importer(name="recpack", title="RecPack", files="results.json of a pipeline", recognise=recognise, read=read)
