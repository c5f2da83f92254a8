"""Cells of a bundle run again, where the data and the algorithm are at hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from recassay.core.errors import InputError
from recassay.core.specs.study import StudySpec
from recassay.recommenders.bundle.check import check_lists, records
from recassay.recommenders.bundle.form import Bundle
from recassay.recommenders.plan import CellSpec, plan
from recassay.recommenders.rerun import Chances, Drawing, RerunCell, chances, compared, with_value
from recassay.recommenders.splits import load_split
from recassay.recommenders.study import Progress, run_study
from recassay.store.store import Store


def with_settings(study: StudySpec, bundle: Bundle, spec: CellSpec) -> StudySpec:
    """The study of the bundle's algorithm with its settings; `InputError` where the code here is another one."""
    (algorithm,) = study.algorithms
    if algorithm.name != spec.algorithm:
        raise InputError(
            f"{algorithm.name} is not {spec.algorithm}, of which the bundle is", where=bundle.file,
            fix=f"name the file that has {spec.algorithm}",
        )  # fmt: skip
    return study.model_copy(update={"algorithms": (algorithm.model_copy(update={"settings": spec.settings}),)})


def run_again(
    bundle: Bundle,
    specs: Mapping[int, CellSpec],
    study: StudySpec,
    folder: Path,
    *,
    count: int | None,
    draw: int,
    workers: int | None = None,
    progress: Progress | None = None,
) -> tuple[tuple[RerunCell, ...], Chances]:
    """`count` of the cells on the study's datasets run again (None: as many as `chances` asks), and what that catches.

    A search that was ended by the clock has as many trials again as it had, whatever the speed of this machine.
    """
    metric = next(iter(specs.values())).tuning.metric
    cells = with_value(records(bundle, specs), metric)
    likely = chances(cells, metric)
    wanted = (likely.needed or len(cells)) if count is None else count
    # The folder is ours: how its plan changes from one number of trials to the next is nobody's concern.
    heard = progress and (lambda event: progress(replace(event, changes=())))
    at_hand = {dataset.name for dataset in study.datasets}
    order = (cells[place] for place in Drawing.of(cells, metric).order(draw))
    chosen = [cell for cell in order if cell.dataset in at_hand][:wanted]
    trials = {cell.id: len(cell.trials) for cell in bundle.content.cells}
    again: dict[str, float | None] = {}
    for number in sorted({trials[cell.id] for cell in chosen}):
        tuning = study.tuning.model_copy(update={"trials": number, "seconds": None})
        same = study.model_copy(update={"tuning": tuning})
        places = {(cell.dataset, cell.fold, cell.seed): cell.id for cell in chosen if trials[cell.id] == number}
        ids = {cell.id: places[key] for cell in plan(same).cells
               if (key := (cell.spec.dataset, cell.spec.fold, cell.spec.seed)) in places}  # fmt: skip
        if plan(same).cells[0].spec.code != next(iter(specs.values())).code:
            raise InputError(
                f"the code of {study.algorithms[0].name} here is not that of the bundle", where=bundle.file,
                fix="name the file that it was made with, and use the version of RecAssay that it names",
            )  # fmt: skip
        run_study(same, folder, only=set(ids), workers=workers, progress=heard)
        with Store.open(folder) as store:
            again |= {ids[cell.id]: cell.metrics.get(metric) for cell in store.cells() if cell.status == "done"}
    processor = bundle.content.machine.get("processor")
    rerun = tuple(compared(chosen, again, cells, metric, study, str(processor)))
    return rerun, chances(cells, metric, rerun)


def hold_lists(bundle: Bundle, specs: Mapping[int, CellSpec], study: StudySpec, folder: Path) -> int:
    """Hold the sampled lists of the cells on the study's datasets against the data; how many cells that were."""
    splits = {(one.dataset.name, one.spec.fold): one.spec.split.id for one in plan(study).cells}
    held = 0
    for place, spec in specs.items():
        split = splits.get((spec.dataset, spec.fold))
        if split is not None and bundle.content.cells[place].status == "done":
            held += check_lists(bundle, place, spec, load_split(folder, split))
    return held
