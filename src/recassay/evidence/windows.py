"""The means of each algorithm in each window of a rolling split."""

from __future__ import annotations

from pathlib import Path

from recassay.data.reading.times import day_of
from recassay.recommenders.plan import CellSpec
from recassay.recommenders.splits import is_prepared, load_split
from recassay.store.records import CellRecord
from recassay.store.store import Store


def window_means(folder: Path, dataset: str, metric: str) -> dict[str, dict[str, float]]:
    """By window of a rolling split, in order of time, the mean of each algorithm over users; seeds are averaged.

    A window is called after the days of its test part, or by its number where these are not known. Empty for any
    other split.
    """
    values: dict[int, dict[str, list[float]]] = {}
    cell_of: dict[int, CellRecord] = {}
    with Store.open(folder) as store:
        for cell in store.cells():
            rolling = cell.spec.get("split", {}).get("protocol", {}).get("split") == "rolling"
            value = cell.metrics.get(metric)
            if cell.status == "done" and cell.dataset == dataset and rolling and cell.fold is not None:
                cell_of[cell.fold] = cell
                if value is not None:
                    values.setdefault(cell.fold, {}).setdefault(cell.algorithm, []).append(value)
    return {
        _days(folder, cell_of[fold]): {name: sum(of_fold) / len(of_fold) for name, of_fold in values[fold].items()}
        for fold in sorted(values)
    }


def _days(folder: Path, cell: CellRecord) -> str:
    """The first and the last day of a window's test part."""
    split = CellSpec.model_validate(cell.spec).split.id
    number = f"window {(cell.fold or 0) + 1}"
    if not is_prepared(folder, split):
        return number
    time = load_split(folder, split).test.time
    if time is None or not len(time):
        return number
    first, last = day_of(int(time.min())), day_of(int(time.max()))
    return number if first is None or last is None else f"{number}, {first} to {last}"
