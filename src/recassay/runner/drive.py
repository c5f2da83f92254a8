"""Driving cells of any kind from a plan to the store: what is shared is prepared, cells run, failures become rows."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from recassay.core.errors import InputError, UsageError
from recassay.core.system.failures import Cause, LeftOut, causes
from recassay.core.system.files import is_full, remove_unfinished
from recassay.core.system.machine import usable_cores
from recassay.runner.cluster import DaskExecutor
from recassay.runner.gpus import GpuPlaces, free_bytes
from recassay.runner.local import LocalExecutor
from recassay.runner.plan_change import plan_changes
from recassay.runner.recording import Run
from recassay.runner.running import RunningCells
from recassay.runner.work import Chooser, Progress, Work
from recassay.store.lock import study_lock
from recassay.store.records import CellRecord, PlannedRow
from recassay.store.store import Store
from recassay.store.verification import damaged_cells

CANNOT_RUN = "cannot run"
"""The state, in a dry run, of a cell whose dataset or algorithm is refused."""


@dataclass(frozen=True, slots=True)
class StudyRecord:
    """What a run did: `ran` cells in this run, of `planned` in all, and the records of those that failed.

    `earlier` counts, by algorithm, the cells that an earlier version of its code had made, and that are run again.
    After a dry run only `planned`, `earlier`, `predictions` and `left_out` are filled.
    """

    folder: Path
    planned: int
    done: int = 0
    ran: int = 0
    failed: tuple[CellRecord, ...] = ()
    seconds: float = 0.0
    predictions: tuple[CellPrediction, ...] = ()
    earlier: Mapping[str, int] = field(default_factory=dict)
    changes: tuple[str, ...] = ()
    """How the plan differs from the one that the folder had before, in sentences."""
    left_out: tuple[LeftOut, ...] = ()
    """The algorithms that are not part of the plan on some dataset, and why."""

    def causes(self) -> tuple[Cause, ...]:
        """Why cells failed, or, after a dry run, cannot run; each cause once."""
        return causes(self.failed) or causes(
            prediction for prediction in self.predictions if prediction.status == CANNOT_RUN
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(replace(self, failed=(), predictions=(), earlier=dict(self.earlier))) | {
            "folder": str(self.folder),
            "failed": [cell.in_brief() for cell in self.failed],
            "predictions": [asdict(prediction) for prediction in self.predictions],
        }


def settled_workers(workers: int | None, threads: int = 1) -> int:
    """How many processes: as asked, by default as many as the cores hold with their threads."""
    workers = max(usable_cores() // max(threads, 1), 1) if workers is None else workers
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
    cluster: str | None = None,
    choose: Chooser | None = None,
) -> StudyRecord:
    """Run what of `work` is not done in `folder`; failed cells again where `retry_failed`.

    In processes of this machine, or, with `cluster`, on the workers of the Dask scheduler at that address. Where there
    is one, `choose` says which cells run, batch by batch; cells whose dataset cannot be prepared are rows before that.

    The store is whole at any moment, so that a run that was killed is resumed by the same call.
    """
    begin = time.monotonic()
    if cluster is not None and not folder.exists():
        with DaskExecutor(cluster, folder, threads=threads, preload=work.preload):
            pass  # an address where nothing answers leaves no folder behind
    with study_lock(folder), Store.open(folder, create=True) as store, RunningCells(folder) as at_work:
        remove_unfinished(folder)
        before = store.plan()
        store.set_plan([cell.row for cell in work.cells], work.manifest(workers, threads))
        finished = {cell for cell, status in store.statuses().items() if status == "done"}
        changes = plan_changes(before, store.plan(), finished)
        known = store.statuses()
        damaged = damaged_cells(store, (cell.id for cell in work.cells if known.get(cell.id) == "done"))
        store.forget_damaged(damaged)
        known = {cell: status for cell, status in known.items() if cell not in damaged}
        done = {cell for cell, status in known.items() if status == "done" or not retry_failed}
        to_run = [cell for cell in work.cells if cell.id not in done]
        for cell in to_run:
            if cell.id in known:
                store.forget_failed_trials(cell.row.tuning)
        run = Run(work, store, {cell: known[cell] for cell in done}, progress, at_work)
        earlier = _earlier(work, store)
        run.tell("plan", earlier=earlier, damaged=tuple(damaged.values()), changes=changes, left_out=work.left_out)
        if not to_run and choose is not None:
            run.tell("decided", said=choose(store).said)
        if to_run:
            logs = folder / "logs"
            at_once = work.budget.cells_per_gpu
            places = GpuPlaces(work.gpus, free_bytes() if work.gpus and at_once is None else None, at_once)
            most = sum(cell.rounds.parallel for cell in to_run)
            with (
                LocalExecutor(min(workers, most), logs, threads=threads, preload=work.preload, gpus=places)
                if cluster is None
                else DaskExecutor(cluster, folder, threads=threads, preload=work.preload)
            ) as executor:
                executor.run(work.split_jobs(to_run, folder), run)
                if choose is None:
                    run.all(to_run, executor)
                else:
                    run.chosen(choose, to_run, executor)
        run.tell("end")
        if run.not_written is not None:
            full = "is full" in run.not_written or "No space left" in run.not_written or is_full(folder)
            why = "the disk is full" if full else f"what a cell writes could not be written ({run.not_written})"
            fix = f"{'free some space' if full else 'mend that'} and run the same command again"
            raise InputError(f"{why}, and cells are left", where=str(folder), fix=fix)
        status = store.status()
        return StudyRecord(
            folder=folder,
            planned=status.planned,
            done=status.done,
            ran=run.ran,
            failed=status.failed,
            seconds=time.monotonic() - begin,
            earlier=earlier,
            changes=changes,
            left_out=work.left_out,
        )


def known_cells(folder: Path) -> dict[str, str]:
    """The status of every cell that ever ran in `folder`; none where no study has begun there."""
    if not Store.begun(folder):
        return {}
    with Store.open(folder) as store:
        return store.statuses()


def earlier_versions(work: Work, folder: Path) -> dict[str, int]:
    """By algorithm, how many cells of `work` the study in `folder` has from an earlier version of its code alone."""
    if not Store.begun(folder):
        return {}
    with Store.open(folder) as store:
        return _earlier(work, store)


def _earlier(work: Work, store: Store) -> dict[str, int]:
    code = {cell.row.algorithm: str(cell.spec["code"]) for cell in work.cells}
    return store.earlier_versions([cell.row for cell in work.cells], code)


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

    @classmethod
    def of(cls, row: PlannedRow, state: str, **more: Any) -> CellPrediction:
        """The prediction of a planned cell."""
        return cls(row.cell, row.algorithm, row.dataset, row.seed, row.fold, state, **more)

    @property
    def status(self) -> str:
        """The state, as a cell that ran has one."""
        return self.state
