"""MTEB: `results/MODEL/REVISION/TASK.json`, with one main score per task and further metrics.

A task is a dataset; tasks with several subsets (languages) have one dataset per subset. The test split is read where
there is one. Files before version 1.11 have the split at the top.
"""

from __future__ import annotations

from typing import Any

from recassay.core import columns as c
from recassay.data.importers.contract import Imported, Importer, Kind, long_frame
from recassay.data.importers.conventions import BY_RELEVANT, LINEAR, accuracy, with_conventions
from recassay.data.importers.instances import WORDS, model_name
from recassay.data.importers.opened import OpenedFile

_SPLITS = ("test", "validation", "dev", "train")
_NO_METRIC = ("evaluation_time", "nauc_", "hf_subset", "languages", "kg_co2_emissions")


def recognise(file: OpenedFile) -> Kind | None:
    """`task_name` and `scores` by split, or `mteb_version` with a split; `model_meta.json` is not a result."""
    document = file.document
    by_split = [key for key in ("scores", *_SPLITS) if isinstance(document.get(key), dict)]
    if "mteb_version" in document and by_split and (by_split != ["scores"] or "task_name" in document):
        return "results"
    return "other" if {"revision", "n_parameters", "max_tokens"} <= document.keys() else None


def read(file: OpenedFile) -> Imported:
    """One row per subset and metric; `main_score` is the one that the leaderboard shows."""
    document = file.json
    task = str(document.get("task_name") or document.get("mteb_dataset_name") or file.stem)
    by_split = document["scores"] if isinstance(document.get("scores"), dict) else document
    split = next((candidate for candidate in (*_SPLITS, *by_split) if by_split.get(candidate)), None)
    subsets = _subsets(by_split[split]) if split else []
    rows = [
        {
            c.DATASET: task if name == "default" or len(subsets) == 1 else f"{task}[{name}]",
            c.METRIC: metric,
            c.VALUE: float(value),
            c.HIGHER_IS_BETTER: True if metric == "main_score" else None,
        }
        for name, scores in subsets
        for metric, value in scores.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool) and not metric.startswith(_NO_METRIC)
    ]
    if not rows:
        raise file.refused("holds no score", fix="give the file of a task that was evaluated")
    notes = () if split == "test" else (f"{task} has no test split: {split} was read",)
    frame = long_frame(rows, algorithm=_model(file))
    # Retrieval is measured by trec_eval, with a cut-off for each metric.
    table = accuracy(ndcg=LINEAR, map=BY_RELEVANT)
    frame = with_conventions(frame, table, framework="MTEB", version=str(document.get("mteb_version")))
    return Imported(frame, notes, words=WORDS)


def _subsets(scores: Any) -> list[tuple[str, dict[str, Any]]]:
    """The scores of each subset: a list with their names in it, or the older dictionary."""
    if isinstance(scores, list):
        return [(str(subset.get("hf_subset", "default")), subset) for subset in scores]
    subsets = {str(name): subset for name, subset in scores.items() if isinstance(subset, dict)}
    inner = [(name, subset) for name, subset in subsets.items() if "main_score" in subset]
    return inner or [("default", scores)]


def _model(file: OpenedFile) -> str:
    """The folder of the model, with the revision where there are several of it."""
    revision = file.path.absolute().parent
    if not _is_revision(revision.name):
        return model_name(revision.name)
    several = sum(_is_revision(folder.name) for folder in revision.parent.iterdir() if folder.is_dir()) > 1
    return model_name(revision.parent.name) + (f"@{revision.name[:7]}" if several else "")


def _is_revision(name: str) -> bool:
    bare = name.lower()
    return bare in {"no_revision_available", "external", "main"} or (
        len(bare) >= 7 and set(bare) <= set("0123456789abcdef")
    )


IMPORTER = Importer("mteb", "MTEB", "results/MODEL/REVISION/TASK.json", recognise, read)
