"""Targets: which held-out events are asked for one by one, and after which history.

The sequence of a user is what the judged model may know of the user, then the held-out events, both by time. Events of
equal times stand in the order of the split's rows, which `apply_protocol` draws from the seed (`ordering.pair_keys`).
An event with a history is asked for; where the task is to recommend `new` items, one whose item is in the history is
not, but it belongs to the histories of those after it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from recassay.core.histories import Histories
from recassay.core.interactions import joined
from recassay.core.judgements import Judgements
from recassay.core.pairs import pair_codes
from recassay.core.specs.specs import Target
from recassay.core.types import BoolArray, Interactions, Split


@dataclass(frozen=True, slots=True)
class TargetCounts:
    """Of the test events after a history: how many there are, how many have their item in the history, or as its last
    item, and how many share their time with another event of their user, so that a rule decides what comes first.
    `unseen_users` have test events and no event that the final model is trained on."""

    events: int
    in_history: int
    last_again: int
    tied: int
    unseen_users: int

    def to_dict(self) -> dict[str, Any]:
        """The counts, and their shares (0 of nothing is 0)."""
        shares = {
            f"share_{name}": getattr(self, name) / max(self.events, 1) for name in ("in_history", "last_again", "tied")
        }
        return asdict(self) | shares


def judgements(split: Split, target: Target, part: Literal["valid", "test"]) -> Judgements:
    """The judgements on a part of the split: of each user the `next` event, the `last` one, or `each`.

    Validation is judged after the events of training. The test is judged after all events before it: where the final
    model was trained on the training part alone, validation events are history without being learned from.
    """
    sequences, users, open_ = _sequences(split, part)
    row = np.repeat(np.arange(len(users)), sequences.lengths())
    asked = open_ & ~_in_history(sequences, row) if split.task == "new" else open_
    place = np.flatnonzero(asked)
    row = row[place]
    if target in ("next", "last"):
        chosen = np.flatnonzero(np.diff(row, prepend=-1) if target == "next" else np.diff(row, append=-1))
        row, place = row[chosen], place[chosen]
    return Judgements(sequences, users, row, place, split.task)


def count_targets(split: Split) -> TargetCounts:
    """What is to be known of the test events as targets, before any is left out."""
    sequences, users, open_ = _sequences(split, "test")
    items, time = sequences.items, sequences.time
    row = np.repeat(np.arange(len(users)), sequences.lengths())
    again, tied = np.zeros((2, len(items)), dtype=np.bool_)
    near = row[1:] == row[:-1]
    again[1:] = near & (items[1:] == items[:-1])
    if time is not None:
        equal = near & (time[1:] == time[:-1])
        tied[1:] |= equal
        tied[:-1] |= equal
    known = np.concatenate([part.user for part in split.refit_parts()])
    return TargetCounts(
        events=int(np.count_nonzero(open_)),
        in_history=int(np.count_nonzero(open_ & _in_history(sequences, row))),
        last_again=int(np.count_nonzero(open_ & again)),
        tied=int(np.count_nonzero(open_ & tied)),
        unseen_users=len(np.setdiff1d(users, known)),
    )


def _sequences(split: Split, part: Literal["valid", "test"]) -> tuple[Histories, Any, BoolArray]:
    """(what every judged user did, the users, which events are held out and have a history)."""
    held: Interactions = getattr(split, part)
    known = split.train if part == "valid" else split.refit()
    if part == "test" and split.final_fit == "train":
        known = joined([split.train, split.valid])
    users = np.unique(held.user).astype(np.int32)
    mine = np.zeros(held.n_users, dtype=np.bool_)
    mine[users] = True
    before, after = Histories.of(known.take(mine[known.user]), users), Histories.of(held, users)
    lengths = np.stack([before.lengths(), after.lengths()], axis=1).ravel()
    # Row by row, the events of `before` and then those of `after`.
    is_after = np.repeat(np.arange(len(lengths)) % 2 == 1, lengths)
    items = np.empty(len(is_after), dtype=np.int32)
    items[~is_after], items[is_after] = before.items, after.items
    time = None
    if before.time is not None and after.time is not None:
        time = np.empty(len(is_after), dtype=np.int64)
        time[~is_after], time[is_after] = before.time, after.time
    starts = np.concatenate([[0], np.cumsum(lengths)[1::2]]).astype(np.int64)
    sequences = Histories(items, starts, time)
    is_after[starts[:-1]] = False  # nothing comes before the first event
    return sequences, users, is_after


def _in_history(sequences: Histories, row: Any) -> BoolArray:
    """Whether the item of each event occurs before it in its sequence."""
    if not len(row):
        return np.zeros(0, dtype=np.bool_)
    codes = pair_codes(row, sequences.items, int(sequences.items.max()) + 1)
    order = np.argsort(codes, kind="stable")
    again = np.zeros(len(codes), dtype=np.bool_)
    again[order[1:]] = codes[order[1:]] == codes[order[:-1]]
    return again
