"""The one form of a table between reading and meaning, and what is known of it so far. Both are never changed.

A `Table` has labels of columns (levels of headers), labels of rows (its columns of names) and the text of its cells. A
`Reading` adds what each column is. A reader takes a reading and gives the next one, with the reason why it took
something from the table, or why it did not; `shapes.READERS` has them in order.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import polars as pl

from recassay.core import columns as c
from recassay.data.tables.labels import Spelled


class Level(NamedTuple):
    """A row of headers: the word that stands in its corner, and the names across it."""

    word: str
    names: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Columns of a table as read: `headers[j]` are the levels above column j, the outermost first."""

    columns: tuple[pl.Series, ...]
    headers: tuple[tuple[str, ...], ...]
    title: str = ""
    levels: tuple[Level, ...] = ()
    """The rows of headers, where they are known."""
    index_named: bool = False
    """Whether the names of the index stand apart, so that a corner names its level of headers and not the rows."""
    drawn: bool = False
    """Whether a corner may name the columns although there is one row of headers (LaTeX, HTML and print of pandas)."""
    oriented: bool = False
    """Whether it is settled already which of its names are algorithms."""
    verbatim: bool = False
    """Whether its names are values of a typed source (Parquet, a frame) and not text with marks."""
    dataset: str = ""
    """What it is on, where its place says that (a sheet of a workbook)."""
    guess: str = ""
    """How it was read, where that is a guess."""

    def across_word(self, names: Iterable[str]) -> str:
        """The word of the level that has these names across, where its corner certainly names the level."""
        wanted = set(names)
        words = {level.word for level in self.levels if level.word and level.names & wanted}
        return words.pop() if self.index_named and len(words) == 1 else ""

    def corner_is_of_rows(self, names: Iterable[str]) -> bool:
        """Whether the header of the first column certainly names the rows, and not the level of these names."""
        wanted = set(names)
        corners = [level for level in self.levels if level.word]
        if self.index_named or not corners or not wanted:
            return True
        if len(self.levels) == 1:
            return not self.drawn
        return any(not level.names & wanted for level in corners)

    @classmethod
    def of(cls, frame: pl.DataFrame, title: str = "") -> Table:
        """A frame with one level of headers, or with several that are written as tuples."""
        return cls(tuple(frame.get_columns()), tuple(levels_in(name) for name in frame.columns), title)

    @property
    def height(self) -> int:
        """The number of rows."""
        return len(self.columns[0]) if self.columns else 0

    def name(self, place: int) -> str:
        """The name of one column: its levels, joined."""
        return " ".join(level for level in self.headers[place] if level)

    def names(self) -> tuple[str, ...]:
        """One name for each column."""
        return tuple(map(self.name, range(len(self.headers))))


def levels_in(name: str) -> tuple[str, ...]:
    """The levels of a header that pandas wrote as a tuple (`('ml-1m', 'ndcg@10')`); else the header itself."""
    parts = re.findall(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"", name) if re.match(r"^\(['\"].*\)$", name) else []
    return tuple(text for pair in parts if (text := pair[0] or pair[1])) or (name,)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user said of a table: its one metric, its shape, which column is which, its one dataset, and its number
    in a paper."""

    metric: str | None = None
    wide: bool = False
    transpose: bool = False
    columns: Mapping[str, str] = field(default_factory=dict)
    dataset: str | None = None
    table: int | None = None

    @property
    def rows(self) -> str | None:
        """What the rows name by the user's word: algorithms in a wide table, datasets in a transposed one."""
        return c.ALGORITHM if self.wide else c.DATASET if self.transpose else None


@dataclass(frozen=True, slots=True)
class ValueColumn:
    """A column of numbers: its metric where the header names one, and the other thing that the header names."""

    place: int
    metric: Spelled | None = None
    other: str = ""
    statistic: str = "value"

    @property
    def cell(self) -> tuple[str, str]:
        """What its numbers are of: the metric, and what else the header names."""
        return self.metric.label if self.metric else "", self.other

    @property
    def phase(self) -> str:
        """`valid` or `train` where it was not measured on test data."""
        return self.metric.phase if self.metric else ""


class Reason(NamedTuple):
    """Why a reader took something from a table, or did not; a note or a guess is shown to people."""

    text: str
    kind: Literal["taken", "passed", "note", "guess"] = "taken"


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """A table and what is known of it: where the names stand, which columns hold numbers of what, and why."""

    table: Table
    asked: Asked
    where: str
    """What messages call the table."""
    dataset: str = ""
    """What it is on, where nothing else says so."""
    stem: str = ""
    """The name of its file, which may say the metric."""
    folder: str = ""
    """The name of the folder of its file, which may say the algorithm or the dataset."""
    roles: Mapping[str, int] = field(default_factory=dict)
    """The column of each role that is known."""
    stated: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    """The statistic of a column whose header stated it beside a name, and that whole header."""
    values: tuple[ValueColumn, ...] = ()
    left_out: tuple[str, ...] = ()
    """The names of columns that are neither."""
    error: int | None = None
    """The column of standard errors in a long table."""
    across: str = ""
    """What the part of the headers that is not a metric names: `algorithm` or `dataset`."""
    frame: pl.DataFrame | None = None
    """The long frame, once it is made."""
    taken: Counter[str] = field(default_factory=Counter)
    absent: Counter[str] = field(default_factory=Counter)
    """What was taken off cells, and what stands for no value in them, by the number of cells."""
    reasons: tuple[Reason, ...] = ()
    """One for each reader that has looked at the table."""

    def because(self, text: str, kind: Literal["taken", "note", "guess"] = "taken") -> tuple[Reason, ...]:
        """The reasons so far and this one, why the next reader took something."""
        return (*self.reasons, Reason(text, kind))

    def passed(self, text: str) -> Reading:
        """The same reading, with the reason why a reader took nothing."""
        return replace(self, reasons=(*self.reasons, Reason(text, "passed")))

    def names_at(self, places: Iterable[int]) -> list[str]:
        """The names of these columns, in quotes."""
        names = self.table.names()
        return [repr(names[place]) for place in places]

    @property
    def is_long(self) -> bool:
        """Whether one column holds all values."""
        return c.VALUE in self.roles

    @property
    def has_metrics(self) -> bool:
        """Whether the header of a column of numbers names a metric."""
        return any(column.metric for column in self.values)


Reader = Callable[[Reading], Reading]
