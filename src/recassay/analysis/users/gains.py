"""Who gains and who loses: the best algorithm against the reference by activity of users and popularity of items."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

import numpy as np

from recassay.analysis.users.result import Gain
from recassay.core.tables.scores import GainScores
from recassay.core.types import FloatArray, IntArray

LEAST_USERS = 30
"""A group of fewer users has no interval that holds what it says."""

GROUPS = 10

Intervals = Callable[[FloatArray], tuple[float, float]]


def find_gains(
    scores: GainScores, algorithm: str, reference: str, *, higher_is_better: bool, intervals: Intervals
) -> Iterator[Gain]:
    """Groups of users by their training events, and of held-out events by the training users of their items.

    Both are cut into tenths, fewer where a group would have fewer than `LEAST_USERS`; equal counts stay together.
    `intervals` makes the interval of a mean over users from differences. By popularity the difference of the shares of
    events that are found is a ratio of sums over users, D = sum d / sum e, d the difference of a user's hits and e the
    user's events in the group; its interval is that of the mean of D + (d - D e) / mean(e).
    """
    sign = 1.0 if higher_is_better else -1.0
    subject, base = scores.algorithms.index(algorithm), scores.algorithms.index(reference)
    names = (algorithm, reference)
    for low, high in edges(scores.activity):
        users = _between(scores.activity, low, high)
        first, second = scores.values[subject, users], scores.values[base, users]
        gap = sign * (first - second)
        means = float(first.mean()), float(second.mean()), float(gap.mean())
        counts = {"users": len(users), "events": len(users)}
        yield _gain("activity", (low, high), names, means, intervals(gap), **counts)
    for low, high in _event_groups(scores):
        among = _between(scores.event_popularity, low, high)
        user = scores.event_user[among]
        found = [np.bincount(user, scores.found[at, among], scores.users) for at in (subject, base)]
        events = np.bincount(user, minlength=scores.users)
        known = events > 0
        shares = [float(hits.sum() / len(among)) for hits in found]
        difference = shares[0] - shares[1]
        excess = (found[0] - found[1] - difference * events)[known] / events[known].mean()
        counts = {"users": int(known.sum()), "events": len(among)}
        means = shares[0], shares[1], difference
        yield _gain("popularity", (low, high), names, means, intervals(difference + excess), **counts)


def _gain(
    by: Literal["activity", "popularity"],
    span: tuple[int, int],
    names: tuple[str, str],
    means: tuple[float, float, float],
    ends: tuple[float, float],
    *,
    users: int,
    events: int,
) -> Gain:
    (low, high), (algorithm, reference), (value, base, difference) = span, names, means
    return Gain(by, low, high, users, events, algorithm, reference, value, base, difference, *ends)


def _between(counts: IntArray, low: int, high: int) -> IntArray:
    return np.flatnonzero((counts >= low) & (counts <= high))


def _event_groups(scores: GainScores) -> list[tuple[int, int]]:
    """As many groups of events, ten at most, as leave each at least `LEAST_USERS` users."""
    for most in range(GROUPS, 1, -1):
        groups = edges(scores.event_popularity, most=most)
        users = (scores.event_user[_between(scores.event_popularity, *ends)] for ends in groups)
        if groups and all(len(np.unique(group)) >= LEAST_USERS for group in users):
            return groups
    return []


def edges(counts: IntArray, *, least: int = LEAST_USERS, most: int = GROUPS) -> list[tuple[int, int]]:
    """By group the least and the largest count: `most` groups, or fewer of at least `least`; equal counts together.

    None where there would be fewer than two.
    """
    groups = min(most, len(counts) // least)
    if groups < 2:
        return []
    ordered = np.sort(counts)
    last = np.unique(ordered[np.ceil(np.arange(1, groups + 1) * len(ordered) / groups).astype(np.int64) - 1])
    last = _large_enough(ordered, last, least)
    first = [int(ordered[0]), *(int(ordered[np.searchsorted(ordered, end, side="right")]) for end in last[:-1])]
    return list(zip(first, map(int, last), strict=True)) if len(last) > 1 else []


def _large_enough(ordered: IntArray, last: IntArray, least: int) -> IntArray:
    """The upper ends of groups without those of groups that are too small: these join the next, the last one the
    one before."""
    kept: list[int] = []
    begin = 0
    for end in last.tolist():
        upto = int(np.searchsorted(ordered, end, side="right"))
        if upto - begin >= least:
            kept.append(end)
            begin = upto
    return np.array([*kept[:-1], int(ordered[-1])] if kept else [int(ordered[-1])])
