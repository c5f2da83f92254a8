"""Study folders written by hand: what a run would leave, without a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from recassay.store import CellRecord, Store
from recassay.store.files import write_cell_files
from recassay.store.records import PlannedRow

LISTS = pl.DataFrame({"user": ["u1"], "rank": [1], "item": ["i9"], "score": [0.5]})


@dataclass(frozen=True)
class DoneCell:
    """A finished cell and the scores of its users, u1, u2, ..."""

    algorithm: str
    dataset: str
    scores: Sequence[float]
    seed: int = 1


def write_store(folder: Path, metric: str, cells: Sequence[DoneCell], manifest: Mapping[str, Any] | None = None):
    """A store in which `cells` are done, in this order."""
    names = [f"cell{n}" for n in range(len(cells))]
    with Store.open(folder, create=True) as store:
        plan = [
            PlannedRow(name, cell.algorithm, cell.dataset, cell.seed, None, (metric,), "", 0)
            for name, cell in zip(names, cells, strict=True)
        ]
        store.set_plan(plan, dict(manifest or {}))
        for name, cell in zip(names, cells, strict=True):
            users = [f"u{n + 1}" for n in range(len(cell.scores))]
            scores = pl.DataFrame({"user": users, metric: [float(score) for score in cell.scores]})
            write_cell_files(folder, name, per_user=scores, lists=LISTS)
            metrics = {metric: scores[metric].mean()}
            store.record(CellRecord(name, cell.algorithm, cell.dataset, cell.seed, None, {}, "done", metrics=metrics))


def write_records(
    folder: Path,
    metrics: Sequence[str],
    records: Sequence[CellRecord],
    *,
    to_go: Sequence[tuple[str, str, int]] = (),
    manifest: Mapping[str, Any] | None = None,
) -> Path:
    """A store with these records, whose plan ends with cells (algorithm, dataset, seed) that have not been run."""
    rows = [(cell.id, cell.algorithm, cell.dataset, cell.seed, cell.fold) for cell in records]
    rows += [(f"later{n}", *row, None) for n, row in enumerate(to_go)]
    with Store.open(folder, create=True) as store:
        store.set_plan([PlannedRow(*row, tuple(metrics), "", 0) for row in rows], dict(manifest or {}))
        for cell in records:
            if cell.status == "done":
                scores = pl.DataFrame({"user": ["u1"], metrics[0]: [cell.metrics.get(metrics[0])]})
                write_cell_files(folder, cell.id, per_user=scores, lists=LISTS)
            store.record(cell)
    return folder
