"""How much memory this machine has."""

from __future__ import annotations

import os
from pathlib import Path


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
