"""Verbs on studies: run or resume one, say how far it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from recassay.core.study import StudySpec
from recassay.recommenders.study import Event, StudyRecord, run_study
from recassay.recommenders.study_file import load_study as load
from recassay.recommenders.study_file import study_from_arguments
from recassay.store.records import StoreStatus
from recassay.store.store import Store


def load_study(path: str | Path) -> StudySpec:
    """The study that a TOML (or YAML) file describes."""
    return load(path)


def make_study(datasets: Sequence[str], algorithms: Sequence[str], **settings: Any) -> StudySpec:
    """A study without a file; `settings` are those of `recassay.recommenders.study_file.study_from_arguments`."""
    return study_from_arguments(datasets, algorithms, **settings)


def run(
    study: StudySpec | str | Path,
    folder: str | Path | None = None,
    *,
    workers: int | None = None,
    progress: Callable[[Event], None] | None = None,
    retry_failed: bool = False,
    dry_run: bool = False,
    cluster: str | None = None,
) -> StudyRecord:
    """Run a study (a spec or its file) in `folder` (by default named after the study), or resume it there.

    Every cell runs in a process of its own with the budget's limits; a cell that fails becomes a row with its reason.
    The same call after an interruption goes on; a changed study runs only what changed. `cluster`, the address of a
    Dask scheduler, lets its workers run the cells; `folder` must then be on a disk that they share.
    """
    spec = study if isinstance(study, StudySpec) else load_study(study)
    target = Path(folder) if folder is not None else Path(spec.name)
    return run_study(
        spec,
        target,
        workers=workers,
        progress=progress,
        retry_failed=retry_failed,
        dry_run=dry_run,
        cluster=cluster,
    )


def status(folder: str | Path) -> StoreStatus:
    """How far the study in `folder` is: cells done, failed (with reasons) and to go."""
    with Store.open(folder) as store:
        return store.status()
