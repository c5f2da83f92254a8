"""Drivers of studies that are there to be killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

import pytest

from support.run import children_of

SERVER = """
import os, sys
names = {}
exec(sys.argv[1], names)
for _ in sys.stdin:
    pid = os.fork()
    if pid == 0:
        print(os.getpid(), flush=True)
        names["drive"](*sys.argv[2:])
        os._exit(0)
    os.waitpid(pid, 0)
    print("gone", flush=True)
"""


@dataclass(frozen=True)
class Driver:
    """A process that runs a study, and what it prints."""

    pid: int
    output: IO[str]

    def says(self) -> str:
        """Its next line, "gone" once it has ended."""
        return self.output.readline().strip()

    def kill(self) -> None:
        """Kill it, and see that its workers end with it."""
        os.kill(self.pid, signal.SIGKILL)
        self.left_alone()

    def left_alone(self) -> None:
        """Wait until it and its workers are gone."""
        while self.says() not in ("gone", ""):
            pass
        for _ in range(1200):
            if not children_of(self.pid):
                return
            time.sleep(0.05)
        pytest.fail(f"processes {children_of(self.pid)} outlive their driver")


class Drivers:
    """Starts drivers by forking one process that has imported everything: twenty starts cost one import."""

    def __init__(self, server: subprocess.Popen[str]) -> None:
        self.server = server

    def start(self) -> Driver:
        """One more driver."""
        assert self.server.stdin is not None
        assert self.server.stdout is not None
        self.server.stdin.write("\n")
        self.server.stdin.flush()
        return Driver(int(self.server.stdout.readline()), self.server.stdout)


@contextmanager
def drivers(code: str, *arguments: object) -> Iterator[Drivers]:
    """`code` defines `drive`, which a driver calls with `arguments` (as text); it sees the folder of the tests."""
    path = os.pathsep.join([os.environ.get("PYTHONPATH", ""), *sys.path])
    command = [sys.executable, "-c", SERVER, code, *map(str, arguments)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": path}
    ) as server:
        yield Drivers(server)
        server.kill()
