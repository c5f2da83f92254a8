"""What a study's manifest says: enough to judge the study, and to repeat it."""

from __future__ import annotations

import contextlib
import datetime
import os
import platform
from importlib import metadata
from typing import Any

from recassay.metrics.make import convention, make_metric
from recassay.runner.attacked import robustness_convention
from recassay.runner.memory import machine_bytes
from recassay.runner.plan import Plan

PACKAGES = ("recassay", "numpy", "scipy", "polars", "pydantic", "optuna", "implicit", "numba", "scikit-learn", "torch")


def manifest_of(planned: Plan, workers: int, threads: int) -> dict[str, Any]:
    """What a reader needs to judge or repeat the study: versions, machine, seeds, spec, hashes and conventions."""
    study = planned.study
    labels = dict.fromkeys([*planned.cells[0].spec.metrics, planned.cells[0].spec.tuning.metric])
    return {
        "study": study.model_dump(mode="json", exclude={"base"}),
        "seeds": list(study.seeds),
        **environment(workers, threads),
        "datasets": {cell.dataset.name: cell.spec.split.data for cell in planned.splits().values()},
        "algorithms": {cell.algorithm.name: cell.spec.code for cell in planned.cells},
        "metrics": {label: convention(make_metric(label)) for label in labels} | robustness_convention(study.comper),
        "cells": [cell.id for cell in planned.cells],
    }


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
