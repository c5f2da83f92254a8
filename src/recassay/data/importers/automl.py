"""AutoML: amlb's `results.csv`, tables of TabArena (`framework, task, metric_error`), AutoGluon's leaderboard.

In amlb `result` is the task's own metric with higher better (`neg_logloss`); it is kept as `result`, and each other
metric under its name. `metric_error` of TabArena is the task's own error, lower is better. The scores of a leaderboard
of AutoGluon are always such that higher is better.
"""

from __future__ import annotations

import polars as pl

from recassay.core import columns as c
from recassay.core.tables.labels import known_direction
from recassay.core.words import count_of
from recassay.data.importers.contract import Imported, Importer, Kind, melted
from recassay.data.importers.opened import OpenedFile
from recassay.data.tables.labels import own_name, spelled

_LEADERBOARD = {"model", "score_val", "fit_time", "stack_level"}
_WHO = ("framework", "method", "model", "algorithm")
_WHERE = ("task", "dataset", "name", "tid")
_SETTINGS = (
    "id constraint type mode version params app_version utc models_count models tag info metric fold seed result "
    "problem_type duration tid rank imputed"
)
_NO_METRICS = frozenset(_SETTINGS.split())


def recognise(file: OpenedFile) -> Kind | None:
    """`framework` and `task` with `result` or `metric_error`."""
    header = set(file.header)
    if header >= _LEADERBOARD:
        return "results"
    if {"framework", "task", "result", "metric"} <= header:
        return "results"
    return "results" if "metric_error" in header and header & set(_WHO) and header & set(_WHERE) else None


def read(file: OpenedFile) -> Imported:
    """One row for each framework, task, fold and metric."""
    frame = file.frame
    if set(frame.columns) >= _LEADERBOARD:
        return _leaderboard(frame)
    who = next(name for name in _WHO if name in frame.columns)
    where = next(name for name in _WHERE if name in frame.columns)
    repeat = c.FOLD if c.FOLD in frame.columns else c.SEED
    keys = {who: c.ALGORITHM, where: c.DATASET} | ({repeat: repeat} if repeat in frame.columns else {})
    columns = [n for n in frame.columns if n not in _NO_METRICS | {who, where} and spelled(n) is not None]
    columns += [
        name for name in ("result", "metric_error", "duration") if name in frame.columns and name not in columns
    ]
    labels = {name: metric.label if (metric := spelled(name)) else own_name(name) for name in columns}
    kind = "amlb" if "result" in frame.columns else "TabArena"
    long = melted(frame.with_columns(pl.col(list(keys)).cast(pl.String)), keys, columns).with_columns(
        pl.when(pl.col(c.METRIC) == "result").then(True).alias(c.HIGHER_IS_BETTER),
        pl.col(c.METRIC).replace(labels | {"result": "result"}),
        pl.lit(kind).alias(c.FRAMEWORK),
        pl.lit(None, dtype=pl.String).alias(c.VERSION),
    )
    failed = frame.filter(pl.col("result").cast(pl.Float64, strict=False).is_null()).height if kind == "amlb" else 0
    notes = (f"{count_of(failed, 'failed run')} {'has' if failed == 1 else 'have'} no result",) if failed else ()
    return Imported(long.drop_nulls(c.VALUE).unique(maintain_order=True), notes)


def _leaderboard(frame: pl.DataFrame) -> Imported:
    """Test scores where there are any, else those of validation; seconds to fit and to predict."""
    tested = "score_test" in frame.columns
    metrics = frame.get_column("eval_metric").drop_nulls().unique().to_list() if "eval_metric" in frame.columns else []
    known = spelled(metrics[0]) if len(metrics) == 1 else None
    label = known.label if known is not None and known_direction(known.label) else "score"
    part = "test" if tested else "val"
    labels = {f"score_{part}": label, "fit_time": "seconds_fit", f"pred_time_{part}": "seconds_predict"}
    long = melted(frame, {"model": c.ALGORITHM}, [name for name in labels if name in frame.columns]).with_columns(
        pl.when(pl.col(c.METRIC) == f"score_{part}").then(True).alias(c.HIGHER_IS_BETTER),
        pl.col(c.METRIC).replace(labels),
        pl.lit("AutoGluon").alias(c.FRAMEWORK),
    )
    notes = () if tested else ("the leaderboard has no test scores: those of validation data were read",)
    return Imported(long, notes)


IMPORTER = Importer(
    "automl",
    "amlb, AutoGluon, TabArena",
    "results.csv of amlb, a leaderboard of AutoGluon, or a table with metric_error",
    recognise,
    read,
    aliases=("amlb", "tabarena", "autogluon"),
)
