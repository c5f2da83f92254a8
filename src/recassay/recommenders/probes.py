"""Probes of a study's cells: the same cells without tuning, run in a study of their own inside the study's folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from recassay.core.errors import UsageError
from recassay.core.specs.study import StudySpec
from recassay.metrics.make import make_metric
from recassay.recommenders.plan import Plan
from recassay.recommenders.splits import split_folder
from recassay.recommenders.study import Choice, run_study
from recassay.store.store import Store

PROBES = "probes"
"""The folder, inside a study's, of the study of its probes."""


def probe_study(spec: StudySpec) -> StudySpec:
    """The study whose cells are the probes of another's: no tuning, one seed, one fold, nothing but the target."""
    if not spec.tuning.trials:
        raise UsageError(
            "a probe is a cell without tuning, and this study tunes nothing",
            fix="leave `probes` out, or set tuning.trials",
        )
    tuned = make_metric(spec.tuning.metric).label
    reported = [make_metric(label).label for label in spec.metrics]
    metric = tuned if tuned in reported else spec.metrics[0]
    return spec.model_copy(
        update={
            "name": f"probes of {spec.name}",
            "seeds": spec.seeds[:1],
            "folds": None if spec.folds is None else spec.folds[:1],
            "metrics": (metric,),
            "tuning": spec.tuning.model_copy(update={"trials": 0}),
            "comper": None,
        }
    )


def prober(spec: StudySpec, **how: Any) -> Callable[[Path, Sequence[tuple[str, str]]], None]:
    """From the folder of a study and some of its cells (algorithm, dataset), their probes run; `how` as `run_study`."""
    cheap = probe_study(spec)

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
            whole = target.with_name(f".{split.name}.part")
            shutil.rmtree(whole, ignore_errors=True)
            shutil.copytree(split, whole, copy_function=_link)
            whole.rename(target)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
