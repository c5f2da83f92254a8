"""The local executor: jobs in processes of this machine, each with a time limit and a memory limit."""

from __future__ import annotations

import contextlib
import json
import math
import os
import secrets
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from recassay.core.errors import RecAssayError
from recassay.core.system.files import is_full
from recassay.core.system.printable import one_line
from recassay.runner.gpus import GpuPlaces
from recassay.runner.jobs import NOT_WRITTEN, TRIAL, Job, JobQueue, Outcome, Watcher, as_queue
from recassay.runner.memory import tree_bytes

POLL_SECONDS = 0.05
"""How often limits are looked at; a job may overstep them for this long."""

END_SECONDS = 3.0
"""How long a worker may take to end what its job has started."""

MOST_ATTEMPTS = 3
"""Starts in succession of a job that is killed from outside (as the system does when memory is short) before it could
report anything.
"""

FORKS = sys.platform == "linux"
"""Whether a process imports once what jobs need and forks for each; elsewhere every job has a fresh process."""

_LIBRARIES = "OMP_NUM OPENBLAS_NUM MKL_NUM NUMBA_NUM POLARS_MAX RAYON_NUM VECLIB_MAXIMUM NUMEXPR_NUM"
THREAD_VARIABLES = tuple(f"{library}_THREADS" for library in _LIBRARIES.split())


@dataclass(slots=True)
class _Running:
    """A job in a process."""

    job: Job
    attempts: int
    fruitless: int
    """How many starts before this one ended without a word."""
    began: float
    token: str
    """How its own lines begin; a line that does not was written by something else."""
    pid: int | None = None
    peak: int = 0
    answer: Outcome | None = None
    """How it ended, in its own words."""
    verdict: Outcome | None = None


@dataclass(slots=True, eq=False)
class _Slot:
    """A worker process and what it is doing."""

    process: subprocess.Popen[bytes]
    ready: bool = False
    buffer: bytearray = field(default_factory=bytearray)
    running: _Running | None = None
    gpu: str | None = None
    """The GPU that its job has a place on."""
    gpu_need: int | None = None

    @property
    def output(self) -> int:
        assert self.process.stdout is not None
        return self.process.stdout.fileno()


class LocalExecutor:
    """Runs jobs in `workers` processes; use it as a context manager, which ends them all.

    `threads` is what BLAS, OpenMP, numba and polars may use in each process. Output of jobs goes to `logs`/ID.log.

    A job that wants a GPU waits until `gpus` have a place for it and sees no other GPU, while the jobs behind it that
    want none go on. Without any, all jobs are alike.
    """

    def __init__(
        self,
        workers: int,
        logs: Path,
        *,
        threads: int = 1,
        preload: Sequence[str] = (),
        gpus: GpuPlaces | None = None,
    ) -> None:
        self.workers, self.logs, self.threads, self.preload = workers, logs, threads, preload
        self.gpus = gpus or GpuPlaces(())
        self.fork = FORKS
        self._slots: list[_Slot] = []
        self._selector = selectors.DefaultSelector()
        self._failed_starts = 0
        self._lost: dict[str, tuple[int, int]] = {}
        """By job whose process was lost, the attempts and fruitless starts of its next one."""

    def __enter__(self) -> LocalExecutor:
        self.logs.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(self, *_: object) -> None:
        for slot in list(self._slots):
            self._end(slot)
        self._selector.close()

    def run(
        self, jobs: Iterable[Job] | JobQueue, watcher: Watcher, *, unwanted: Callable[[], bool] | None = None
    ) -> None:
        """Run all jobs in their order as processes become free, those too that are added to the queue meanwhile.

        It returns when each was reported as finished. `unwanted` is asked now and then; where it says so, the run ends
        without a further report.
        """
        queue = as_queue(jobs)
        while queue or any(slot.running for slot in self._slots):
            while len(self._slots) < self.workers:
                self._hire()
            for slot in self._slots:
                if slot.running is None and slot.ready and (job := queue.take(self._can_start)) is not None:
                    self._start(slot, job, watcher)
            for key, _ in self._selector.select(POLL_SECONDS):
                slot = key.data
                ended = self._read(slot, watcher)
                if ended is not None and slot.running is not None:
                    self._conclude(slot, ended, queue, watcher)
            self._enforce()
            if unwanted is not None and unwanted():
                return

    def _can_start(self, job: Job) -> bool:
        return not job.gpu or not self.gpus or self.gpus.find(job.gpu_need()) is not None

    def _hire(self) -> None:
        environment = dict(os.environ) | dict.fromkeys(THREAD_VARIABLES, str(self.threads)) | {"PYTHONHASHSEED": "0"}
        home = Path(__file__).resolve().parents[2]
        if home.name not in ("site-packages", "dist-packages"):
            environment["PYTHONPATH"] = os.pathsep.join(filter(None, [environment.get("PYTHONPATH"), str(home)]))
        command = [sys.executable, "-P", "-m", "recassay.runner.worker", "--driver", str(os.getpid())]
        command += ["--preload", ",".join(self.preload)] if self.fork else ["--once"]
        pipe = subprocess.PIPE
        with (self.logs / "worker.log").open("ab") as log:
            process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=log, env=environment, start_new_session=True
            )
        slot = _Slot(process, ready=not self.fork)
        self._slots.append(slot)
        self._selector.register(slot.output, selectors.EVENT_READ, slot)

    def _start(self, slot: _Slot, job: Job, watcher: Watcher) -> None:
        token = secrets.token_hex(16)
        request = {
            "function": job.function,
            "payload": job.payload(),
            "log": str(self.logs / f"{job.id}.log"),
            "token": token,
        }
        if job.gpu and self.gpus:
            slot.gpu_need = job.gpu_need()
            slot.gpu = self.gpus.find(slot.gpu_need)
            assert slot.gpu is not None
            self.gpus.take(slot.gpu, slot.gpu_need)
            request["environment"] = {"CUDA_VISIBLE_DEVICES": slot.gpu}
        slot.running = _Running(job, *self._lost.pop(job.id, (1, 0)), time.monotonic(), token)
        watcher.started(job)
        assert slot.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            slot.process.stdin.write(json.dumps(request).encode() + b"\n")
            slot.process.stdin.flush()

    def _read(self, slot: _Slot, watcher: Watcher) -> int | None:
        """Take what the worker said; the exit code of the job's process when it has ended, negative for a signal."""
        chunk = os.read(slot.output, 1 << 16)
        slot.buffer += chunk
        *lines, rest = bytes(slot.buffer).split(b"\n")
        slot.buffer[:] = rest
        ended: int | None = None
        for line in lines:
            message = _message(line) if self.fork else {"said": line.decode("utf-8", "replace")}
            if "ready" in message:
                slot.ready, self._failed_starts = True, 0
            elif "exit" in message:
                ended = int(message["exit"])
            elif "pid" in message and slot.running is not None:
                slot.running.pid, slot.running.began = int(message["pid"]), time.monotonic()
            elif "said" in message and slot.running is not None:
                self._hear(slot, slot.running, str(message["said"]), watcher)
        if not chunk:
            if not self.fork and slot.running is not None:
                ended = slot.process.wait()
            self._lose(slot)
            return -signal.SIGKILL if ended is None else ended
        return ended

    def _hear(self, slot: _Slot, running: _Running, line: str, watcher: Watcher) -> None:
        """What a job said; a line that is not ours ends the job, and nothing else."""
        if running.verdict is not None:
            return
        message = _message(line.removeprefix(running.token).encode()) if line.startswith(running.token) else {}
        if not message:
            running.verdict = Outcome(
                "crashed", reason=f"it wrote into the channel of its process: {one_line(line, 80)!r}"
            )
            _kill(slot)
        elif "pid" in message:
            if not self.fork:
                running.pid, running.began = int(message["pid"]), time.monotonic()
        elif "event" in message and isinstance(message["event"], dict):
            if TRIAL in message["event"]:
                running.fruitless = -1
            watcher.event(running.job, message["event"])
        elif "status" in message:
            running.answer = Outcome(**message)

    def _conclude(self, slot: _Slot, code: int, queue: JobQueue, watcher: Watcher) -> None:
        running = slot.running
        assert running is not None
        slot.running = None
        if slot.gpu is not None:
            self.gpus.give(slot.gpu, slot.gpu_need)
            slot.gpu = None
        job, seconds = running.job, time.monotonic() - running.began
        outcome = running.verdict
        if running.answer is not None and code == 0 and outcome is None:
            outcome = running.answer
        elif outcome is None and code == -signal.SIGKILL:
            if running.fruitless + 1 < MOST_ATTEMPTS:
                self._lost[job.id] = (running.attempts + 1, running.fruitless + 1)
                queue.add(replace(job, priority=math.inf))  # before those that wait
                return
            outcome = Outcome(
                "crashed",
                reason=f"its process was killed from outside {MOST_ATTEMPTS} times in a row "
                "(the system may be out of memory)",
            )
        elif outcome is None:
            # What maps a file into memory is killed where the disk is full, and cannot say why.
            outcome = Outcome(NOT_WRITTEN if is_full(self.logs) else "crashed", reason=_crash(code, job.id))
        outcome = replace(outcome, seconds=seconds, attempts=running.attempts, peak_memory=running.peak or None)
        watcher.finished(job, outcome)
        log = self.logs / f"{job.id}.log"
        with contextlib.suppress(OSError):
            if log.stat().st_size == 0:
                log.unlink()

    def _enforce(self) -> None:
        """End the jobs that are beyond their limits; how they ended is reported when their process is gone."""
        now = time.monotonic()
        for slot in self._slots:
            running = slot.running
            if running is None or running.pid is None or running.verdict is not None:
                continue
            if slot.process.poll() is not None:
                _kill(slot)  # what the job left behind would keep the worker's output open
                continue
            job = running.job
            held = tree_bytes(running.pid)
            running.peak = max(running.peak, held)
            if job.seconds is not None and now - running.began > job.seconds:
                reason = f"ran longer than the {job.seconds:g} seconds of budget.seconds_per_cell"
                running.verdict = Outcome("timeout", reason=reason)
            elif job.memory is not None and held > job.memory:
                reason = f"held {held / 1e9:.3g} GB, more than the {job.memory / 1e9:.3g} GB of budget.memory_gb"
                running.verdict = Outcome("memory", reason=reason)
            if running.verdict is not None:
                _kill(slot)

    def _lose(self, slot: _Slot) -> None:
        """Forget a worker whose output has ended."""
        self._selector.unregister(slot.output)
        self._slots.remove(slot)
        self._end(slot)
        if self.fork and not slot.ready:
            self._failed_starts += 1
            if self._failed_starts >= MOST_ATTEMPTS:
                raise RecAssayError(
                    f"worker processes end before they are ready (exit code {slot.process.returncode})",
                    where=str(self.logs / "worker.log"),
                    fix="read what they said there",
                )

    def _end(self, slot: _Slot) -> None:
        if slot.running is not None:
            _kill(slot)
        with slot.process as process:  # which then closes its streams, and is waited for
            assert process.stdin is not None
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                process.stdin.close()
                if self.fork:  # without input, it ends all that its job has started, then itself
                    process.wait(END_SECONDS)
            process.kill()


def _kill(slot: _Slot) -> None:
    """Kill the job's process and those it started."""
    pid = None if slot.running is None else slot.running.pid
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if pid is None or sys.platform == "win32":
            slot.process.kill()
        else:
            os.killpg(pid, signal.SIGKILL)


def _message(line: bytes) -> Mapping[str, Any]:
    """What a line says; nothing where it is not ours (a job may have found the way to write here)."""
    try:
        message = json.loads(line)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


def _crash(code: int, job: str) -> str:
    how = f"with exit code {code}"
    if code < 0:
        try:
            how = f"by {signal.Signals(-code).name}"
        except ValueError:
            how = f"by signal {-code}"
    return f"its process ended {how} without an answer (its output is in logs/{job}.log)"
