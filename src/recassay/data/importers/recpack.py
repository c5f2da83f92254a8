"""RecPack: `results.json` of a pipeline (`{"NDCGK_10": {"ItemKNN(K=20)": value}}`), or `get_metrics()` as CSV or JSON.

`HitK` counts the hits of a list. The results of an optimisation are settings that were tried, not results.
"""

from __future__ import annotations

import re
from typing import Any

import polars as pl

from recassay.core import columns as c
from recassay.data.importers.contract import Imported, Importer, Kind, long_frame
from recassay.data.importers.conventions import BINARY, BY_MIN, SHARE, Known, accuracy, with_conventions
from recassay.data.importers.opened import OpenedFile

METRICS = accuracy(
    ndcg=BINARY,
    hitrate=Known("hit_count"),
    coverage=Known("coverage", SHARE),
    calibratedrecall=Known("recall", BY_MIN),
)
_LABEL = re.compile(r"^(?P<name>\w+?)K?_(?P<k>\d+)$", re.IGNORECASE)
_METRIC = re.compile(r"[A-Z]\w*K_\d+")


def recognise(file: OpenedFile) -> Kind | None:
    """Every key is a metric with K and a cut-off, and holds values by algorithm."""
    document = file.document
    if file.json is None and file.header[:1] in ([""], ["algorithm"], ["identifier"]):
        return "results" if file.header[1:] and all(map(_METRIC.fullmatch, file.header[1:])) else None
    if "params" in document and isinstance(document.get("identifier"), dict):
        return "other"
    if not all(map(_values, document.values())):
        return None
    inside = {name for values in document.values() for name in values}
    by_metric, by_algorithm = (bool(names) and all(map(_METRIC.fullmatch, names)) for names in (document, inside))
    return "results" if by_metric or by_algorithm else None


def read(file: OpenedFile) -> Imported:
    """One row for each metric and algorithm; settings in brackets are left out where names stay apart."""
    by_metric = _by_metric(file)
    names = list(dict.fromkeys(name for values in by_metric.values() for name in values))
    short = {name: name.partition("(")[0] for name in names}
    if len(set(short.values())) < len(short):
        short = {name: name for name in names}
    rows = [
        {c.ALGORITHM: short[name], c.METRIC: _label(metric), c.VALUE: value}
        for metric, values in by_metric.items()
        for name, value in values.items()
    ]
    frame = with_conventions(long_frame(rows), METRICS, framework="RecPack")
    counted = "RecPack's HitK counts the hits of a list: it was read as hit_count, not as a hit rate"
    return Imported(frame, (counted,) if any(name.lower().startswith("hitk") for name in by_metric) else ())


def _by_metric(file: OpenedFile) -> dict[str, dict[str, Any]]:
    """The values by metric and algorithm, whichever of the two the file has outside."""
    if file.json is None:
        frame = file.frame
        first, *metrics = frame.columns
        columns = {name: frame.get_column(name).cast(pl.Float64, strict=False).to_list() for name in metrics}
        return {name: dict(zip(frame.get_column(first).to_list(), columns[name], strict=True)) for name in metrics}
    if all(map(_METRIC.fullmatch, file.json)):
        return dict(file.json)
    inside = dict.fromkeys(metric for values in file.json.values() for metric in values)
    return {metric: {name: values.get(metric) for name, values in file.json.items()} for metric in inside}


def _label(metric: str) -> str:
    parts = _LABEL.match(metric)
    return f"{parts['name']}@{parts['k']}" if parts else metric


def _values(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(number, (int, float, type(None))) for number in value.values())


IMPORTER = Importer("recpack", "RecPack", "results.json of a pipeline, or get_metrics() as CSV", recognise, read)
