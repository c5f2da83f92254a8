"""A paper as its source prints it: tables with the text, the digits and the marks of each cell, and sentences."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from recassay.core.tables.labels import is_share
from recassay.core.tables.sources import Source

Along: TypeAlias = Literal["row", "column"]
Kind: TypeAlias = Literal["results", "ablation", "statistics", "parameters", "timings", "other"]
"""What a table of a paper is about; `parameters` are settings, or results over the values of one."""


@dataclass(frozen=True, slots=True)
class PrintedCell:
    """What stands in a cell: its plain text, and the number with the digits it is printed with."""

    text: str
    value: float | None = None
    half: float = 0.0
    """Half a unit of the last printed digit: the number before rounding lies this near."""
    percent: bool = False
    signed: bool = False
    """Whether a plus or a minus stands before it."""
    unit: str = ""
    deviation: float | None = None
    marks: frozenset[str] = frozenset()
    """Such as `bold`, `underline`, `star`, `dagger`, `colour red`."""

    @property
    def low(self) -> float:
        """The least number that is printed so."""
        return (self.value or 0.0) - self.half

    @property
    def high(self) -> float:
        """The largest number that is printed so."""
        return (self.value or 0.0) + self.half


@dataclass(frozen=True, slots=True)
class Entry:
    """One result of a table: what it is of, and the cell."""

    row: int
    column: int
    algorithm: str
    dataset: str
    metric: str
    """A label such as `ndcg@10`."""
    group: str
    """What the algorithms it is compared with have in common: a backbone, a panel; else empty."""
    condition: str
    """What else its row and column say: `Tail Item`, `Shuffle`."""
    cell: PrintedCell

    @property
    def setting(self) -> tuple[str, str, str, str]:
        """Entries of one setting compare with each other."""
        return self.dataset, self.metric, self.group, self.condition


@dataclass(frozen=True, slots=True)
class Derived:
    """A cell that compares or averages others: `gain` or `average`."""

    row: int
    column: int
    what: Literal["gain", "average"]
    setting: tuple[str, str, str, str]
    """Of a gain the setting that it is about; of an average, empty where it is over."""
    along: Along
    """Whether the numbers that it is made of stand in its row or in its column."""
    name: str
    """How it is called: `Improv.`."""
    cell: PrintedCell


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table of a paper as it was read."""

    number: int
    caption: str
    kind: Kind
    reason: str
    cells: tuple[tuple[PrintedCell, ...], ...]
    headers: int
    """How many rows stand above the first row of numbers."""
    entries: tuple[Entry, ...] = ()
    derived: tuple[Derived, ...] = ()
    notes: tuple[str, ...] = ()
    """What a reader of the reading must know: what was assumed, what was left out."""
    users: tuple[tuple[str, int], ...] = ()
    """Of a table of statistics, the number of users of each dataset."""
    datasets: tuple[str, ...] = ()
    """Of a table of statistics, the datasets it describes."""
    own: str = ""
    """The algorithm that it calls ours."""
    unit: float = field(init=False, default=1.0)
    """What 1 is printed as: 100 where metrics that are shares are printed as percentages."""

    def __post_init__(self) -> None:
        shares = [entry.cell for entry in self.entries if is_share(entry.metric)]
        above = sum((cell.value or 0) > 1 for cell in shares)
        stated = any("(%)" in text or "percent" in text for text in (
            self.caption, *(cell.text for row in self.cells[: self.headers] for cell in row)))  # fmt: skip
        percent = any(cell.percent for cell in shares) or 5 * above > len(shares) or (above and stated)
        object.__setattr__(self, "unit", 100.0 if percent else 1.0)

    @property
    def algorithms(self) -> list[str]:
        """The algorithms, in order."""
        return list(dict.fromkeys(entry.algorithm for entry in self.entries))


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence and where it stands: `abstract`, `text`, `caption of table 3`."""

    text: str
    place: str


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper: its tables in order, its sentences, and the files they were read from."""

    tables: tuple[PaperTable, ...]
    passages: tuple[Passage, ...]
    sources: tuple[Source, ...] = ()
    notes: tuple[str, ...] = ()


class ExpectedValue(NamedTuple):
    """A value that somebody published; what the names leave open stands in `protocol`."""

    dataset: str
    algorithm: str
    metric: str
    value: float
    protocol: str
    """Preparation, split, and what else distinguishes it: `full softmax; leave-one-out, all items ranked`."""
    users: int | None
    source: str
