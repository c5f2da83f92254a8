"""A study from its spec to its store: plan, splits, cells, and what to do about those that failed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

from recassay.core.errors import UsageError
from recassay.core.study import StudySpec
from recassay.metrics.make import make_metric
from recassay.runner.cluster import DaskExecutor
from recassay.runner.dispatch import cell_payload, memory_limit, part_modules, split_jobs
from recassay.runner.dry_run import CellPrediction, dry_run_study
from recassay.runner.jobs import Job, Outcome
from recassay.runner.local import LocalExecutor, usable_cores
from recassay.runner.manifest import manifest_of, now
from recassay.runner.plan import Plan, PlannedCell, plan
from recassay.store.files import remove_unfinished
from recassay.store.lock import locked
from recassay.store.records import CellRecord, PlannedRow, TrialRecord
from recassay.store.store import Store


@dataclass(frozen=True, slots=True)
class Event:
    """What a run tells while it goes on; `done`, `failed` and `total` count the cells of the plan.

    `plan` comes first and `end` last; `split` when a dataset is ready (or is not: `reason`); `started`, `trial` and
    `finished` for a cell. `best` is the best objective of its trials so far.
    """

    kind: Literal["plan", "split", "started", "trial", "finished", "end"]
    done: int
    failed: int
    total: int
    dataset: str | None = None
    algorithm: str | None = None
    cell: str | None = None
    trial: TrialRecord | None = None
    trials: int = 0
    best: float | None = None
    record: CellRecord | None = None
    reason: str | None = None


Progress: TypeAlias = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class StudyRecord:
    """What a run did: `ran` cells in this run, of `planned` in all, and the records of those that failed.

    After a dry run only `planned` and `predictions` are filled.
    """

    folder: Path
    planned: int
    done: int = 0
    ran: int = 0
    failed: tuple[CellRecord, ...] = ()
    seconds: float = 0.0
    predictions: tuple[CellPrediction, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        failed = ("algorithm", "dataset", "seed", "fold", "status", "reason")
        return {
            "folder": str(self.folder),
            "planned": self.planned,
            "done": self.done,
            "ran": self.ran,
            "failed": [{name: getattr(cell, name) for name in failed} for cell in self.failed],
            "seconds": self.seconds,
            "predictions": [asdict(prediction) for prediction in self.predictions],
        }


def run_study(
    spec: StudySpec,
    folder: str | Path,
    *,
    workers: int | None = None,
    threads: int = 1,
    progress: Progress | None = None,
    retry_failed: bool = False,
    dry_run: bool = False,
    fork: bool | None = None,
    cluster: str | None = None,
) -> StudyRecord:
    """Run `spec` in `folder`, or go on where an earlier run stopped; a dry run says what would be done.

    Cells that are done stay; failed ones are run again where `retry_failed`. `workers` processes (None: one a core),
    each with `threads` threads: the numbers are the same for any number of workers, and may differ in the last digits
    between numbers of threads. With `cluster`, the address of a Dask scheduler, its workers run the cells instead, and
    `folder` must be on a disk that they see under the same path. Ctrl-C ends the processes and raises
    `KeyboardInterrupt`; the store is whole at any moment.
    """
    workers = usable_cores() if workers is None else workers
    if workers < 1 or threads < 1:
        raise UsageError(f"{workers} workers with {threads} threads", fix="give at least one of each")
    folder = Path(folder).resolve()
    planned = plan(spec)
    preload = part_modules(spec)
    if dry_run:
        predictions = dry_run_study(planned, folder, workers, preload, fork)
        return StudyRecord(folder=folder, planned=len(planned.cells), predictions=predictions)
    begin = time.monotonic()
    with locked(folder), Store.open(folder, create=True) as store:
        remove_unfinished(folder)
        store.set_plan([_row(cell) for cell in planned.cells], manifest_of(planned, workers, threads))
        known = store.statuses()
        done = {cell for cell, status in known.items() if status == "done" or not retry_failed}
        to_run = [cell for cell in planned.cells if cell.id not in done]
        for cell in to_run:
            if cell.id in known:
                store.forget_failed_trials(cell.spec.tuning_id)
        run = _Run(planned, store, {cell: known[cell] for cell in done}, progress)
        run.tell("plan")
        if to_run:
            logs = folder / "logs"
            with (
                LocalExecutor(min(workers, len(to_run)), logs, threads=threads, preload=preload, fork=fork)
                if cluster is None
                else DaskExecutor(cluster, logs, threads=threads, preload=preload)
            ) as executor:
                executor.run(split_jobs(planned, to_run, folder), run)
                executor.run(run.cell_jobs(to_run), run)
        run.tell("end")
        status = store.status()
        return StudyRecord(
            folder=folder,
            planned=status.planned,
            done=status.done,
            ran=run.ran,
            failed=status.failed,
            seconds=time.monotonic() - begin,
        )


class _Run:
    """The driver's side of a run: it alone writes to the store."""

    def __init__(self, planned: Plan, store: Store, known: Mapping[str, str], progress: Progress | None) -> None:
        self.planned, self.store, self.progress = planned, store, progress
        self.cells = {cell.id: cell for cell in planned.cells}
        self.splits = planned.splits()
        self.unusable: dict[str, Outcome] = {}
        self.best: dict[str, float] = {}
        self.states = {cell: status for cell, status in known.items() if cell in self.cells}
        self.ran = 0

    def tell(self, kind: Any, **more: Any) -> None:
        if self.progress is None:
            return
        done = sum(state == "done" for state in self.states.values())
        self.progress(Event(kind, done, len(self.states) - done, len(self.cells), **more))

    def cell_jobs(self, cells: Sequence[PlannedCell]) -> list[Job]:
        """Jobs of the cells whose dataset is ready; the others get their row now."""
        jobs, limit = [], memory_limit(self.planned.study)
        for cell in cells:
            unusable = self.unusable.get(cell.spec.split.id)
            if unusable is not None:
                self._record(cell, unusable)
            else:
                seconds = self.planned.study.budget.seconds_per_cell
                jobs.append(Job(cell.id, "recassay.runner.cell:run_cell", partial(self._payload, cell), seconds, limit))
        return jobs

    def started(self, job: Job) -> None:
        if job.id in self.cells:
            cell = self.cells[job.id]
            trials = self.store.trial_records(cell.spec.tuning_id)
            self.tell("started", **_whose(cell), trials=len(trials))

    def event(self, job: Job, event: Mapping[str, Any]) -> None:
        if "trial" not in event:
            return
        cell, trial = self.cells[job.id], TrialRecord.from_dict(event["trial"])
        self.store.record_trial(cell.spec.tuning_id, trial)
        if trial.state == "complete" and trial.value is not None:
            better = max if make_metric(cell.spec.tuning.metric).higher_is_better else min
            self.best[cell.id] = better(trial.value, self.best.get(cell.id, trial.value))
        self.tell("trial", **_whose(cell), trial=trial, trials=trial.number + 1, best=self.best.get(cell.id))

    def finished(self, job: Job, outcome: Outcome) -> None:
        if job.id in self.cells:
            self._record(self.cells[job.id], outcome)
            return
        cell = self.splits[job.id]
        reason = None if outcome.status == "done" else f"dataset {cell.dataset.name}: {outcome.reason}"
        if reason is not None:
            self.unusable[job.id] = Outcome(outcome.status, reason=reason, detail=outcome.detail)
        self.tell("split", dataset=cell.dataset.name, reason=reason)

    def _payload(self, cell: PlannedCell) -> dict[str, Any]:
        trials = [trial.to_dict() for trial in self.store.trial_records(cell.spec.tuning_id)]
        return cell_payload(self.planned, cell, self.store.folder) | {"trials": trials}

    def _record(self, cell: PlannedCell, outcome: Outcome) -> None:
        told = dict(outcome.record or {})
        if outcome.status != "done":
            told = {"peak_memory": outcome.peak_memory}
        record = CellRecord(
            id=cell.id,
            algorithm=cell.algorithm.name,
            dataset=cell.dataset.name,
            seed=cell.spec.seed,
            fold=cell.spec.fold,
            spec=cell.spec.model_dump(mode="json"),
            status=outcome.status,  # type: ignore[arg-type]
            reason=outcome.reason,
            detail=outcome.detail,
            attempts=outcome.attempts,
            finished=now(),
            seconds=outcome.seconds,
            **told,
        )
        self.store.record(record)
        self.states[cell.id] = outcome.status
        self.ran += 1
        self.tell("finished", **_whose(cell), record=record, reason=outcome.reason)


def _row(cell: PlannedCell) -> PlannedRow:
    spec = cell.spec
    return PlannedRow(
        cell=cell.id,
        algorithm=spec.algorithm,
        dataset=spec.dataset,
        seed=spec.seed,
        fold=spec.fold,
        metrics=spec.metrics,
        tuning=spec.tuning_id,
        trials=spec.tuning.trials,
    )


def _whose(cell: PlannedCell) -> dict[str, Any]:
    return {"algorithm": cell.algorithm.name, "dataset": cell.dataset.name, "cell": cell.id}
