"""A study of recommenders from its spec to its store."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeAlias

from recassay.algorithms.kernels.device import visible_gpus
from recassay.core.specs.study import StudySpec
from recassay.metrics.make import convention, make_metric
from recassay.recommenders.attacked import robustness_convention
from recassay.recommenders.dispatch import (
    cell_payload,
    expected_gpu_need,
    expected_need,
    part_modules,
    split_payload,
    trial_rounds,
    wants_gpu,
)
from recassay.recommenders.plan import Plan, PlannedCell, plan
from recassay.recommenders.preflight import checked_plan
from recassay.recommenders.price import cost_classes, price, split_size
from recassay.recommenders.splits import is_prepared
from recassay.runner.drive import (
    CANNOT_RUN,
    CellPrediction,
    StudyRecord,
    drive,
    earlier_versions,
    settled_workers,
)
from recassay.runner.jobs import Collected, Job
from recassay.runner.local import LocalExecutor
from recassay.runner.manifest import environment, portable
from recassay.runner.memory import job_limits
from recassay.runner.work import Choice, Event, Progress, Rounds, Work, WorkCell
from recassay.store.lock import study_lock
from recassay.store.records import PlannedRow
from recassay.store.sealed import SPLITS, is_usable
from recassay.store.store import Store

__all__ = ["Choice", "Event", "Plan", "Progress", "StudyChooser", "StudyRecord", "run_study"]

StudyChooser: TypeAlias = Callable[[Plan, Store], Choice]
"""Says which cells of a plan run next, as the store stands."""


def run_study(
    spec: StudySpec,
    folder: str | Path,
    *,
    workers: int | None = None,
    threads: int = 1,
    progress: Progress | None = None,
    retry_failed: bool = False,
    dry_run: bool = False,
    cluster: str | None = None,
    only: Collection[str] | None = None,
    choose: StudyChooser | None = None,
    preflight: bool = False,
) -> StudyRecord:
    """Run `spec` in `folder`, or go on where an earlier run stopped; a dry run says what would be done.

    Cells that are done stay; failed ones are run again where `retry_failed`. `workers` processes (None: one a core),
    each with `threads` threads: the numbers are the same for any number of workers, and may differ in the last digits
    between numbers of threads. With `cluster`, the address of a Dask scheduler, its workers run the cells instead, and
    `folder` must be on a disk that they see under the same path. With `only`, the study consists of those cells. With
    `choose`, the cells that it names are run, batch by batch, until it names none. With `preflight`, what is known to
    be wrong is raised, all of it at once, before anything is written. Ctrl-C ends the processes and raises
    `KeyboardInterrupt`; the store is whole at any moment.
    """
    workers = settled_workers(workers, threads)
    folder = Path(folder).resolve()
    planned = (
        checked_plan(spec, folder, elsewhere=cluster is not None, retry_failed=retry_failed, workers=workers)
        if preflight and not dry_run
        else plan(spec)
    )
    if only is not None:
        planned = replace(planned, cells=tuple(cell for cell in planned.cells if cell.id in only))
    work = _work(planned)
    if spec.multiverse is not None and progress is not None:
        progress(Event("note", 0, 0, len(planned.cells), said=price(planned, folder)))
    if dry_run:
        earlier = earlier_versions(work, folder)
        predictions = dry_run_study(work, folder, workers)
        record = StudyRecord(folder, len(planned.cells), predictions=predictions, earlier=earlier)
        return replace(record, left_out=work.left_out)
    return drive(
        work,
        folder,
        workers=workers,
        threads=threads,
        progress=progress,
        retry_failed=retry_failed,
        cluster=cluster,
        choose=None if choose is None else partial(choose, planned),
    )


def _work(planned: Plan) -> Work:
    objective = make_metric(planned.study.tuning.metric)
    on_gpu = {algorithm.name for algorithm in planned.study.algorithms if wants_gpu(algorithm)}
    rounds = {algorithm.name: trial_rounds(planned.study, algorithm) for algorithm in planned.study.algorithms}
    return Work(
        cells=tuple(
            _work_cell(planned, cell, cell.algorithm.name in on_gpu, rounds[cell.algorithm.name])
            for cell in planned.cells
        ),
        function="recassay.recommenders.cell:run_cell",
        prepare="recassay.recommenders.cell:prepare",
        splits={split: partial(split_payload, planned, cell) for split, cell in planned.splits().items()},
        is_usable=is_usable,
        budget=planned.study.budget,
        preload=part_modules(planned.study),
        manifest=partial(manifest_of, planned),
        better=max if objective.higher_is_better else min,
        gpus=visible_gpus() if on_gpu else (),
        trial_function="recassay.recommenders.cell:run_trial",
        classes=cost_classes(planned.study),
        size=split_size,
        left_out=planned.left_out,
    )


def _work_cell(planned: Plan, cell: PlannedCell, gpu: bool, rounds: Rounds) -> WorkCell:
    spec = cell.spec
    row = PlannedRow(
        cell=cell.id,
        algorithm=spec.algorithm,
        dataset=spec.dataset,
        seed=spec.seed,
        fold=spec.fold,
        metrics=spec.reported,
        tuning=spec.tuning_id,
        trials=spec.tuning.trials,
        universe=cell.universe,
    )
    return WorkCell(
        row,
        spec.split.id,
        spec.model_dump(mode="json"),
        partial(cell_payload, planned, cell),
        gpu,
        rounds,
        cache(partial(expected_need, planned, cell)),
        cache(partial(expected_gpu_need, cell)) if gpu else lambda _: None,
    )


def manifest_of(planned: Plan, workers: int, threads: int) -> dict[str, Any]:
    """What a reader needs to judge or repeat the study: versions, machine, seeds, spec, hashes and conventions."""
    study = planned.study
    labels = dict.fromkeys([*planned.cells[0].spec.metrics, planned.cells[0].spec.tuning.metric])
    return {
        "study": portable(study.model_dump(mode="json", exclude={"base"}), study.base),
        "seeds": list(study.seeds),
        **environment(workers, threads),
        "datasets": {cell.dataset.name: cell.spec.split.data for cell in planned.splits().values()},
        "algorithms": {cell.algorithm.name: cell.spec.code for cell in planned.cells},
        "metrics": {label: convention(make_metric(label)) for label in labels} | robustness_convention(study.comper),
        "cells": [cell.id for cell in planned.cells],
        "left_out": [asdict(one) for one in planned.left_out],
    }


def dry_run_study(work: Work, folder: Path, workers: int) -> tuple[CellPrediction, ...]:
    """Prepare splits (in a temporary folder unless the study is there already) and ask the algorithms."""
    splits, asked = Collected(), Collected()
    function, limits = "recassay.recommenders.cell:predict", job_limits(work.budget)
    with (
        _scratch(folder) as (place, known),
        LocalExecutor(min(workers, len(work.cells)), place / "logs", preload=work.preload) as executor,
    ):
        executor.run(work.split_jobs(work.cells, place), splits)
        usable = [cell for cell in work.cells if is_prepared(place, cell.split)]
        executor.run([Job(cell.id, function, partial(cell.payload, place), *limits) for cell in usable], asked)
    predictions = []
    for cell in work.cells:
        outcome = asked.outcomes.get(cell.id) or splits.outcomes[cell.split]
        predicted = dict(outcome.record or {}) if outcome.status == "done" else {}
        state = known.get(cell.id, "to go" if outcome.status == "done" else CANNOT_RUN)
        predictions.append(CellPrediction.of(cell.row, state, reason=outcome.reason, **predicted))
    return tuple(predictions)


@contextlib.contextmanager
def _scratch(folder: Path) -> Iterator[tuple[Path, dict[str, str]]]:
    if (folder / SPLITS).is_dir():
        with study_lock(folder), Store.open(folder) as store:
            yield folder, store.statuses()
    else:
        with tempfile.TemporaryDirectory(prefix="recassay-") as temporary:
            yield Path(temporary), {}
