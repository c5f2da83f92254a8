"""SWE-bench: which instances were resolved. An instance is a user, `resolved` its value (1 or 0).

The harness writes a report `MODEL.RUN.json` with lists of ids. Submissions hold `results/results.json`, which names the
ids that were resolved and hardly any other: what other submissions beside it resolved counts 0.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from recassay.data.importers.contract import Imported, Importer, Kind
from recassay.data.importers.instances import Answer, instance_results, model_name
from recassay.data.importers.opened import OpenedFile

MOST_FILES = 2_000
_OTHERS = ("unresolved_ids", "empty_patch_ids", "error_ids", "incomplete_ids", "submitted_ids", "completed_ids",
               "no_generation", "no_logs", "generated", "with_logs", "applied", "install_fail", "reset_failed",
               "test_errored", "test_timeout", "no_apply", "unresolved")  # fmt: skip


def recognise(file: OpenedFile) -> Kind | None:
    """`resolved_ids` beside `submitted_ids`, or `resolved` beside `no_generation` or `no_logs`."""
    document = file.document
    keys = document.keys()
    report = isinstance(document.get("resolved_ids"), list) and {"submitted_ids", "unresolved_ids"} & keys
    submission = isinstance(document.get("resolved"), list) and {"no_generation", "no_logs", "generated"} & keys
    return "user results" if report or submission else None


def read(file: OpenedFile) -> Imported:
    """1 for each instance that was resolved, 0 for every other that the file, or a submission beside it, names."""
    resolved, named = _ids(file.json)
    model, task = _named(file)
    notes: tuple[str, ...] = ()
    if "resolved" in file.json:
        beside = sorted(file.path.absolute().parents[2].glob("*/results/results.json"))[:MOST_FILES]
        named = named | _named_beside(tuple((path, path.stat().st_mtime_ns) for path in beside))
        notes = (f"{task}: instances that no submission ({len(beside)} read) resolved are not in the files",)
    if not named - resolved:
        what = "names resolved instances only, so that the others are not known"
        raise file.refused(what, fix="give the report of the harness, or the folder with several submissions")
    answers = (Answer(model, task, name, "resolved", float(name in resolved), True) for name in sorted(named))
    return instance_results(answers, file, "SWE-bench", notes=notes)


def _ids(document: Any) -> tuple[set[str], set[str]]:
    """The instances that were resolved, and all that the document names."""
    resolved = set(document["resolved_ids"] if "resolved_ids" in document else document["resolved"])
    named = resolved.union(*(document[key] for key in _OTHERS if isinstance(document.get(key), list)))
    if not all(isinstance(name, str) for name in named):
        raise TypeError("ids are texts")
    return resolved, named


@lru_cache(maxsize=4)
def _named_beside(files: tuple[tuple[Path, int], ...]) -> frozenset[str]:
    """All instances that the files name; `files` with the time of their last change."""
    opened = (OpenedFile(path) for path, _ in files)
    return frozenset(instance for file in opened if recognise(file) for instance in _ids(file.json)[1])


def _named(file: OpenedFile) -> tuple[str, str]:
    """Model and task: of a report by its name, of a submission by its folders (`verified/20240620_model/results/`)."""
    folders = file.parents()
    if file.stem == "results" and len(folders) > 2 and folders[0] == "results":
        return folders[1], f"swe-bench {folders[2]}"
    return model_name(file.stem.rpartition(".")[0] or file.stem), "swe-bench"


IMPORTER = Importer(
    "swe_bench",
    "SWE-bench",
    "MODEL.RUN.json of its harness, results/results.json of a submission",
    recognise,
    read,
    aliases=("swe-bench", "swebench"),
)
