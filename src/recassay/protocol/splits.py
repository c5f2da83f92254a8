"""Which part an event belongs to: training, validation or test.

Every split is a function from interactions to one label per row. None depends on the order of the rows, on how
ids are numbered, or on the file format: chance is drawn from the seed and the ids (`ordering`). Splits by time divide
events, and never part events of one user and one time; random splits divide pairs of user and item.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recassay.core.blocks import nth_smallest, user_blocks
from recassay.core.errors import InputError
from recassay.core.repeated import repeats
from recassay.core.specs.specs import ProtocolSpec, SplitName
from recassay.core.types import BoolArray, IdArray, IntArray, Interactions
from recassay.protocol.ordering import blocks_in_user, counting_order, pair_keys

Labels: TypeAlias = NDArray[np.int8]
Ratios: TypeAlias = tuple[float, float, float]
TRAIN, VALID, TEST, OUTSIDE = 0, 1, 2, 3
"""The parts; events outside a window of a rolling split are in none."""


@dataclass(frozen=True, slots=True)
class SplitKind:
    """What a split's name promises: over what it is drawn, and whether it follows time."""

    scope: Literal["global", "per user", "given"]
    temporal: bool
    sentence: str


SPLITS: dict[SplitName, SplitKind] = {
    "global_time": SplitKind("global", True, "one point in time for all: the past trains, the future tests"),
    "rolling": SplitKind("global", True, "windows of time move on: the past trains, what follows tests"),
    "user_time": SplitKind("per user", True, "the last share of each user's events tests; other users' future trains"),
    "leave_last_out": SplitKind(
        "per user", True, "each user's last event, with those of the same time, tests; other users' future trains"
    ),
    "random": SplitKind("global", False, "a random share of all pairs tests"),
    "random_per_user": SplitKind("per user", False, "a random share of each user's pairs tests"),
    "kfold": SplitKind("global", False, "one of k random folds of all pairs tests, the next one validates"),
    "given": SplitKind("given", False, "the parts as they were given"),
}


def split_labels(interactions: Interactions, spec: ProtocolSpec) -> Labels:
    """The label of each row under `spec.split` (all but `given`, whose labels come with the data).

    Random splits part pairs: of rows in canonical order, those that repeat a pair get the label of its first row, so
    that the sizes of the parts are counted in pairs.
    """
    again = None if SPLITS[spec.split].temporal else repeats(interactions)
    if again is not None:
        return split_labels(interactions.take(~again), spec)[np.cumsum(~again) - 1]
    rule = _RULES[spec.split]
    if SPLITS[spec.split].scope == "per user" and bool((interactions.user[1:] >= interactions.user[:-1]).all()):
        parts = [interactions.take(block) for block in user_blocks(interactions.user)]
        return np.concatenate([rule(part, spec) for part in parts]) if parts else np.empty(0, dtype=np.int8)
    return rule(interactions, spec)


def global_time(interactions: Interactions, ratios: Ratios) -> Labels:
    """Global temporal split by ratio (KDD'24, 3.3): the earliest share trains, the next validates, the last
    tests.

    With n events in time order the boundaries are wanted after round(n r_train) and round(n (r_train +
    r_valid)) of them. Events of equal time are never parted: where a boundary falls into a block of ties, the
    whole block goes to the side that leaves the boundary nearest to where it was wanted, and to the earlier
    part when both are equally near. A training or test part that was asked for is not left empty while
    another block boundary exists. Linear: the boundaries are selected, nothing is sorted.
    """
    return _labels_by_value(_time(interactions, "global_time"), ratios)


def rolling(interactions: Interactions, ratios: Ratios, *, window: int, windows: int, sliding: bool) -> Labels:
    """One of several windows of a global temporal split; the last of a growing one is `global_time` itself.

    The last window has the shares `ratios`; each window before it ends earlier by the share that tests, so that test
    parts follow each other and never overlap. The training part begins with the first event, or (`sliding`) is in every
    window as long as in the first. Boundaries in blocks of equal times move as in `global_time`.
    """
    time = _time(interactions, "rolling")
    n, (train, valid, test) = len(time), ratios
    back = (windows - 1 - window) * test
    begin = window * test if sliding else 0.0
    ends = (begin, train - back, train + valid - back, train + valid + test - back)
    wanted = [round(n * min(share, 1.0)) for share in ends]
    labels = np.full(n, OUTSIDE, dtype=np.int8)
    before = _before(time, wanted, keep_ends=False)
    for label, (start, end) in zip((TRAIN, VALID, TEST), pairwise(before), strict=True):
        labels[end & ~start] = label
    return labels


def random(interactions: Interactions, ratios: Ratios, *, seed: int) -> Labels:
    """Global random split by ratio, for data without time: each pair of user and item falls into one part."""
    return _labels_by_value(pair_keys(interactions, seed, "split", "random"), ratios)


def kfold(interactions: Interactions, *, fold: int, folds: int, seed: int) -> Labels:
    """Global random folds: fold number `fold` tests, the next one (cyclically) validates, the others train.

    The same seed gives the same folds for every `fold`; their sizes differ by at most one (a repeated pair
    stays whole, in one fold). Of two folds none can be spared to validate: the validation part is then empty.
    """
    keys = pair_keys(interactions, seed, "split", "kfold")
    number = np.zeros(len(keys), dtype=np.int32)
    wanted = [len(keys) * share // folds for share in range(1, folds)]
    for before in _before(keys, wanted, keep_ends=False):
        number += ~before
    labels = np.full(len(keys), TRAIN, dtype=np.int8)
    if folds > 2:
        labels[number == (fold + 1) % folds] = VALID
    labels[number == fold] = TEST
    return labels


def user_time(interactions: Interactions, ratios: Ratios) -> Labels:
    """Per-user temporal hold-out: of each user's n events in time order the last shares validate and test.

    The boundaries are wanted after floor(n r_train + 1/2), at least 1, and floor(n (r_train + r_valid) + 1/2)
    events. A boundary inside a block of equal times moves as in `global_time`; all events of a user that share one
    time train. It leaks globally by construction: what other users do after a test event is trained on (the
    audit reports how much).
    """
    blocks = blocks_in_user(interactions, _time(interactions, "user_time"))
    return _labels_by_block(interactions, *blocks, ratios)


def random_per_user(interactions: Interactions, ratios: Ratios, *, seed: int) -> Labels:
    """Per-user random hold-out: as `user_time`, with each user's pairs in a seeded random order instead of
    time."""
    keys = pair_keys(interactions, seed, "split", "random_per_user")
    return _labels_by_block(interactions, *blocks_in_user(interactions, keys), ratios)


def leave_last_out(interactions: Interactions) -> Labels:
    """Per-user leave-last-out: the last event tests, the one before validates, the others train.

    Events of one user and one time are not parted: those of the user's last time test, those of the time before
    validate. A user with two times gives one to training and one to the test; all events of a user with one time
    train.
    """
    start, end = blocks_in_user(interactions, _time(interactions, "leave_last_out"))
    count = np.bincount(interactions.user, minlength=interactions.n_users)[interactions.user]
    is_last = end == count
    last_start = np.zeros(interactions.n_users, dtype=np.int32)
    last_start[interactions.user[is_last]] = start[is_last]
    labels = np.full(len(interactions), TRAIN, dtype=np.int8)
    labels[(end == last_start[interactions.user]) & (start > 0)] = VALID
    labels[is_last & (start > 0)] = TEST
    return labels


_RULES: dict[SplitName, Callable[[Interactions, ProtocolSpec], Labels]] = {
    "global_time": lambda data, spec: global_time(data, spec.ratios),
    "rolling": lambda data, spec: rolling(
        data, spec.ratios, window=spec.fold, windows=spec.folds, sliding=spec.window == "sliding"
    ),
    "user_time": lambda data, spec: user_time(data, spec.ratios),
    "leave_last_out": lambda data, spec: leave_last_out(data),
    "random": lambda data, spec: random(data, spec.ratios, seed=spec.seed),
    "random_per_user": lambda data, spec: random_per_user(data, spec.ratios, seed=spec.seed),
    "kfold": lambda data, spec: kfold(data, fold=spec.fold, folds=spec.folds, seed=spec.seed),
}


def given(train: Interactions, valid: Interactions, test: Interactions) -> tuple[Interactions, Labels]:
    """Three parts made elsewhere as one Interactions over the union of their ids, and the label of each row.

    Rows are in the order of user and item, those of one pair in the order of the parts (and within a part as they
    stood). Weights and times are kept where every part that has rows has them, and an error where only some do. What
    repeated events mean is what the training part says.
    """
    parts = (train, valid, test)
    filled = [part for part in parts if len(part)]
    for name in ("weight", "time"):
        if len({getattr(part, name) is None for part in filled}) > 1:
            what = f"some parts of the given split have a {name} and some have none"
            raise InputError(what, fix="give it for all or for none")
    users, user = _joined_ids([(part.users, part.user) for part in parts])
    items, item = _joined_ids([(part.items, part.item) for part in parts])
    weights = [part.weight for part in filled if part.weight is not None]
    times = [part.time for part in filled if part.time is not None]
    whole = Interactions(
        user=user,
        item=item,
        users=users,
        items=items,
        weight=np.concatenate(weights) if weights else None,
        time=np.concatenate(times) if times else None,
        repeated=train.repeated,
    )
    labels = np.repeat(np.array([TRAIN, VALID, TEST], dtype=np.int8), [len(part) for part in parts])
    order = counting_order(user, users.len(), counting_order(item, items.len())).astype(np.int64)
    return whole.take(order), labels[order]


def _time(interactions: Interactions, split: str) -> IntArray:
    if interactions.time is None:
        raise InputError(
            f"split {split!r} follows time, and these interactions have no timestamps",
            fix="use split = 'random', 'random_per_user' or 'kfold', or read the column of timestamps",
        )
    return interactions.time


def _labels_by_value(values: NDArray[Any], ratios: Ratios) -> Labels:
    n = len(values)
    labels = np.full(n, TRAIN, dtype=np.int8)
    if n == 0:
        return labels
    wanted = [
        min(max(round(n * share), 1), n - 1) if held_out > 0 else n
        for share, held_out in ((ratios[0], ratios[1] + ratios[2]), (ratios[0] + ratios[1], ratios[2]))
    ]
    for before in _before(values, wanted, keep_ends=True):
        labels += ~before
    return labels


def _before(values: NDArray[Any], wanted: list[int], *, keep_ends: bool) -> list[BoolArray]:
    """For each wanted number of smallest values a mask of about so many, in which equal values stay together.

    A boundary inside a block of equal values moves to the nearer end of the block (the later one when equally
    near). With `keep_ends` it does not move to the very start or end of all rows unless the other end is one
    too.
    """
    n = len(values)
    masks = []
    for target in wanted:
        if target >= n:
            masks.append(np.ones(n, dtype=np.bool_))
            continue
        value = nth_smallest(values, target)
        below, upto = values < value, values <= value
        start, end = int(np.count_nonzero(below)), int(np.count_nonzero(upto))
        later = end - target <= target - start
        if keep_ends and start == 0:
            later = True
        if keep_ends and end == n and start > 0:
            later = False
        masks.append(upto if later else below)
    return masks


def _labels_by_block(interactions: Interactions, start: IdArray, end: IdArray, ratios: Ratios) -> Labels:
    count = np.bincount(interactions.user, minlength=interactions.n_users)
    last_train = np.maximum(np.floor(count * ratios[0] + 0.5), 1).astype(np.int32)
    last_valid = np.floor(count * (ratios[0] + ratios[1]) + 0.5).astype(np.int32)
    labels: Labels = np.zeros(len(interactions), dtype=np.int8)
    for wanted in (last_train, np.maximum(last_valid, last_train)):
        labels += ~_blocks_before(start, end, wanted[interactions.user], count[interactions.user])
    return labels


def _blocks_before(start: IdArray, end: IdArray, wanted: IdArray, count: IntArray) -> BoolArray:
    """Whether each row's block lies before a boundary that is wanted after `wanted` of its user's `count` rows.

    A boundary inside a block moves to its nearer end (the later one when equally near), but neither to the start nor
    to the end of all rows, unless the block is all there is: that lies before.
    """
    later = (end - wanted <= wanted - start) | (start == 0)
    later &= (end < count) | (start == 0)
    return (end <= wanted) | ((start < wanted) & later)


def _joined_ids(tables: list[tuple[pl.Series, IdArray]]) -> tuple[pl.Series, IdArray]:
    """One id table in the order of its text, and all rows in it; tables of different types are joined as
    text."""
    same = len({table.dtype for table, _ in tables}) == 1
    series = [table if same else table.cast(pl.String) for table, _ in tables]
    joined = pl.concat([column.alias("id") for column in series]).unique()
    joined = joined.gather(joined.cast(pl.String).arg_sort())
    place = pl.Series(np.arange(joined.len(), dtype=np.int32))
    rows = [
        table.replace_strict(joined, place, return_dtype=pl.Int32).to_numpy()[ids]
        for table, (_, ids) in zip(series, tables, strict=True)
    ]
    return joined, np.concatenate(rows)
