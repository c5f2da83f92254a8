"""Several rows of one user and item made one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recassay.core.types import Float32Array, IdArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class RepeatedRows:
    """Encoded rows: who, what, how strongly, when."""

    user: IdArray
    item: IdArray
    weight: Float32Array | None
    time: IntArray | None

    def take(self, rows: IntArray) -> RepeatedRows:
        """The rows at these positions."""
        return RepeatedRows(
            self.user[rows],
            self.item[rows],
            None if self.weight is None else self.weight[rows],
            None if self.time is None else self.time[rows],
        )

    def keys(self) -> IntArray:
        """One int64 for each pair of user and item."""
        width = int(self.item.max()) + 1 if self.item.size else 1
        return self.user.astype(np.int64) * width + self.item


def merge_repeated(rows: RepeatedRows, rule: str) -> tuple[RepeatedRows, int]:
    """One row for each pair of user and item, and how many rows share their pair with another.

    `last` keeps the latest row (by time; rows of one time, or without times, by their order in the source).
    `sum` and `max` give the sum and the largest of the weights, with the time of the latest row; for rows
    without weights `sum` counts them and `max` changes nothing. The rows stay in the order in which their
    last ones stood in the source.
    """
    weight = rows.weight
    if rule == "sum" and weight is None:
        weight = np.ones(len(rows.user), dtype=np.float32)
    order, starts = sorted_groups(rows.keys(), rows.time)
    if starts.size == order.size:
        return RepeatedRows(rows.user, rows.item, weight, rows.time), 0
    sizes = np.diff(starts, append=order.size)
    latest = order[starts + sizes - 1]
    if weight is not None and rule != "last":
        each, weight = weight[order], weight.copy()
        if rule == "max":
            weight[latest] = np.maximum.reduceat(each, starts)
        else:
            weight[latest] = np.add.reduceat(each, starts, dtype=np.float64)
    keep = np.zeros(order.size, dtype=np.bool_)
    keep[latest] = True
    return RepeatedRows(rows.user, rows.item, weight, rows.time).take(np.flatnonzero(keep)), int(sizes[sizes > 1].sum())


def sorted_groups(keys: IntArray, time: IntArray | None) -> tuple[IntArray, IntArray]:
    """Row positions sorted by key, then time, then row; and where each key's group starts in that order.

    Where key and row number fit into 63 bits together they are sorted as one integer, which is several times
    faster than sorting positions; times are then compared only among rows that share their key.
    """
    bits = max(keys.size - 1, 1).bit_length()
    if keys.size and int(keys.max()).bit_length() + bits <= 63:
        packed = (keys << bits) | np.arange(keys.size)
        packed.sort()
        order, ordered = packed & ((1 << bits) - 1), packed >> bits
    else:
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
    first = np.ones(keys.size, dtype=np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    if time is not None and not first.all():
        alone = first.copy()
        alone[:-1] &= first[1:]
        shared = np.flatnonzero(~alone)
        rows = order[shared]
        order[shared] = rows[np.lexsort((time[rows], ordered[shared]))]
    return order, np.flatnonzero(first)
