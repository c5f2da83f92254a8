"""What is said of algorithms as data: who is better, who could be best, the numbers, and which procedure says it.

The verdict is the court: it alone asserts. Every other procedure is a witness, and its statements carry its name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

COURT = "verdict"
"""The procedure that decides what may be asserted; with a control named beforehand it is `verdict, control NAME`."""

ALL = "all"
"""The subject of the count that the other counts of the same object add up to."""

Relation: TypeAlias = Literal[
    "better", "equivalent", "undecided", "could_be_best", "behind", "leads", "survives", "effect", "p", "interval",
    "chance", "count",
]  # fmt: skip
"""`behind`: shown not to be the best. `leads`: first in what the procedure orders by, shown or not. `survives`: its
first place does. An `interval` is that of the object where that is a quantity, else of the effect against it."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that is said of an algorithm, or how many there are of something."""

    subject: str
    relation: Relation
    object: str | None
    """Another algorithm, or the quantity that is meant."""
    metric: str
    scope: str
    """What it speaks of: `12 datasets`, `40 users`, `9 universes`."""
    procedure: str = COURT
    status: Literal["shown", "not shown", "estimate", "observed"] = "observed"
    number: float | tuple[float, float] | None = None
