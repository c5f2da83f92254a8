"""The cluster executor: jobs on the workers of a Dask scheduler, the study folder on a disk that all of them see.

A Dask task runs one job through a `LocalExecutor` of its own, so that a job has the same process, limits and log on a
cluster as on one machine. What a job tells while it runs reaches the driver as events of the scheduler; the driver
alone writes to the store.
"""

from __future__ import annotations

import queue
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from uuid import uuid4

from recassay.core.errors import InputError, MissingExtraError
from recassay.runner.jobs import Job, Outcome, Watcher
from recassay.runner.local import LocalExecutor

CONNECT_SECONDS = 10.0
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
        workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        with_gpu = any(worker.get("resources", {}).get(GPU, 0) >= 1 for worker in workers)
        futures = [self._submit(job, topic, told, {GPU: 1} if job.gpu and with_gpu else None) for job in jobs]
        try:
            while waiting:
                kind, said = told.get()
                name = said["job"] if kind == "event" else said.key.partition(":")[2]
                job = waiting.get(name)
                if job is None:
                    continue
                if kind == "event":
                    self._hear(job, said, heard, watcher)
                else:
                    self._conclude(job, said, heard.get(name, ("", 0)), watcher)
                    del waiting[name]
        finally:
            self._client.cancel(futures)
            self._client.unsubscribe_topic(topic)

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
            reason = "its worker was lost, and those that took it over too" if future.status == "lost" else None
            said = reason or f"the cluster gave it up: {type(future.exception()).__name__}: {future.exception()}"
            watcher.finished(job, Outcome("crashed", reason=" ".join(said.split())[:500]))
            return
        answer = future.result()
        start, count = heard
        for event in answer["events"][count if start == answer["start"] else 0 :]:
            watcher.event(job, event)
        watcher.finished(job, Outcome(**answer["outcome"]))


class _Reporter:
    """The watcher on the worker's side: it sends everything on, and keeps it for the answer."""

    def __init__(self, job: str, topic: str) -> None:
        from distributed import get_worker

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

    def _send(self, more: Mapping[str, Any]) -> None:
        self.worker.log_event(self.topic, {"job": self.job, "start": self.start, **more})


def run_job(request: Mapping[str, Any]) -> dict[str, Any]:
    """What a Dask worker does: one job in a process of its own, and its outcome as plain data."""
    job = Job(request["job"], request["function"], lambda: request["payload"], request["seconds"], request["memory"])
    reporter = _Reporter(job.id, request["topic"])
    logs = Path(request["logs"])
    with LocalExecutor(1, logs, threads=request["threads"], preload=request["preload"]) as executor:
        executor.run([job], reporter)
    assert reporter.outcome is not None
    return {"outcome": asdict(reporter.outcome), "events": reporter.events, "start": reporter.start}
