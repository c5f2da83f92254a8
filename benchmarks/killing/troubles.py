"""What goes wrong around a study: killed processes, full disks, and clocks that jump."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Counts:
    """What was done and what came of it."""

    studies: int = 0
    full_disks: int = 0
    kills: Counter[str] = field(default_factory=Counter)
    acknowledged_cells: int = 0
    acknowledged_trials: int = 0
    lost: int = 0
    crashed_rows: int = 0
    """Cells that were given up after three kills in a row; the study then runs them again on request."""
    failed_cells: int = 0
    """Cells that failed for another reason, which here is always the machine's."""
    tables_equal: int = 0
    tables_different: int = 0
    left_running: int = 0
    hangs: int = 0
    seconds: float = 0.0
    drivers: list[int] = field(default_factory=list, repr=False)

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        told = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "drivers"}
        return {**told, "kills": dict(self.kills), "all_kills": self.kills.total(), "drivers": len(self.drivers)}


JUMPING = """
import datetime, random, time, warnings
real, chance, shift = time.time, random.Random(), [0.0]


def now():
    if chance.random() < 0.05:
        shift[0] = chance.uniform(-1e7, 1e7)
    return real() + shift[0]


class Jumping(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(now(), tz)


time.time, time.time_ns, datetime.datetime = now, lambda: int(1e9 * now()), Jumping
warnings.simplefilter("ignore")
"""
"""What a process runs when it starts where its clock is to jump by months."""


def jumping(folder: Path) -> dict[str, str]:
    """The environment of processes whose clocks jump, their own children's too."""
    place = folder / "clock"
    place.mkdir(exist_ok=True)
    (place / "sitecustomize.py").write_text(JUMPING)
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(place), os.environ.get("PYTHONPATH", "")])}


@contextlib.contextmanager
def disk(folder: Path, kilobytes: int) -> Iterator[bool]:
    """A disk of its own at `folder`, of this size; whether there was the right to mount one."""
    folder.mkdir(exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)]
    mounted = shutil.which("mount") is not None and not subprocess.run(command, capture_output=True).returncode
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(folder)], capture_output=True)


def fill(folder: Path, left: int) -> Path:
    """Fill the disk of a folder but for so many bytes; the file that fills it."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file:
        size = max(shutil.disk_usage(folder).free - left, 0)
        with contextlib.suppress(OSError):
            for place in range(0, size, 1 << 16):
                file.write(bytes(min(1 << 16, size - place)))
    return filler


def relatives(driver: int) -> tuple[list[int], list[int]]:
    """The workers that serve a driver, and the processes of their jobs."""
    workers: list[int] = []
    jobs: list[int] = []
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError, ValueError):
            if f"--driver\0{driver}\0" in (place / "cmdline").read_text():
                parent = int((place / "stat").read_text().rpartition(")")[2].split()[1])
                (workers if parent == driver else jobs).append(int(place.name))
    return workers, jobs


def kill(pid: int) -> bool:
    """Whether there was something to kill."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


class Cluster:
    """A scheduler and two workers without nannies, each a process that can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        self.file, self.folder = folder / "scheduler.json", folder
        self.parts: dict[str, subprocess.Popen[bytes]] = {}

    def _start(self, name: str, *options: str) -> None:
        part, place = name.split("-", maxsplit=1)[0], str(self.file)
        command = [sys.executable, "-m", "dask", part, "--scheduler-file", place, *options]
        with (self.folder / "dask.log").open("ab") as log:
            self.parts[name] = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder)

    def mend(self) -> str:
        """Start what is not running; the address of the scheduler."""
        scheduler = self.parts.get("scheduler")
        if scheduler is None or scheduler.poll() is not None:
            self.end()
            self.file.unlink(missing_ok=True)
            self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
            while not self.file.is_file() or not self.file.read_text():
                time.sleep(0.1)
        for name in ("worker-1", "worker-2"):
            if name not in self.parts or self.parts[name].poll() is not None:
                self._start(name, "--nthreads", "1", "--no-nanny", "--no-dashboard")
        return str(json.loads(self.file.read_text())["address"])

    def end(self) -> None:
        """Kill all of it."""
        for part in self.parts.values():
            part.kill()
            part.wait()
        self.parts.clear()


def disturb(
    driver: int, chance: random.Random, cluster: Cluster | None, counts: Counts, filled: Path | None = None
) -> None:
    """Kill one thing of the run, perhaps the driver itself, or fill the disk at `filled` for a moment."""
    if filled is not None and chance.random() < 0.5:
        filler = fill(filled, chance.choice((0, 0, 4096, 20_000)))
        counts.full_disks += 1
        time.sleep(chance.random() * chance.choice((0.05, 0.5, 2.0)))
        filler.unlink()
        return
    workers, jobs = relatives(driver)
    victims: dict[str, list[int]] = {"driver": [driver], "worker": workers, "job": jobs}
    if cluster is not None:
        parts = {name: part for name, part in cluster.parts.items() if part.poll() is None}
        victims = {
            "driver": [driver],
            "scheduler": [part.pid for name, part in parts.items() if name == "scheduler"],
            "cluster worker": [part.pid for name, part in parts.items() if name != "scheduler"],
        }
    kind = chance.choice([name for name, found in victims.items() if found])
    if kill(chance.choice(victims[kind])):
        counts.kills[kind] += 1
