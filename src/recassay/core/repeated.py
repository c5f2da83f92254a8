"""Several events of one user and item: which they are, what their pair is worth at each, and how they become one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recassay.core import blocks
from recassay.core.arrays import BoolArray, Float32Array, FloatArray, IntArray
from recassay.core.interactions import Interactions, RepeatRule, joined
from recassay.core.pairs import UserRanges, pair_codes


def repeats(events: Interactions) -> BoolArray | None:
    """Whether each row has the user and item of the row before it; None where no row has.

    Only rows in the order of user and item tell all repeats so: see `recassay.protocol.ordering.canonical`.
    """
    again: BoolArray = np.zeros(len(events), dtype=np.bool_)
    again[1:] = events.user[1:] == events.user[:-1]
    again[1:] &= events.item[1:] == events.item[:-1]
    return again if again.any() else None


def one_of_each(events: Interactions, among: BoolArray) -> BoolArray:
    """One of the rows `among` for each of their pairs: the first."""
    chosen = np.zeros(len(events), dtype=np.bool_)
    for rows in _pair_blocks(events):
        wanted = np.flatnonzero(among[rows])
        codes = pair_codes(events.user[rows][wanted], events.item[rows][wanted], events.n_items)
        order, starts = sorted_groups(codes, None)
        first = np.zeros(len(among[rows]), dtype=np.bool_)
        first[wanted[order[starts]]] = True
        chosen[rows] = first
    return chosen


def merged(events: Interactions) -> Interactions:
    """One event for each pair of user and item by the rule of the data, in the order of user and item.

    Events whose pairs are all different are returned as they are, in their own order (`sum` without weights: each
    with weight 1).
    """
    if events.repeated.name == "sum" and events.weight is None:
        events = replace(events, weight=np.ones(len(events), dtype=np.float32))
    parts = [_merged(events.take(rows)) for rows in _pair_blocks(events)]
    if sum(map(len, parts)) == len(events):
        return events
    return joined(parts)


def _merged(events: Interactions) -> Interactions:
    rule = events.repeated
    order, starts = sorted_groups(_codes(events), events.time)
    if len(starts) == len(order):
        return events.take(order)
    ends = np.append(starts[1:], len(order))
    chosen = order[starts] if rule.name == "first" else order[ends - 1]
    weight = None if events.weight is None else events.weight[chosen]
    if events.weight is not None and rule.name in ("sum", "max", "bounded"):
        each = events.weight[order]
        if rule.name == "max":
            weight = np.maximum.reduceat(each, starts)
        elif rule.name == "sum":
            weight = np.add.reduceat(each, starts, dtype=np.float64).astype(np.float32)
        else:
            level = rule.level_of(each)
            top = np.maximum.reduceat(level, starts)
            of_top = level == np.repeat(top, ends - starts)
            total = np.add.reduceat(np.where(of_top, each, 0), starts, dtype=np.float64)
            weight = np.minimum(total.astype(np.float32), rule.bounds()[top])
            chosen = order[np.maximum.reduceat(np.where(of_top, np.arange(len(order)), -1), starts)]
    return replace(events.take(chosen), weight=weight)


def reaches(events: Interactions, threshold: float) -> BoolArray:
    """Whether the pair of each event is worth at least `threshold` after it, by the events of the pair up to it.

    No later event has a say: a play counts towards a threshold on the number of plays from the moment when there are
    enough of them. A later low rating (`last`) does not undo an earlier high one: that event stays.
    """
    if events.weight is None:
        raise ValueError("events without weights reach no threshold")
    enough: BoolArray = events.weight >= np.float32(threshold)
    rule = events.repeated
    if rule.name == "last":
        return enough
    for rows in _pair_blocks(events):
        enough[rows] = _reached(events.take(rows), enough[rows], threshold)
    return enough


def _reached(events: Interactions, enough: BoolArray, threshold: float) -> BoolArray:
    rule, weights = events.repeated, events.weight
    assert weights is not None
    order, starts = sorted_groups(_codes(events), events.time)
    if len(starts) == len(order):
        return enough
    weight, pair = weights[order], np.repeat(np.arange(len(starts)), np.diff(starts, append=len(order)))
    if rule.name == "first":
        held = enough[order[starts]][pair]
    elif rule.name == "sum":
        held = _so_far(weight, starts, pair).astype(np.float32) >= np.float32(threshold)
    else:
        worth = weight if rule.name == "max" else _bounded_so_far(weight, pair, rule)
        held = _so_far(worth >= np.float32(threshold), starts, pair) > 0
    reached = np.empty(len(order), dtype=np.bool_)
    reached[order] = held
    return reached


def _so_far(values: NDArray[Any], starts: IntArray, group: IntArray) -> FloatArray:
    """The sum of the values of each row's group up to it; groups are runs that begin at `starts`."""
    total = np.cumsum(values, dtype=np.float64)
    return total - (total[starts] - values[starts])[group]


def _bounded_so_far(weight: Float32Array, pair: IntArray, rule: RepeatRule) -> Float32Array:
    """What the events of each row's pair and level are worth up to it."""
    level = rule.level_of(weight)
    order = np.lexsort((level, pair))
    begins = np.ones(len(order), dtype=np.bool_)
    begins[1:] = (pair[order][1:] != pair[order][:-1]) | (level[order][1:] != level[order][:-1])
    worth = np.empty(len(order), dtype=np.float32)
    worth[order] = _so_far(weight[order], np.flatnonzero(begins), np.cumsum(begins) - 1)
    return np.minimum(worth, rule.bounds()[level])


def _pair_blocks(events: Interactions) -> list[slice] | list[NDArray[Any]]:
    """All rows in groups that part no pair, by ascending users; rows of one pair in their order."""
    if len(events) <= blocks.ROWS:
        return [slice(0, len(events))]
    if blocks.in_order(events.user, events.item):
        return list(blocks.user_blocks(events.user))
    ranges = UserRanges(events.user, events.n_users)
    rows = np.arange(len(events), dtype=np.int32 if len(events) < 1 << 31 else np.int64)
    ranges.arrange(rows)
    return [rows[part] for part in ranges]


def _codes(events: Interactions) -> IntArray:
    return pair_codes(events.user, events.item, events.n_items)


def sorted_groups(keys: IntArray, time: IntArray | None) -> tuple[IntArray, IntArray]:
    """Row positions sorted by key, then time, then row; and where each key's group starts in that order.

    Where key and row number fit into 63 bits together they are sorted as one integer, which is several times
    faster than sorting positions; keys that are sorted already are not sorted again. Times are compared only among
    rows that share their key.
    """
    bits = max(keys.size - 1, 1).bit_length()
    if bool((keys[1:] >= keys[:-1]).all()):
        order, ordered = np.arange(keys.size), keys
    elif int(keys.max()).bit_length() + bits <= 63:
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
