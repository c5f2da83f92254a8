"""The universes of a study as a long table: one column per choice that its [multiverse] varies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from recassay.core import columns as c
from recassay.core.specs.study import StudySpec
from recassay.recommenders.plan import universe_cells
from recassay.recommenders.splits import split_record
from recassay.recommenders.universes import FREE, Universe, universes
from recassay.store.records import CellRecord
from recassay.store.sealed import manifest_study
from recassay.store.store import Store

WINDOW, LEAKY = "window", "leaky"
Key = tuple[str, str, str, str, int]


def stored_study(store: Store) -> StudySpec:
    """The study that a store holds, as its manifest has it."""
    return manifest_study(store.manifest(), store.folder)


def key_of(algorithm: str, dataset: str, protocol: Any, tuning: Any, *, seed: int) -> Key:
    """What tells cells apart: algorithm, dataset, protocol and tuning as JSON, and seed."""
    return algorithm, dataset, json.dumps(protocol, sort_keys=True), json.dumps(tuning, sort_keys=True), seed


def universe_keys(universe: Universe) -> Iterator[Key]:
    """What tells the cells of a universe apart."""
    for algorithm, dataset, protocol, tuning, seed in universe_cells(universe):
        parts = (spec.model_dump(mode="json") for spec in (protocol, tuning))
        yield key_of(algorithm.name, dataset.name, *parts, seed=seed)


def cell_key(cell: CellRecord) -> Key:
    """The same of a cell that ran."""
    return key_of(cell.algorithm, cell.dataset, cell.spec["split"]["protocol"], cell.spec["tuning"], seed=cell.seed)


def has_universes(folder: Path) -> bool:
    """Whether the study varies choices, or windows of time."""
    with Store.open(folder) as store:
        study = store.manifest().get("study", {})
    return bool(study.get("multiverse")) or study.get("protocol", {}).get("split") == "rolling"


def universe_rows(folder: Path) -> pl.DataFrame:
    """The results of a study: algorithm, dataset, metric, value, and a column per choice that varies.

    A cell that several universes share has a row in each. Folds are averaged; the windows of a rolling split keep
    theirs, and so do several seeds. A universe is marked as `leaky` where the audit refused a split of it that the
    study accepts by name (`allow_leakage`). A failed cell has no value.
    """
    with Store.open(folder) as store:
        study, records = stored_study(store), {cell_key(cell): cell for cell in store.cells(every=True)}
        labels = {row.cell: row.metrics for row in store.plan()}
    leaky = {split: _refused(folder, split) for split in {cell.split for cell in records.values() if cell.split}}
    rows: list[dict[str, Any]] = []
    for universe in universes(study):
        seen = {axis: choice for axis, choice in universe.labels.items() if axis not in FREE}
        for key in universe_keys(universe):
            cell = records.get(key)
            if cell is None:
                continue
            rolling = cell.spec["split"]["protocol"]["split"] == "rolling"
            done = cell.status == "done"
            rows += [
                {
                    c.ALGORITHM: cell.algorithm,
                    c.DATASET: cell.dataset,
                    c.METRIC: label,
                    c.VALUE: cell.metrics.get(label) if done else None,
                    **seen,
                    c.SEED: str(cell.seed),
                    WINDOW: str(cell.fold) if rolling else None,
                    LEAKY: "yes" if leaky.get(cell.split or "") else "no",
                }
                for label in labels[cell.id]
            ]
    frame = pl.DataFrame(rows, infer_schema_length=None, schema_overrides={WINDOW: pl.String, c.VALUE: pl.Float64})
    keys = [name for name in frame.columns if name not in (c.VALUE, LEAKY)]
    value = pl.when(pl.col(c.VALUE).is_null().any()).then(None).otherwise(pl.col(c.VALUE).mean()).alias(c.VALUE)
    frame = frame.group_by(keys, maintain_order=True).agg(value, pl.col(LEAKY).max())
    idle = [name for name in (c.SEED, WINDOW) if frame.get_column(name).n_unique() == 1]
    # The seed of a cell is the choice `fit_seed` where that varies.
    idle += [c.SEED] if "fit_seed" in _choices(study) and c.SEED not in idle else []
    return frame.drop(idle)


def free_choices(folder: Path) -> dict[str, tuple[str, ...]]:
    """The choices of the analysis that the study varies."""
    with Store.open(folder) as store:
        axes = _choices(stored_study(store))
    return {axis: tuple(axes[axis]) for axis in FREE if axis in axes}


def _choices(study: StudySpec) -> dict[str, tuple[Any, ...]]:
    return {} if study.multiverse is None else study.multiverse.axes


def _refused(folder: Path, split: str) -> bool:
    findings = split_record(folder, split).audit.get("findings", ())
    return any(finding["refuses"] for finding in findings)
