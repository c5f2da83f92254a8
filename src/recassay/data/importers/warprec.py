"""WarpRec 2: `DATASET/evaluation/Overall_Results_*.tsv`, and the values of each user beside it.

The dataset is the folder above `evaluation`, the cut-off a column (`Top@k`). Its nDCG has graded gains, and its
ItemCoverage is a count of items.
"""

from __future__ import annotations

import re

import polars as pl

from recassay.core import columns as c
from recassay.data.importers.contract import Imported, Importer, Kind, melted
from recassay.data.importers.conventions import BY_MIN, COUNT, EXPONENTIAL, Known, accuracy, with_conventions
from recassay.data.importers.opened import OpenedFile

METRICS = accuracy(
    ndcg=EXPONENTIAL,
    map=BY_MIN,
    coverage=Known("items_covered"),
    usercoverage=Known("users_covered"),
    popularity=Known("popularity", COUNT),
    gini=Known("gini", "over_n_minus_1: divided by n - 1 (largest value 1)"),
)
_USERS = re.compile(r"^(?P<model>.+)_k_(?P<k>\d+)_per_user")
_TESTS = {"Model A", "Model B"}


def recognise(file: OpenedFile) -> Kind | None:
    """By its columns: `Model, Top@k`, or `user_id` in a file named `..._k_10_per_user...`."""
    header = file.header
    if header[:2] == ["Model", "Top@k"]:
        return "results"
    if header[:1] == ["user_id"] and _USERS.match(file.stem):
        return "user results"
    if set(header) >= _TESTS:
        return "other"
    return "lists" if header == ["user_id", "item_id", "rating"] and "recs" in file.parents()[:1] else None


def read(file: OpenedFile) -> Imported:
    """Metrics are columns; the cut-off is a column, or stands in the name of a file of users."""
    frame = file.frame
    users = _USERS.match(file.stem)
    above = file.parents()
    dataset = above[1] if above[:1] == ["evaluation"] and len(above) > 1 else file.folder() if users else file.dataset()
    if users is None:
        long = melted(frame, {"Model": c.ALGORITHM, "Top@k": "k"})
        long = long.with_columns(pl.concat_str(c.METRIC, pl.lit("@"), "k").alias(c.METRIC)).drop("k")
    else:
        long = melted(frame, {"user_id": c.USER}).with_columns(
            pl.lit(users["model"]).alias(c.ALGORITHM), pl.col(c.METRIC) + f"@{users['k']}"
        )
    return Imported(with_conventions(long, METRICS, framework="WarpRec", dataset=dataset))


IMPORTER = Importer(
    "warprec", "WarpRec", "DATASET/evaluation/Overall_Results_*.tsv and *_per_user_*.tsv", recognise, read
)
