"""What reading a file of lists gives: one table per algorithm, and what the file says of the split it was made for."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True, slots=True, eq=False)
class ReadLists:
    """The lists of one algorithm: `frame` has the columns user, item, and rank, score or both.

    `split` is the fingerprint of the split that the lists were made for, where the file or a sidecar names it, and
    `named_in` where that stands. `notes` say what was assumed.
    """

    name: str
    frame: pl.DataFrame
    where: str
    """The file, for messages."""
    format: str
    """The format that it is in."""
    split: str | None = None
    named_in: str | None = None
    notes: tuple[str, ...] = ()
