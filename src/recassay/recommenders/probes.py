"""Probes of a study's cells: cheaper cells, run in a study of their own inside the study's folder.

A probe is the cell without tuning, with one seed and one fold; where that is asked for, on a sample of the users or
with few epochs.
"""

from __future__ import annotations

import inspect
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recassay.core.errors import UsageError
from recassay.core.registry import algorithms
from recassay.core.specs.study import AlgorithmSpec, StudySpec
from recassay.core.system.files import appearing_folder
from recassay.metrics.make import make_metric
from recassay.recommenders.plan import Plan
from recassay.recommenders.study import Choice, run_study
from recassay.runner.references import is_part_file
from recassay.store.sealed import split_folder
from recassay.store.store import Store

PROBES = "probes"
"""The folder, inside a study's, of the study of its probes."""

EPOCHS, FEW_EPOCHS = "epochs", 0.3
"""The parameter of algorithms that are trained in epochs, and what few of them are expected to cost beside all."""


@dataclass(frozen=True, slots=True)
class Probing:
    """What makes a probe cheaper than its cell, besides that it is not tuned: a share of the `users`, few `epochs`."""

    users: float | None = None
    epochs: int | None = None

    def ratio(self, trials: int) -> float:
        """The share of a cell's seconds that a probe is expected to take; what it takes is learned."""
        return (self.users or 1.0) * (1.0 if self.epochs is None else FEW_EPOCHS) / (trials + 1)


UNTUNED = Probing()


def probe_study(spec: StudySpec, probing: Probing) -> StudySpec:
    """The study whose cells are the probes of another's: no tuning, one seed, one fold, nothing but the target."""
    if not spec.tuning.trials and probing == UNTUNED:
        raise UsageError(
            "a probe is a cell without tuning, and this study tunes nothing",
            fix="set tuning.trials, probe_users or probe_epochs, or leave `probes` out",
        )
    limited = tuple(_with_epochs(algorithm, probing.epochs) for algorithm in spec.algorithms)
    if probing.epochs is not None and limited == spec.algorithms:
        raise UsageError("no algorithm of the study is trained in epochs", fix="leave `probe_epochs` out")
    tuned = make_metric(spec.tuning.metric).label
    reported = [make_metric(label).label for label in spec.metrics]
    metric = tuned if tuned in reported else spec.metrics[0]
    return spec.model_copy(
        update={
            "name": f"probes of {spec.name}",
            "seeds": spec.seeds[:1],
            "folds": _first(spec.folds),
            "datasets": tuple(data.model_copy(update={"folds": _first(data.folds)}) for data in spec.datasets),
            "metrics": (metric,),
            "tuning": spec.tuning.model_copy(update={"trials": 0}),
            "comper": None,
            "algorithms": limited,
            "protocol": spec.protocol.model_copy(update={"user_share": probing.users or spec.protocol.user_share}),
        }
    )


def _first(folds: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """The first of the folds to run; None: the one that the protocol names."""
    return None if folds is None else folds[:1]


def _with_epochs(algorithm: AlgorithmSpec, epochs: int | None) -> AlgorithmSpec:
    """The algorithm with so many epochs, where it has that parameter (of an own file: where the study sets it)."""
    if is_part_file(algorithm.reference):
        known = EPOCHS in algorithm.settings
    else:
        known = EPOCHS in inspect.signature(algorithms.get(algorithm.reference)).parameters
    if epochs is None or not known:
        return algorithm
    return algorithm.model_copy(update={"settings": {**algorithm.settings, EPOCHS: epochs}})


def prober(spec: StudySpec, probing: Probing, **how: Any) -> Callable[[Path, Sequence[tuple[str, str]]], None]:
    """From the folder of a study and some of its cells (algorithm, dataset), their probes run; `how` as `run_study`."""
    cheap = probe_study(spec, probing)

    def run(folder: Path, cells: Sequence[tuple[str, str]]) -> None:
        asked = iter([set(cells), set()])

        def choose(planned: Plan, store: Store) -> Choice:
            wanted = next(asked)
            rows = [row for row in store.plan() if (row.algorithm, row.dataset) in wanted]
            return Choice([row.cell for row in rows], "")

        _share_splits(folder, folder / PROBES)
        run_study(cheap, folder / PROBES, choose=choose, **how)

    return run


def _share_splits(folder: Path, other: Path) -> None:
    """The splits of one study as those of another, without a copy of the data where the disk can do that."""
    for split in split_folder(folder, "").glob("*"):
        target = split_folder(other, split.name)
        if split.is_dir() and not target.exists():
            with appearing_folder(target) as made:
                shutil.copytree(split, made, copy_function=_link, dirs_exist_ok=True)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
