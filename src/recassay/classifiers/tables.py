"""Tables divided and preprocessed once, and shared by all classifiers: one folder per table in the study folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recassay.classifiers.spec import TableSpec, TableSplitSpec
from recassay.core.errors import InputError
from recassay.core.seeds import derived_rng
from recassay.core.system.files import appearing_folder
from recassay.core.types import BoolArray, FloatArray
from recassay.data.classification.openml import open_class_table
from recassay.data.classification.table import properties
from recassay.store.files import write_array
from recassay.store.sealed import check_files, is_usable, read_sealed, seal_folder, split_folder

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


def prepare_table(folder: Path, spec: TableSplitSpec, table: TableSpec, base: str) -> dict[str, Any]:
    """Read, divide and preprocess a table unless that is done; what is known of it (see `table_record`)."""
    target = split_folder(folder, spec.id)
    if not is_usable(folder, spec.id):
        read = open_class_table(
            table.reference, target=spec.target, categorical=spec.categorical, drop=spec.drop, base=base
        )
        classes = read.target.unique().sort()
        labels = read.target.replace_strict(classes, np.arange(classes.len())).to_numpy().astype(np.int64)
        protocol, rng = spec.protocol, derived_rng(spec.seed, "split", spec.dataset)
        test = stratified_test(labels, share=protocol.test_share, most=protocol.max_test, rng=rng)
        features, columns = encode_features(read.features, ~test, one_hot_limit=protocol.one_hot_limit)
        arrays = {
            "train_x": features[~test],
            "train_y": labels[~test],
            "test_x": features[test],
            "test_y": labels[test],
            "rows": np.flatnonzero(test) + 1,
        }
        meta = {
            "dataset": spec.dataset,
            "classes": classes.to_list(),
            "columns": columns,
            "features": {"numeric": len(read.numeric), "categorical": read.features.width - len(read.numeric)},
            "properties": properties(read),
            "counts": {"train": int((~test).sum()), "test": int(test.sum()), "columns": len(columns)},
        }

        with appearing_folder(target, replace=True) as made:
            for name, values in arrays.items():
                write_array(made / f"{name}.npy", values)
            seal_folder(made, _META, meta)
    return table_record(folder, spec.id)


def table_record(folder: Path, split_id: str) -> dict[str, Any]:
    """What is known of a prepared table: dataset, classes, columns, properties and counts."""
    return read_sealed(split_folder(folder, split_id), _META, _WHAT)


def load_table(folder: Path, split_id: str) -> PreparedTable:
    """A prepared table; a file that is not what was written raises `InputError` with its name."""
    source, record = split_folder(folder, split_id), table_record(folder, split_id)
    check_files(source, record, _WHAT)
    names = ("train_x", "train_y", "test_x", "test_y", "rows")
    arrays: dict[str, Any] = {name: np.load(source / f"{name}.npy", allow_pickle=False) for name in names}
    return PreparedTable(**arrays, classes=tuple(record["classes"]))


def stratified_test(labels: NDArray[np.int64], *, share: float, most: int, rng: np.random.Generator) -> BoolArray:
    """True for the test rows: `share` of all but at most `most`, every class in proportion (Cardoso et al., 4.2.1).

    Class k with n_k of n rows gets n_k T / n of the T test rows, rounded by largest remainders, and always keeps one
    row for training: a class with a single row is never tested, since nobody could have learned it.
    """
    counts = np.bincount(labels)
    total = min(round(share * len(labels)), most)
    exact, room = counts * (total / len(labels)), np.maximum(counts - 1, 0)
    quota = np.minimum(np.floor(exact).astype(np.int64), room)
    order = np.argsort(-(exact - quota), kind="stable")  # of equal remainders the earlier class first
    with_room = order[quota[order] < room[order]]
    quota[with_room[: max(0, total - int(quota.sum()))]] += 1
    if quota.sum() < 1:
        raise InputError(f"{total} test rows of {len(labels)} leave nothing to test on", fix="raise test_share")
    shuffled = rng.permutation(len(labels))
    by_class = shuffled[np.argsort(labels[shuffled], kind="stable")]
    place = np.arange(len(labels)) - np.repeat(np.cumsum(counts) - counts, counts)
    test = np.zeros(len(labels), dtype=bool)
    test[by_class] = place < np.repeat(quota, counts)
    return test


def encode_features(
    features: pl.DataFrame, train: BoolArray, *, one_hot_limit: int = 30
) -> tuple[FloatArray, list[str]]:
    """Imputed, encoded and scaled features, rows x columns, and what the columns mean; all is fitted where `train`.

    - A numeric feature: missing values become the median of the training rows; then minus the mean, divided by the
      standard deviation of the training rows.
    - A categorical feature: one 0/1 column for each category of the training rows, missing being a category of its own
      where it occurs there; a category that occurs only in the test rows is 0 in all of them. With more than
      `one_hot_limit` categories: one column, the category's place in their order of frequency (-1 if it is not
      known), scaled like a number.
    - A feature that is constant in the training rows (or missing in all) is left out: nothing can be learned from it.
    """
    parts: list[FloatArray] = []
    names: list[str] = []
    for column in features:
        if column.dtype == pl.String:
            values, labels = _categorical(column, train, one_hot_limit)
        else:
            values, labels = _numeric(column.fill_null(np.nan).to_numpy(), train), [column.name]
        if values.shape[1]:
            parts.append(values)
            names.extend(labels)
    if not parts:
        raise InputError("every feature is constant in the training rows", fix="give features that vary")
    return np.ascontiguousarray(np.hstack(parts)), names


def _numeric(values: FloatArray, train: BoolArray) -> FloatArray:
    known = values[train & ~np.isnan(values)]
    if not known.size:
        return np.empty((len(values), 0))
    filled = np.where(np.isnan(values), np.median(known), values)
    mean, deviation = filled[train].mean(), filled[train].std()
    if not deviation > 1e-12 * max(1.0, abs(mean)):
        return np.empty((len(values), 0))
    return ((filled - mean) / deviation)[:, None]


def _categorical(column: pl.Series, train: BoolArray, one_hot_limit: int) -> tuple[FloatArray, list[str]]:
    seen = column.filter(pl.Series(train)).value_counts(sort=False, name="count")
    seen = seen.sort("count", column.name, descending=[True, False], nulls_last=True)
    categories = seen.get_column(column.name)
    if categories.len() < 2:
        return np.empty((column.len(), 0)), []
    place = column.replace_strict(categories, np.arange(categories.len()), default=-1, return_dtype=pl.Int64).to_numpy()
    if categories.len() > one_hot_limit:
        return _numeric(place.astype(np.float64), train), [column.name]
    known = categories.to_list()
    order = np.array(sorted(range(len(known)), key=lambda at: (known[at] is None, known[at] or "")))
    names = [f"{column.name}={'missing' if known[at] is None else known[at]}" for at in order]
    return (place[:, None] == order[None, :]).astype(np.float64), names
