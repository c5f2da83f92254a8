"""What a reader hands over, and what is kept of a reading: the record that says what was done to the rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import polars as pl

from recassay.core.columns import EVENT, ITEM, RATING, TIMESTAMP, USER
from recassay.core.errors import InputError
from recassay.core.interactions import RuleName
from recassay.core.types import Interactions

ROLES = (USER, ITEM, RATING, TIMESTAMP, EVENT)
"""What a column of a source may be to us."""

SHOWN_BAD_ROWS = 5
"""How many bad rows are named one by one."""

TimeUnit = Literal["seconds", "milliseconds", "microseconds", "nanoseconds", "position"]


def brief(value: object) -> str:
    """A value of a source as it can stand in a message: quoted, and cut where it is long."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:50]}...{text[-1]}"


@dataclass(frozen=True, slots=True)
class BadRow:
    """One row that cannot be used: `line` counts the lines of a text file, or the rows of a table, from 1."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class RawTable:
    """A source before any value was judged: a lazy frame whose columns are named by role.

    `text` says that every value is still text as it stood in a file. `lost` and `lost_rows` count and show
    the rows that had no place in the frame at all (a line with too many fields). `lines_of` turns row numbers
    of the frame into line numbers of the source. `seekable`: rows in the middle are had without those before them.
    """

    frame: pl.LazyFrame
    source: str
    format: str
    columns: Mapping[str, str]
    text: bool
    lines_of: Callable[[list[int]], list[int]]
    lost: int = 0
    lost_rows: tuple[BadRow, ...] = ()
    warnings: tuple[str, ...] = ()
    seekable: bool = False

    def refused(self, what: str, *, fix: str) -> InputError:
        """What is wrong with the source, as an error that names it."""
        return InputError(what, where=self.source, fix=fix)

    @property
    def place(self) -> str:
        """What a row number of the source is called."""
        return "line" if self.text else "row"


@dataclass(frozen=True, slots=True)
class ReadRecord:
    """What happened when a source was read.

    `rows` = `bad` + the rows used; `repeated` of those fell on a user and item that another row names as
    well, and `repeated_rule` says what that means (`core.interactions.RepeatRule`): rows with times stay events, which
    each part of a split makes one by the rule; rows without times are one already. `kept` interactions came out.
    `time_unit` is the unit
    of `Interactions.time` (None: no times), `source_time` what the source held. `sha256` is that of the
    source file as it lies on disk (None for an object in memory).
    """

    source: str
    sha256: str | None
    format: str
    columns: dict[str, str]
    rows: int
    kept: int
    users: int
    items: int
    bad: int = 0
    bad_rows: tuple[BadRow, ...] = ()
    repeated: int = 0
    repeated_rule: RuleName = "last"
    source_time: str | None = None
    time_unit: TimeUnit | None = None
    event_weights: dict[str, float] | None = None
    event_counts: dict[str, int] | None = None
    warnings: tuple[str, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        """The record as plain values, for a manifest or for JSON."""
        plain = asdict(self)
        return {**plain, "bad_rows": list(plain["bad_rows"]), "warnings": list(self.warnings)}


@dataclass(frozen=True, slots=True, eq=False)
class ReadResult:
    """Interactions and the record of how they were read."""

    interactions: Interactions
    record: ReadRecord
