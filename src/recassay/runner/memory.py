"""How much memory a process holds, read from /proc (None where the system does not tell), and may hold."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from pathlib import Path

from recassay.core.specs.study import Budget
from recassay.core.system.machine import machine_bytes
from recassay.runner.worker import descendants

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def resident_bytes(pid: int | None = None) -> int:
    """Resident memory of a process (this one by default); 0 where it is gone or unknown."""
    try:
        return int(Path(f"/proc/{pid or 'self'}/statm").read_text("ascii").split()[1]) * _PAGE
    except (OSError, IndexError, ValueError):
        return 0


def tree_bytes(pid: int) -> int:
    """Resident memory of a process and all that descend from it, whichever of its threads started them.

    Any of them may end while it is looked at: it then counts nothing.
    """
    return sum(map(resident_bytes, (pid, *descendants(pid))))


def peak_bytes() -> int | None:
    """The most that this process held since it began or since `reset_peak`."""
    with contextlib.suppress(OSError):
        stated = re.search(r"^VmHWM:\s*(\d+)", Path("/proc/self/status").read_text("ascii", errors="replace"), re.M)
        return int(stated[1]) * 1024 if stated else None
    return None


def children_peak_bytes() -> int | None:
    """The most that one process which this one started and has outlived ever held."""
    if sys.platform == "win32":
        return None
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit or None


def reset_peak() -> None:
    """Begin a new measurement of the peak, where the system allows it."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", "ascii")


def memory_limit(budget: Budget) -> int | None:
    """The most bytes a cell may hold: the budget's, else nine tenths of the machine's memory."""
    if budget.memory_gb is not None:
        return int(budget.memory_gb * 1e9)
    machine = machine_bytes()
    return None if machine is None else machine * 9 // 10


def job_limits(budget: Budget) -> tuple[float | None, int | None]:
    """The most seconds and bytes that a job may take."""
    return budget.seconds_per_cell, memory_limit(budget)


def limit_in_words(budget: Budget) -> str:
    """Where `memory_limit` comes from, to be followed by a number of GB."""
    return "nine tenths of the machine's memory are" if budget.memory_gb is None else "budget.memory_gb is"
