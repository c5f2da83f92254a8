"""Tables divided and preprocessed once, and shared by all classifiers: a folder each in the study folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recassay.classifiers.holdout import stratified_test
from recassay.classifiers.preprocess import encode_features
from recassay.classifiers.spec import TableSpec, TableSplitSpec
from recassay.core.seeds import derived_rng
from recassay.core.system.files import appearing_folder
from recassay.core.types import FloatArray
from recassay.data.classification.openml import open_class_table
from recassay.data.classification.table import properties
from recassay.store.files import write_array
from recassay.store.sealed import check_files, is_sound, read_sealed, seal_folder

_META, _WHAT = "table.json", "the prepared table"


@dataclass(frozen=True, slots=True, eq=False)
class PreparedTable:
    """What every classifier gets. Classes are numbered in the order of their names; `rows` are those tested, from 1."""

    train_x: FloatArray
    train_y: NDArray[np.int64]
    test_x: FloatArray
    test_y: NDArray[np.int64]
    rows: NDArray[np.int64]
    classes: tuple[str, ...]


def table_folder(folder: Path, split_id: str) -> Path:
    """Where a prepared table lies in a study folder."""
    return folder / "splits" / split_id


def is_usable(folder: Path, split_id: str) -> bool:
    """Whether the table is there (it appears whole or not at all), and every file of it is what was written."""
    return is_sound(table_folder(folder, split_id), _META)


def prepare_table(folder: Path, spec: TableSplitSpec, table: TableSpec, base: str) -> dict[str, Any]:
    """Read, divide and preprocess a table unless that is done; what is known of it (see `table_record`)."""
    target = table_folder(folder, spec.id)
    if not is_usable(folder, spec.id):
        read = open_class_table(
            table.reference, target=spec.target, categorical=spec.categorical, drop=spec.drop, base=base
        )
        classes = read.target.unique().sort()
        labels = read.target.replace_strict(classes, np.arange(classes.len())).to_numpy().astype(np.int64)
        protocol, rng = spec.protocol, derived_rng(spec.seed, "split", spec.dataset)
        test = stratified_test(labels, share=protocol.test_share, most=protocol.max_test, rng=rng)
        encoded = encode_features(read.features, ~test, one_hot_limit=protocol.one_hot_limit)
        arrays = {
            "train_x": encoded.values[~test],
            "train_y": labels[~test],
            "test_x": encoded.values[test],
            "test_y": labels[test],
            "rows": np.flatnonzero(test) + 1,
        }
        meta = {
            "dataset": spec.dataset,
            "classes": classes.to_list(),
            "columns": list(encoded.columns),
            "features": {"numeric": len(read.numeric), "categorical": read.features.width - len(read.numeric)},
            "properties": properties(read),
            "counts": {"train": int((~test).sum()), "test": int(test.sum()), "columns": len(encoded.columns)},
        }

        with appearing_folder(target, existing="replace") as made:
            for name, values in arrays.items():
                write_array(made / f"{name}.npy", values)
            seal_folder(made, _META, meta)
    return table_record(folder, spec.id)


def table_record(folder: Path, split_id: str) -> dict[str, Any]:
    """What is known of a prepared table: dataset, classes, columns, properties and counts."""
    return read_sealed(table_folder(folder, split_id), _META, _WHAT)


def load_table(folder: Path, split_id: str) -> PreparedTable:
    """A prepared table; a file that is not what was written raises `InputError` with its name."""
    source, record = table_folder(folder, split_id), table_record(folder, split_id)
    check_files(source, record, _WHAT)
    names = ("train_x", "train_y", "test_x", "test_y", "rows")
    arrays: dict[str, Any] = {name: np.load(source / f"{name}.npy", allow_pickle=False) for name in names}
    return PreparedTable(**arrays, classes=tuple(record["classes"]))
