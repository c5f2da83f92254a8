"""What files with one value per test instance share: an importer yields answers, and they become results here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from recassay.core import columns as c
from recassay.core.errors import InputError
from recassay.core.system.json_text import read_json
from recassay.core.system.lines import lines_of
from recassay.core.tables.labels import is_known, normal_label
from recassay.data.importers.contract import Imported, long_frame
from recassay.data.importers.opened import OpenedFile

WORDS = ("model", "task")
"""What such frameworks call what is compared, and what it is compared on."""


class Answer(NamedTuple):
    """What a model reached on one instance of a task."""

    model: str
    task: str
    instance: str
    metric: str
    value: float
    higher_is_better: bool | None = None


def instance_results(
    answers: Iterable[Answer], file: OpenedFile, framework: str, version: Any = None, notes: Iterable[str] = ()
) -> Imported:
    """One row per model, task, instance and metric; several answers to one instance (epochs, repeats) are averaged."""
    values: dict[tuple[Any, ...], list[float]] = defaultdict(list)
    for answer in answers:
        values[answer.model, answer.task, answer.instance, answer.metric, answer.higher_is_better].append(answer.value)
    if not values:
        raise file.refused("holds no score of an instance", fix="give the file of an evaluation that ended")
    repeated = sum(len(scores) > 1 for scores in values.values())
    instances = "1 instance was" if repeated == 1 else f"{repeated:,} instances were"
    repeats = [f"{instances} answered several times: means were taken"] if repeated else []
    rows = (
        {c.ALGORITHM: model, c.DATASET: task, c.USER: instance, c.METRIC: metric, c.VALUE: sum(scores) / len(scores),
         c.HIGHER_IS_BETTER: up}
        for (model, task, instance, metric, up), scores in values.items()
    )  # fmt: skip
    frame = long_frame(rows, framework=framework, version=version if isinstance(version, str) else None)
    return Imported(frame, (*repeats, *notes), words=WORDS)


def metric_label(name: str) -> str:
    """The label of a metric: ours where the name is known, else the name in lower case."""
    bare = name.strip()
    return normal_label(bare) if is_known(bare) else bare.lower()


def number(value: Any) -> float | None:
    """A number or a truth value as a number; None for anything else."""
    return float(value) if isinstance(value, (bool, int, float)) else None


def json_lines(file: OpenedFile) -> Iterator[dict[str, Any]]:
    """The objects of a file with one JSON object per line."""
    for place, line in enumerate(lines_of(file.text), start=1):
        if not line.strip():
            continue
        try:
            record, what = read_json(line, f"{file.name}, line {place}"), "is not a JSON object"
        except (ValueError, RecursionError) as error:
            record, what = None, "is not JSON" if isinstance(error, ValueError) else "is nested too deeply"
        if not isinstance(record, dict):
            raise InputError(what, where=f"{file.name}, line {place}", fix="give the file as it was written")
        yield record


def mapping(value: Any) -> dict[str, Any]:
    """A JSON object as it is; empty for anything else."""
    return value if isinstance(value, dict) else {}


def model_name(folder: str) -> str:
    """A model by the name of its folder: `org__name` is org/name."""
    return folder.replace("__", "/", 1)
