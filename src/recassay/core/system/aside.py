"""Processes of ours beside this one: each answers one request after the other, as pickles over its standard streams."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Self

from recassay.core.system.machine import usable_cores

SOURCE = Path(__file__).resolve().parents[3]
"""The folder that holds the package."""


def environment() -> dict[str, str]:
    """The variables of this process, with which an interpreter finds the code that runs here."""
    paths = [str(SOURCE), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


class Helper:
    """A process that answers requests, with the code that runs here.

    Args:
        function: `module:function`. The process calls it once, without arguments, to load what takes long; it returns
            the function that is called with the arguments of each request.
    """

    def __init__(self, function: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", __name__, function],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(),
        )

    def ask(self, *request: Any) -> Any:
        """The answer. `ValueError` with what the function failed with; `OSError` or `EOFError` where it ended."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        pickle.dump(request, self.process.stdin)
        self.process.stdin.flush()
        try:
            answer, failure = pickle.load(self.process.stdout)  # noqa: S301 - of the process that we started
        except pickle.UnpicklingError:
            raise EOFError("the process ended within its answer") from None
        if failure is not None:
            raise ValueError(failure)
        return answer

    def end(self) -> None:
        """Close its input, at which it ends, and wait for it."""
        self.process.communicate()


class Helpers:
    """Several of them side by side, as a context; they start at once, and load what they need while this one works.

    By default there is one for every processor but the one that asks, at most `most`; fewer where the system starts no
    more. One that ends within a request is replaced, and the request is tried once more.
    """

    def __init__(self, function: str, *, most: int, processes: int | None = None) -> None:
        self.function, self._over = function, False
        self._started: list[Helper] = []
        self._free: SimpleQueue[Helper] = SimpleQueue()
        with suppress(OSError):
            for _ in range(min(most, usable_cores() - 1) if processes is None else processes):
                self._free.put(self._start())
        self._threads = ThreadPoolExecutor(max(1, len(self._started)))

    def _start(self) -> Helper:
        helper = Helper(self.function)
        self._started.append(helper)
        return helper

    def __bool__(self) -> bool:
        return bool(self._started)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._threads.shutdown()
        self._over = True
        for helper in self._started:
            helper.process.kill()
        self._threads.shutdown(cancel_futures=True)
        for helper in self._started:
            helper.end()

    def submit(self, *request: Any) -> Future[Any]:
        """The answer of the first that is free, when it is there; raises as `Helper.ask`."""
        return self._threads.submit(self._ask, request)

    def _ask(self, request: tuple[Any, ...]) -> Any:
        helper = self._free.get()
        try:
            return helper.ask(*request)
        except (OSError, EOFError):
            helper.end()
            if self._over:  # it was killed, because nobody waits for the answer any more
                raise
            helper = self._start()
            return helper.ask(*request)
        finally:
            self._free.put(helper)


def _serve(function: str) -> None:
    module, _, name = function.partition(":")
    answer: Callable[..., Any] = getattr(import_module(module), name)()
    while True:
        try:
            request = pickle.load(sys.stdin.buffer)  # noqa: S301 - of our parent
        except EOFError:
            return
        reply: tuple[Any, str | None]
        try:
            reply = answer(*request), None
        except Exception as error:
            reply = None, f"{type(error).__name__}: {error}"
        pickle.dump(reply, sys.stdout.buffer)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asked is interrupted, and then closes our input
    _serve(sys.argv[1])
