"""The process side of the local executor: `python -m recassay.runner.worker`.

A worker reads one request a line from its standard input and answers in lines of JSON on its standard output. Where the
system can fork, it imports once what the jobs will need and forks a process for each job: the job starts at once, and
whatever it does to its process ends with it. Elsewhere a worker runs a single job itself. A worker ends when its driver
does, and a job when its worker does.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import faulthandler
import importlib
import json
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Mapping
from typing import Any

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Serve requests until the input ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--driver", type=int, required=True)
    parser.add_argument("--preload", default="")
    parser.add_argument("--once", action="store_true")
    options = parser.parse_args()
    end_with_parent(options.driver)
    channel = os.dup(1)
    os.dup2(2, 1)
    if options.once:
        _run_job(json.loads(sys.stdin.buffer.readline()), channel)
        return
    for module in filter(None, options.preload.split(",")):
        importlib.import_module(module)
    if (registry := sys.modules.get("recassay.core.registry")) is not None:
        for parts in (registry.algorithms, registry.metrics, registry.classifiers):
            parts.names()
    _send(channel, {"ready": True})
    for line in iter(sys.stdin.buffer.readline, b""):
        _serve(json.loads(line), channel)


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
    """Fork, let the child run the job, and say how it ended."""
    worker = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            os.setpgid(0, 0)
            end_with_parent(worker)
            _run_job(request, channel)
        finally:
            os._exit(70)
    with contextlib.suppress(OSError):
        os.setpgid(pid, pid)
    _, status = os.waitpid(pid, 0)
    with contextlib.suppress(OSError):
        os.killpg(pid, signal.SIGKILL)
    _send(channel, {"exit": os.waitstatus_to_exitcode(status)})


def _run_job(request: Mapping[str, Any], channel: int) -> None:
    """Run one job in this process, with its own output in its log, and end the process."""
    log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for target, source in ((0, nothing), (1, log), (2, log)):
        os.dup2(source, target)
    os.environ.update(request.get("environment", {}))
    faulthandler.enable()
    _send(channel, {"pid": os.getpid()})
    _send(channel, _answer(request, channel))
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(0)


def _answer(request: Mapping[str, Any], channel: int) -> dict[str, Any]:
    from recassay.runner.jobs import reason_of, status_of

    try:
        module, _, name = request["function"].partition(":")
        function = getattr(importlib.import_module(module), name)
        record = function(request["payload"], lambda event: _send(channel, {"event": event}))
        json.dumps(record, allow_nan=False)
        return {"record": record}
    except BaseException as error:
        reason = reason_of(error)
        if isinstance(error, SystemExit):
            reason = f"the algorithm tried to end the process ({reason})"
        return {"status": status_of(error), "reason": reason, "detail": traceback.format_exc()}


def _send(channel: int, message: Mapping[str, Any]) -> None:
    line = memoryview(json.dumps(message, allow_nan=False).encode() + b"\n")
    while line:
        line = line[os.write(channel, line) :]


if __name__ == "__main__":
    main()
