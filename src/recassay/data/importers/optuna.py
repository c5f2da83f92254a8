"""Optuna: a storage (SQLite file or journal), or `study.trials_dataframe()` as CSV. The best finished trial is read.

What a study optimised is usually a value on validation data; that is said. A study names algorithm and dataset by its
user attributes `model` and `dataset`, else by its own name: `EASE/ml-1m`, `EASE:ml-1m` or `EASE@ml-1m`.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from recassay.core import columns as c
from recassay.core.registry import algorithms
from recassay.core.system.lines import lines_of
from recassay.core.tables.labels import known_direction, split_label
from recassay.data.importers.contract import Imported, Importer, Kind, long_frame
from recassay.data.importers.opened import OpenedFile, meaningful

_SQLITE = b"SQLite format 3\0"
_NOTE = "values of Optuna are those of the objective, which is usually measured on validation data"
_STEPS = 50_000_000
_LONGEST = 1_000_000
"""Bytes of a value; a generated column may be of any length."""


@dataclass(slots=True)
class Study:
    """A study as stored: its directions and metric names, what the user hung on it, and finished values."""

    name: str
    maximise: list[bool]
    metrics: list[str] = field(default_factory=list)
    attributes: dict[str, Any] = field(default_factory=dict)
    values: list[list[float]] = field(default_factory=list)


def recognise(file: OpenedFile) -> Kind | None:
    """A SQLite file with Optuna's tables, a journal of operations, or the columns of a table of trials."""
    if file.data[:16] == _SQLITE:
        return "results" if b"study_directions" in file.data and b"trial_values" in file.data else None
    if file.lines and file.lines[0].startswith('{"op_code"'):
        return "results"
    header = file.header
    return "results" if {"number", "datetime_start", "state"} <= set(header) else None


def read(file: OpenedFile) -> Imported:
    """One row for each study and objective: its best value."""
    version = None
    if file.data[:16] == _SQLITE:
        studies, version = _stored(file)
    elif file.head.startswith("{"):
        studies = _journal(file)
    else:
        studies = [_trials(file)]
    rows = [row for study in studies for row in _best(study)]
    if not rows:
        raise file.refused("holds no finished trial", fix="give a storage with trials that ended")
    frame = long_frame(rows, framework="Optuna").with_columns(pl.lit(version, dtype=pl.String).alias(c.VERSION))
    return Imported(frame, (_NOTE,))


def _best(study: Study) -> Iterator[dict[str, Any]]:
    attributes = {str(key).lower(): value for key, value in study.attributes.items()}
    parts = re.split(r"\s*(?:/|:|@|\||__| on )\s*", study.name, maxsplit=1)
    first, rest = [*re.split(r"[-_]", study.name, maxsplit=1), ""][:2]
    if len(parts) == 1 and rest and first in algorithms:  # EASE_ml-1m
        parts = [first, "" if meaningful(rest) == "" else rest]
    named = [*parts, ""]
    models = (attributes[key] for key in ("model", "algorithm", "method", "recommender") if key in attributes)
    datasets = (attributes[key] for key in ("dataset", "data", "task") if key in attributes)
    algorithm, dataset = next(models, named[0]), next(datasets, named[1] or None)
    for i, up in enumerate(study.maximise):
        values = [trial[i] for trial in study.values if len(trial) > i]
        if values:
            unnamed = f"objective {i + 1}" if i else "objective"
            yield {
                c.ALGORITHM: algorithm,
                c.DATASET: dataset,
                c.METRIC: study.metrics[i] if i < len(study.metrics) else unnamed,
                c.VALUE: max(values) if up else min(values),
                c.HIGHER_IS_BETTER: up,
            }


def _stored(file: OpenedFile) -> tuple[list[Study], str | None]:
    """The studies of a SQLite storage, held in memory: nothing is written, and no view or trigger of it is used."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.deserialize(file.data)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
        connection.execute("PRAGMA trusted_schema = OFF")
        steps = iter(range(_STEPS // 100_000))
        connection.set_progress_handler(lambda: next(steps, None) is None, 100_000)
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not {"studies", "study_directions", "trials", "trial_values"} <= tables:
            raise file.refused("is not a storage of Optuna", fix="give its SQLite file")
        studies = {
            key: Study(str(name), []) for key, name in connection.execute("SELECT study_id, study_name FROM studies")
        }
        nowhere = Study("", [])  # takes what belongs to no study
        for key, direction in connection.execute("SELECT study_id, direction FROM study_directions ORDER BY objective"):
            studies.get(key, nowhere).maximise.append(str(direction).upper() == "MAXIMIZE")
        for table, system in (("study_user_attributes", False), ("study_system_attributes", True)):
            if table in tables:
                for key, name, value in connection.execute(f"SELECT study_id, key, value_json FROM {table}"):
                    _hang(studies.get(key, nowhere), str(name), json.loads(value), system)
        values: dict[tuple[int, int], dict[int, float]] = {}
        query = ("SELECT t.study_id, t.trial_id, v.objective, v.value FROM trials t JOIN trial_values v "
                 "ON v.trial_id = t.trial_id WHERE t.state = 'COMPLETE' AND v.value IS NOT NULL")  # fmt: skip
        for key, trial, objective, value in connection.execute(query):
            values.setdefault((key, trial), {})[objective] = float(value)
        for (key, _), by_objective in values.items():
            studies.get(key, nowhere).values.append([by_objective[i] for i in sorted(by_objective)])
        version = None
        if "version_info" in tables:
            row = connection.execute("SELECT library_version FROM version_info").fetchone()
            version = str(row[0]) if row else None
        return list(studies.values()), version
    except (sqlite3.Error, ValueError, TypeError) as error:
        raise file.refused(f"is not a readable storage of Optuna ({error})", fix="copy it again") from error
    finally:
        connection.close()


def _hang(study: Study, name: str, value: Any, system: bool) -> None:
    if system and name == "study:metric_names" and isinstance(value, list):
        study.metrics = [str(metric) for metric in value]
    elif not system:
        study.attributes[name] = value


def _journal(file: OpenedFile) -> list[Study]:
    """Replay a journal: 0 makes a study, 2 and 3 give it attributes, 4 begins a trial, 6 ends one (state 1: done)."""
    studies: list[Study] = []
    owner: list[int] = []
    for line in lines_of(file.text):
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        code = entry.get("op_code")
        if code == 0:
            maximise = [direction == 2 for direction in entry.get("directions", [])]
            studies.append(Study(str(entry.get("study_name")), maximise))
        elif code in (2, 3) and 0 <= entry.get("study_id", -1) < len(studies):
            for name, value in (entry.get("user_attr") or entry.get("system_attr") or {}).items():
                _hang(studies[entry["study_id"]], str(name), value, code == 3)
        elif code in (4, 6):
            if code == 4:
                owner.append(int(entry.get("study_id", -1)))
            trial = len(owner) - 1 if code == 4 else int(entry.get("trial_id", -1))
            values = entry.get("values")
            if entry.get("state") == 1 and values and 0 <= trial < len(owner) and 0 <= owner[trial] < len(studies):
                studies[owner[trial]].values.append([float(value) for value in values])
    return studies


def _trials(file: OpenedFile) -> Study:
    """A table of trials; its direction is not in it, and so is read from the metric's name."""
    frame = file.frame
    columns = [name for name in frame.columns if name == "value" or re.match(r"values?_", name)]
    done = frame.filter(pl.col("state").str.to_uppercase() == "COMPLETE")
    names = [re.sub(r"^values?_", "", name) if name != "value" else "objective" for name in columns]
    up = [known_direction(split_label(name)[0]) is not False for name in names]
    rows = done.select(pl.col(name).cast(pl.Float64, strict=False) for name in columns).drop_nulls().rows()
    single: dict[str, Any] = {}
    for name in frame.columns:
        values = done.get_column(name).drop_nulls().unique().to_list() if name.startswith("user_attrs_") else []
        if len(values) == 1:
            single[name.removeprefix("user_attrs_")] = values[0]
    return Study(file.stem, up, names, single, [list(row) for row in rows])


IMPORTER = Importer("optuna", "Optuna", "a SQLite storage, a journal, or trials_dataframe() as CSV", recognise, read)
