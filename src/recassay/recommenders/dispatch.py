"""From a plan to jobs: the splits that cells share, the cells themselves, and the limits of both."""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from recassay.core.errors import MissingExtraError
from recassay.core.registry import algorithms
from recassay.core.specs.study import AlgorithmSpec, StudySpec
from recassay.metrics.make import make_metric
from recassay.recommenders.plan import Plan, PlannedCell
from recassay.recommenders.splits import is_usable
from recassay.runner.jobs import Job
from recassay.runner.memory import memory_limit
from recassay.runner.references import is_part_file


def split_jobs(planned: Plan, cells: Sequence[PlannedCell], folder: Path) -> list[Job]:
    """The jobs that prepare the splits of `cells`, those that are there and sound left out."""
    budget, limit = planned.study.budget, memory_limit(planned.study.budget)
    return [
        Job(
            split,
            "recassay.recommenders.cell:prepare",
            partial(_split_payload, planned, cell, folder),
            budget.seconds_per_cell,
            limit,
        )
        for split, cell in planned.splits(cells).items()
        if not is_usable(folder, split)
    ]


def _split_payload(planned: Plan, cell: PlannedCell, folder: Path) -> dict[str, Any]:
    return {
        "folder": str(folder),
        "split": cell.spec.split.model_dump(mode="json"),
        "dataset": cell.dataset.model_dump(mode="json"),
        "base": planned.study.base,
        "memory": memory_limit(planned.study.budget),
    }


def cell_payload(planned: Plan, cell: PlannedCell, folder: Path) -> dict[str, Any]:
    """What the process of a cell must know."""
    return {
        "cell": cell.spec.model_dump(mode="json"),
        "id": cell.id,
        "reference": cell.algorithm.reference,
        "base": planned.study.base,
        "folder": str(folder),
        "memory": memory_limit(planned.study.budget),
    }


def wants_gpu(algorithm: AlgorithmSpec) -> bool:
    """Whether the algorithm computes on a GPU where there is one: by the study's setting, else by its own default."""
    device = algorithm.settings.get("device")
    if device is None and not is_part_file(algorithm.reference):
        argument = inspect.signature(algorithms.get(algorithm.reference)).parameters.get("device")
        device = None if argument is None else argument.default
    return device in ("auto", "cuda")


def part_modules(study: StudySpec) -> list[str]:
    """The modules that a study's cells need: workers import them once instead of once a cell.

    An algorithm whose extra is not installed raises `MissingExtraError`, before anything runs.
    """
    kinds = {a.reference: algorithms.get(a.reference) for a in study.algorithms if not is_part_file(a.reference)}
    modules = {kind.__module__ for kind in kinds.values()}
    modules |= {type(make_metric(label)).__module__ for label in (*study.metrics, study.tuning.metric)}
    modules |= {"recassay.recommenders.cell", *({"recassay.recommenders.tune"} if study.tuning.trials else ())}
    ours = sorted(module for module in modules if module.startswith("recassay."))
    others = {module: name for name, kind in kinds.items() for module in getattr(kind, "preload", ())}
    for module, name in others.items():
        if importlib.util.find_spec(module) is None:
            raise MissingExtraError(module, "neural", f"the algorithm {name!r}")
    return [*ours, *sorted(others)]
