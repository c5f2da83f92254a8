"""From the store of a classifier study to the responses that an analysis reads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from recassay.classifiers.spec import ClassifierCellSpec
from recassay.classifiers.tables import table_record
from recassay.core.errors import InputError
from recassay.core.tables.responses import InstanceResponses, Responses
from recassay.core.tables.sources import Source
from recassay.store.records import CellRecord
from recassay.store.store import Store


def stored_instances(folder: str | Path) -> list[InstanceResponses]:
    """The responses of every dataset of the study in `folder`, in the plan's order.

    A classifier whose cell failed or has not run is not a respondent of that dataset, and a dataset without a finished
    cell is left out; `status` says why. A folder of another kind of study is refused.
    """
    with Store.open(folder) as store:
        by_dataset: dict[str, list[CellRecord]] = {}
        for cell in store.cells():
            if "classifier" not in cell.spec:
                raise InputError(
                    "this is not a classifier study", where=str(folder), fix="name the folder of a study of classifiers"
                )
            if cell.status == "done":
                by_dataset.setdefault(cell.dataset, []).append(cell)
        if not by_dataset:
            raise InputError("no cell of this study is done", where=str(folder), fix="run the study")
        sources = store.results().sources
        return [_instances(store, dataset, cells, sources) for dataset, cells in by_dataset.items()]


def _instances(store: Store, dataset: str, cells: list[CellRecord], sources: tuple[Source, ...]) -> InstanceResponses:
    frames = [store.responses(cell.id) for cell in cells]
    first = frames[0]
    if any(not frame.get_column("row").equals(first.get_column("row")) for frame in frames):
        raise InputError(
            f"the cells of {dataset} were tested on different rows", where=str(store.folder), fix="run in a new folder"
        )
    codes = np.stack([frame.get_column("right").to_numpy() for frame in frames]).astype(np.uint8)
    items = first.select(pl.format("r{}", "row")).to_series().to_list()
    specs = [ClassifierCellSpec.model_validate(cell.spec) for cell in cells]
    return InstanceResponses(
        dataset=dataset,
        responses=Responses(codes, tuple(cell.algorithm for cell in cells), tuple(items), sources),
        roles=tuple(spec.role for spec in specs),
        truth=tuple(first.get_column("truth").to_list()),
        metadata=table_record(store.folder, specs[0].split.id)["properties"],
    )
