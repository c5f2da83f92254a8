"""OpenML: predictions of a run (ARFF), with one row per test instance; `accuracy` is 1 where it is right."""

from __future__ import annotations

import re

import polars as pl

from recassay.data.classification.arff import read_arff
from recassay.data.importers.contract import Imported, Importer, Kind
from recassay.data.importers.instances import Answer, instance_results
from recassay.data.importers.opened import OpenedFile

_RELATION = re.compile(r"^\s*@relation\s+['\"]?openml_task_(?P<task>\d+)_predictions", re.IGNORECASE | re.MULTILINE)
_PREDICTIONS = re.compile(r"^\s*@attribute\s+['\"]?prediction['\"]?\s", re.IGNORECASE | re.MULTILINE)
_TRUTH = ("correct", "truth")


def recognise(file: OpenedFile) -> Kind | None:
    """An ARFF file whose relation is `openml_task_N_predictions`, or with the attributes row_id and prediction."""
    head = file.head
    if "@relation" not in head[:20_000].lower():
        return None
    return "user results" if _RELATION.search(head) or (_PREDICTIONS.search(head) and "row_id" in head) else None


def read(file: OpenedFile) -> Imported:
    """Whether each prediction is right; repeats of the cross-validation are averaged."""
    named = _RELATION.search(file.head)
    task = f"openml task {named['task']}" if named else file.dataset()
    frame = read_arff(file.text, file.name)
    columns = {name.lower(): name for name in frame.columns}
    truth = next((columns[name] for name in _TRUTH if name in columns), None)
    if truth is None or not {"prediction", "row_id"} <= columns.keys():
        what = "names no true class, so that nobody knows which predictions are right"
        raise file.refused(what, fix="give predictions with the attributes row_id, prediction and correct (or truth)")
    rows = frame.select(pl.col(columns["row_id"]).cast(pl.Int64, strict=False), columns["prediction"], truth)
    model = file.stem if not re.fullmatch(r"predictions?", file.stem) else file.parents()[0]
    answers = (
        Answer(model, task, f"r{row}", "accuracy", float(prediction == right), True)
        for row, prediction, right in rows.drop_nulls().iter_rows()
    )
    return instance_results(answers, file, "OpenML")


IMPORTER = Importer("openml", "OpenML", "predictions.arff of a run", recognise, read)
