"""Verbs on classifier studies: run or resume one, and load the answers it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from recassay.api.arguments import checked
from recassay.classifiers.spec import ClassifyStudySpec
from recassay.classifiers.study import run_classifiers
from recassay.classifiers.study_file import load_classify_study as load
from recassay.core.choices import Workers
from recassay.core.tables.responses import InstanceResponses
from recassay.evidence.instances import stored_instances
from recassay.runner.drive import StudyRecord
from recassay.runner.work import Event
from recassay.store.store import Store


@checked
def load_classify_study(path: str | Path) -> ClassifyStudySpec:
    """The classifier study that a TOML (or YAML) file describes.

    Args:
        path: a TOML or YAML file.
    """
    return load(path)


@checked
def classify(
    study: ClassifyStudySpec | str | Path,
    folder: str | Path | None = None,
    *,
    workers: Workers | None = None,
    progress: Callable[[Event], None] | None = None,
    retry_failed: bool = False,
    dry_run: bool = False,
    cluster: str | None = None,
) -> StudyRecord:
    """Run a classifier study (a spec or its file) in `folder` (by default named after the study), or resume it there.

    One cell for each classifier and table, each in a process of its own with the budget's limits; a cell that fails
    becomes a row with its reason. The same call after an interruption goes on; a changed study runs only what changed.

    Args:
        study: a study file (TOML or YAML), or a spec.
        folder: the folder of the study; by default its name.
        workers: processes at a time; by default one per core.
        progress: called with every event of the run.
        retry_failed: run failed cells again.
        dry_run: list the cells and the memory they need, and run nothing.
        cluster: address of a Dask scheduler whose workers run the cells; `folder` must be on a disk that they share.
    """
    spec = study if isinstance(study, ClassifyStudySpec) else load_classify_study(study)
    place = Path(folder) if folder is not None else Path(spec.name)
    return run_classifiers(
        spec, place, workers=workers, progress=progress, retry_failed=retry_failed, dry_run=dry_run, cluster=cluster
    )


@checked
def load_instances(folder: str | Path) -> list[InstanceResponses]:
    """The answers of a classifier study: for each dataset, who classified which test instance rightly.

    Args:
        folder: the folder of a classifier study.
    """
    return stored_instances(folder)


@checked
def classifier_scores(folder: str | Path) -> list[dict[str, Any]]:
    """For each classifier of a study: its role, how many datasets it has done, and the means over these.

    Keys: classifier, role, datasets, accuracy, balanced_accuracy, seconds_fit; best accuracy first, those without a
    finished cell last.

    Args:
        folder: the folder of a classifier study.
    """

    def mean(values: Iterable[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return sum(known) / len(known) if known else None

    with Store.open(folder) as store:
        cells = store.cells()
    rows = []
    for name in dict.fromkeys(cell.algorithm for cell in cells):
        of_algorithm = [cell for cell in cells if cell.algorithm == name]
        done = [cell for cell in of_algorithm if cell.status == "done"]
        row: dict[str, Any] = {
            "classifier": name,
            "role": of_algorithm[0].spec.get("role", "real"),
            "datasets": len(done),
        }
        for metric in ("accuracy", "balanced_accuracy"):
            row[metric] = mean(cell.metrics.get(metric) for cell in done)
        rows.append({**row, "seconds_fit": mean(cell.seconds_fit for cell in done)})
    return sorted(rows, key=lambda row: -1.0 if row["accuracy"] is None else row["accuracy"], reverse=True)
