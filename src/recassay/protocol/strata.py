"""Popularity strata: held-out sets of interactions with items below a popularity threshold.

Source: Jadidinejad, Macdonald and Ounis, How Sensitive is Recommendation Systems' Offline Evaluation to
Popularity? (REVEAL 2019), Definition 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np
import polars as pl

from recassay.core.errors import InputError, UsageError
from recassay.core.types import IntArray, Interactions
from recassay.core.words import listing
from recassay.protocol.ordering import event_keys


@dataclass(frozen=True, slots=True, eq=False)
class Stratum:
    """One held-out set T_P and how much of the data lies below its threshold P.

    `items` and `train_interactions` count the trained items with Pop(i) < P and their training events, `pool`
    the test events on items with Pop(i) < P, of which `sample` is drawn; the shares are of all trained items,
    training events and test events.
    """

    threshold: int
    sample: Interactions
    pool: int
    items: int
    train_interactions: int
    share_of_items: float
    share_of_train: float
    share_of_test: float

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, with the size of the sample in place of its rows."""
        counts = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "sample"}
        return {"threshold": self.threshold, "sampled": len(self.sample)} | counts


@dataclass(frozen=True, slots=True, eq=False)
class PopularityStrata:
    """The strata of one test part, thresholds ascending; `size` is None where each takes its whole pool."""

    strata: tuple[Stratum, ...]
    size: int | None

    def to_frame(self) -> pl.DataFrame:
        """One row per threshold."""
        return pl.DataFrame([stratum.to_dict() for stratum in self.strata])


def popularity(train: Interactions) -> IntArray:
    """Pop(i): the number of different users who interacted with item i in `train`; repeats of a pair count
    once."""
    return np.bincount(train.csr().indices, minlength=train.n_items).astype(np.int64)


def default_thresholds(train: Interactions, test: Interactions, *, steps: int = 10) -> tuple[int, ...]:
    """At most `steps` thresholds that let in about 1/steps, 2/steps, ... and all of the test events.

    The last lies above the most popular item tested, so its pool is the whole test part (P_max of the paper's
    Figure 2). Equal thresholds are merged: with few items there are fewer than `steps`.
    """
    if not len(test):
        raise InputError("the test part is empty, so there are no strata", fix="use a split with test events")
    tested = np.sort(popularity(train)[test.item])
    places = np.ceil(np.arange(1, steps + 1) * len(tested) / steps).astype(np.int64) - 1
    return tuple(int(value) + 1 for value in np.unique(tested[places]))


def popularity_strata(
    train: Interactions,
    test: Interactions,
    *,
    thresholds: Sequence[int] | None = None,
    size: int | Literal["all"] | None = None,
    seed: int,
) -> PopularityStrata:
    """The sets T_P = `size` test events drawn at random from {(u, i) in test : Pop(i) < P}, for each
    threshold P.

    Pop(i) counts training users (`popularity`), so `train` is what the judged model was trained on. As in
    Definition 1 every P has its own independent draw: T_P depends on the seed and P alone, not on which other
    thresholds are asked for, nor on the order of rows. `size` is the same for all P, so that sets differ in
    popularity and not in size; None takes the smallest pool, and `all` every event below P, so that the last T_P can be
    the whole test part (the sets then differ in size too). `thresholds` None takes `default_thresholds`. A
    threshold with fewer than `size` test events below it raises `InputError`.
    """
    wanted = sorted(set(default_thresholds(train, test) if thresholds is None else thresholds))
    if not wanted or (isinstance(size, int) and size < 1):
        raise UsageError("strata need at least one threshold and a size of at least 1", fix="leave them out")
    count = popularity(train)
    tested = count[test.item]
    pools = {threshold: int(np.count_nonzero(tested < threshold)) for threshold in wanted}
    fixed = None if size == "all" else min(pools.values()) if size is None else size
    least = max(fixed or 1, 1)
    short = [threshold for threshold, pool in pools.items() if pool < least]
    if short:
        shown = listing(f"{threshold} ({pools[threshold]:,} events)" for threshold in short)
        raise InputError(
            f"too few test events have an item of popularity below {shown}; {least:,} are wanted",
            fix="use a smaller size, or leave these thresholds out",
        )
    trained = count[count > 0]
    events = np.bincount(train.item, minlength=train.n_items)
    return PopularityStrata(
        strata=tuple(
            Stratum(
                threshold=threshold,
                sample=test.take(
                    _drawn(test, np.flatnonzero(tested < threshold), fixed, seed=seed, threshold=threshold)
                ),
                pool=pools[threshold],
                items=int(np.count_nonzero(trained < threshold)),
                train_interactions=int(events[count < threshold].sum()),
                share_of_items=float(np.mean(trained < threshold)),
                share_of_train=float(events[count < threshold].sum() / len(train)),
                share_of_test=pools[threshold] / len(test),
            )
            for threshold in wanted
        ),
        size=fixed,
    )


def _drawn(test: Interactions, pool: IntArray, size: int | None, seed: int, threshold: int) -> IntArray:
    """The rows of `pool` with the `size` smallest seeded keys, in row order; all of them where `size` is None."""
    if size is None or size == len(pool):
        return pool
    keys = event_keys(test.take(pool), seed, "strata", str(threshold))
    chosen = np.argpartition(keys, size - 1)[:size]
    return np.sort(pool[chosen])
