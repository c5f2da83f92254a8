"""fev: the summaries of forecasting tasks as a table; `test_error` is the task's own metric, lower is better."""

from __future__ import annotations

from pathlib import PurePath

import polars as pl

from recassay.core import columns as c
from recassay.data.importers.contract import Imported, Importer, Kind, melted
from recassay.data.importers.conventions import with_conventions
from recassay.data.importers.opened import OpenedFile
from recassay.data.tables.labels import known_metric

_COLUMNS = {"model_name", "dataset_path", "test_error"}


def recognise(file: OpenedFile) -> Kind | None:
    """By the columns of an evaluation summary."""
    return "results" if set(file.header) >= _COLUMNS else None


def read(file: OpenedFile) -> Imported:
    """One row for each model, task and metric; a task is its dataset, configuration and horizon."""
    frame = file.frame
    path = pl.col("dataset_path").map_elements(lambda text: PurePath(text).stem, return_dtype=pl.String)
    columns = [pl.col(name).cast(pl.String) for name in ("task_name", "dataset_config") if name in frame.columns]
    filled = [pl.when(name != "").then(name) for name in columns]
    frame = frame.with_columns(pl.coalesce(*filled, path).alias(c.DATASET))
    if "horizon" in frame.columns:
        several = pl.col("horizon").n_unique().over(c.DATASET) > 1
        longer = pl.concat_str(c.DATASET, pl.lit("-h"), "horizon")
        frame = frame.with_columns(pl.when(several).then(longer).otherwise(c.DATASET).alias(c.DATASET))
    metrics = ["test_error", *filter(known_metric, frame.drop("test_error").columns)]
    long = melted(frame, {"model_name": c.ALGORITHM, c.DATASET: c.DATASET}, metrics)
    version = frame.get_column("fev_version")[0] if "fev_version" in frame.columns else None
    made = with_conventions(long, {}, framework="fev", version=str(version) if version else None)
    return Imported(made.drop_nulls(c.VALUE).with_columns(pl.lit(False).alias(c.HIGHER_IS_BETTER)))


IMPORTER = Importer("fev", "fev", "pd.DataFrame of evaluation summaries as CSV", recognise, read)
