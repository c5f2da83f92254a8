"""Studies without worker processes: for tests of what a study leaves behind, not of how its cells are run."""

from __future__ import annotations

import importlib
import json
import time
import traceback
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from recassay.runner.jobs import Job, JobQueue, Outcome, Watcher, as_queue, reason_of, status_of


class InProcess:
    """Runs each job in this process, with what goes in and out as the plain data that a worker would be sent."""

    def __init__(self, workers: int, logs: Path, **_: object) -> None:
        pass

    def __enter__(self) -> InProcess:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def run(self, jobs: Iterable[Job] | JobQueue, watcher: Watcher) -> None:
        queue = as_queue(jobs)
        while (job := queue.take()) is not None:
            watcher.started(job)
            watcher.finished(job, self._outcome(job, watcher))

    def _outcome(self, job: Job, watcher: Watcher) -> Outcome:
        module, _, name = job.function.partition(":")
        begin = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                function = getattr(importlib.import_module(module), name)
                record = function(_sent(job.payload()), lambda event: watcher.event(job, _sent(event)))
            return Outcome("done", record=_sent(record), seconds=time.perf_counter() - begin)
        except Exception as error:
            seconds = time.perf_counter() - begin
            return Outcome(status_of(error), reason=reason_of(error), detail=traceback.format_exc(), seconds=seconds)


def _sent(message: Any) -> Any:
    return json.loads(json.dumps(message, allow_nan=False))


@contextmanager
def without_processes() -> Iterator[None]:
    """Studies that run inside have no processes of their own."""
    with pytest.MonkeyPatch.context() as patch:
        for driver in ("runner.drive", "recommenders.study", "recommenders.trying", "api.recommend"):
            patch.setattr(f"recassay.{driver}.LocalExecutor", InProcess)
        yield


@pytest.fixture
def in_process() -> Iterator[None]:
    """For a whole test: see `without_processes`."""
    with without_processes():
        yield
