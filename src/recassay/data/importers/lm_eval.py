"""lm-evaluation-harness: `results_*.json`, and `samples_*.jsonl` with one line per document.

A task is a dataset, `acc,none` the metric acc; standard errors are kept. The documents of samples are instances, in the
column of users.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from recassay.core import columns as c
from recassay.core.tables.labels import is_known, normal_label
from recassay.data.importers.contract import Imported, Importer, Kind, long_frame
from recassay.data.importers.instances import WORDS, Answer, instance_results, json_lines, mapping, number
from recassay.data.importers.opened import OpenedFile

_SAMPLES = re.compile(r"^samples_(?P<task>.+)_(?P<stamp>\d{4}-\d{2}-\d{2}T[\d.:-]+)$")


def recognise(file: OpenedFile) -> Kind | None:
    """`results` by task with `versions` or `configs`; or lines with `doc_id` and `resps`."""
    tasks = mapping(file.document.get("results")).values()
    hints = {"versions", "configs", "config", "n-shot", "config_general"} & file.document.keys()
    if hints and tasks and all(isinstance(task, dict) for task in tasks):
        return "results"
    return "user results" if _holds_samples(file) else None


def _holds_samples(file: OpenedFile) -> bool:
    return bool(file.lines) and file.lines[0].startswith('{"doc_id"') and '"resps"' in file.lines[0]


def read(file: OpenedFile) -> Imported:
    """One row for each task and metric of the model."""
    if _holds_samples(file):
        return _samples(file)
    document = file.json
    better, shots = mapping(document.get("higher_is_better")), mapping(document.get("n-shot"))
    rows = [row for task, values in document["results"].items() for row in _rows(str(task), values, better)]
    for row in rows:
        if isinstance(shots.get(row[c.DATASET]), int):
            row[c.PROTOCOL] = f"lm-eval {shots[row[c.DATASET]]} shots"
    groups = set(document.get("groups") or {}) | {"all"}
    left = sorted({row[c.DATASET] for row in rows} & groups)
    kept = [row for row in rows if row[c.DATASET] not in groups] or rows
    notes = (f"groups were left out, their tasks stay: {', '.join(left)}",) if left and len(kept) < len(rows) else ()
    version = document.get("lm_eval_version") or document.get("git_hash")
    frame = long_frame(
        kept,
        algorithm=_model(document, file),
        framework="lm-eval",
        version=version if isinstance(version, str) else None,
    )
    return Imported(frame, notes, words=WORDS)


def _samples(file: OpenedFile) -> Imported:
    """One row per document and metric; the model is that of the results beside the file, else of its folder."""
    named = _SAMPLES.match(file.stem)
    task, stamp = (named["task"], named["stamp"]) if named else (file.stem.removeprefix("samples_"), "")
    beside = file.path.with_name(f"results_{stamp}.json")
    document = OpenedFile(beside).json if stamp and beside.is_file() else None
    model = _model(document, file) if isinstance(document, dict) else file.parents()[0].replace("__", "/")

    def answers() -> Iterator[Answer]:
        for sample in json_lines(file):
            named, filtered = sample.get("metrics"), str(sample.get("filter", "none"))
            for name in map(str, named if isinstance(named, list) else []):
                value = number(sample.get(name))
                if value is not None:
                    up = name.startswith("acc") or None
                    yield Answer(model, task, str(sample["doc_id"]), _label(name, filtered), value, up)

    return instance_results(answers(), file, "lm-eval")


def _rows(task: str, values: Mapping[str, Any], better: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    numbers = {
        key: value for key, value in values.items() if isinstance(value, (int, float)) and not isinstance(value, bool)
    }
    for key, value in numbers.items():
        name, _, filtered = key.partition(",")
        if name.endswith("_stderr") or name in {"sample_len", "alias"}:
            continue
        error = numbers.get(f"{name}_stderr,{filtered}") if filtered else numbers.get(f"{name}_stderr")
        up = mapping(better.get(task)).get(name)
        yield {
            c.DATASET: task,
            c.METRIC: _label(name, filtered or "none"),
            c.VALUE: float(value),
            c.DEVIATION: error,
            c.RUNS: 1 if error is not None else None,
            c.HIGHER_IS_BETTER: up if isinstance(up, bool) else True if name.startswith("acc") else None,
        }


def _label(name: str, filtered: str) -> str:
    label = normal_label(name) if is_known(name) else name
    return label if filtered == "none" else f"{label}[{filtered}]"


def _model(document: Mapping[str, Any], file: OpenedFile) -> str:
    name = document.get("model_name")
    config = document.get("config") or document.get("config_general")
    if not name and isinstance(config, dict):
        arguments = config.get("model_args") or ""
        named = re.search(r"(?:pretrained|model)['\"]?\s*[=:]\s*['\"]?([^,'\"}]+)", str(arguments))
        name = named[1] if named else config.get("model_name") or config.get("model")
    return str(name) if name else file.parents()[0]


IMPORTER = Importer(
    "lm_eval",
    "lm-evaluation-harness",
    "results_*.json (--output_path), samples_*.jsonl (--log_samples)",
    recognise,
    read,
    aliases=("lm-eval", "lm-evaluation-harness"),
)
