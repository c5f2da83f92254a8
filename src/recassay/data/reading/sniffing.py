"""Guessing how a text file is laid out from its first lines: delimiter, header, adjacency list or table."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from recassay.core.columns import ITEM, RATING, TIMESTAMP, USER
from recassay.core.errors import InputError
from recassay.data.reading.roles import is_known_name
from recassay.data.reading.times import EARLIEST_CLOCK

DELIMITERS = ("::", "\t", ",", ";", "|", " ")
SAMPLE_LINES = 200
ONE_COLUMN = "only one column is found, and interactions need a user and an item"
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ].*)?")


@dataclass(frozen=True, slots=True)
class Head:
    """The first lines of a file, blank ones left out."""

    lines: tuple[str, ...]
    where: str

    def refused(self, what: str, *, fix: str | None = None) -> InputError:
        """What is wrong with the file, as an error that names it."""
        return InputError(what, where=self.where, fix=fix)

    def rows(self, delimiter: str) -> list[list[str]]:
        """The lines cut into fields; quotation marks are heeded where the delimiter is one character."""
        if delimiter == " ":
            return [line.split() for line in self.lines]
        if len(delimiter) > 1:
            return [line.split(delimiter) for line in self.lines]
        try:
            return list(csv.reader(self.lines, delimiter=delimiter))
        except csv.Error as error:
            raise self.refused(f"the first lines are not a table ({error})", fix="check the file") from None


def read_head(path: Path, where: str) -> Head:
    """The first lines, at most `SAMPLE_LINES` of them; a file of blank lines alone is refused as empty."""
    with path.open("rb") as file:
        start = file.read(1 << 20)
    lines = start.decode("utf-8-sig", errors="ignore").split("\n")
    if len(start) == 1 << 20 and len(lines) > 1:
        lines.pop()
    full = [line.rstrip("\r") for line in lines if line.strip()][:SAMPLE_LINES]
    if not full:
        raise InputError("the file is empty", where=where, fix="give a file with a user and an item in each row")
    return Head(tuple(full), where)


def sniff_delimiter(head: Head) -> str:
    """The delimiter that cuts the lines most evenly; `::` first, blanks last.

    Each candidate is judged by the share of lines that have the most common number of fields, then by that
    number.
    """
    best, best_score = None, (0.0, 0)
    for delimiter in DELIMITERS:
        counts = Counter(len(row) for row in head.rows(delimiter) if row)
        fields, lines = max(counts.items(), key=lambda entry: (entry[1], entry[0]))
        if fields < 2 or (delimiter == " " and best is not None):
            continue
        score = (round(lines / len(head.lines), 1), fields)
        if score > best_score:
            best, best_score = delimiter, score
        if delimiter == "::" and lines * 2 > len(head.lines):
            return delimiter
    if best is None:
        raise head.refused(ONE_COLUMN, fix="check the file, or say its delimiter")
    return best


def has_header(rows: Sequence[Sequence[str]], asked: Mapping[str, str | int]) -> bool:
    """Whether the first row names the columns.

    It does if a cell is a usual name of a user or item column, if the column map goes by names, or if it
    holds text above a column of numbers or times.
    """
    first, body = rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]
    if any(is_known_name(cell) for cell in first) or any(isinstance(column, str) for column in asked.values()):
        return True
    return any(
        bool(body) and bool(cell.strip()) and not _is_value(cell) and all(_is_value(row[place]) for row in body)
        for place, cell in enumerate(first)
    )


def _is_value(cell: str) -> bool:
    """Whether a cell holds a number or a time, and so names no column."""
    return is_number(cell) or _is_clock(cell)


def positional_roles(rows: Sequence[Sequence[str]], fields: int, where: str) -> dict[str, int]:
    """The roles of a file without a header: user, item, rating, timestamp.

    A third of three columns is a timestamp where it reads like a clock or a date, and a rating otherwise.
    More than four columns are not guessed.
    """
    if fields > 4:
        fix = "say which is which, by position: `columns={'user': '0', 'item': '1'}`"
        raise InputError(f"there are {fields} columns and no header", where=where, fix=fix)
    roles = {USER: 0, ITEM: 1}
    if fields == 3:
        roles[TIMESTAMP if all(_is_clock(row[2]) for row in rows if len(row) == 3) else RATING] = 2
    if fields == 4:
        roles |= {RATING: 2, TIMESTAMP: 3}
    return roles


def looks_like_adjacency(head: Head) -> bool:
    """Whether the lines are `user item item ...`: blanks between, uneven lengths, each user on one line."""
    if any(mark in line for line in head.lines for mark in ("\t", ",", ";", "|", "::")):
        return False
    rows = head.rows(" ")
    if any(is_known_name(cell) for cell in rows[0]):
        return False
    lengths = {len(row) for row in rows}
    users = [row[0] for row in rows]
    return len(lengths) > 1 and max(lengths) > 2 and len(set(users)) == len(users)


def is_number(text: str) -> bool:
    """Whether the text reads as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def _is_clock(text: str) -> bool:
    if is_number(text):
        return float(text) >= EARLIEST_CLOCK
    return _DATE.fullmatch(text.strip()) is not None
