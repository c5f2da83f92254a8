"""What this machine has: processors for us, and memory."""

from __future__ import annotations

import os
from pathlib import Path

CORES_VARIABLE = "RECASSAY_CORES"


def usable_cores() -> int:
    """The processors that this process may use; `RECASSAY_CORES` makes them fewer, on a machine shared with others."""
    given = os.environ.get(CORES_VARIABLE, "").strip()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, int(given))) if given.isdigit() else cores


def machine_bytes() -> int | None:
    """The memory of this machine, or of the container that this process lives in; None where unknown."""
    try:
        physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None
    try:
        return min(physical, int(Path("/sys/fs/cgroup/memory.max").read_text("ascii")))
    except (OSError, ValueError):
        return physical
