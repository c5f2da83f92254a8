"""The five dimensions of ComPer out of a results table: which metric stands for which, and a cube of their values."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from recassay.analysis.comper.matrix import DIMENSIONS, NEGATIVE_DIMENSIONS
from recassay.core.choices import ComPerTimeUnit, MissingPolicy, Normalisation
from recassay.core.errors import NotApplicableError, UsageError
from recassay.core.tables.labels import find_label, known_direction, split_label
from recassay.core.tables.matrix import MissingCells
from recassay.core.tables.results import Results
from recassay.core.types import BoolArray, FloatArray
from recassay.core.words import listing

DEFAULT_CUTOFF = 10
"""The N of the paper's lists; taken where a table has coverage or diversity at several cut-offs and none is named."""

_FIXES = {
    "correctness": "name a metric of accuracy with `correctness`",
    "coverage": "add coverage@10",
    "diversity": "add diversity@10",
    "robustness": "run the study with a [comper] section, which attacks the training data, or add robustness",
    "scalability": "add scalability, seconds, or seconds_fit and seconds_predict",
}


@dataclass(frozen=True, slots=True, eq=False)
class DimensionTable:
    """`values[a, s, d]`: dimension d of algorithm a in setting s (a dataset under one split), names in sorted order.

    `metrics[d]` are the labels behind a dimension, summed where there are several; `negative[d]`: lower is better.
    """

    values: FloatArray
    algorithms: tuple[str, ...]
    datasets: tuple[str, ...]
    metrics: tuple[tuple[str, ...], ...] = tuple((name,) for name in DIMENSIONS)
    negative: BoolArray = field(default_factory=lambda: np.isin(DIMENSIONS, NEGATIVE_DIMENSIONS))
    time_unit: ComPerTimeUnit | None = None
    """The unit of scalability where it was measured in seconds; None where the table says scalability itself."""
    missing: MissingCells = field(default_factory=MissingCells)


def dimension_table(
    results: Results,
    *,
    correctness: str | None = None,
    k: int | None = None,
    time_unit: ComPerTimeUnit = "seconds",
    missing: MissingPolicy = "error",
) -> DimensionTable:
    """The dimensions of every algorithm in every setting, each the mean over seeds and folds.

    A metric that has the name of a dimension stands for it. Else correctness is `auc`, or the metric that `correctness`
    names (one whose lower values are better, such as rmse, counts as a negative dimension); coverage and diversity are
    those at the cut-off `k`; scalability is `seconds`, or `seconds_fit` + `seconds_predict`, in `time_unit`. Without a
    metric for a dimension, or with a missing cell that `missing` does not deal with, `NotApplicableError` is raised.
    """
    available = results.metrics
    if correctness is not None:
        accuracy: tuple[str, ...] = (find_label(correctness, available),)
    else:
        accuracy = ("correctness",) if "correctness" in available else _at_cutoff("auc", None, available)
    metrics = (
        accuracy,
        *(_at_cutoff(name, k, available) for name in ("coverage", "diversity", "robustness")),
        _scalability(available),
    )
    absent = [name for name, labels in zip(DIMENSIONS, metrics, strict=True) if not labels]
    if absent:
        raise NotApplicableError(
            f"the results have no {listing(absent)}, and ComPer needs {listing(DIMENSIONS, most=None)}",
            fix="; ".join(_FIXES[name] for name in absent),
        )
    timed = metrics[-1] != ("scalability",)
    # The sum of the cells of the labels; NaN where one is missing.
    values = np.stack([np.sum([results.table(label) for label in labels], axis=0) for labels in metrics], axis=2)
    if timed and time_unit == "milliseconds":
        values[:, :, -1] *= 1000.0
    downward = known_direction(metrics[0][0]) is False
    table = DimensionTable(
        values,
        tuple(results.algorithms),
        tuple(results.datasets),
        metrics,
        np.array([downward, *(name in NEGATIVE_DIMENSIONS for name in DIMENSIONS[1:])]),
        time_unit if timed else None,
    )
    return _complete(table, missing)


def normalise(table: DimensionTable, how: Normalisation = "ratio") -> FloatArray:
    """d' of every value, in [0, 1] and with higher better everywhere.

    `ratio` is equation (4), d' = 1 - 1 / (d + 1), which needs nothing but the value itself but depends on its unit: a
    time of 2 has d' = 2/3, the same time in thousandths 0.9995. It is defined for values of at least 0. `min-max` is
    (d - min) / (max - min) of each dimension, and 1/2 where all values are equal. Negative dimensions become 1 - d'.
    """
    values = table.values
    if how == "ratio":
        below = values < 0
        if below.any():
            a, s, d = (int(axis[0]) for axis in np.nonzero(below))
            raise NotApplicableError(
                f"{DIMENSIONS[d]} of {table.algorithms[a]} on {table.datasets[s]} is {values[a, s, d]:g}, and equation "
                "(4) needs values of at least 0",
                fix="use the absolute shift and non-negative metrics, or `normalisation='min-max'`",
            )
        scaled = values / (values + 1.0)
    else:
        axes = (0, 1) if how == "min-max" else (0,)
        low, high = values.min(axis=axes, keepdims=True), values.max(axis=axes, keepdims=True)
        span = high - low
        scaled = np.where(span > 0, (values - low) / np.where(span > 0, span, 1.0), 0.5)
    return np.where(table.negative, 1.0 - scaled, scaled)


def _at_cutoff(name: str, k: int | None, available: list[str]) -> tuple[str, ...]:
    """The label of `name` without a cut-off, else at k; without k the only one there is, or the one at 10."""
    if name in available:
        return (name,)
    labels = [label for label in available if split_label(label)[0] == name]
    at = f"{name}@{k or DEFAULT_CUTOFF}"
    if at in labels:
        return (at,)
    if len(labels) > 1 or (labels and k is not None):
        raise UsageError(f"{name} is there as {listing(labels)}, and not as {at}", fix="name the cut-off with -k")
    return tuple(labels)


def _scalability(available: list[str]) -> tuple[str, ...]:
    ways: tuple[tuple[str, ...], ...] = (("scalability",), ("seconds",), ("seconds_fit", "seconds_predict"))
    return next((labels for labels in ways if set(labels) <= set(available)), ())


def _complete(table: DimensionTable, policy: MissingPolicy) -> DimensionTable:
    """The table without its holes, by the policy; `worst` takes the worst value of that dimension in that setting."""
    holes = np.isnan(table.values)
    if not holes.any():
        return table
    algorithms, datasets = table.algorithms, table.datasets
    cells = tuple((algorithms[a], datasets[s]) for a, s in zip(*np.nonzero(holes.any(axis=2)), strict=True))
    if policy == "error":
        d = int(np.nonzero(holes)[2][0])
        raise NotApplicableError(
            f"{len(cells)} cells lack a dimension of ComPer: " + listing(f"{a} on {s}" for a, s in cells)
            + f" (the first has no {DIMENSIONS[d]})",
            fix="choose `missing='drop-datasets'`, `missing='drop-algorithms'` or `missing='worst'`",
        )  # fmt: skip
    if policy == "worst":
        empty = holes.all(axis=0)
        if empty.any():
            s, d = (int(axis[0]) for axis in np.nonzero(empty))
            raise NotApplicableError(
                f"no algorithm has {DIMENSIONS[d]} on {datasets[s]}", fix="choose `missing='drop-datasets'`"
            )
        worst = np.where(table.negative, np.nanmax(table.values, axis=0), np.nanmin(table.values, axis=0))
        return replace(table, values=np.where(holes, worst, table.values), missing=MissingCells(policy, cells))
    axis, kind = (1, "dataset") if policy == "drop-datasets" else (0, "algorithm")
    lacking = holes.any(axis=(1 - axis, 2))
    if lacking.all():
        raise NotApplicableError(f"every {kind} lacks a dimension somewhere", fix="choose another `missing`")
    names = np.array(datasets if axis else algorithms, dtype=object)
    values, kept = np.compress(~lacking, table.values, axis=axis), tuple(names[~lacking])
    algorithms, datasets = (algorithms, kept) if axis else (kept, datasets)
    record = MissingCells(policy, cells, tuple(names[lacking]))
    return replace(table, values=values, algorithms=algorithms, datasets=datasets, missing=record)
