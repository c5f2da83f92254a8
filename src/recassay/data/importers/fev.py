"""fev: the summaries of forecasting tasks as a table; `test_error` is the task's own metric, lower is better."""

from __future__ import annotations

from pathlib import PurePath

import polars as pl

from recassay.core import columns as c
from recassay.data.importers.contract import Imported, Importer, Kind
from recassay.data.importers.conventions import with_conventions
from recassay.data.importers.opened import OpenedFile
from recassay.data.tables.labels import spelled
from recassay.data.tables.read import read_frame

_COLUMNS = {"model_name", "dataset_path", "test_error"}


def recognise(file: OpenedFile) -> Kind | None:
    """By the columns of an evaluation summary."""
    return "results" if set(file.header) >= _COLUMNS else None


def read(file: OpenedFile) -> Imported:
    """One row for each model, task and metric; a task is its dataset, configuration and horizon."""
    frame = read_frame(file.data, file.name)
    config = (
        pl.col("dataset_config").cast(pl.String) if "dataset_config" in frame.columns else pl.lit(None, dtype=pl.String)
    )
    named = pl.col("task_name").cast(pl.String) if "task_name" in frame.columns else pl.lit(None, dtype=pl.String)
    path = pl.col("dataset_path").map_elements(lambda text: PurePath(text).stem, return_dtype=pl.String)
    task = (
        pl.when(named.is_not_null() & (named != ""))
        .then(named)
        .when(config.is_not_null() & (config != ""))
        .then(config)
    )
    frame = frame.with_columns(task.otherwise(path).alias(c.DATASET))
    if "horizon" in frame.columns:
        several = pl.col("horizon").n_unique().over(c.DATASET) > 1
        frame = frame.with_columns(
            pl.when(several)
            .then(pl.concat_str(c.DATASET, pl.lit("-h"), "horizon"))
            .otherwise(c.DATASET)
            .alias(c.DATASET)
        )
    metrics = ["test_error", *(n for n in frame.columns if n != "test_error" and (s := spelled(n)) and s.known)]
    long = frame.unpivot(
        index=["model_name", c.DATASET], on=metrics, variable_name=c.METRIC, value_name=c.VALUE
    ).select(
        pl.col("model_name").alias(c.ALGORITHM), c.DATASET, c.METRIC, pl.col(c.VALUE).cast(pl.Float64, strict=False)
    )
    version = frame.get_column("fev_version")[0] if "fev_version" in frame.columns else None
    made = with_conventions(long, {}, framework="fev", version=str(version) if version else None)
    return Imported(made.drop_nulls(c.VALUE).with_columns(pl.lit(False).alias(c.HIGHER_IS_BETTER)))


IMPORTER = Importer(
    name="fev", title="fev", files="pd.DataFrame of evaluation summaries as CSV", recognise=recognise, read=read
)
