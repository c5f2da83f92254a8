"""Judgements one by one: after a history, one item is the answer."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from recassay.core.arrays import IdArray, IntArray
from recassay.core.choices import Task
from recassay.core.histories import Histories


@dataclass(frozen=True, slots=True, eq=False)
class Judgements:
    """What is asked for after histories that grow: judgement j is about the event `place[j]` of all sequences.

    `sequences` has one row for each of `users`: all events of the user, those of training first, the oldest first.
    Judgement j belongs to the sequence `row[j]`, and its history is what comes before the event. Where the `task` is to
    recommend `new` items, lists leave out the items of the history.
    """

    sequences: Histories
    users: IdArray
    row: IntArray
    place: IntArray
    task: Task

    def __len__(self) -> int:
        return len(self.place)

    @property
    def targets(self) -> IdArray:
        """The item that is the answer of each judgement."""
        return self.sequences.items[self.place]

    def histories(self, part: slice) -> Histories:
        """The history of each judgement of a slice."""
        begin = self.sequences.starts[self.row[part]]
        lengths = self.place[part] - begin
        ends = np.cumsum(lengths)
        events = np.repeat(begin - (ends - lengths), lengths) + np.arange(lengths.sum())
        time = None if self.sequences.time is None else self.sequences.time[events]
        return Histories(self.sequences.items[events], np.concatenate([[0], ends]).astype(np.int64), time)

    def of_users(self, users: IdArray) -> Judgements:
        """The judgements of some users alone."""
        kept = np.isin(self.users, users)[self.row]
        return replace(self, row=self.row[kept], place=self.place[kept])

    def judged(self) -> IdArray:
        """The users with a judgement, each once."""
        return self.users[np.unique(self.row)]
