"""What a run would do, and the memory it would need, without doing it."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from recassay.recommenders.dispatch import cell_payload, split_jobs
from recassay.recommenders.plan import Plan
from recassay.recommenders.splits import is_prepared
from recassay.runner.drive import CANNOT_RUN, CellPrediction
from recassay.runner.jobs import Collected, Job
from recassay.runner.local import LocalExecutor
from recassay.runner.memory import memory_limit
from recassay.store.lock import study_lock
from recassay.store.store import Store


def dry_run_study(
    planned: Plan, folder: Path, workers: int, preload: Sequence[str], fork: bool | None
) -> tuple[CellPrediction, ...]:
    """Prepare splits (in a temporary folder unless the study is there already) and ask the algorithms."""
    with (
        _scratch(folder) as (work, known),
        LocalExecutor(min(workers, len(planned.cells)), work / "logs", preload=preload, fork=fork) as executor,
    ):
        splits = Collected()
        executor.run(split_jobs(planned, planned.cells, work), splits)
        usable = [cell for cell in planned.cells if is_prepared(work, cell.spec.split.id)]
        asked = Collected()
        executor.run(
            [
                Job(
                    cell.id,
                    "recassay.recommenders.cell:predict",
                    partial(cell_payload, planned, cell, work),
                    planned.study.budget.seconds_per_cell,
                    memory_limit(planned.study.budget),
                )
                for cell in usable
            ],
            asked,
        )
        predictions = []
        for cell in planned.cells:
            outcome = asked.outcomes.get(cell.id) or splits.outcomes[cell.spec.split.id]
            told = dict(outcome.record or {}) if outcome.status == "done" else {}
            predictions.append(
                CellPrediction(
                    cell=cell.id,
                    algorithm=cell.algorithm.name,
                    dataset=cell.dataset.name,
                    seed=cell.spec.seed,
                    fold=cell.spec.fold,
                    state=known.get(cell.id, "to go" if outcome.status == "done" else CANNOT_RUN),
                    reason=outcome.reason,
                    **told,
                )
            )
    return tuple(predictions)


@contextlib.contextmanager
def _scratch(folder: Path) -> Iterator[tuple[Path, dict[str, str]]]:
    if (folder / "splits").is_dir():
        with study_lock(folder), Store.open(folder) as store:
            yield folder, store.statuses()
    else:
        with tempfile.TemporaryDirectory(prefix="recassay-") as temporary:
            yield Path(temporary), {}
