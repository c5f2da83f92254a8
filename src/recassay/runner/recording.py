"""The driver's side of a run: it makes the jobs of cells, hears what they tell, and alone writes to the store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from recassay.core.system.places import below
from recassay.runner.jobs import CHECKED, NOT_WRITTEN, PROPOSED, TRIAL, Executor, Job, JobQueue, Outcome, Watcher
from recassay.runner.manifest import now
from recassay.runner.memory import memory_limit
from recassay.runner.order import LearnedCosts, chain_seconds
from recassay.runner.running import RunningCells
from recassay.runner.work import Chooser, Event, Progress, Work, WorkCell
from recassay.store.records import CellRecord, TrialRecord
from recassay.store.store import Store


@dataclass(slots=True)
class _AtWork:
    """A cell between its first job and its row."""

    cell: WorkCell
    trials: int = 0
    """How many trials there are to run."""
    open: dict[str, int] = field(default_factory=dict)
    """By job, the numbers of its trials that wait or run."""
    proposed: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    known: int = 0
    kept: set[int] = field(default_factory=set)
    """The numbers of its trials that this run has kept."""
    started: bool = False
    best: float | None = None
    seconds: float = 0.0
    """Of its jobs that have ended."""
    earlier: float = 0.0
    """Seconds of trials that a run before this one made for it."""
    peak: int = 0
    joules: float = 0.0
    """Of its trials that were jobs of their own."""
    verdict: Outcome | None = None
    """How it ends, once its trials that run have ended."""


class Run(Watcher):
    """A watcher that keeps what happens, and adds the jobs that follow from it."""

    def __init__(
        self, work: Work, store: Store, known: Mapping[str, str], progress: Progress | None, at_work: RunningCells
    ) -> None:
        self.work, self.store, self.progress, self.at_work = work, store, progress, at_work
        self.datasets = {cell.split: cell.row.dataset for cell in reversed(work.cells)}
        self.unusable: dict[str, Outcome] = {}
        self.queue = JobQueue()
        self.ran = 0
        self.not_written: str | None = None
        """What a job said that could not write."""
        self._limit = memory_limit(work.budget)
        self._planned = {cell.id for cell in work.cells}
        self._sharing = Counter(cell.row.tuning for cell in work.cells)
        states = [status for cell, status in known.items() if cell in self._planned]
        self._done = sum(status == "done" for status in states)
        self._failed = len(states) - self._done
        self._jobs: dict[str, _AtWork] = {}
        self._costs: LearnedCosts | None = None
        self._checked: dict[str, dict[str, str]] = {}

    def tell(self, kind: Any, **more: Any) -> None:
        """An event, with how far the plan is."""
        if self.progress is not None:
            self.progress(Event(kind, self._done, self._failed, len(self._planned), **more))

    def all(self, cells: Sequence[WorkCell], executor: Executor) -> None:
        """Run cells, those that take longest first; those whose dataset is not ready get their row now."""
        self._costs = self._learned()
        for cell in cells:
            if cell.split in self.unusable:
                self._record(_AtWork(cell), self.unusable[cell.split])
                continue
            kept = self.store.kept_trials(cell.row.tuning) if self._sharing[cell.row.tuning] == 1 else {}
            self._go_on(_AtWork(cell, cell.rounds.trials, earlier=sum(trial.seconds for trial in kept.values())))
        executor.run(self.queue, self)

    def chosen(self, choose: Chooser, cells: Sequence[WorkCell], executor: Executor) -> None:
        """Run cells batch by batch, as they are chosen, until none is."""
        for cell in cells:
            if cell.split in self.unusable:
                self._record(_AtWork(cell), self.unusable[cell.split])
        left = {cell.id: cell for cell in cells if cell.split not in self.unusable}
        while True:
            choice = choose(self.store)
            batch = [left.pop(cell) for cell in choice.cells if cell in left]
            self.tell("decided", said=choice.said)
            if not batch and not choice.again:
                return
            self.all(batch, executor)

    def started(self, job: Job) -> None:
        """The first job of a cell begins the cell."""
        state = self._jobs.get(job.id)
        if state is None or state.started:
            return
        state.started, row = True, state.cell.row
        self.at_work.start(row.cell, row.algorithm, row.dataset, row.seed)
        self.tell("started", **state.cell.whose(), trials=state.known)

    def waiting(self, reason: str) -> None:
        """Hand it on."""
        self.tell("waiting", reason=reason)

    def note(self, said: str) -> None:
        """Hand it on."""
        self.tell("note", said=said)

    def event(self, job: Job, event: Mapping[str, Any]) -> None:
        """A trial is kept before it counts; what a trial is about to try is remembered."""
        state = self._jobs.get(job.id)
        if state is None:
            return
        if PROPOSED in event:
            state.proposed[job.id] = event[PROPOSED]
        if CHECKED in event:
            self._checked.setdefault(state.cell.split, {}).update(event[CHECKED])
        if TRIAL in event:
            self._keep(state, TrialRecord.from_dict(event[TRIAL]))

    def finished(self, job: Job, outcome: Outcome) -> None:
        """The row of a cell, its next jobs, or a dataset that is ready or is not."""
        state = self._jobs.pop(job.id, None)
        if state is None:
            self._prepared(job, outcome)
            return
        if outcome.status == "timeout" and state.cell.rounds.trials:
            limit = self.work.budget.seconds_per_cell
            outcome = replace(
                outcome, reason=f"its jobs took more than the {limit:g} seconds of budget.seconds_per_cell"
            )
        state.seconds += outcome.seconds
        state.peak = max(state.peak, outcome.peak_memory or 0)
        number = state.open.pop(job.id, None)
        if number is None:
            self._end(state, outcome)
            return
        self._trial_ended(state, job, number, outcome)
        if not state.open:
            self._go_on(state)

    def _prepared(self, job: Job, outcome: Outcome) -> None:
        dataset = self.datasets[job.id]
        reason = None if outcome.status == "done" else f"dataset {dataset}: {outcome.reason}"
        if reason is not None:
            self.unusable[job.id] = Outcome(outcome.status, reason=reason, detail=outcome.detail)
        self.tell("split", dataset=dataset, reason=reason)

    def _go_on(self, state: _AtWork) -> None:
        """Add the trials of the next round, or the job that ends the cell."""
        cell = state.cell
        if state.verdict is not None:
            self._end(state, state.verdict)
            return
        known = self.store.kept_trials(cell.row.tuning)
        state.known = len(known)
        numbers = replace(cell.rounds, trials=state.trials).open(known)
        for number in numbers:
            state.open[f"{cell.id}.{number}"] = number
            self._add(f"{cell.id}.{number}", state, partial(self._payload, cell, number))
        if not numbers:
            self._add(cell.id, state, partial(self._payload, cell))

    def _add(self, id: str, state: _AtWork, payload: Any) -> None:
        cell, seconds = state.cell, self.work.budget.seconds_per_cell
        function = self.work.trial_function if id in state.open else self.work.function
        self._jobs[id] = state
        self.queue.add(
            Job(
                id,
                function,
                payload,
                None if seconds is None else max(seconds - state.seconds, 0.0),
                self._limit,
                gpu=cell.gpu,
                gpu_need=partial(cell.gpu_need, self.store.folder),
                need=partial(cell.need, self.store.folder),
                priority=self._priority(state),
            )
        )

    def _priority(self, state: _AtWork) -> float:
        return 0.0 if self._costs is None else chain_seconds(state.cell, self._costs.seconds(state.cell), state.known)

    def _trial_ended(self, state: _AtWork, job: Job, number: int, outcome: Outcome) -> None:
        """A trial that was ended is a failed trial; where no trial can work, or time is up, it is the cell's end."""
        proposed = state.proposed.pop(job.id, {})
        if outcome.status == "done":
            state.trials = min(state.trials, int((outcome.record or {}).get("trials", state.trials)))
            state.joules += float((outcome.record or {}).get("joules", 0.0))
        elif outcome.status in ("crashed", "memory"):
            reason = f"out of memory: {outcome.reason}" if outcome.status == "memory" else outcome.reason
            self._keep(state, TrialRecord(number, "failed", proposed, reason=reason, seconds=outcome.seconds))
        else:
            state.verdict = outcome
            for dropped in self.queue.drop(lambda waiting: waiting.id in state.open):
                del state.open[dropped.id], self._jobs[dropped.id]

    def _keep(self, state: _AtWork, trial: TrialRecord) -> None:
        if trial.number in state.kept:  # a cluster delivers some of what a job tells twice
            return
        state.kept.add(trial.number)
        self.store.record_trial(state.cell.row.tuning, trial)
        state.known += 1
        if trial.state == "complete" and trial.value is not None:
            state.best = trial.value if state.best is None else self.work.better(trial.value, state.best)
        trials = state.known if state.cell.rounds.trials else trial.number + 1
        self.tell("trial", **state.cell.whose(), trial=trial, trials=trials, best=state.best)

    def _payload(self, cell: WorkCell, number: int | None = None) -> dict[str, Any]:
        """What the job of a cell must know, or that of one of its trials, which sees the rounds before it."""
        trials = [trial.to_dict() for trial in self.store.trial_records(cell.row.tuning)]
        payload = {**cell.payload(self.store.folder), "trials": trials, CHECKED: self._checked.get(cell.split, {})}
        if number is not None:
            payload |= {"trials": trials[: cell.rounds.seen_by(number)], "number": number}
        return payload

    def _end(self, state: _AtWork, outcome: Outcome) -> None:
        """The row of a cell that ran, and what its seconds say of the others."""
        self._record(state, outcome)
        if self._costs is not None and outcome.status == "done":
            self._costs.add(state.cell, state.seconds + state.earlier)
            if self._costs.learn():
                self.queue.reorder(lambda job: self._priority(self._jobs[job.id]))

    def _record(self, state: _AtWork, outcome: Outcome) -> None:
        cell, outcome_record = state.cell, dict(outcome.record or {})
        if outcome.status == NOT_WRITTEN:
            self.not_written = outcome.reason
            self.at_work.finish(cell.id)
            return
        if outcome.status != "done":
            outcome_record = {"peak_memory": state.peak or outcome.peak_memory}
        elif cell.rounds.trials:
            outcome_record["seconds_tune"] = outcome_record["seconds_tune"] + state.seconds - outcome.seconds
            outcome_record["peak_memory"] = max(filter(None, (outcome_record["peak_memory"], state.peak)), default=None)
            outcome_record["energy"] = outcome_record["energy"] | {
                "joules": outcome_record["energy"]["joules"] + state.joules
            }
        if state.earlier and outcome.status == "done":
            outcome_record["seconds_tune"] += state.earlier
        record = CellRecord(
            cell.id,
            *(cell.row.algorithm, cell.row.dataset, cell.row.seed, cell.row.fold),
            spec=cell.spec,
            split=cell.split,
            status=outcome.status,  # type: ignore[arg-type]
            reason=None if outcome.reason is None else below(outcome.reason, self.store.folder),
            detail=None if outcome.detail is None else below(outcome.detail, self.store.folder),
            attempts=outcome.attempts,
            finished=now(),
            seconds=state.seconds + state.earlier,
            **outcome_record,
        )
        self.at_work.finish(cell.id)
        self.store.record(record)
        self._done += outcome.status == "done"
        self._failed += outcome.status != "done"
        self.ran += 1
        self.tell("finished", **cell.whose(), record=record, reason=outcome.reason)

    def _learned(self) -> LearnedCosts:
        """Costs from the cells that the store has."""
        folder, cells = self.store.folder, self.work.cells
        splits = {cell.row.dataset: cell.split for cell in reversed(cells)}
        sizes = {dataset: self.work.size(folder, split) for dataset, split in splits.items()}
        costs = LearnedCosts(cells, self.work.classes, {name: size for name, size in sizes.items() if size is not None})
        took = self.store.seconds()
        for cell in cells:
            if cell.id in took:
                costs.add(cell, took[cell.id])
        costs.learn()
        return costs
