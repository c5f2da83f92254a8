"""What a study's manifest says: enough to judge the study, and to repeat it."""

from __future__ import annotations

import contextlib
import datetime
import os
import platform
from importlib import metadata
from typing import Any

from recassay.algorithms.kernels.device import gpu_name
from recassay.core.system.memory import machine_bytes

PACKAGES = ("recassay", "numpy", "scipy", "polars", "pydantic", "optuna", "implicit", "numba", "scikit-learn", "torch")


def environment(workers: int, threads: int) -> dict[str, Any]:
    """When, with which versions and on which machine a study runs."""
    return {
        "written": now(),
        "versions": {"python": platform.python_version(), **_versions()},
        "machine": {
            "system": platform.platform(),
            "processor": platform.machine(),
            "cores": os.cpu_count(),
            "memory_bytes": machine_bytes(),
            "gpu": gpu_name(),
            "workers": workers,
            "threads": threads,
        },
    }


def _versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def now() -> str:
    """The time, in UTC, to the second."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
