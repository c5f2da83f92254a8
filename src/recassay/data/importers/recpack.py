"""RecPack: `results.json` of a pipeline (`{"NDCGK_10": {"ItemKNN(K=20)": value}}`), or `get_metrics()` as CSV or JSON.

`HitK` counts the hits of a list. The results of an optimisation are settings that were tried, not results.
"""

from __future__ import annotations

import re
from typing import Any

import polars as pl

from recassay.core import columns as c
from recassay.data.importers.contract import Imported, Importer, Kind, long_frame, melted, shortened
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
    if file.json is None:
        long = melted(file.frame, {file.frame.columns[0]: c.ALGORITHM})
    else:
        by_metric = all(map(_METRIC.fullmatch, file.json))
        outer, inner = (c.METRIC, c.ALGORITHM) if by_metric else (c.ALGORITHM, c.METRIC)
        long = long_frame(
            {outer: name, inner: other, c.VALUE: value}
            for name, values in file.json.items()
            for other, value in values.items()
        )
    metrics, names = (long.get_column(column).unique().to_list() for column in (c.METRIC, c.ALGORITHM))
    counted = "RecPack's HitK counts the hits of a list: it was read as hit_count, not as a hit rate"
    long = long.with_columns(
        pl.col(c.ALGORITHM).replace(shortened(names, lambda name: name.partition("(")[0])),
        pl.col(c.METRIC).replace({metric: _LABEL.sub(r"\g<name>@\g<k>", metric) for metric in metrics}),
    )
    notes = (counted,) if any(name.lower().startswith("hitk") for name in metrics) else ()
    return Imported(with_conventions(long, METRICS, framework="RecPack"), notes)


def _values(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(number, (int, float, type(None))) for number in value.values())


IMPORTER = Importer("recpack", "RecPack", "results.json of a pipeline, or get_metrics() as CSV", recognise, read)
