"""Inspect (UK AISI): logs of evaluations, `.json` or `.eval` (a ZIP of JSON), with one score per sample.

A task is a dataset, a sample an instance in the column of users. Scores C, P and I count 1, 0.5 and 0; epochs of a
sample are averaged.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

from recassay.core import columns as c
from recassay.core.system.json_text import read_json
from recassay.data.importers.contract import Imported, Importer, Kind, long_frame
from recassay.data.importers.instances import WORDS, Answer, instance_results, mapping, metric_label
from recassay.data.importers.opened import OpenedFile
from recassay.data.packed import most_unpacked, refuse_costly, text_cost

_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_MOST_MEMBERS = 200_000


def recognise(file: OpenedFile) -> Kind | None:
    """A document with `eval` (task and model) and samples; or a ZIP with `header.json`."""
    if file.data[:4] == b"PK\x03\x04":
        return "user results" if b"header.json" in file.data and file.suffix == ".eval" else None
    document = file.document
    if not {"task", "model"} <= mapping(document.get("eval")).keys() or "status" not in document:
        return None
    if document.get("samples"):
        return "user results"
    return "results" if _totals(document) else "other"


def read(file: OpenedFile) -> Imported:
    """One row per sample and scorer."""
    document = file.json if file.json is not None else _unpacked(file)
    evaluation = document["eval"]
    if not document.get("samples") and (totals := _totals(document)):
        rows = [{c.METRIC: metric_label(name), c.VALUE: value} for name, value in totals.items()]
        frame = long_frame(rows, algorithm=evaluation["model"], dataset=evaluation["task"], framework="inspect_ai")
        note = "the log has no samples: the totals of its scorers were read"
        return Imported(frame, (note,), words=WORDS)
    scores = [
        (str(sample["id"]), *score)
        for sample in document.get("samples") or []
        for score in _scores(sample.get("scores"))
    ]
    scorers = {scorer for _, scorer, *_ in scores}
    graded = {scorer for _, scorer, _, grade in scores if grade}
    accuracy = "accuracy" if len(scorers) == 1 else "accuracy[{}]"
    labels = {scorer: accuracy.format(scorer) if scorer in graded else scorer for scorer in scorers}
    model, task = str(evaluation["model"]), str(evaluation["task"])
    answers = (
        Answer(model, task, sample, labels[scorer], value, scorer in graded or None)
        for sample, scorer, value, _ in scores
    )
    version = mapping(evaluation.get("packages")).get("inspect_ai")
    notes = () if document.get("status") == "success" else (f"the evaluation ended as {document.get('status')!r}",)
    return instance_results(answers, file, "inspect_ai", version, notes)


def _totals(document: Any) -> dict[str, float]:
    """The metrics of the scorers, `accuracy[scorer]` where there are several, of a log without samples."""
    scores = mapping(document.get("results")).get("scores")
    scores = [score for score in scores if isinstance(score, dict)] if isinstance(scores, list) else []
    totals: dict[str, float] = {}
    for score in scores:
        for name, metric in mapping(score.get("metrics")).items():
            value = mapping(metric).get("value")
            if isinstance(value, (int, float)) and name not in ("stderr", "std", "var"):
                totals[name if len(scores) == 1 else f"{name}[{score.get('name')}]"] = float(value)
    return totals


def _scores(scores: Any) -> Iterator[tuple[str, float, bool]]:
    """Scorer, number, and whether the number is a grade, for each score of a sample."""
    for scorer, score in (scores or {}).items():
        value = score.get("value") if isinstance(score, dict) else score
        parts = {str(scorer): value}
        if isinstance(value, dict):
            parts = {f"{scorer}[{key}]": inner for key, inner in value.items()}
        for name, single in parts.items():
            if isinstance(single, str) and single in _GRADES:
                yield name, _GRADES[single], True
            elif isinstance(single, (int, float)):
                yield name, float(single), isinstance(single, bool)


def _unpacked(file: OpenedFile) -> dict[str, Any]:
    """The header and the samples of an `.eval`, within a budget of bytes and members."""
    try:
        with zipfile.ZipFile(io.BytesIO(file.data)) as archive:
            infos = {info.filename: info for info in archive.infolist()}
            names = ["summaries.json"] if "summaries.json" in infos else [n for n in infos if n.startswith("samples/")]
            size = sum(infos[name].file_size for name in ("header.json", *names))
            if len(infos) > _MOST_MEMBERS or size > most_unpacked(len(file.data)):
                what = "unpacks to more than a file of its size may"
                raise file.refused(what, fix="convert it: inspect log convert")
            members = [archive.read(name) for name in ("header.json", *names)]
            refuse_costly(text_cost(b"[" + b",".join(members)), size, len(file.data), file.name)
            document, *read = (read_json(member, file.name) for member in members)
    except NotImplementedError as error:  # Zstandard, which zipfile reads from Python 3.14 on
        what = "is packed with Zstandard, which this Python does not read"
        raise file.refused(what, fix="convert it: inspect log convert --to json") from error
    except (zipfile.BadZipFile, zlib.error, KeyError, OSError, RuntimeError, EOFError, ValueError) as error:
        raise file.refused("is not a readable .eval", fix="convert it: inspect log convert") from error
    document["samples"] = read[0] if names == ["summaries.json"] and read else read
    return document


IMPORTER = Importer(
    "inspect_ai", "Inspect", "logs of evaluations (.json, .eval)", recognise, read, aliases=("inspect", "inspect-ai")
)
