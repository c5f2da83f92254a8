"""Trials in rounds: trial n of a cell that tries N at a time sees the trials of the rounds before, and no others.

What is proposed is then a function of N and of those trials alone: neither the number of workers nor the order in which
they finish plays a part, and a tuning that was killed goes on with the same proposals.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from recassay.store.records import TrialRecord

GIVE_UP_AFTER = 5
"""An algorithm whose first trials fail this often in a row is given up."""


@dataclass(frozen=True, slots=True)
class Rounds:
    """How many trials are wanted, and how many are proposed together."""

    trials: int
    parallel: int = 1

    def open(self, known: Mapping[int, TrialRecord]) -> tuple[int, ...]:
        """The trials of the first round that is not whole which are not known; none where it is enough.

        It is enough when all are known, or when before a round at least `GIVE_UP_AFTER` are known and all failed.
        """
        for first in range(0, self.trials, self.parallel):
            missing = tuple(n for n in range(first, min(first + self.parallel, self.trials)) if n not in known)
            if missing:
                given_up = first >= GIVE_UP_AFTER and all(failed(known[n]) for n in range(first))
                return () if given_up else missing
        return ()

    def seen_by(self, number: int) -> int:
        """How many trials the proposal of trial `number` sees: all of the rounds before its own."""
        return number // self.parallel * self.parallel

    def left(self, known: int) -> int:
        """How many rounds are to come after so many trials."""
        return -(-(self.trials - known) // self.parallel)


def failed(trial: TrialRecord) -> bool:
    """Whether a trial has no value because it failed."""
    return trial.state in ("failed", "over_budget")
