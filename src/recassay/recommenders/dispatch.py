"""From a plan to jobs: the splits that cells share, the cells themselves, and the limits of both."""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from recassay.core.errors import MissingExtraError, RecAssayError, UsageError, refuse_all
from recassay.core.registry import algorithms
from recassay.core.specs.search import defaults
from recassay.core.specs.study import AlgorithmSpec, StudySpec
from recassay.metrics.make import make_metric
from recassay.recommenders.payload import CellJob, SplitJob
from recassay.recommenders.plan import Plan, PlannedCell
from recassay.recommenders.space import highest, settle
from recassay.recommenders.splits import is_prepared, split_record
from recassay.runner.memory import limit_in_words, memory_limit
from recassay.runner.references import is_part_file
from recassay.runner.work import Rounds

PROCESS_BYTES = 500_000_000
"""What the process of a cell holds besides what its algorithm declares: libraries and the split."""


def split_payload(planned: Plan, cell: PlannedCell, folder: Path) -> dict[str, Any]:
    """What the process that makes the split of a cell must know."""
    job = SplitJob(
        split=cell.spec.split,
        dataset=cell.dataset,
        base=planned.study.base,
        folder=folder,
        memory=memory_limit(planned.study.budget),
    )
    return job.plain()


def cell_payload(planned: Plan, cell: PlannedCell, folder: Path) -> dict[str, Any]:
    """What the process of a cell must know."""
    job = CellJob(
        cell=cell.spec,
        id=cell.id,
        reference=cell.algorithm.reference,
        base=planned.study.base,
        folder=folder,
        memory=memory_limit(planned.study.budget),
        memory_in_words=limit_in_words(planned.study.budget),
    )
    return job.plain()


def wants_gpu(algorithm: AlgorithmSpec) -> bool:
    """Whether the algorithm computes on a GPU where there is one: by the study's setting, else by its own default."""
    device = algorithm.settings.get("device")
    if device is None and not is_part_file(algorithm.reference):
        argument = inspect.signature(algorithms.get(algorithm.reference)).parameters.get("device")
        device = None if argument is None else argument.default
    return device in ("auto", "cuda")


def trial_rounds(study: StudySpec, algorithm: AlgorithmSpec) -> Rounds:
    """The trials of an algorithm's cells where they are jobs of their own: several at a time, and more than one.

    What a file leaves to tune is known when it is loaded, by the first trial.
    """
    tuning = study.tuning
    if tuning.parallel == 1 or tuning.trials < 2:
        return Rounds(0)
    if not is_part_file(algorithm.reference):
        kind = algorithms.get(algorithm.reference)
        with contextlib.suppress(UsageError):  # the cell says it
            if not settle(kind, algorithm.settings, algorithm.name)[1]:
                return Rounds(0)
    return Rounds(tuning.trials, tuning.parallel, tuning.seconds)


def expected_need(planned: Plan, cell: PlannedCell, folder: Path) -> int | None:
    """The bytes that a cell will need, at its defaults or at the upper corner of its space, whichever is more.

    An algorithm in a file is not loaded here: its cells need what the budget gives them, where it says.
    """
    budget, limit = planned.study.budget, memory_limit(planned.study.budget)
    if is_part_file(cell.algorithm.reference):
        return limit if budget.memory_gb is not None else None
    try:
        declared = declared_bytes(cell, folder)
    except Exception:  # whatever is wrong with it, the cell says it
        return None
    needed = None if declared is None else max(declared) + PROCESS_BYTES
    return needed if needed is None or limit is None else min(needed, limit)


def expected_gpu_need(cell: PlannedCell, folder: Path) -> int | None:
    """The bytes of a GPU that a cell states, at its defaults or at the upper corner of its space; None: not known."""
    try:
        declared = declared_bytes(cell, folder, "gpu_memory_bytes")
    except Exception:  # whatever is wrong with it, the cell says it
        return None
    return None if declared is None else max(declared)


def declared_bytes(cell: PlannedCell, folder: Path, method: str = "memory_bytes") -> tuple[int, int] | None:
    """What a registered algorithm declares on a split that is there, at its defaults and at the upper corner of its
    space; None where either is not known."""
    split, kind = cell.spec.split.id, cell.algorithm.reference
    if is_part_file(kind) or not is_prepared(folder, split) or not hasattr(algorithms.get(kind), method):
        return None
    fixed, space = settle(algorithms.get(kind), cell.algorithm.settings, cell.algorithm.name)
    sizes = split_record(folder, split).sizes
    at_defaults, at_most = (algorithms.get(kind)(**fixed, **at) for at in (defaults(space), highest(space)))
    return int(getattr(at_defaults, method)(*sizes)), int(getattr(at_most, method)(*sizes))


def missing_packages(chosen: Sequence[AlgorithmSpec]) -> list[RecAssayError]:
    """The optional packages that are not installed, each once with the algorithms that need it."""
    needed: dict[str, list[str]] = {}
    for algorithm in chosen:
        if not is_part_file(algorithm.reference):
            for module in getattr(algorithms.get(algorithm.reference), "preload", ()):
                needed.setdefault(module, []).append(repr(algorithm.name))
    return [
        MissingExtraError(module, "neural", f"the algorithm {', '.join(names)}")
        for module, names in needed.items()
        if importlib.util.find_spec(module) is None
    ]


def part_modules(study: StudySpec) -> list[str]:
    """The modules that a study's cells need: workers import them once instead of once per cell.

    An algorithm whose extra is not installed raises `MissingExtraError`, before anything runs.
    """
    refuse_all(missing_packages(study.algorithms))
    kinds = [algorithms.get(a.reference) for a in study.algorithms if not is_part_file(a.reference)]
    kinds += [type(make_metric(label)) for label in (*study.metrics, study.tuning.metric)]
    modules = {kind.__module__ for kind in kinds} | {"recassay.recommenders.cell", "recassay.recommenders.tune"}
    ours = sorted(module for module in modules if module.startswith("recassay."))
    return [*ours, *sorted({module for kind in kinds for module in getattr(kind, "preload", ())})]
