"""What a study's manifest says: enough to judge the study, and to repeat it."""

from __future__ import annotations

import contextlib
import datetime
import os
import platform
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from recassay.algorithms.kernels.device import gpu_name
from recassay.core.system.machine import machine_bytes
from recassay.core.system.places import home
from recassay.core.version import __version__

PACKAGES = ("numpy", "scipy", "polars", "pydantic", "optuna", "implicit", "numba", "scikit-learn", "torch")


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


def portable(study: Mapping[str, Any], base: str | Path) -> dict[str, Any]:
    """The spec of a study with the paths in it relative to its own folder, or to the home folder (`~`)."""
    moved = dict(study)
    for kind in ("datasets", "algorithms", "classifiers"):
        if kind in moved:
            paths = ("reference", "groups", "item_groups")
            moved[kind] = [
                {**spec, **{key: _portable(str(spec[key]), Path(base)) for key in paths if key in spec}}
                for spec in moved[kind]
            ]
    return moved


def _portable(reference: str, base: Path) -> str:
    path = Path(reference)
    if path.is_absolute():
        for place, name in ((base.absolute(), "."), (home(), "~")):
            if path.is_relative_to(place):
                return f"{name}/{path.relative_to(place).as_posix()}"
    return reference


def _versions() -> dict[str, str]:
    versions = {"recassay": __version__}  # of the code that runs, whatever an older installation says
    for name in PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return versions


def now() -> str:
    """The time, in UTC, to the second."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
