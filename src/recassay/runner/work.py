"""What goes into a run and comes out of it: cells, the work that they make, events, and choices; and trials in rounds.

Trial n of a cell that tries N at a time sees the trials of the rounds before, and no others. What is proposed is then a
function of N and of those trials alone: neither the number of workers nor the order in which they finish plays a part,
and a tuning that was killed goes on with the same proposals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

from recassay.core.specs.study import Budget
from recassay.core.system.failures import LeftOut
from recassay.runner.jobs import Job
from recassay.runner.memory import job_limits
from recassay.store.records import CellRecord, PlannedRow, TrialRecord
from recassay.store.store import Store

GIVE_UP_AFTER = 5
"""An algorithm whose first trials fail this often in a row is given up."""


@dataclass(frozen=True, slots=True)
class Rounds:
    """How many trials are wanted, and how many are proposed together."""

    trials: int
    parallel: int = 1
    seconds: float | None = None
    """No round begins after the trials before it took so long in all, once one of them has a value."""

    def open(self, known: Mapping[int, TrialRecord]) -> tuple[int, ...]:
        """The trials of the first round that is not whole which are not known; none where it is enough.

        It is enough when all are known, when before a round at least `GIVE_UP_AFTER` are known and all failed, or when
        those before a round used up the seconds.
        """
        for first in range(0, self.trials, self.parallel):
            missing = tuple(n for n in range(first, min(first + self.parallel, self.trials)) if n not in known)
            if missing:
                before = [known[n] for n in range(first)]
                none = all(failed(trial) for trial in before)
                return () if (first >= GIVE_UP_AFTER if none else self.used_up(before)) else missing
        return ()

    def used_up(self, trials: Iterable[TrialRecord]) -> bool:
        """Whether these trials took longer than all of them may."""
        return self.seconds is not None and sum(trial.seconds for trial in trials) > self.seconds

    def seen_by(self, number: int) -> int:
        """How many trials the proposal of trial `number` sees: all of the rounds before its own."""
        return number // self.parallel * self.parallel

    def left(self, known: int) -> int:
        """How many rounds are to come after so many trials."""
        return -(-(self.trials - known) // self.parallel)


@dataclass(frozen=True, slots=True)
class WorkCell:
    """A cell as the driver knows it: its row, the split it needs, its spec, and what its process must know."""

    row: PlannedRow
    split: str
    spec: Mapping[str, Any]
    payload: Callable[[Path], Mapping[str, Any]]
    """From the folder of the study."""
    gpu: bool = False
    """Whether it computes on a GPU where there is one."""
    rounds: Rounds = Rounds(0)
    """The trials that are jobs of their own; without any, the cell is one job."""
    need: Callable[[Path], int | None] = lambda _: None
    """From the folder, once its split is there, the bytes that it is expected to need."""
    gpu_need: Callable[[Path], int | None] = lambda _: None
    """As `need`, of a GPU."""

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
    prepare: str
    """The job function that makes a split (`module:name`)."""
    splits: Mapping[str, Callable[[Path], Mapping[str, Any]]]
    """By split that cells need, from the folder of the study, what the process that makes it must know."""
    is_usable: Callable[[Path, str], bool]
    """From the folder and a split, whether it is there and sound."""
    budget: Budget
    preload: Sequence[str]
    """Modules that workers import once."""
    manifest: Callable[[int, int], Mapping[str, Any]]
    """From the numbers of workers and threads, what a reader needs to judge the study."""
    better: Callable[[float, float], float] = max
    """The better of two objectives of trials."""
    gpus: Sequence[str] = ()
    """The GPUs of this machine that cells may use, as CUDA_VISIBLE_DEVICES counts them."""
    trial_function: str = ""
    """The job function of a trial, for cells whose trials are jobs of their own."""
    classes: Mapping[str, str] = field(default_factory=dict)
    """By algorithm, which others it can be expected to cost like."""
    size: Callable[[Path, str], float | None] = lambda folder, split: None
    """From the folder and a split, how large it is; None where it is not there."""
    left_out: tuple[LeftOut, ...] = ()
    """What is not part of it, by a rule that is known before anything is fitted."""

    def split_jobs(self, cells: Iterable[WorkCell], folder: Path) -> list[Job]:
        """The jobs, named after their splits, that must be done before these cells."""
        needed = {cell.split for cell in cells}
        return [
            Job(split, self.prepare, partial(payload, folder), *job_limits(self.budget))
            for split, payload in self.splits.items()
            if split in needed and not self.is_usable(folder, split)
        ]


@dataclass(frozen=True, slots=True)
class Event:
    """What a run tells while it goes on; `done`, `failed` and `total` count the cells of the plan.

    `plan` comes first and `end` last; `split` when a dataset is ready (or is not: `reason`); `started`, `trial` and
    `finished` for a cell; `decided` when a chooser has said how things stand (`said`) and what is run next; `waiting`
    when nothing can start (`reason`); `note` when there is something to know about where it runs (`said`). `best` is
    the best objective of its trials so far. `earlier` comes with `plan`: by algorithm, the cells that are run again
    because they were made by an earlier version of its code. So does `damaged`: files of done cells that are gone or
    are not what was written; their cells are run again. And `changes`: how the plan differs from the one before; and
    `left_out`: what is not part of the plan.
    """

    kind: Literal["plan", "split", "decided", "started", "trial", "finished", "waiting", "note", "end"]
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
    changes: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """The cells to run next (none: the run ends, unless it asks `again`), and how things stand, in one line."""

    cells: Sequence[str]
    said: str
    again: bool = False


Chooser: TypeAlias = Callable[[Store], Choice]
"""Asked again and again, with the store as it is then."""

Progress: TypeAlias = Callable[[Event], None]


def failed(trial: TrialRecord) -> bool:
    """Whether a trial has no value because it failed."""
    return trial.state in ("failed", "over_budget")
