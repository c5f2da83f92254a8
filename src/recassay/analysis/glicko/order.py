"""In which order the datasets of a Glicko tournament follow each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from recassay.core.errors import InputError, UsageError, listing
from recassay.core.names import did_you_mean
from recassay.core.tables.matrix import Matrix
from recassay.core.types import FloatArray

ORDERS = ("given", "name", "difficulty", "discrimination", "deviation")
"""The orders that need no table of properties."""


def classical_properties(matrix: Matrix) -> dict[str, FloatArray]:
    """What the matrix itself says of its datasets, in the sense of classical test theory.

    difficulty: minus the mean value (of a metric whose higher values are better); discrimination: the correlation of a
    dataset's values with the mean of the standardised other datasets (item-rest correlation; 0 where undefined);
    deviation: the standard deviation over algorithms.
    """
    up = matrix.values if matrix.higher_is_better else -matrix.values
    spread = up.std(axis=0)
    standard = (up - up.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    rest = standard.sum(axis=1, keepdims=True) - standard
    rest_spread = rest.std(axis=0)
    covariance = (standard * (rest - rest.mean(axis=0))).mean(axis=0)
    correlation = np.where(rest_spread > 0, covariance / np.where(rest_spread > 0, rest_spread, 1.0), 0.0)
    return {"difficulty": -up.mean(axis=0), "discrimination": correlation, "deviation": spread}


def dataset_order(
    matrix: Matrix,
    order: str | Sequence[str],
    *,
    given: Sequence[str] | None = None,
    properties: Mapping[str, Mapping[str, float]] | None = None,
) -> list[str]:
    """The datasets in their order of play; a property sorts from least to most (Cardoso et al., section 5.2).

    `order`: `given` (as the table names them; sorted names when `given` is not known), `name`, a property, or the names
    themselves, each once. `properties[dataset][property]` comes from an IRT model (such
    as difficulty, discrimination, difficulty_deviation) and goes before those of the matrix itself.
    """
    if properties is not None and not set(properties) & set(matrix.datasets):
        raise InputError(
            f"the properties are of other datasets ({listing(properties)})",
            fix=f"give those of {listing(matrix.datasets)}",
        )
    if not isinstance(order, str):
        unknown = [name for name in order if name not in matrix.datasets]
        if unknown or len(set(order)) < len(order) or not order:
            what = f"unknown datasets {listing(unknown)}" if unknown else "a dataset is listed twice, or none is"
            raise UsageError(f"order: {what}", fix="list each dataset of the table once")
        left = [name for name in matrix.datasets if name not in order]
        if left:
            raise UsageError(
                f"order: {len(left)} of the {len(matrix.datasets)} datasets are not listed ({listing(left)})",
                fix="list each dataset of the table once, or give a table of those you want",
            )
        return list(order)
    if order == "given":
        return list(given) if given is not None else list(matrix.datasets)
    if order == "name":
        return sorted(matrix.datasets)
    if properties is not None and any(order in row for row in properties.values()):
        lacking = [name for name in matrix.datasets if order not in properties.get(name, {})]
        if lacking:
            raise InputError(f"{order} is not known of {listing(lacking)}", fix="add these datasets to the properties")
        value = {name: float(properties[name][order]) for name in matrix.datasets}
    else:
        computed = classical_properties(matrix)
        if order not in computed:
            known = [*ORDERS, *sorted({p for row in (properties or {}).values() for p in row})]
            raise UsageError(f"unknown order {order!r}", fix=did_you_mean(order, known))
        value = dict(zip(matrix.datasets, computed[order].tolist(), strict=True))
    return sorted(matrix.datasets, key=lambda name: (value[name], name))
