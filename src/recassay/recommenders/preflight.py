"""What can be known before the first cell: every problem of a study at once, while nothing is written yet."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from recassay.core.errors import InputError, RecAssayError, UsageError, refuse_all
from recassay.core.registry import algorithms
from recassay.core.specs.search import Choice, Parameter, Tunable
from recassay.core.specs.study import AlgorithmSpec, DatasetSpec, StudySpec
from recassay.core.system.plugin_file import plugin_path
from recassay.data.sources import SYNTHETIC, count_events, is_path, known_times, path_of, preset_of, stored_manifest
from recassay.metrics.make import make_metric
from recassay.protocol.splits import SPLITS
from recassay.recommenders.dispatch import declared_bytes, missing_packages
from recassay.recommenders.plan import Plan, PlannedCell, dataset_protocol, plan
from recassay.recommenders.space import settle
from recassay.recommenders.splits import preparation_bytes
from recassay.recommenders.trying import try_apart, why
from recassay.runner.drive import known_cells
from recassay.runner.memory import limit_in_words, memory_limit
from recassay.runner.references import is_part_file

TRY_SECONDS = 60.0
"""How long an algorithm of one's own is tried; one that takes longer is not judged here."""

LEAST_MEMORY = 150_000_000
"""Bytes that the process of a cell holds before it has read anything."""


def checked_plan(
    study: StudySpec,
    folder: Path,
    *,
    elsewhere: bool = False,
    retry_failed: bool = False,
    workers: int = 1,
) -> Plan:
    """The plan of a study that can run; all that is known to stop it is raised as one error.

    Only cells that would run count, so that a study can be resumed where the data of its finished cells are gone.
    `elsewhere`: the cells run on other machines, whose packages and memory are not known here.
    """
    problems, unusable = _unknown_names(study)
    planned = None if problems else plan(study)
    cells = None if planned is None else _to_run(planned, folder, retry_failed)
    used = None if cells is None else {name for cell in cells for name in (cell.algorithm.name, cell.dataset.name)}

    def needed(reference: str, name: str) -> bool:
        return reference not in unusable and (used is None or name in used)

    kinds = [algorithm for algorithm in study.algorithms if needed(algorithm.reference, algorithm.name)]
    datasets = [named for named in study.datasets if needed(named.reference, named.name)]
    problems += [problem for dataset in datasets for problem in _no_times(study, dataset)]
    if not elsewhere:
        problems += missing_packages(kinds)
        problems += _no_room(study, datasets, cells or (), folder)
        problems += _broken_rules(study, [kind for kind in kinds if ".py:" in kind.reference], workers)
    refuse_all(problems)
    return planned or plan(study)


def _to_run(planned: Plan, folder: Path, retry_failed: bool) -> list[PlannedCell]:
    """The cells that the store of the study does not have."""
    kept = {cell for cell, status in known_cells(folder).items() if status == "done" or not retry_failed}
    return [cell for cell in planned.cells if cell.id not in kept]


def _unknown_names(study: StudySpec) -> tuple[list[RecAssayError], set[str]]:
    """What is wrong with names of datasets, algorithms, parameters and metrics, and the references concerned."""
    problems: list[RecAssayError] = []
    unusable: set[str] = set()

    def look(reference: str, at: Callable[[], object]) -> None:
        try:
            at()
        except RecAssayError as error:
            problems.append(error)
            unusable.add(reference)

    for dataset in study.datasets:
        look(dataset.reference, partial(_find_dataset, dataset.reference, study.base))
    for algorithm in study.algorithms:
        look(algorithm.reference, partial(_find_algorithm, algorithm, study.base))
    for label in dict.fromkeys((*study.metrics, study.tuning.metric)):
        look(label, partial(make_metric, label))
    return problems, unusable


def _find_dataset(reference: str, base: str) -> None:
    if reference.startswith(SYNTHETIC):
        preset_of(reference)
    elif not is_path(reference):
        stored_manifest(reference)
    elif not path_of(reference, base).exists():
        where = str(path_of(reference, base))
        raise InputError("there is no such file", where=where, fix="check the name; paths are relative to the study")


def _find_algorithm(algorithm: AlgorithmSpec, base: str) -> None:
    if is_part_file(algorithm.reference):
        plugin_path(algorithm.reference, base)
        return
    kind = algorithms.get(algorithm.reference)
    fixed, space = settle(kind, algorithm.settings, algorithm.name)
    tried = {name: (value,) for name, value in fixed.items()} | {name: _ends(made) for name, made in space.items()}
    for name, limits in (kind.limits if issubclass(kind, Tunable) else {}).items():
        for value in tried.get(name, ()):
            limits.check(value, name, algorithm.name)


def _ends(parameter: Parameter) -> tuple[Any, ...]:
    return parameter.options if isinstance(parameter, Choice) else (parameter.low, parameter.high)


def _no_times(study: StudySpec, dataset: DatasetSpec) -> Iterator[RecAssayError]:
    """Whether the split of a dataset follows times that it does not have."""
    split = dataset_protocol(study, dataset).split
    if not SPLITS[split].temporal:
        return
    times = known_times(dataset.reference, dataset.read, study.base)
    if times == "none":
        what = f"the split {split!r} follows time, and this dataset has no timestamps"
        fix = "choose split = 'random_per_user' for it, or name its column of timestamps"
    elif times == "position" and SPLITS[split].scope == "global":
        what = f"the split {split!r} needs a clock, and the times of this dataset are positions"
        fix = "choose split = 'leave_last_out', 'user_time' or 'random_per_user' for it"
    else:
        return
    yield InputError(what, where=f"dataset {dataset.name}", fix=fix)


def _no_room(
    study: StudySpec, datasets: Sequence[DatasetSpec], cells: Sequence[PlannedCell], folder: Path
) -> Iterator[RecAssayError]:
    """Datasets that cannot be read, and algorithms that fit on none of their datasets, within the memory of a cell.

    An algorithm that fits on some runs there; its other cells become rows with their reason.
    """
    limit, words = memory_limit(study.budget), limit_in_words(study.budget)
    if limit is None:
        return
    more = "raise it" if study.budget.memory_gb is not None else "use a machine with more memory"
    if limit < LEAST_MEMORY:
        what = f"every cell needs at least {LEAST_MEMORY / 1e9:.2g} GB, and {words} {limit / 1e9:.3g}"
        yield UsageError(what, fix=more)
        return
    for dataset in datasets:
        events = count_events(dataset.reference, study.base)
        needed = 0 if events is None else preparation_bytes(events)
        if needed > limit:
            what = f"reading its {events:,} events needs about {needed / 1e9:.3g} GB, and {words} {limit / 1e9:.3g}"
            yield UsageError(what, where=f"dataset {dataset.name}", fix=f"{more}, or leave it out")
    least: dict[str, list[int | None]] = {}
    for cell in cells:
        declared = declared_bytes(cell, folder)
        least.setdefault(cell.algorithm.name, []).append(declared and declared[0])
    for name, sizes in least.items():
        known = [size for size in sizes if size is not None]
        if len(known) == len(sizes) and min(known) > limit:
            what = f"needs at least {min(known) / 1e9:.3g} GB on each dataset, and {words} {limit / 1e9:.3g}"
            yield UsageError(what, where=f"algorithm {name}", fix=f"{more}, or leave it out")


def _broken_rules(study: StudySpec, from_files: Sequence[AlgorithmSpec], workers: int) -> Iterator[RecAssayError]:
    """The rules that algorithms in Python files break, each tried in a process of its own."""
    if not from_files:
        return
    payloads = [{"reference": kind.reference, "base": study.base} for kind in from_files]
    limit = memory_limit(study.budget)
    tried = try_apart("try_algorithm", payloads, seconds=TRY_SECONDS, memory=limit, workers=workers)
    for algorithm, one in zip(from_files, tried, strict=True):
        where = f"algorithm {algorithm.name}"
        if one.outcome.status == "done":
            broken = (one.outcome.record or {}).get("broken", ())
            alike = {re.sub(r"\d+", "", sentence): sentence for sentence in reversed(broken)}  # one line per kind
            yield from (UsageError(sentence, where=where) for sentence in reversed(alike.values()))
        elif one.outcome.status in ("failed", "crashed"):
            yield UsageError(why(one, TRY_SECONDS), where=where)
