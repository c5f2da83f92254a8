"""What a reader of a multiverse must know, as facts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "costs_left_out",
    "kinds_left_out",
    "identical",
    "properties",
    "measurements",
    "averaged",
    "together",
    "universes_left_out",
    "datasets_left_out",
    "algorithms_left_out",
    "unbalanced",
    "single_dataset",
    "undecidable",
    "no_shares",
]


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing that was done to the tables, or that they do not allow."""

    kind: Kind
    """What it is about."""
    names: tuple[str, ...] = ()
    """The columns, or metrics, that it is about."""
    count: int = 0
    """In how many universes."""
    of: int = 0
    """Of how many."""
