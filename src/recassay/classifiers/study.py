"""A classifier study from its spec to its store: the plan of its cells, and their run."""

from __future__ import annotations

import hashlib
from functools import partial
from pathlib import Path
from typing import Any

from recassay.classifiers.parts import load_classifier, make_classifier
from recassay.classifiers.spec import (
    METRICS,
    ClassifierCellSpec,
    ClassifierSpec,
    ClassifyStudySpec,
    TableSpec,
    TableSplitSpec,
)
from recassay.core.registry import classifiers
from recassay.data.classification.openml import describe_openml, is_openml, openml_id
from recassay.data.sources import path_of
from recassay.runner.drive import (
    CellPrediction,
    StudyRecord,
    drive,
    earlier_versions,
    known_cells,
    settled_workers,
)
from recassay.runner.manifest import environment, portable
from recassay.runner.references import file_version, is_part_file, part_version
from recassay.runner.work import Progress, Work, WorkCell
from recassay.store.records import PlannedRow
from recassay.store.sealed import is_usable

CELL_MODULE = "recassay.classifiers.cell"


def run_classifiers(
    spec: ClassifyStudySpec,
    folder: str | Path,
    *,
    workers: int | None = None,
    progress: Progress | None = None,
    retry_failed: bool = False,
    dry_run: bool = False,
    cluster: str | None = None,
) -> StudyRecord:
    """Run `spec` in `folder`, or go on where an earlier run stopped: one cell for each classifier and table.

    The rules are those of `recassay.recommenders.study.run_study`. A dry run says which cells are done and which to go.
    """
    workers = settled_workers(workers)
    folder = Path(folder).resolve()
    work = plan_classifiers(spec)
    if dry_run:
        known = known_cells(folder)
        states = tuple(CellPrediction.of(cell.row, known.get(cell.id, "to go")) for cell in work.cells)
        earlier = earlier_versions(work, folder)
        return StudyRecord(folder=folder, planned=len(work.cells), predictions=states, earlier=earlier)
    return drive(work, folder, workers=workers, progress=progress, retry_failed=retry_failed, cluster=cluster)


def plan_classifiers(study: ClassifyStudySpec) -> Work:
    """The cells of `study`, table by table. Files are hashed, not read or executed.

    A name that means nothing raises here, before anything runs; so do parameters that a registered classifier does not
    take.
    """
    code, modules = {}, {CELL_MODULE}
    for classifier in study.classifiers:
        code[classifier.name] = part_version(classifier.reference, study.base, classifiers)
        if not is_part_file(classifier.reference):
            part = load_classifier(classifier.reference, study.base)
            make_classifier(part, classifier.name, classifier.settings, 0)
            modules |= {part.__module__, *getattr(part, "preload", ())}
    splits = {table.name: _split(study, table) for table in study.datasets}
    cells = tuple(
        _cell(study, classifier, table, splits[table.name], code[classifier.name])
        for table in study.datasets
        for classifier in study.classifiers
    )

    def manifest(workers: int, threads: int) -> dict[str, Any]:
        return {
            "study": portable(study.model_dump(mode="json", exclude={"base"}), study.base),
            "seeds": [study.seed],
            **environment(workers, threads),
            "datasets": {name: split.data for name, split in splits.items()},
            "classifiers": code,
            "cells": [cell.id for cell in cells],
        }

    return Work(
        cells=cells,
        function=f"{CELL_MODULE}:run_cell",
        prepare=f"{CELL_MODULE}:prepare",
        splits={
            splits[table.name].id: partial(_table_payload, study, table, splits[table.name]) for table in study.datasets
        },
        is_usable=is_usable,
        budget=study.budget,
        preload=sorted(module for module in modules if module.startswith(("recassay.", "sklearn."))),
        manifest=manifest,
    )


def _split(study: ClassifyStudySpec, table: TableSpec) -> TableSplitSpec:
    if is_openml(table.reference):
        described = describe_openml(openml_id(table.reference))
        data = hashlib.sha256(f"openml {described.md5} {described.target} {described.drop}".encode()).hexdigest()
    else:
        data = file_version(path_of(table.reference, study.base), "dataset")
    return TableSplitSpec(
        dataset=table.name,
        data=data,
        **table.model_dump(include={"target", "categorical", "drop"}),
        protocol=study.protocol,
        seed=study.seed,
    )


def _cell(
    study: ClassifyStudySpec, classifier: ClassifierSpec, table: TableSpec, split: TableSplitSpec, code: str
) -> WorkCell:
    spec = ClassifierCellSpec(
        classifier=classifier.name, role=classifier.role, code=code, settings=classifier.settings, split=split
    )
    row = PlannedRow(
        cell=spec.id,
        algorithm=classifier.name,
        dataset=table.name,
        seed=study.seed,
        fold=None,
        metrics=METRICS,
        tuning=spec.id,
        trials=0,
    )
    dumped = spec.model_dump(mode="json")

    def payload(folder: Path) -> dict[str, Any]:
        where = {"reference": classifier.reference, "base": study.base, "folder": str(folder)}
        return {"cell": dumped, "id": spec.id, **where}

    return WorkCell(row, split.id, dumped, payload)


def _table_payload(study: ClassifyStudySpec, table: TableSpec, split: TableSplitSpec, folder: Path) -> dict[str, Any]:
    dumped = {"split": split.model_dump(mode="json"), "table": table.model_dump(mode="json")}
    return {"folder": str(folder), **dumped, "base": study.base}
