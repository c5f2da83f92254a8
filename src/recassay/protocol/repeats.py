"""Events that repeat a user and item, as the audit sees them: before any part has made them one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from recassay.core import blocks
from recassay.core.types import BoolArray, IntArray, Interactions
from recassay.protocol.splits import TRAIN, VALID, Labels


@dataclass(frozen=True, slots=True)
class RepeatCounts:
    """Events of the final training, of validation and of the test (users and items known to training), and how many
    repeat: an earlier event of the final training, or one that the judged model is trained on."""

    train_events: int = 0
    train_repeats: int = 0
    valid_events: int = 0
    valid_repeats: int = 0
    test_events: int = 0
    test_repeats: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The counts, and the share of each part that repeats (0 of nothing is 0)."""
        shares = {
            f"share_of_{part}": getattr(self, f"{part}_repeats") / max(getattr(self, f"{part}_events"), 1)
            for part in ("train", "valid", "test")
        }
        return asdict(self) | shares


def repeats_among(again: BoolArray, chosen: BoolArray) -> int:
    """How many of the `chosen` rows, in the order of user and item, repeat the pair of a chosen row before them."""
    pairs = 0
    for block in _pair_blocks(again):
        first = np.flatnonzero(~again[block])
        pairs += int(np.count_nonzero(np.logical_or.reduceat(chosen[block], first)))
    return int(np.count_nonzero(chosen)) - pairs


def seen_rows(
    again: BoolArray | None, labels: Labels, valid: IntArray, test: IntArray, consolidated: bool
) -> tuple[BoolArray, BoolArray]:
    """Which of the rows `valid` have their pair in training, and which of `test` in the final training."""
    if again is None:
        return np.zeros(len(valid), dtype=np.bool_), np.zeros(len(test), dtype=np.bool_)
    seen = np.empty(len(valid), dtype=np.bool_), np.empty(len(test), dtype=np.bool_)
    for block in _pair_blocks(again):
        first = np.flatnonzero(~again[block])
        pair = np.cumsum(~again[block], dtype=np.int32) - 1
        for rows, repeated, latest in ((valid, seen[0], TRAIN), (test, seen[1], VALID if consolidated else TRAIN)):
            here = slice(*np.searchsorted(rows, [block.start, block.stop]).tolist())
            repeated[here] = np.logical_or.reduceat(labels[block] <= latest, first)[pair[rows[here] - block.start]]
    return seen


def _pair_blocks(again: BoolArray) -> Iterator[slice]:
    """Blocks of rows of which none parts a pair: each begins with a row that does not repeat the one before."""
    start = 0
    while start < len(again):
        end = min(start + blocks.ROWS, len(again))
        while end < len(again) and again[end]:
            end += 1
        yield slice(start, end)
        start = end


def users_of_one_time(events: Interactions) -> int:
    """How many users have several events, and all of them at one time: nothing tells their last from their first.

    The events of a user follow each other.
    """
    if events.time is None or not len(events):
        return 0
    start = np.append(0, np.flatnonzero(events.user[1:] != events.user[:-1]) + 1)
    several = np.diff(start, append=len(events)) > 1
    one_time = np.minimum.reduceat(events.time, start) == np.maximum.reduceat(events.time, start)
    return int(np.count_nonzero(several & one_time))
