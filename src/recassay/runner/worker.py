"""The process side of the local executor: `python -m recassay.runner.worker`.

A worker reads one request per line from its standard input and answers in lines of JSON on its standard output. Where
the system can fork, it imports once what the jobs will need, wakes numba where they need it, and forks a process for
each job: the job starts at once, and whatever it does to its process ends with it. Elsewhere a worker runs a single
job itself. A worker ends when its driver does, and a job when its worker does, each with all that it started.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import faulthandler
import glob
import importlib
import json
import os
import select
import signal
import sys
import threading
import time
import traceback
from collections.abc import Mapping
from typing import Any

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_LONGEST_LINE = 64 << 20


def main() -> None:
    """Serve requests until the input ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--driver", type=int, required=True)
    parser.add_argument("--preload", default="")
    parser.add_argument("--once", action="store_true")
    options = parser.parse_args()
    channel = os.dup(1)
    os.dup2(2, 1)
    if options.once:
        end_with_parent(options.driver)
        _run_job(json.loads(sys.stdin.buffer.readline()), channel)
        return
    adopt_orphans()
    if os.getppid() != options.driver:
        os._exit(1)
    for module in filter(None, options.preload.split(",")):
        importlib.import_module(module)
    if (registry := sys.modules.get("recassay.core.registry")) is not None:
        for parts in (registry.algorithms, registry.metrics, registry.classifiers):
            parts.names()
    if (machine_code := sys.modules.get("recassay.core.system.compiled")) is not None:
        machine_code.warm_up()
    try:
        _send(channel, {"ready": True})
        for line in iter(sys.stdin.buffer.readline, b""):
            _serve(json.loads(line), channel)
    except BrokenPipeError:  # the driver is gone
        pass
    finally:
        end_descendants(os.getpid())
        os._exit(0)


def adopt_orphans() -> None:
    """Where the system can, make this process the parent of what its children leave behind."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1)


def end_with_parent(parent: int) -> None:
    """Make this process end when the process `parent`, which started it, does, even by `kill -9`."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    else:
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()
    if os.getppid() != parent:
        os._exit(1)


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def _serve(request: Mapping[str, Any], channel: int) -> None:
    """Fork, let the child run the job, hand on what it says, and say how it ended.

    The child has a pipe of its own and not the channel to the driver: whatever a job writes into it is reported as
    said by the job. When the job has ended, or the driver has, nothing that the job started is left.
    """
    worker = os.getpid()
    ear, mouth = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setpgid(0, 0)
            os.close(channel)
            os.close(ear)
            end_with_parent(worker)
            _run_job(request, mouth)
        finally:
            os._exit(70)
    os.close(mouth)
    with contextlib.suppress(OSError):
        os.setpgid(pid, pid)
    _send(channel, {"pid": pid})
    try:
        status = _listen(pid, ear, channel)
    finally:
        os.close(ear)
        end_descendants(worker)
    _send(channel, {"exit": os.waitstatus_to_exitcode(status)})


def _listen(pid: int, ear: int, channel: int) -> int:
    """Hand on what the job says until it has ended; its wait status. `BrokenPipeError` where the driver is gone."""
    os.set_blocking(ear, False)
    heard, open_ = bytearray(), True
    while True:
        watched = [0, ear] if open_ else [0]
        ready, _, _ = select.select(watched, [], [], 0.05)
        if 0 in ready and not os.read(0, 1):
            raise BrokenPipeError
        done, status = os.waitpid(pid, os.WNOHANG)
        while open_:
            try:
                chunk = os.read(ear, 1 << 16)
            except BlockingIOError:
                break
            open_ = bool(chunk)
            heard += chunk
            if len(heard) > _LONGEST_LINE and b"\n" not in heard:
                heard += b"\n"
            *lines, rest = bytes(heard).split(b"\n")
            heard[:] = rest
            for line in lines:
                _send(channel, {"said": line.decode("utf-8", "replace")})
        if done:
            if heard:
                _send(channel, {"said": heard.decode("utf-8", "replace")})
            return status


def end_descendants(process: int) -> None:
    """Kill all that descend from `process`, in whatever session, until nothing does; it must adopt orphans."""
    for _ in range(200):
        left = descendants(process)
        if not left:
            return
        for descendant in left:
            with contextlib.suppress(OSError):
                os.kill(descendant, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.005)


def descendants(process: int) -> list[int]:
    """The processes that descend from one, as far as the system tells; those started from any of its threads too."""
    processes: list[int] = []
    waiting = [process]
    while waiting:
        parent = waiting.pop()
        for task in glob.glob(f"/proc/{parent}/task/*/children"):
            with contextlib.suppress(OSError, ValueError), open(task, encoding="ascii") as file:
                children = [int(child) for child in file.read().split()]
                processes += children
                waiting += children
    return processes


def _run_job(request: Mapping[str, Any], channel: int) -> None:
    """Run one job in this process, with its own output in its log, and end the process."""
    token = str(request["token"])
    try:
        log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    except OSError as error:
        from recassay.runner.jobs import NOT_WRITTEN

        _send(channel, {"pid": os.getpid()}, token)
        _send(channel, {"status": NOT_WRITTEN, "reason": f"its log cannot be written: {error}"}, token)
        os._exit(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for target, source in ((0, nothing), (1, log), (2, log)):
        os.dup2(source, target)
    os.environ.update(request.get("environment", {}))
    faulthandler.enable()
    _send(channel, {"pid": os.getpid()}, token)
    _send(channel, _answer(request, channel, token), token)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(0)


def _answer(request: Mapping[str, Any], channel: int, token: str) -> dict[str, Any]:
    from recassay.runner.jobs import reason_of, status_of

    try:
        module, _, name = request["function"].partition(":")
        function = getattr(importlib.import_module(module), name)
        record = function(request["payload"], lambda event: _send(channel, {"event": event}, token))
        json.dumps(record, allow_nan=False)
        return {"status": "done", "record": record}
    except BaseException as error:
        reason = reason_of(error)
        if isinstance(error, SystemExit):
            reason = f"the algorithm tried to end the process ({reason})"
        return {"status": status_of(error), "reason": reason, "detail": traceback.format_exc()}


def _send(channel: int, message: Mapping[str, Any], token: str = "") -> None:
    """A line of JSON; one of a job begins with the token of its request, by which the driver knows our own words."""
    line = memoryview(token.encode() + json.dumps(message, allow_nan=False).encode() + b"\n")
    while line:
        line = line[os.write(channel, line) :]


if __name__ == "__main__":
    main()
