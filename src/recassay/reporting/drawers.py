"""Drawing in processes of their own: the renderer draws one chart at a time in a process, whatever the threads."""

from __future__ import annotations

import json
import queue
import subprocess
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import Any

from recassay.core.system.aside import start
from recassay.core.system.cores import usable_cores
from recassay.reporting.drawing import draw_spec

DRAWER = "recassay.reporting.drawer"
MOST = 4
"""Processes at most: each takes half a second to start and some 150 MB."""


class Drawers:
    """Processes that draw, as a context; they start at once, so that they are ready when the first chart is.

    With none the charts are drawn here, one after the other: the files are the same. A chart is drawn once, however
    often it is asked for. By default there is a process for every processor but the one that asks.
    """

    def __init__(self, processes: int | None = None) -> None:
        wanted = min(MOST, usable_cores() - 1) if processes is None else processes
        self._free: queue.SimpleQueue[subprocess.Popen[bytes]] = queue.SimpleQueue()
        self._started: list[subprocess.Popen[bytes]] = []
        with suppress(OSError):  # where no process can be started, this one draws
            self._started.extend(start(DRAWER) for _ in range(wanted))
        for process in self._started:
            self._free.put(process)
        self._threads = ThreadPoolExecutor(max(1, len(self._started)))
        self._asked: dict[bytes, Future[dict[str, bytes]]] = {}

    def __enter__(self) -> Drawers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            for process in self._started:
                process.kill()
        self._threads.shutdown(cancel_futures=kind is not None)
        for process in self._started:
            process.communicate()

    def submit(self, spec: dict[str, Any], formats: Sequence[str]) -> Future[dict[str, bytes]]:
        """The files of a chart, by format, when they are drawn."""
        request = json.dumps([spec, list(formats)]).encode()
        if request not in self._asked:
            job = partial(self._draw, request) if self._started else partial(draw_spec, spec, formats)
            self._asked[request] = self._threads.submit(job)
        return self._asked[request]

    def _draw(self, request: bytes) -> dict[str, bytes]:
        process = self._free.get()
        try:
            return _ask(process, request)
        except (OSError, EOFError):
            # A chart has stopped the process: it is tried once more, and the others go on, in a new one.
            process.communicate()
            process = start(DRAWER)
            self._started.append(process)
            return _ask(process, request)
        finally:
            self._free.put(process)


def _ask(process: subprocess.Popen[bytes], request: bytes) -> dict[str, bytes]:
    if process.stdin is None or process.stdout is None:
        raise AssertionError("both are pipes")
    process.stdin.write(request + b"\n")
    process.stdin.flush()
    answer = process.stdout.readline()
    if not answer:
        raise EOFError("the renderer stopped")
    sizes = json.loads(answer)
    if "error" in sizes:
        raise ValueError(sizes["error"])
    return {form: process.stdout.read(size) for form, size in sizes.items()}
