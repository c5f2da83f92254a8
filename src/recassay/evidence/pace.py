"""When a study will end, from the cells that are done."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from recassay.runner.running import RunningCell
from recassay.store.records import CellRecord, PlannedRow

FEWEST_CELLS = 3
"""Fewer finished cells say nothing of the others."""


def seconds_left(
    done: Sequence[CellRecord], to_go: Collection[PlannedRow], running: Sequence[RunningCell], workers: int
) -> float | None:
    """About how long the cells that are left will take; None where too few are done to say it.

    A cell is expected to take the geometric mean of its algorithm's finished cells times that of its dataset's, over
    that of all: algorithms and datasets differ by factors. What running cells have had already is taken off, and the
    rest is shared by the processes.
    """
    timed = [cell for cell in done if cell.seconds]
    if len(timed) < FEWEST_CELLS:
        return None
    logs = np.log([float(cell.seconds or 1.0) for cell in timed])
    middle = float(logs.mean())

    def effect(name: str, names: Sequence[str]) -> float:
        of_algorithm = [value for value, started in zip(logs, names, strict=True) if started == name]
        return float(np.mean(of_algorithm)) - middle if of_algorithm else 0.0

    algorithms, datasets = [cell.algorithm for cell in timed], [cell.dataset for cell in timed]
    by_algorithm = {row.algorithm: effect(row.algorithm, algorithms) for row in to_go}
    by_dataset = {row.dataset: effect(row.dataset, datasets) for row in to_go}
    had = {started.cell: started.seconds for started in running}
    left = 0.0
    for row in to_go:
        expected = float(np.exp(middle + by_algorithm[row.algorithm] + by_dataset[row.dataset]))
        left += max(expected - had.get(row.cell, 0.0), 0.0)
    return left / max(min(workers, len(to_go)), 1)
