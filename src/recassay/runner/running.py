"""Which cells are at work: a small file in the study folder, kept while a run lasts."""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import socket
from dataclasses import asdict, dataclass
from pathlib import Path

from recassay.core.system.files import write_whole

RUNNING_FILE = "running.json"


@dataclass(frozen=True, slots=True)
class RunningCell:
    """A cell that a run has started and not finished; `started` is in UTC."""

    cell: str
    algorithm: str
    dataset: str
    seed: int
    started: str

    @property
    def seconds(self) -> float:
        """How long it has been at work."""
        since = datetime.datetime.fromisoformat(self.started)
        return max((datetime.datetime.now(datetime.UTC) - since).total_seconds(), 0.0)


class RunningCells:
    """The cells that a run has at work, written to the file at every change; the file goes with the run."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / RUNNING_FILE
        self.cells: dict[str, RunningCell] = {}

    def __enter__(self) -> RunningCells:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.unlink(missing_ok=True)

    def start(self, cell: str, algorithm: str, dataset: str, seed: int) -> None:
        """Note a cell that begins."""
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        self.cells[cell] = RunningCell(cell, algorithm, dataset, seed, now)
        self._write()

    def finish(self, cell: str) -> None:
        """Note a cell that has ended."""
        if self.cells.pop(cell, None) is not None:
            self._write()

    def _write(self) -> None:
        content = {
            "process": os.getpid(),
            "host": socket.gethostname(),
            "cells": [asdict(o) for o in self.cells.values()],
        }
        with contextlib.suppress(OSError):  # it only tells; a full disk is met where something is kept
            write_whole(self.file, json.dumps(content).encode(), sync=False)


def running_cells(folder: Path) -> list[RunningCell]:
    """The cells that a run has at work in this folder now; none where the run that wrote the file is gone."""
    try:
        written = json.loads((folder / RUNNING_FILE).read_text(encoding="utf-8"))
        here = written["host"] == socket.gethostname()
        return (
            [] if here and not _alive(int(written["process"])) else [RunningCell(**cell) for cell in written["cells"]]
        )
    except (OSError, ValueError, TypeError, KeyError):
        return []


def _alive(process: int) -> bool:
    """Whether a process of this machine exists; on Windows, where asking would end it, it is believed to."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
