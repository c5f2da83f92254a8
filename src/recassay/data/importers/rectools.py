"""RecTools: the metrics of `cross_validate` (`model, i_split, NDCG@10, ...`). By default the ideal list has k hits."""

from __future__ import annotations

import polars as pl

from recassay.core import columns as c
from recassay.data.importers.contract import Imported, Importer, Kind, melted
from recassay.data.importers.conventions import BY_RELEVANT, COUNT, IDEAL_K, Known, accuracy, with_conventions
from recassay.data.importers.opened import OpenedFile

METRICS = accuracy(
    ndcg=IDEAL_K,
    map=BY_RELEVANT,
    coverage=Known("items_covered"),
    catalogcoverage=Known("items_covered"),
    avgrecpopularity=Known("popularity", COUNT),
    meaninvuserfreq=Known("novelty", "bits: self-information in bits"),
    novelty=Known("novelty", "bits: self-information in bits"),
)


def recognise(file: OpenedFile) -> Kind | None:
    """By the columns `model` and `i_split`; lists by those of its recommendations."""
    if {"model", "i_split"} <= set(file.header) and "dataset" not in file.header:
        return "results"
    return "lists" if file.header == ["user_id", "item_id", "score", "rank"] else None


def read(file: OpenedFile) -> Imported:
    """One row for each model, split and metric; a split is a fold."""
    folds = file.frame.drop("", strict=False).with_columns(pl.col("i_split").cast(pl.String))
    long = melted(folds, {"model": c.ALGORITHM, "i_split": c.FOLD})
    made = with_conventions(long, METRICS, framework="RecTools")
    # A share of the catalogue (normalize=True) differs from a count only by its values.
    share = made.filter(pl.col(c.METRIC).str.starts_with("items_covered")).get_column(c.VALUE)
    if share.len() and (share.max() or 0) <= 1:  # type: ignore[operator]
        made = made.with_columns(pl.col(c.METRIC).str.replace("items_covered", "coverage"))
    return Imported(made)


IMPORTER = Importer(
    "rectools", "RecTools", "pd.DataFrame(cross_validate(...)['metrics']) as CSV or Parquet", recognise, read
)
