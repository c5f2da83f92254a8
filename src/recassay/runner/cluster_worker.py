"""What a worker of a cluster does with a job: it runs it in a process of its own, and sends on what the job tells."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from recassay.runner.jobs import Job, Outcome, Watcher
from recassay.runner.local import LocalExecutor

IDLE_SECONDS = 10.0
"""How long a process that has imported what jobs need waits for the next one."""

LOOK_SECONDS = 5.0
"""How long a worker looks for the study folder, which a network disk may show it late."""


class _Processes:
    """Processes that wait for the next job of their run: what a job needs is imported once per run, not per job.

    A run has processes of its own, so that code that was changed between two runs is met by the second.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[tuple[str, LocalExecutor, float]] = []
        """Of which run each is, and since when it waits."""

    def take(self, run: str) -> LocalExecutor | None:
        """One that waits, if there is; those of other runs are ended."""
        with self._lock:
            others = [executor for owner, executor, _ in self._idle if owner != run]
            self._idle = [entry for entry in self._idle if entry[0] == run]
            executor = self._idle.pop()[1] if self._idle else None
        for other in others:
            other.__exit__()
        return executor

    def put(self, run: str, executor: LocalExecutor) -> None:
        """Let it wait a while."""
        with self._lock:
            self._idle.append((run, executor, time.monotonic()))
        timer = threading.Timer(IDLE_SECONDS, self._end_idle)
        timer.daemon = True
        timer.start()

    def _end_idle(self) -> None:
        since = time.monotonic() - 0.9 * IDLE_SECONDS
        with self._lock:
            late = [executor for _, executor, waiting in self._idle if waiting <= since]
            self._idle = [entry for entry in self._idle if entry[2] > since]
        for executor in late:
            executor.__exit__()


_processes = _Processes()


class _Reporter(Watcher):
    """The watcher on the worker's side: it sends everything on, and keeps it for the answer."""

    def __init__(self, job: str, topic: str, key: str) -> None:
        from distributed import get_worker

        self.worker, self.job, self.topic, self.key = get_worker(), job, topic, key
        self.events: list[Mapping[str, Any]] = []
        self.outcome: Outcome | None = None

    def started(self, job: Job) -> None:
        self._send({})

    def event(self, job: Job, event: Mapping[str, Any]) -> None:
        self.events.append(dict(event))
        self._send({"event": dict(event)})

    def finished(self, job: Job, outcome: Outcome) -> None:
        self.outcome = outcome

    def unwanted(self) -> bool:
        """Whether the scheduler has given this task up, as it does when the driver is gone."""
        task = self.worker.state.tasks.get(self.key)
        return task is None or task.state == "cancelled"

    def _send(self, more: Mapping[str, Any]) -> None:
        self.worker.log_event(self.topic, {"job": self.job, **more})


def run_job(request: Mapping[str, Any]) -> dict[str, Any]:
    """What a Dask worker does: one job in a process of its own, and its outcome as plain data."""
    until = time.monotonic() + LOOK_SECONDS
    while not Path(request["mark"]).is_file():
        if time.monotonic() > until:
            return {"blind": socket.gethostname()}
        time.sleep(0.1)
    job = Job(request["job"], request["function"], lambda: request["payload"], request["seconds"], request["memory"])
    reporter = _Reporter(job.id, request["topic"], request["key"])
    run, threads, preload = request["run"], request["threads"], request["preload"]
    executor = _processes.take(run)
    if executor is None:
        executor = LocalExecutor(1, Path(request["logs"]), threads=threads, preload=preload).__enter__()
    try:
        executor.run([job], reporter, unwanted=reporter.unwanted)
    except BaseException:
        executor.__exit__()
        raise
    if reporter.outcome is None:
        executor.__exit__()
        raise RuntimeError("the driver is gone")
    _processes.put(run, executor)
    return {"outcome": asdict(reporter.outcome), "events": reporter.events}
