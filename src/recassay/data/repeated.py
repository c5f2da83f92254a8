"""Several rows of one user and item made one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from recassay.core.types import Float32Array, IdArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Encoded rows: who, what, how strongly, when."""

    user: IdArray
    item: IdArray
    weight: Float32Array | None
    time: IntArray | None

    def take(self, rows: IntArray) -> Rows:
        """The rows at these positions."""
        return Rows(
            self.user[rows],
            self.item[rows],
            None if self.weight is None else self.weight[rows],
            None if self.time is None else self.time[rows],
        )

    def keys(self) -> IntArray:
        """One int64 for each pair of user and item."""
        width = int(self.item.max()) + 1 if self.item.size else 1
        return self.user.astype(np.int64) * width + self.item


def merge_repeated(rows: Rows, rule: str) -> tuple[Rows, int]:
    """One row for each pair of user and item, and how many rows share their pair with another.

    `last` keeps the latest row (by time; rows of one time, or without times, by their order in the source).
    `sum` and `max` give the sum and the largest of the weights, with the time of the latest row; for rows
    without weights `sum` counts them and `max` changes nothing. The rows stay in the order in which their
    last ones stood in the source.
    """
    keys = rows.keys()
    if pl.Series(keys).n_unique() == keys.size:
        if rule == "sum" and rows.weight is None:
            rows = Rows(rows.user, rows.item, np.ones(keys.size, dtype=np.float32), rows.time)
        return rows, 0
    order, starts = sorted_groups(keys, rows.time)
    ends = np.append(starts[1:], keys.size)
    sizes = ends - starts
    weight = rows.weight
    if rule == "sum":
        each = np.ones(keys.size) if weight is None else weight[order].astype(np.float64)
        merged = np.add.reduceat(each, starts).astype(np.float32)
    elif weight is not None:
        merged = np.maximum.reduceat(weight[order], starts) if rule == "max" else weight[order[ends - 1]]
    latest = order[ends - 1]
    back = np.argsort(latest)
    kept = rows.take(latest[back])
    if rule == "sum" or weight is not None:
        kept = Rows(kept.user, kept.item, merged[back], kept.time)
    return kept, int(sizes[sizes > 1].sum())


def sorted_groups(keys: IntArray, time: IntArray | None) -> tuple[IntArray, IntArray]:
    """Row positions sorted by key, then time, then row; and where each key's group starts in that order."""
    order = np.argsort(keys, kind="stable") if time is None else np.lexsort((time, keys))
    ordered = keys[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    return order, starts
