"""How many processors there are for us."""

from __future__ import annotations

import os

CORES_VARIABLE = "RECASSAY_CORES"


def usable_cores() -> int:
    """The processors that this process may use; `RECASSAY_CORES` makes them fewer, on a machine shared with others."""
    given = os.environ.get(CORES_VARIABLE, "").strip()
    found = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(found, int(given))) if given.isdigit() else found
