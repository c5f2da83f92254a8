"""LensKit: list metrics (one row for each model and user), their summary, and recommendation lists.

Its NDCG divides a gain by log2 of the rank, so that the first two places count the same; `RecipRank` has no cut-off
unless one is given.
"""

from __future__ import annotations

import polars as pl

from recassay.core import columns as c
from recassay.data.importers.contract import Imported, Importer, Kind, melted
from recassay.data.importers.conventions import LOG_RANK, Known, accuracy, with_conventions
from recassay.data.importers.opened import OpenedFile
from recassay.data.tables.labels import spelled

METRICS = accuracy(ndcg=LOG_RANK, mrr=Known("mrr", "first: the first hit within the list counts"))
NO_COUNT = (
    "the deviation in LensKit's summary is over users whose number it does not say, and was left out: give the list "
    "metrics instead"
)
_OWN = {"RBP", "DCG", "Hit", "ListGini", "ExponentialGini", "MeanPopRank", "ILS", "AveragePrecision", "Entropy"}
"""Metrics of LensKit whose names nobody else uses."""
_KEYS = {"model": c.ALGORITHM, "algorithm": c.ALGORITHM, "recommender": c.ALGORITHM, "dataset": c.DATASET,
         "data": c.DATASET, "part": c.FOLD, "partition": c.FOLD, "fold": c.FOLD, "seed": c.SEED}  # fmt: skip


def recognise(file: OpenedFile) -> Kind | None:
    """`user_id` beside columns of metrics; a summary of mean, median and std; or lists of items."""
    header = file.header
    if header[-3:] == ["mean", "median", "std"]:
        return "results"
    header = header[1:] if header[:1] == [""] else header
    if "user_id" not in header:
        return None
    if isinstance(file.schema.get("items") if file.is_parquet else None, pl.List):
        return "lists"
    if "item_id" in header:
        return "lists" if "score" in header or "rank" in header else None
    metrics = [name for name in header if spelled(name) is not None]
    named = set(header) & set(_KEYS)
    others = [name for name in header if name not in {*metrics, *named, "user_id", *_OWN}]
    return "user results" if metrics and named and not others and "dataset" not in named else None


def read(file: OpenedFile) -> Imported:
    """Means over users with their deviation, or the means of a summary."""
    frame = file.frame
    keys = {name: ours for name, ours in _KEYS.items() if name in frame.columns}
    if frame.columns[-3:] == ["mean", "median", "std"]:
        metric = next(name for name in frame.columns if name not in keys and name not in ("mean", "median", "std"))
        long = frame.select(
            *(pl.col(name).alias(ours) for name, ours in keys.items()),
            pl.col(metric).alias(c.METRIC),
            pl.col("mean").cast(pl.Float64, strict=False).alias(c.VALUE),
        )
        notes: tuple[str, ...] = (NO_COUNT,)
    else:
        long = melted(frame.drop("", strict=False), {**keys, "user_id": c.USER})
        notes = ()
    return Imported(with_conventions(long, METRICS, framework="LensKit"), notes)


IMPORTER = Importer(
    "lenskit",
    "LensKit",
    "list metrics (RunAnalysis.measure(...).list_metrics()) or list_summary() as CSV or Parquet",
    recognise,
    read,
)
