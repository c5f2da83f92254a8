"""HELM: `stats.json` in the folder of a run (`mmlu:subject=x,model=openai_gpt2`), and the tables that `helm-summarize`
writes (`groups/json/*.json`). A scenario is a dataset; means on the test split (else the validation split)
without perturbation are read.
`per_instance_stats.json` has them for each instance."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from typing import Any

from recassay.core import columns as c
from recassay.data.importers.contract import Imported, Importer, Kind, long_frame
from recassay.data.importers.instances import WORDS, Answer, instance_results, mapping, metric_label
from recassay.data.importers.opened import OpenedFile

_BOOKKEEPING = re.compile(
    r"^(num_|max_prob|batch_size|finish_reason|inference_|training_|logprob|estimated_|runtime|prompt_truncated)"
)
MOST_BYTES = 1 << 20
_TABLE = {"title", "header", "rows"}


def recognise(file: OpenedFile) -> Kind | None:
    """A list of statistics with name and split, or tables with title, header and rows."""
    first = mapping(file.json[0]) if isinstance(file.json, list) and file.json else {}
    if "instance_id" in first and isinstance(first.get("stats"), list):
        return "user results"
    statistic = "split" in mapping(first.get("name")) and "mean" in first
    if statistic or first.keys() >= _TABLE or file.document.keys() >= _TABLE:
        return "results"
    return "other" if {"adapter_spec", "scenario_spec"} <= file.document.keys() else None


def read(file: OpenedFile) -> Imported:
    """One row for each statistic of a run, or for each cell of a table."""
    document = file.json
    if isinstance(document, list) and "instance_id" in document[0]:
        return instance_results(_instances(file), file, "HELM")
    if isinstance(document, list) and not document[0].keys() >= _TABLE:
        model, dataset = _run_of(file)
        rows = [
            {c.ALGORITHM: model, c.DATASET: dataset, c.METRIC: metric_label(name), c.VALUE: value}
            for name, value in _stats(document, _split(document))
        ]
    else:
        tables = document if isinstance(document, list) else [document]
        rows = [row for table in tables for row in _table(table)]
    if not rows:
        what = "holds no score on a test or validation split"
        raise file.refused(what, fix="give stats.json of a finished run")
    return Imported(long_frame(rows, framework="HELM"), words=WORDS)


def _instances(file: OpenedFile) -> Iterator[Answer]:
    model, dataset = _run_of(file)
    split = _split(statistic for instance in file.json for statistic in instance["stats"])
    for instance in file.json:
        for name, value in () if instance.get("perturbation") else _stats(instance["stats"], split):
            yield Answer(model, dataset, str(instance["instance_id"]), metric_label(name), float(value))


def _split(stats: Iterable[Any]) -> str:
    """The test split, or the validation split of a run that has no other, such as HellaSwag's."""
    return "test" if any(statistic["name"].get("split") == "test" for statistic in stats) else "valid"


def _stats(stats: Any, split: str) -> Iterator[tuple[str, float]]:
    """The metrics on one split, without perturbations and bookkeeping."""
    for statistic in stats:
        name = statistic["name"]
        if name.get("split") != split or name.get("perturbation") or name.get("sub_split") or "mean" not in statistic:
            continue
        if not _BOOKKEEPING.match(str(name["name"])):
            yield str(name["name"]), statistic["mean"]


def _run_of(file: OpenedFile) -> tuple[str, str]:
    """Model and scenario of the run, by its name in `run_spec.json` beside the file, else by that of the folder."""
    beside = file.path.parent / "run_spec.json"
    spec = OpenedFile(beside).document if beside.is_file() and beside.stat().st_size < MOST_BYTES else {}
    run = spec["name"] if isinstance(spec.get("name"), str) else file.parents()[0]
    scenario, _, arguments = run.partition(":")
    settings = dict(pair.partition("=")[::2] for pair in arguments.split(",") if "=" in pair)
    model = settings.pop("model", None) or settings.pop("model_deployment", None) or run
    for noise in ("model_deployment", "method", "data_augmentation", "stop", "num_outputs"):
        settings.pop(noise, None)
    dataset = ":".join([scenario, ",".join(f"{key}={value}" for key, value in settings.items())]).rstrip(":")
    return model.replace("_", "/", 1), dataset


def _table(table: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Columns are `Scenario - Metric`; `lower_is_better` says the direction."""
    headers = [cell if isinstance(cell, dict) else {"value": cell} for cell in table["header"]]
    for row in table["rows"]:
        values = [cell.get("value") if isinstance(cell, dict) else cell for cell in row]
        for header, value in zip(headers[1:], values[1:], strict=False):
            scenario, dash, metric = str(header.get("value") or "").rpartition(" - ")
            metadata = mapping(header.get("metadata"))
            metric = str(metadata.get("metric") or metric)
            scenario = str(metadata.get("run_group") or scenario)
            named = scenario and (dash or metadata)
            if not named or not isinstance(value, (int, float)) or not math.isfinite(value):
                continue
            lower = header.get("lower_is_better")
            yield {
                c.ALGORITHM: str(values[0]), c.DATASET: scenario, c.METRIC: metric_label(metric), c.VALUE: float(value),
                c.HIGHER_IS_BETTER: None if lower is None else not lower,
            }  # fmt: skip


IMPORTER = Importer(
    "helm",
    "HELM",
    "stats.json and per_instance_stats.json of a run, groups/json/*.json of helm-summarize",
    recognise,
    read,
)
