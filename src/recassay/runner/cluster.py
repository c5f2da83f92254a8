"""The cluster executor: jobs on the workers of a Dask scheduler, the study folder on a disk that all of them see.

A Dask task runs one job through a `LocalExecutor` of its worker, so that a job has the same process, limits and log on
a cluster as on one machine. What a job tells while it runs reaches the driver as events of the scheduler; the driver
alone writes to the store. A few jobs a worker are submitted ahead, made when they are, and forgotten when they end: the
memory of the driver does not grow with their number.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from recassay.core.errors import InputError, MissingExtraError, RecAssayError
from recassay.runner.cluster_worker import run_job
from recassay.runner.jobs import Job, JobQueue, Outcome, Watcher, as_queue
from recassay.runner.places import Places
from recassay.store.store import MANIFEST_FILE

CONNECT_SECONDS = 10.0
POLL_SECONDS = 0.25
NO_WORKER_SECONDS = 60.0
"""How long a run waits for a worker before it ends; what is done is kept."""
LOOK_SECONDS = 1.0
"""How often the driver looks which workers there are."""


@dataclass(slots=True)
class _Submitted:
    """A job that the scheduler has."""

    job: Job
    future: Any
    asked: Mapping[str, int] | None
    """The resources that it wants of a worker."""
    unserved: float = 0.0
    """Since when no worker has them; 0: there is one."""


class DaskExecutor:
    """Runs jobs on the cluster whose scheduler listens at `address`; use it as a context manager.

    Give the Dask workers one thread each: a job takes one worker. A job whose worker is lost is started again by the
    scheduler on another one (its `allowed-failures`, by default three times), then recorded as crashed. Jobs that want
    a GPU go to the workers that were started with the resource `GPU` (`dask worker --resources GPU=1`), where there is
    one; without any they go anywhere. So do jobs whose memory is known, where workers declare `MEMORY` in bytes.
    """

    def __init__(self, address: str, folder: Path, *, threads: int = 1, preload: Sequence[str] = ()) -> None:
        self.address, self.folder, self.threads, self.preload = address, folder, threads, tuple(preload)
        self.name = uuid4().hex
        self._client: Any = None
        self._told_of_dashboard = False
        self._topic = ""
        """What the jobs of a run send their events under."""
        self._messages: queue.SimpleQueue[tuple[str, str, Any]] = queue.SimpleQueue()

    def __enter__(self) -> DaskExecutor:
        try:
            from distributed import Client
        except ImportError as error:
            raise MissingExtraError("distributed", "dask", "a cluster") from error
        for name in ("distributed", "distributed.client", "distributed.comm", "tornado.application", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL)  # we report what falls away, in one line
        try:
            self._client = Client(self.address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:
            raise InputError(
                "no Dask scheduler answers", where=self.address, fix="start one, or correct `cluster`"
            ) from error
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def run(self, jobs: Iterable[Job] | JobQueue, watcher: Watcher) -> None:
        """Submit jobs as there is room, hand on what they tell, and return when each was reported as finished."""
        waiting = as_queue(jobs)
        if not waiting:
            return
        self._messages, self._topic = queue.SimpleQueue(), f"recassay-{uuid4().hex}"
        put = self._messages.put
        self._client.subscribe_topic(self._topic, lambda event: put(("event", event[1]["job"], event[1])))
        with contextlib.suppress(Exception):  # an ornament
            if not self._told_of_dashboard and (link := self._client.dashboard_link):
                self._told_of_dashboard = True
                watcher.note(f"Dask's dashboard: {link}")
        flight, places, looked, alone = dict[str, _Submitted](), Places({}), 0.0, 0.0
        try:
            while waiting or flight:
                if time.monotonic() - looked > LOOK_SECONDS:
                    places, looked = Places(self._workers(len(waiting) + len(flight))), time.monotonic()
                    alone = 0.0 if places.threads else self._wait_for_workers(alone, watcher)
                    self._move_unserved(flight, places, watcher)
                while (job := places.take(waiting, [entry.job for entry in flight.values()])) is not None:
                    flight[job.id] = self._submit(job, places.resources(job))
                # A queue that blocks hears no Ctrl-C on some systems: it is asked again and again.
                try:
                    kind, name, message = self._messages.get(timeout=POLL_SECONDS)
                except queue.Empty:
                    continue
                submitted = flight.get(name)
                if submitted is None or (kind == "done" and message is not submitted.future):
                    continue
                if kind == "event" and "event" in message:
                    watcher.event(submitted.job, message["event"])
                elif kind == "event":
                    watcher.started(submitted.job)
                elif message.status in ("lost", "cancelled"):
                    raise self._lost(len(waiting) + len(flight))
                else:
                    del flight[name]
                    self._conclude(submitted, watcher)
        finally:
            with contextlib.suppress(Exception):  # the scheduler may be gone
                self._client.cancel([entry.future for entry in flight.values()])
                self._client.unsubscribe_topic(self._topic)

    def _workers(self, outstanding: int) -> Mapping[str, Any]:
        """The workers of the cluster, by address; a scheduler that is gone ends the run, and no cell with it."""
        try:
            if self._client.status != "running":
                raise self._lost(outstanding)
            workers: Mapping[str, Any] = self._client.scheduler_info(n_workers=-1)["workers"]
        except (OSError, TimeoutError):
            raise self._lost(outstanding) from None
        return workers

    def _lost(self, outstanding: int) -> RecAssayError:
        return RecAssayError(
            f"the scheduler is gone, with {outstanding} jobs not done",
            where=self.address,
            fix="what is done is kept: start a scheduler and run the same command again",
        )

    def _move_unserved(self, flight: dict[str, _Submitted], places: Places, watcher: Watcher) -> None:
        """Jobs whose resources left with their workers wait for such a worker, and then go where there is room."""
        for name, entry in flight.items() if places.threads else ():
            if places.offered(entry.asked):
                entry.unserved = 0.0
            elif not entry.unserved:
                entry.unserved = time.monotonic()
                watcher.waiting(
                    f"no worker has what {name} asks for ({', '.join(entry.asked or ())}); waiting up to "
                    f"{NO_WORKER_SECONDS:g} s for one, then any worker may run it"
                )
            elif time.monotonic() - entry.unserved > NO_WORKER_SECONDS:
                self._client.cancel([entry.future])
                flight[name] = self._submit(entry.job, places.resources(entry.job))

    def _submit(self, job: Job, asked: Mapping[str, int] | None) -> _Submitted:
        key, put = f"{self._topic}:{uuid4().hex}:{job.id}", self._messages.put
        request = {
            "key": key,
            "job": job.id,
            "function": job.function,
            "payload": dict(job.payload()),
            "seconds": job.seconds,
            "memory": job.memory,
            "mark": str(self.folder / MANIFEST_FILE),
            "logs": str(self.folder / "logs"),
            "threads": self.threads,
            "preload": self.preload,
            "topic": self._topic,
            "run": self.name,
        }
        options = {"pure": False, "resources": asked, "priority": job.priority}
        future = self._client.submit(run_job, request, key=key, **options)
        future.add_done_callback(lambda done: put(("done", job.id, done)))
        return _Submitted(job, future, asked)

    def _conclude(self, submitted: _Submitted, watcher: Watcher) -> None:
        """The outcome, after all that the job told: the scheduler may not have delivered some of it."""
        job, future = submitted.job, submitted.future
        if future.status != "finished":
            why = f"the cluster gave it up: {type(future.exception()).__name__}: {future.exception()}"
            watcher.finished(job, Outcome("crashed", reason=" ".join(why.split())[:500]))
            return
        answer = future.result()
        if "blind" in answer:
            raise InputError(
                f"the folder of the study is not there on the worker {answer['blind']}",
                where=str(self.folder),
                fix="put it on a disk that all workers see under this path, and run the same command again",
            )
        for event in answer["events"]:
            watcher.event(job, event)
        watcher.finished(job, Outcome(**answer["outcome"]))

    def _wait_for_workers(self, since: float, watcher: Watcher) -> float:
        """Since when there are no workers: said once, and borne for `NO_WORKER_SECONDS`."""
        if not since:
            watcher.waiting(
                f"the scheduler at {self.address} has no workers; waiting up to {NO_WORKER_SECONDS:g} s for one"
            )
            return time.monotonic()
        if time.monotonic() - since > NO_WORKER_SECONDS:
            raise RecAssayError(
                f"the scheduler has had no worker for {NO_WORKER_SECONDS:g} seconds",
                where=self.address,
                fix=f"what is done is kept: start workers (dask worker {self.address}) and run the same command again",
            )
        return since
