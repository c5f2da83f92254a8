"""Results as tables and as plain data: each field is named once, and columns and keys follow from its axes.

A result's arrays run over named axes (algorithms, datasets, ...). `long_frame` makes one row per combination of names,
`by_name` nested dictionaries, `estimates` values with their intervals; `stated` copies fields under their own names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from recassay.core.choices import MANY_ALGORITHMS
from recassay.core.system.plain import plain

Columns = Mapping[str | tuple[str, ...], ArrayLike | None]
"""Arrays by column. A tuple of names splits the last axis of its array; None is a column of nulls."""


def long_frame(axes: Mapping[str, Sequence[Any]], columns: Columns, *, order: Sequence[int] = ()) -> pl.DataFrame:
    """One row per combination of the names on the axes, the last axis fastest; NaN becomes null.

    Args:
        axes: by column, the names on each axis of the arrays, in the order of their dimensions.
        columns: the arrays; one with fewer dimensions than there are axes is repeated along the first of them.
        order: positions along the last axis, where its rows are to stand in another order.
    """
    shape = tuple(len(names) for names in axes.values())
    places = np.indices(shape)
    data: dict[str, pl.Series] = {
        name: pl.Series(name, [names[i] for i in _reordered(place, order).tolist()])
        for (name, names), place in zip(axes.items(), places, strict=True)
    }
    for names, array in columns.items():
        if array is None:
            several = (names,) if isinstance(names, str) else names
            data |= {name: pl.Series(name, [None] * places[0].size, dtype=pl.Float64) for name in several}
        elif isinstance(names, str):
            data[names] = pl.Series(names, _reordered(np.broadcast_to(array, shape), order))
        else:
            parts = np.broadcast_to(array, (*shape, len(names)))
            data |= {name: pl.Series(name, _reordered(parts[..., i], order)) for i, name in enumerate(names)}
    return pl.DataFrame(list(data.values())).fill_nan(None)


def _reordered(values: Any, order: Sequence[int]) -> Any:
    return (values[..., list(order)] if len(order) else values).ravel()


def by_name(values: ArrayLike | None, *names: Sequence[str]) -> Any:
    """An array as dictionaries, one level per axis that is named; None stays None."""
    if values is None:
        return None
    array = np.asarray(values)
    inner = array.tolist() if len(names) == 1 else [by_name(part, *names[1:]) for part in array]
    return dict(zip(names[0], inner, strict=True))


def by_pair(values: ArrayLike, names: Sequence[str], order: Sequence[int] = ()) -> dict[str, dict[str, Any]]:
    """A square array as `[row][column]` without its diagonal.

    Of more than `MANY_ALGORITHMS` names, the first so many in `order` (positions, the best first).
    """
    if len(names) > MANY_ALGORITHMS:
        kept = sorted((list(order) or list(range(len(names))))[:MANY_ALGORITHMS])
        values, names = np.asarray(values)[np.ix_(kept, kept)], [names[at] for at in kept]
    nested: dict[str, dict[str, Any]] = by_name(values, names, names)
    return {row: {other: value for other, value in inner.items() if other != row} for row, inner in nested.items()}


def estimates(names: Sequence[str], values: ArrayLike, intervals: ArrayLike | None) -> dict[str, dict[str, Any]]:
    """By name an `estimate` and its `interval`, whose ends stand on the last axis of `intervals`; None: no interval."""
    ends = [None] * len(names) if intervals is None else np.asarray(intervals).tolist()
    numbers = np.asarray(values).tolist()
    return {n: {"estimate": v, "interval": i} for n, v, i in zip(names, numbers, ends, strict=True)}


def stated(result: object, *fields: str) -> dict[str, Any]:
    """The fields of these names as plain data, each under its own name."""
    return {name: plain(getattr(result, name)) for name in fields}
