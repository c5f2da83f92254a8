"""Jobs: what an executor runs. It knows neither recommenders nor classifiers, only specs, functions and limits."""

from __future__ import annotations

import errno
import re
import traceback
from bisect import insort
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, Protocol, TypeAlias

from recassay.core.errors import RecAssayError, from_os
from recassay.core.system.printable import one_line, printable

Emit: TypeAlias = Callable[[Mapping[str, Any]], None]
"""Sends plain data to the driver while a job runs."""

JobFunction: TypeAlias = Callable[[Mapping[str, Any], Emit], Mapping[str, Any]]
"""What a job does, in its own process: from a spec (plain data) to a record (plain data)."""


TRIAL, PROPOSED, CHECKED = "trial", "parameters", "checked"
"""Keys of events: a trial that is done, which is progress; what is about to be tried; and, by host, the state in which
the files of its split were found sound, which later jobs on that split get to know.
"""


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of work: `function` is `module:name` of a `JobFunction`; `payload` makes its spec when it starts.

    The payload is asked for at every start, so that a job which is started again learns what it already did.
    """

    id: str
    function: str
    payload: Callable[[], Mapping[str, Any]]
    seconds: float | None = None
    memory: int | None = None
    """The most resident bytes."""
    gpu: bool = False
    """Whether it computes on a GPU where there is one."""
    gpu_need: Callable[[], int | None] = lambda: None
    """The bytes of a GPU that it states, where it is known: it shares one with others whose needs fit, too."""
    need: Callable[[], int | None] = lambda: None
    """The bytes that it is expected to need, where that is known: on a cluster it goes where there is as much."""
    priority: float = 0.0
    """Higher starts earlier; among equals the order is kept."""


class JobQueue:
    """Jobs that wait, highest priority first; what ends may add further ones while an executor takes from it."""

    def __init__(self, jobs: Iterable[Job] = ()) -> None:
        self._waiting: list[Job] = []
        for job in jobs:
            self.add(job)

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, job: Job) -> None:
        """Let a job wait, behind those of its priority."""
        insort(self._waiting, job, key=_order)

    def take(self, accepts: Callable[[Job], bool] = lambda _: True) -> Job | None:
        """The first waiting job that `accepts` says can start now, which then waits no more."""
        place = next((place for place, job in enumerate(self._waiting) if accepts(job)), None)
        return None if place is None else self._waiting.pop(place)

    def drop(self, unwanted: Callable[[Job], bool]) -> list[Job]:
        """Take out the jobs that are not wanted any more."""
        dropped = [job for job in self._waiting if unwanted(job)]
        self._waiting = [job for job in self._waiting if not unwanted(job)]
        return dropped

    def reorder(self, priority: Callable[[Job], float]) -> None:
        """Give every waiting job the priority that is known by now."""
        self._waiting = sorted((replace(job, priority=priority(job)) for job in self._waiting), key=_order)


def _order(job: Job) -> float:
    return -job.priority


def as_queue(jobs: Iterable[Job] | JobQueue) -> JobQueue:
    """A queue as it is, other jobs as a queue in their order."""
    return jobs if isinstance(jobs, JobQueue) else JobQueue(jobs)


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


NOT_WRITTEN = "not written"
"""The status of a job that could not write, because the disk is full or fails. It says nothing of a cell, so the next
run tries the cell again.
"""

_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}
_OF_THE_DISK = _FULL | {errno.EFBIG, errno.EIO, errno.EROFS, getattr(errno, "ESTALE", errno.EIO)}
_TOLD = re.compile(
    r"No space left on device|Disk quota exceeded|File too large|disk is full|\d+ requested and \d+ written"
)
"""What libraries say that pass an error of the disk on as text; numpy's short writes have no number at all."""


class Watcher:
    """What the driver does while jobs run: nothing, where a method is not its own. Calls come from one thread."""

    def started(self, job: Job) -> None:
        """A process began with the job."""

    def event(self, job: Job, event: Mapping[str, Any]) -> None:
        """The job sent something."""

    def finished(self, job: Job, outcome: Outcome) -> None:
        """The job ended, well or badly."""

    def waiting(self, reason: str) -> None:
        """Nothing can start now, and why."""

    def note(self, said: str) -> None:
        """Something that people may want to know, once."""


class Collected(Watcher):
    """A watcher that only remembers how jobs ended."""

    def __init__(self) -> None:
        self.outcomes: dict[str, Outcome] = {}

    def finished(self, job: Job, outcome: Outcome) -> None:
        """Remember how it ended."""
        self.outcomes[job.id] = outcome


class Executor(Protocol):
    """Whatever runs jobs: processes of this machine, or a cluster."""

    def run(self, jobs: Iterable[Job] | JobQueue, watcher: Watcher) -> None:
        """Run all jobs, those too that are added to the queue meanwhile; return when each was reported as finished."""


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
        return printable(str(error))
    if isinstance(error, OSError) and error.errno in _OF_THE_DISK:
        return str(from_os(error))
    message = one_line(_text(error), 500)
    frames = traceback.extract_tb(error.__traceback__)
    outer = [frame for frame in frames if "site-packages" not in frame.filename and "<" not in frame.filename] or frames
    place = f" ({PurePath(outer[-1].filename).name}, line {outer[-1].lineno}, in {outer[-1].name})" if outer else ""
    return f"{type(error).__name__}{': ' if message else ''}{message}{place}"


def status_of(error: BaseException) -> str:
    """The status of a job that ended with `error`."""
    if isinstance(error, JobFailure):
        return error.status
    if any(_is_of_the_disk(link) for link in _chain(error)):
        return NOT_WRITTEN
    return "memory" if isinstance(error, MemoryError) else "failed"


def _text(error: BaseException) -> str:
    """What an exception says; one of a plugin may fail even at that."""
    try:
        return str(error)
    except Exception:
        return "an error that cannot be shown"


def _is_of_the_disk(error: BaseException) -> bool:
    return (isinstance(error, OSError) and error.errno in _OF_THE_DISK) or bool(_TOLD.search(_text(error)))


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An exception and those that led to it, each once."""
    waiting, seen = [error], set()
    while waiting:
        link = waiting.pop()
        if id(link) not in seen:
            seen.add(id(link))
            yield link
            waiting += [earlier for earlier in (link.__cause__, link.__context__) if earlier is not None]
