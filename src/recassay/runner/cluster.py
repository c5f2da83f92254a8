"""The cluster executor: jobs on the workers of a Dask scheduler, the study folder on a disk that all of them see.

A Dask task runs one job through a `LocalExecutor` of its own, so that a job has the same process, limits and log on a
cluster as on one machine. What a job tells while it runs reaches the driver as events of the scheduler; the driver
alone writes to the store.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from uuid import uuid4

from recassay.core.errors import InputError, MissingExtraError, RecAssayError
from recassay.runner.jobs import Job, Outcome, Watcher
from recassay.runner.local import LocalExecutor

CONNECT_SECONDS = 10.0
POLL_SECONDS = 0.25
NO_WORKER_SECONDS = 60.0
"""How long a run waits for a worker before it ends; what is done is kept."""
GPU = "GPU"
"""The resource by which a Dask worker says that it has a GPU."""


class DaskExecutor:
    """Runs jobs on the cluster whose scheduler listens at `address`; use it as a context manager.

    Give the Dask workers one thread each: a job takes one worker. A job whose worker is lost is started again by the
    scheduler on another one (its `allowed-failures`, by default three times), then recorded as crashed. Jobs that want
    a GPU go to the workers that were started with the resource `GPU` (`dask worker --resources GPU=1`), where there is
    one when the run begins; without any they go anywhere.
    """

    def __init__(self, address: str, logs: Path, *, threads: int = 1, preload: Sequence[str] = ()) -> None:
        self.address, self.logs, self.threads, self.preload = address, logs, threads, tuple(preload)
        self._client: Any = None

    def __enter__(self) -> DaskExecutor:
        try:
            from distributed import Client
        except ImportError as error:
            raise MissingExtraError("distributed", "dask", "a cluster") from error
        for name in ("distributed", "distributed.client", "distributed.comm", "tornado.application", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL)  # what falls away is told in one line, by us
        try:
            self._client = Client(self.address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:
            raise InputError(
                "no Dask scheduler answers", where=self.address, fix="start one, or correct --cluster"
            ) from error
        self.logs.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def run(self, jobs: list[Job], watcher: Watcher) -> None:
        """Submit all jobs, hand on what they tell, and return when each was reported as finished."""
        told: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        topic = f"recassay-{uuid4().hex}"
        self._client.subscribe_topic(topic, lambda event: told.put(("event", event[1])))
        waiting = {job.id: job for job in jobs}
        heard: dict[str, tuple[str, int]] = {}
        if not waiting:
            return
        alone = _Alone(self.address, watcher)
        while not (workers := self._workers(len(waiting))):
            alone.wait(POLL_SECONDS)
        with_gpu = any(worker.get("resources", {}).get(GPU, 0) >= 1 for worker in workers.values())
        futures = [self._submit(job, topic, told, {GPU: 1} if job.gpu and with_gpu else None) for job in jobs]
        try:
            while waiting:
                # A queue that blocks hears no Ctrl-C on some systems: it is asked again and again.
                try:
                    kind, said = told.get(timeout=POLL_SECONDS)
                except queue.Empty:
                    alone.wait(0.0) if not self._workers(len(waiting)) else alone.over()
                    continue
                name = said["job"] if kind == "event" else said.key.partition(":")[2]
                job = waiting.get(name)
                if job is None:
                    continue
                if kind == "event":
                    self._hear(job, said, heard, watcher)
                else:
                    if said.status in ("lost", "cancelled"):
                        raise self._lost(len(waiting))
                    self._conclude(job, said, heard.get(name, ("", 0)), watcher)
                    del waiting[name]
        finally:
            with contextlib.suppress(Exception):  # the scheduler may be gone
                self._client.cancel(futures)
                self._client.unsubscribe_topic(topic)

    def _workers(self, outstanding: int) -> Mapping[str, Any]:
        """The workers of the cluster, by address; a scheduler that is gone ends the run, and no cell with it."""
        try:
            if self._client.status != "running":
                raise self._lost(outstanding)
            found: Mapping[str, Any] = self._client.scheduler_info(n_workers=-1)["workers"]
        except (OSError, TimeoutError):
            raise self._lost(outstanding) from None
        return found

    def _lost(self, outstanding: int) -> RecAssayError:
        return RecAssayError(
            f"the scheduler is gone, with {outstanding} jobs not done",
            where=self.address,
            fix="what is done is kept: start a scheduler and run the same command again",
        )

    def _submit(
        self, job: Job, topic: str, told: queue.SimpleQueue[tuple[str, Any]], resources: dict[str, int] | None
    ) -> Any:
        request = {
            "job": job.id,
            "function": job.function,
            "payload": dict(job.payload()),
            "seconds": job.seconds,
            "memory": job.memory,
            "logs": str(self.logs),
            "threads": self.threads,
            "preload": self.preload,
            "topic": topic,
        }
        future = self._client.submit(run_job, request, key=f"{topic}:{job.id}", pure=False, resources=resources)
        future.add_done_callback(lambda done: told.put(("done", done)))
        return future

    def _hear(self, job: Job, said: Mapping[str, Any], heard: dict[str, tuple[str, int]], watcher: Watcher) -> None:
        """A start, or what a job told; `heard` counts the latter by the start they belong to."""
        if "event" not in said:
            heard[job.id] = (said["start"], 0)
            watcher.started(job)
        elif heard.get(job.id, ("", 0))[0] == said["start"]:
            heard[job.id] = (said["start"], heard[job.id][1] + 1)
            watcher.event(job, said["event"])

    def _conclude(self, job: Job, future: Any, heard: tuple[str, int], watcher: Watcher) -> None:
        """The outcome, after what the job told and the scheduler has not yet delivered."""
        if future.status != "finished":
            said = f"the cluster gave it up: {type(future.exception()).__name__}: {future.exception()}"
            watcher.finished(job, Outcome("crashed", reason=" ".join(said.split())[:500]))
            return
        answer = future.result()
        start, count = heard
        for event in answer["events"][count if start == answer["start"] else 0 :]:
            watcher.event(job, event)
        watcher.finished(job, Outcome(**answer["outcome"]))


class _Alone:
    """A scheduler without workers: it is said once, and borne for a while."""

    def __init__(self, address: str, watcher: Watcher) -> None:
        self.address, self.watcher, self.since = address, watcher, 0.0

    def over(self) -> None:
        """There are workers again."""
        self.since = 0.0

    def wait(self, seconds: float) -> None:
        """Wait a little; `RecAssayError` where nobody has come for `NO_WORKER_SECONDS`."""
        if not self.since:
            self.since = time.monotonic()
            self.watcher.waiting(
                f"the scheduler at {self.address} has no workers; waiting up to {NO_WORKER_SECONDS:g} s for one"
            )
        if time.monotonic() - self.since > NO_WORKER_SECONDS:
            raise RecAssayError(
                f"the scheduler has had no worker for {NO_WORKER_SECONDS:g} seconds",
                where=self.address,
                fix=f"what is done is kept: start workers (dask worker {self.address}) and run the same command again",
            )
        time.sleep(seconds)


class _Reporter:
    """The watcher on the worker's side: it sends everything on, and keeps it for the answer."""

    def __init__(self, job: str, topic: str) -> None:
        from distributed import get_worker

        self.key = f"{topic}:{job}"
        self.worker, self.job, self.topic, self.start = get_worker(), job, topic, uuid4().hex
        self.events: list[Mapping[str, Any]] = []
        self.outcome: Outcome | None = None

    def started(self, job: Job) -> None:
        self._send({})

    def event(self, job: Job, event: Mapping[str, Any]) -> None:
        self.events.append(dict(event))
        self._send({"event": dict(event)})

    def finished(self, job: Job, outcome: Outcome) -> None:
        self.outcome = outcome

    def waiting(self, reason: str) -> None:
        """A local executor never waits."""

    def unwanted(self) -> bool:
        """Whether the scheduler has given this task up, as it does when the driver is gone."""
        task = self.worker.state.tasks.get(self.key)
        return task is None or task.state == "cancelled"

    def _send(self, more: Mapping[str, Any]) -> None:
        self.worker.log_event(self.topic, {"job": self.job, "start": self.start, **more})


def run_job(request: Mapping[str, Any]) -> dict[str, Any]:
    """What a Dask worker does: one job in a process of its own, and its outcome as plain data."""
    job = Job(request["job"], request["function"], lambda: request["payload"], request["seconds"], request["memory"])
    reporter = _Reporter(job.id, request["topic"])
    logs = Path(request["logs"])
    with LocalExecutor(1, logs, threads=request["threads"], preload=request["preload"]) as executor:
        executor.run([job], reporter, unwanted=reporter.unwanted)
    if reporter.outcome is None:
        raise RuntimeError("the driver is gone")
    return {"outcome": asdict(reporter.outcome), "events": reporter.events, "start": reporter.start}
