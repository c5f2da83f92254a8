"""Jobs: what an executor runs. It knows neither recommenders nor classifiers, only specs, functions and limits."""

from __future__ import annotations

import errno
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Protocol, TypeAlias

from recassay.core.errors import RecAssayError, from_os

Emit: TypeAlias = Callable[[Mapping[str, Any]], None]
"""Sends plain data to the driver while a job runs."""

JobFunction: TypeAlias = Callable[[Mapping[str, Any], Emit], Mapping[str, Any]]
"""What a job does, in its own process: from a spec (plain data) to a record (plain data)."""


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of work: `function` is `module:name` of a `JobFunction`; `payload` makes its spec when it starts.

    The payload is asked for at every start, so that a job which is started again can be told what it already did.
    """

    id: str
    function: str
    payload: Callable[[], Mapping[str, Any]]
    seconds: float | None = None
    memory: int | None = None
    """The most resident bytes."""
    gpu: bool = False
    """Whether it computes on a GPU where there is one: such jobs take turns there."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a job ended: `done` with its record, or another status with a reason (one line) and perhaps a traceback."""

    status: str
    record: Mapping[str, Any] | None = None
    reason: str | None = None
    detail: str | None = None
    seconds: float = 0.0
    attempts: int = 1
    peak_memory: int | None = None


class Watcher(Protocol):
    """What the driver does while jobs run; all calls come from the thread that runs the executor."""

    def started(self, job: Job) -> None:
        """A process began with the job."""

    def event(self, job: Job, event: Mapping[str, Any]) -> None:
        """The job sent something."""

    def finished(self, job: Job, outcome: Outcome) -> None:
        """The job ended, well or badly."""

    def waiting(self, reason: str) -> None:
        """Nothing can start now, and why."""


class Executor(Protocol):
    """Whatever runs jobs: processes of this machine, or a cluster."""

    def run(self, jobs: list[Job], watcher: Watcher) -> None:
        """Run all jobs; return when each was reported as finished."""


class JobFailure(RecAssayError):
    """A job says itself how it ends: with a status other than `failed`."""

    def __init__(self, status: str, reason: str) -> None:
        super().__init__(reason)
        self.status = status


def reason_of(error: BaseException) -> str:
    """One line on an exception: our own message as it is, another with its type and where it was raised.

    Where it was raised in an installed library, the line that called the library is named.
    """
    if isinstance(error, RecAssayError):
        return str(error)
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)):
        return str(from_os(error))
    said = " ".join(str(error).split())[:500]
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "site-packages" not in frame.filename and "<" not in frame.filename] or frames
    place = f" ({PurePath(own[-1].filename).name}, line {own[-1].lineno}, in {own[-1].name})" if own else ""
    return f"{type(error).__name__}{': ' if said else ''}{said}{place}"


def status_of(error: BaseException) -> str:
    """The status of a job that ended with `error`."""
    if isinstance(error, JobFailure):
        return error.status
    return "memory" if isinstance(error, MemoryError) else "failed"
