"""Every Eval Ever: the shared JSON of evaluation results, one model in a file. An evaluation is a dataset.

The schema gives each evaluation one score and says its direction; the metric is `metric_name` where there is one, the
description where that is a known metric, else `score`. Its instance records (`*_samples.jsonl`) have one line per
sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from recassay.core import columns as c
from recassay.core.tables.labels import is_known
from recassay.data.importers.contract import Imported, Importer, Kind, long_frame
from recassay.data.importers.instances import WORDS, Answer, instance_results, json_lines, mapping, metric_label, number
from recassay.data.importers.opened import OpenedFile
from recassay.data.tables.cells import FROM_INTERVAL


def recognise(file: OpenedFile) -> Kind | None:
    """By `schema_version`, `model_info` and `evaluation_results`."""
    if {"schema_version", "model_info", "evaluation_results"} <= file.document.keys():
        return "results"
    return "user results" if file.lines and '"instance_level_eval' in file.lines[0] else None


def read(file: OpenedFile) -> Imported:
    """One row for each evaluation of the model."""
    document = file.document
    if "evaluation_results" not in document:
        return instance_results(_instances(file), file, "Every Eval Ever")
    info, library = mapping(document["model_info"]), mapping(document.get("eval_library"))
    version = library.get("version")
    frame = long_frame(
        _rows(document["evaluation_results"]),
        algorithm=info.get("id") or info.get("name") or file.stem,
        framework=library.get("name") or "Every Eval Ever",
        version=version if isinstance(version, str) else None,
    )
    return Imported(frame, words=WORDS)


def _instances(file: OpenedFile) -> Iterator[Answer]:
    """The score of every sample, and whether it is correct."""
    for record in json_lines(file):
        judged = mapping(record.get("evaluation"))
        task, sample = str(record["evaluation_name"]), str(record.get("sample_id") or record["sample_idx"])
        for metric, key, up in (("accuracy", "is_correct", True), ("score", "score", None)):
            value = number(judged.get(key))
            if value is not None:
                yield Answer(str(record["model_id"]), task, sample, metric, value, up)


def _rows(results: Any) -> Iterator[dict[str, Any]]:
    for result in results if isinstance(results, list) else []:
        config = result.get("metric_config") or {}
        details = result.get("score_details") or {}
        score = details.get("score")
        if not isinstance(score, (int, float)):
            continue
        lower = config.get("lower_is_better")
        error = _standard_error(details)
        yield {
            c.DATASET: str(result.get("evaluation_name") or "evaluation"),
            c.METRIC: _metric(config),
            c.VALUE: float(score),
            c.DEVIATION: error,
            c.RUNS: 1 if error is not None else None,
            c.HIGHER_IS_BETTER: None if lower is None else not lower,
        }


def _metric(config: Mapping[str, Any]) -> str:
    for key in ("metric_name", "metric_id", "metric", "evaluation_description"):
        name = config.get(key)
        if isinstance(name, str) and name and (key != "evaluation_description" or is_known(name)):
            return metric_label(name)
    return "score"


def _standard_error(details: Mapping[str, Any]) -> float | None:
    """The standard error where it is given, else from an interval of 95 %."""
    uncertainty = mapping(details.get("uncertainty"))
    error = uncertainty.get("standard_error")
    stated = number(error.get("value") if isinstance(error, dict) else error)
    interval = mapping(uncertainty.get("confidence_interval") or details.get("confidence_interval"))
    low, high = number(interval.get("lower")), number(interval.get("upper"))
    if stated is not None or low is None or high is None:
        return stated
    return (high - low) / FROM_INTERVAL if high > low and interval.get("confidence_level", 0.95) == 0.95 else None


IMPORTER = Importer(
    "every_eval_ever",
    "Every Eval Ever",
    "{uuid}.json of its schema, {uuid}_samples.jsonl",
    recognise,
    read,
    aliases=("eee", "every-eval-ever"),
)
