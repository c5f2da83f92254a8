"""Per-user scores of several algorithms: what tests over users and over popularity strata read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import polars as pl

from recassay.core.choices import OtherItems
from recassay.core.types import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class UserScores:
    """`values[a, u]`: the metric of algorithm `a` for user `u`, the same users for every algorithm, all finite.

    Where a study repeats its cells (seeds, folds), a user's value is the mean over the repetitions in which the user is
    judged. `left_out` counts users whose value some algorithm lacks.
    """

    dataset: str
    algorithms: tuple[str, ...]
    values: FloatArray
    left_out: int = 0
    ids: pl.Series | None = None
    """The ids of the users, where they are known."""

    @property
    def users(self) -> int:
        """How many users are compared."""
        return int(self.values.shape[1])


PairedScores: TypeAlias = Callable[[str], tuple[Sequence[UserScores], Mapping[str, str]]]
"""From a metric to the scores of users on each dataset, and by name why a dataset has none."""


@dataclass(frozen=True, slots=True, eq=False)
class GainScores:
    """Two algorithms user by user and held-out event by event, with what is known of users and items from training.

    `values` are algorithms x users, `activity` the training events of each user. Each held-out event has its user (a
    place in `values`), the number of training users of its item, and by algorithm whether it was found in the first `k`
    places (a share, where cells are repeated); without a cut-off there are no events.
    """

    algorithms: tuple[str, ...]
    values: FloatArray
    activity: IntArray
    event_user: IntArray
    event_popularity: IntArray
    found: FloatArray
    k: int | None

    @property
    def users(self) -> int:
        """How many users there are."""
        return int(self.values.shape[1])


@dataclass(frozen=True, slots=True, eq=False)
class StrataScores:
    """Every algorithm on the sets T_P of one dataset.

    `scores[t, a, u]` is what algorithm a scores for user u on T_P, P = `thresholds[t]` (ascending); NaN for a user
    without an event in T_P, and then for every algorithm, so that all comparisons are paired. `shares` has one row per
    threshold (`events` in T_P out of a `pool`, and the shares of items, training and test interactions below P),
    `curve` the popularity of the items in descending order (`rank`, `popularity`), thinned where there are many.
    `shortened` counts lists that may have lost exactness by removal (see `OtherItems`). `whole[a]`, where known, is
    the mean of algorithm a over all users of the whole test part: the number that the study's table holds.
    """

    dataset: str
    algorithms: tuple[str, ...]
    thresholds: tuple[int, ...]
    scores: FloatArray
    shares: pl.DataFrame
    curve: pl.DataFrame
    shortened: int = 0
    whole: FloatArray | None = None


@dataclass(frozen=True, slots=True)
class StrataEvidence:
    """The strata of one or more datasets under one metric, and which cells have no part in them and why."""

    metric: str
    higher_is_better: bool
    datasets: tuple[StrataScores, ...]
    others: OtherItems = "keep"
    left_out: tuple[str, ...] = ()
