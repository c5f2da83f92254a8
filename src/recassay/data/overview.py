"""A dataset at a glance: its size and period, how active users and how popular items are, and what its weights are."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Literal

import numpy as np

from recassay.core.types import Float32Array, IntArray, Interactions
from recassay.data.reading.times import day_of

BINS = (1, 2, 5, 10, 20, 50, 100)
"""Where groups of users by their events, and of items by their events, begin; the last has no end."""

FEW_VALUES = 12
"""Weights with at most so many different values are a scale of ratings."""

_CHUNK = 1 << 22


@dataclass(frozen=True, slots=True)
class Spread:
    """How events spread over users, or over items."""

    counts: tuple[int, ...]
    """By group of `BINS`, how many users or items have so many events."""
    median: float
    """Events of the median one."""
    most: int
    """Events of the one with the most."""
    top_share: float
    """The share of all events that the most frequent hundredth (at least one) has."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What the weights of events look like."""

    kind: Literal["constant", "ratings", "counts", "amounts"]
    """`ratings`: a few values; `counts`: whole numbers from 1 without a limit in sight; `amounts`: anything else."""
    least: float
    """The lowest weight."""
    median: float
    """The middle one."""
    most: float
    """The highest."""


@dataclass(frozen=True, slots=True)
class Overview:
    """A dataset at a glance."""

    users: int
    """Users with an event."""
    items: int
    """Items with an event."""
    events: int
    """Rows that were read."""
    repeats: int
    """Events of a user and item that an earlier row has, too."""
    first_day: date | None
    """The day of the first event (UTC); None where times are not a clock or not there."""
    last_day: date | None
    """The day of the last event."""
    activity: Spread
    """Events of users."""
    popularity: Spread
    """Events of items."""
    weights: Weights | None
    """None where events have none."""
    bins: tuple[int, ...] = BINS
    """Where the groups of `activity` and `popularity` begin."""


def overview(interactions: Interactions, repeats: int) -> Overview:
    """What can be seen at a glance; `repeats` are the rows that share their user and item with another."""
    time = interactions.time
    ends = (None, None) if time is None or not len(time) else (day_of(int(time.min())), day_of(int(time.max())))
    activity = np.bincount(interactions.user, minlength=interactions.n_users)
    popularity = np.bincount(interactions.item, minlength=interactions.n_items)
    return Overview(
        users=int(np.count_nonzero(activity)),
        items=int(np.count_nonzero(popularity)),
        events=len(interactions),
        repeats=repeats,
        first_day=ends[0],
        last_day=ends[1],
        activity=_spread(activity[activity > 0]),
        popularity=_spread(popularity[popularity > 0]),
        weights=None if interactions.weight is None else _weights(interactions.weight),
    )


def _spread(counts: IntArray) -> Spread:
    groups = np.bincount(np.searchsorted(BINS, counts, side="right") - 1, minlength=len(BINS))
    top = max(1, len(counts) // 100)
    return Spread(
        counts=tuple(groups.tolist()),
        median=float(np.median(counts)),
        most=int(counts.max()),
        top_share=float(np.partition(counts, len(counts) - top)[-top:].sum() / counts.sum()),
    )


def _weights(weight: Float32Array) -> Weights:
    """What weights are, by their first few million."""
    seen = weight[:_CHUNK]
    values = np.unique(seen)
    whole = bool((values == np.floor(values)).all())
    kind: Literal["constant", "ratings", "counts", "amounts"]
    if len(values) == 1:
        kind = "constant"
    elif len(values) <= FEW_VALUES:
        kind = "ratings"
    else:
        kind = "counts" if whole and values[0] >= 0 else "amounts"
    return Weights(kind, float(weight.min()), float(np.median(seen)), float(weight.max()))
