"""Driving cells of any kind from a plan to the store: what is shared is prepared, cells run, failures become rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

from recassay.core.errors import UsageError
from recassay.core.specs.study import Budget
from recassay.core.system.failures import Cause, causes
from recassay.core.system.files import remove_unfinished
from recassay.runner.cluster import DaskExecutor
from recassay.runner.jobs import Executor, Job, Outcome
from recassay.runner.local import LocalExecutor, usable_cores
from recassay.runner.manifest import now
from recassay.runner.memory import memory_limit
from recassay.runner.running import RunningCells
from recassay.store.lock import study_lock
from recassay.store.records import CellRecord, PlannedRow, TrialRecord
from recassay.store.store import INDEX_FILE, Store


@dataclass(frozen=True, slots=True)
class WorkCell:
    """A cell as the driver knows it: its row, the split it needs, its spec, and what its process must be told."""

    row: PlannedRow
    split: str
    spec: Mapping[str, Any]
    payload: Callable[[Path], Mapping[str, Any]]
    """From the folder of the study."""
    gpu: bool = False
    """Whether it computes on a GPU where there is one."""

    @property
    def id(self) -> str:
        """The content hash."""
        return self.row.cell

    def whose(self) -> dict[str, Any]:
        """Which cell, for an event."""
        return {"algorithm": self.row.algorithm, "dataset": self.row.dataset, "cell": self.row.cell}


@dataclass(frozen=True, slots=True)
class Work:
    """What a run is to do: cells of one kind, run by the job function `function` (`module:name`)."""

    cells: tuple[WorkCell, ...]
    function: str
    prepare: Callable[[Collection[str], Path], list[Job]]
    """From the cells that will run and the folder, the jobs (named after their splits) that must be done before."""
    budget: Budget
    preload: Sequence[str]
    """Modules that workers import once."""
    manifest: Callable[[int, int], Mapping[str, Any]]
    """From the numbers of workers and threads, what a reader needs to judge the study."""
    better: Callable[[float, float], float] = max
    """The better of two objectives of trials."""
    gpus: Sequence[str] = ()
    """The GPUs of this machine that cells may use, as CUDA_VISIBLE_DEVICES counts them."""


@dataclass(frozen=True, slots=True)
class Event:
    """What a run tells while it goes on; `done`, `failed` and `total` count the cells of the plan.

    `plan` comes first and `end` last; `split` when a dataset is ready (or is not: `reason`); `started`, `trial` and
    `finished` for a cell; `decided` when a chooser has said how things stand (`said`) and what is run next; `waiting`
    when nothing can start (`reason`). `best` is the best objective of its trials so far. `earlier` comes with `plan`:
    by algorithm, the cells that are run again because they were made by an earlier version of its code. So does
    `damaged`: files of done cells that are gone or are not what was written; their cells are run again.
    """

    kind: Literal["plan", "split", "decided", "started", "trial", "finished", "waiting", "end"]
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
    earlier: Mapping[str, int] = field(default_factory=dict)
    said: str | None = None
    damaged: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """The cells to run next (none: the run ends, unless it asks `again`), and how things stand, in one line."""

    cells: Sequence[str]
    said: str
    again: bool = False


Chooser: TypeAlias = Callable[[Store], Choice]
"""Asked again and again, with the store as it is then."""

Progress: TypeAlias = Callable[[Event], None]

CANNOT_RUN = "cannot run"
"""The state, in a dry run, of a cell whose dataset or algorithm is refused."""


@dataclass(frozen=True, slots=True)
class StudyRecord:
    """What a run did: `ran` cells in this run, of `planned` in all, and the records of those that failed.

    `earlier` counts, by algorithm, the cells that an earlier version of its code had made, and that are run again.
    After a dry run only `planned`, `earlier` and `predictions` are filled.
    """

    folder: Path
    planned: int
    done: int = 0
    ran: int = 0
    failed: tuple[CellRecord, ...] = ()
    seconds: float = 0.0
    predictions: tuple[CellPrediction, ...] = ()
    earlier: Mapping[str, int] = field(default_factory=dict)

    def causes(self) -> tuple[Cause, ...]:
        """Why cells failed, or, after a dry run, cannot run; each cause once."""
        return causes(self.failed) or causes(one for one in self.predictions if one.status == CANNOT_RUN)

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
            "earlier": dict(self.earlier),
        }


def settled_workers(workers: int | None, threads: int = 1) -> int:
    """How many processes: as asked, one a core by default."""
    workers = usable_cores() if workers is None else workers
    if workers < 1 or threads < 1:
        raise UsageError(f"{workers} workers with {threads} threads", fix="give at least one of each")
    return workers


def drive(
    work: Work,
    folder: Path,
    *,
    workers: int,
    threads: int = 1,
    progress: Progress | None = None,
    retry_failed: bool = False,
    fork: bool | None = None,
    cluster: str | None = None,
    choose: Chooser | None = None,
) -> StudyRecord:
    """Run what of `work` is not done in `folder`; failed cells again where `retry_failed`.

    In processes of this machine, or, with `cluster`, on the workers of the Dask scheduler at that address. Where there
    is one, `choose` says which cells run, batch by batch; cells whose dataset cannot be prepared are rows before that.

    The store is whole at any moment, so that a run that was killed is resumed by the same call.
    """
    begin = time.monotonic()
    with study_lock(folder), Store.open(folder, create=True) as store, RunningCells(folder) as at_work:
        remove_unfinished(folder)
        store.set_plan([cell.row for cell in work.cells], work.manifest(workers, threads))
        known = store.statuses()
        damaged = store.damaged(cell.id for cell in work.cells if known.get(cell.id) == "done")
        known = {cell: status for cell, status in known.items() if cell not in damaged}
        done = {cell for cell, status in known.items() if status == "done" or not retry_failed}
        to_run = [cell for cell in work.cells if cell.id not in done]
        for cell in to_run:
            if cell.id in known:
                store.forget_failed_trials(cell.row.tuning)
        run = _Run(work, store, {cell: known[cell] for cell in done}, progress, at_work)
        earlier = _earlier(work, store)
        run.tell("plan", earlier=earlier, damaged=tuple(map(str, damaged.values())))
        if not to_run and choose is not None:
            run.tell("decided", said=choose(store).said)
        if to_run:
            logs = folder / "logs"
            places = [gpu for gpu in work.gpus for _ in range(work.budget.cells_per_gpu)]
            with (
                LocalExecutor(
                    min(workers, len(to_run)), logs, threads=threads, preload=work.preload, fork=fork, gpus=places
                )
                if cluster is None
                else DaskExecutor(cluster, logs, threads=threads, preload=work.preload)
            ) as executor:
                executor.run(work.prepare({cell.id for cell in to_run}, folder), run)
                if choose is None:
                    executor.run(run.cell_jobs(to_run), run)
                else:
                    run.chosen(choose, to_run, executor)
        run.tell("end")
        status = store.status()
        return StudyRecord(
            folder=folder,
            planned=status.planned,
            done=status.done,
            ran=run.ran,
            failed=status.failed,
            seconds=time.monotonic() - begin,
            earlier=earlier,
        )


def earlier_versions(work: Work, folder: Path) -> dict[str, int]:
    """By algorithm, how many cells of `work` the study in `folder` has from an earlier version of its code alone."""
    if not (folder / INDEX_FILE).is_file():
        return {}
    with Store.open(folder) as store:
        return _earlier(work, store)


def _earlier(work: Work, store: Store) -> dict[str, int]:
    code = {cell.row.algorithm: str(cell.spec["code"]) for cell in work.cells}
    return store.earlier_versions([cell.row for cell in work.cells], code)


class _Run:
    """The driver's side of a run: it alone writes to the store."""

    def __init__(
        self, work: Work, store: Store, known: Mapping[str, str], progress: Progress | None, at_work: RunningCells
    ) -> None:
        self.work, self.store, self.progress, self.at_work = work, store, progress, at_work
        self.cells = {cell.id: cell for cell in work.cells}
        self.datasets = {cell.split: cell.row.dataset for cell in reversed(work.cells)}
        self.unusable: dict[str, Outcome] = {}
        self.best: dict[str, float] = {}
        self.states = {cell: status for cell, status in known.items() if cell in self.cells}
        self.ran = 0

    def tell(self, kind: Any, **more: Any) -> None:
        if self.progress is None:
            return
        done = sum(state == "done" for state in self.states.values())
        self.progress(Event(kind, done, len(self.states) - done, len(self.cells), **more))

    def cell_jobs(self, cells: Sequence[WorkCell]) -> list[Job]:
        """Jobs of the cells whose dataset is ready; the others get their row now."""
        jobs, budget = [], self.work.budget
        for cell in cells:
            unusable = self.unusable.get(cell.split)
            if unusable is not None:
                self._record(cell, unusable)
            else:
                payload = partial(self._payload, cell)
                limits = (budget.seconds_per_cell, memory_limit(budget))
                jobs.append(Job(cell.id, self.work.function, payload, *limits, gpu=cell.gpu))
        return jobs

    def chosen(self, choose: Chooser, cells: Sequence[WorkCell], executor: Executor) -> None:
        """Run cells batch by batch, as they are chosen, until none is."""
        self.cell_jobs([cell for cell in cells if cell.split in self.unusable])
        left = {cell.id: cell for cell in cells if cell.split not in self.unusable}
        while True:
            choice = choose(self.store)
            batch = [left.pop(cell) for cell in choice.cells if cell in left]
            self.tell("decided", said=choice.said)
            if not batch and not choice.again:
                return
            executor.run(self.cell_jobs(batch), self)

    def started(self, job: Job) -> None:
        if job.id in self.cells:
            cell = self.cells[job.id]
            self.at_work.start(cell.id, cell.row.algorithm, cell.row.dataset, cell.row.seed)
            self.tell("started", **cell.whose(), trials=len(self.store.trial_records(cell.row.tuning)))

    def waiting(self, reason: str) -> None:
        self.tell("waiting", reason=reason)

    def event(self, job: Job, event: Mapping[str, Any]) -> None:
        if "trial" not in event:
            return
        cell, trial = self.cells[job.id], TrialRecord.from_dict(event["trial"])
        self.store.record_trial(cell.row.tuning, trial)
        if trial.state == "complete" and trial.value is not None:
            self.best[cell.id] = self.work.better(trial.value, self.best.get(cell.id, trial.value))
        self.tell("trial", **cell.whose(), trial=trial, trials=trial.number + 1, best=self.best.get(cell.id))

    def finished(self, job: Job, outcome: Outcome) -> None:
        if job.id in self.cells:
            self._record(self.cells[job.id], outcome)
            return
        dataset = self.datasets[job.id]
        reason = None if outcome.status == "done" else f"dataset {dataset}: {outcome.reason}"
        if reason is not None:
            self.unusable[job.id] = Outcome(outcome.status, reason=reason, detail=outcome.detail)
        self.tell("split", dataset=dataset, reason=reason)

    def _payload(self, cell: WorkCell) -> dict[str, Any]:
        trials = [trial.to_dict() for trial in self.store.trial_records(cell.row.tuning)]
        return {**cell.payload(self.store.folder), "trials": trials}

    def _record(self, cell: WorkCell, outcome: Outcome) -> None:
        told = dict(outcome.record or {})
        if outcome.status != "done":
            told = {"peak_memory": outcome.peak_memory}
        record = CellRecord(
            id=cell.id,
            algorithm=cell.row.algorithm,
            dataset=cell.row.dataset,
            seed=cell.row.seed,
            fold=cell.row.fold,
            spec=cell.spec,
            status=outcome.status,  # type: ignore[arg-type]
            reason=outcome.reason,
            detail=outcome.detail,
            attempts=outcome.attempts,
            finished=now(),
            seconds=outcome.seconds,
            **told,
        )
        self.at_work.finish(cell.id)
        self.store.record(record)
        self.states[cell.id] = outcome.status
        self.ran += 1
        self.tell("finished", **cell.whose(), record=record, reason=outcome.reason)


@dataclass(frozen=True, slots=True)
class CellPrediction:
    """A cell of a dry run: its state in the store, and what its algorithm says of its memory (bytes, None: nothing).

    A cell that has not run and could not has the state `CANNOT_RUN`, and its `reason`.
    `gpu_memory` is what it would need of a GPU, where it can use one.
    """

    cell: str
    algorithm: str
    dataset: str
    seed: int
    fold: int | None
    state: str
    memory: int | None = None
    most_memory: int | None = None
    gpu_memory: int | None = None
    users: int | None = None
    items: int | None = None
    interactions: int | None = None
    trials: int | None = None
    reason: str | None = None

    @property
    def status(self) -> str:
        """The state, as a cell that ran has one."""
        return self.state
