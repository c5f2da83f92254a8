"""RePlay: the table of an `Experiment` (`results.to_csv()`): a row for each model, a column for each metric.

`Precision-Median@10` is a median over users and kept under that name; `NDCG-ConfidenceInterval@10` is half of a 95 %
interval, from which the standard error of NDCG@10 follows.
"""

from __future__ import annotations

import re

import polars as pl

from recassay.core import columns as c
from recassay.data.importers.contract import Imported, Importer, Kind, melted
from recassay.data.importers.conventions import BINARY, BY_MIN, SHARE, Known, accuracy, with_conventions
from recassay.data.importers.opened import OpenedFile
from recassay.data.tables.cells import FROM_INTERVAL

METRICS = accuracy(ndcg=BINARY, map=BY_MIN, coverage=Known("coverage", SHARE))
_OWN = re.compile(
    r"^(?:\w+-(?:Median|ConfidenceInterval|PerUser)@\d+|(?:Surprisal|Unexpectedness|RocAuc|CategoricalDiversity)@\d+)$"
)
_INTERVAL = "-ConfidenceInterval@"


def recognise(file: OpenedFile) -> Kind | None:
    """By metrics that only RePlay names so, below a first column without a name."""
    nameless = file.header[:1] in ([""], ["model"], ["Model"], ["name"])
    return "results" if nameless and any(map(_OWN.match, file.header)) else None


def read(file: OpenedFile) -> Imported:
    """One row for each model and metric, with the standard error that an interval gives."""
    frame = file.frame
    keys = {frame.columns[0]: c.ALGORITHM}
    long = melted(frame, keys, [name for name in frame.columns[1:] if _INTERVAL not in name])
    widths = [name for name in frame.columns[1:] if _INTERVAL in name]
    if widths:
        stated = melted(frame, keys, widths).select(
            c.ALGORITHM,
            pl.col(c.METRIC).str.replace(_INTERVAL, "@"),
            (2 * pl.col(c.VALUE) / FROM_INTERVAL).alias(c.DEVIATION),
            pl.lit(1, dtype=pl.Int64).alias(c.RUNS),
        )
        long = long.join(stated, on=[c.ALGORITHM, c.METRIC], how="left")
    return Imported(with_conventions(long, METRICS, framework="RePlay"))


IMPORTER = Importer("replay", "RePlay", "Experiment(...).results as CSV", recognise, read)
