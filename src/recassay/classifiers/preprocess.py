"""From columns to numbers, with everything that is learned learned from training rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recassay.core.errors import InputError
from recassay.core.types import BoolArray, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """The features as numbers: `values[row, column]` for every row of the table, and what the columns mean."""

    values: FloatArray
    columns: tuple[str, ...]


def encode_features(features: pl.DataFrame, train: BoolArray, *, one_hot_limit: int = 30) -> Encoded:
    """Imputed, encoded and scaled features of all rows; what is fitted is fitted on the rows where `train`.

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
    return Encoded(np.ascontiguousarray(np.hstack(parts)), tuple(names))


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
    place = _places(column, categories)
    if categories.len() > one_hot_limit:
        return _numeric(place.astype(np.float64), train), [column.name]
    known = categories.to_list()
    order = np.array(sorted(range(len(known)), key=lambda at: (known[at] is None, known[at] or "")))
    names = [f"{column.name}={'missing' if known[at] is None else known[at]}" for at in order]
    return (place[:, None] == order[None, :]).astype(np.float64), names


def _places(column: pl.Series, categories: pl.Series) -> NDArray[np.int64]:
    """The position of each value among `categories`, -1 where it is none of them."""
    frame = pl.DataFrame({"value": categories, "place": np.arange(categories.len())})
    found = pl.DataFrame({"value": column}).join(frame, on="value", how="left", nulls_equal=True, maintain_order="left")
    return found.get_column("place").fill_null(-1).to_numpy()
