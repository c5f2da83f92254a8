"""A table of a paper taken apart: its headers, its columns of names, its panels and its rows of numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from recassay.core.tables.printed import PrintedCell
from recassay.data.papers import labels as names
from recassay.data.papers.cells import is_missing
from recassay.data.papers.tables import Grid

MOST_STUBS = 4


@dataclass(frozen=True, slots=True)
class Body:
    """A grid taken apart: its columns of names, and each row of numbers with the headers and the panel above it."""

    stubs: int
    headers: int
    rows: tuple[tuple[int, tuple[str, ...], tuple[tuple[str, ...], ...], str], ...]
    """Place of the row, its names, the headers of each column, the panel."""
    corners: tuple[str, ...]
    """The headers of the columns of names."""
    across: tuple[str, ...]
    """Of each row of headers the word that stands before it; empty where it is of the names below."""
    notes: tuple[str, ...] = ()


def taken_apart(grid: Grid) -> Body | None:
    """Headers, names and rows of numbers; None where no row holds numbers."""
    cells = grid.cells
    data = [_is_data(row) for row in cells]
    if not any(data):
        return None
    first, width = data.index(True), len(cells[0])
    numbers = [row for row, yes in zip(cells, data, strict=True) if yes]
    stubs = 1
    while stubs < min(MOST_STUBS, width - 1) and _holds_names([row[stubs] for row in numbers]):
        stubs += 1
    head, panel, notes = [row for row in cells[:first] if _panel(row) is None or first == 1], "", []
    panel = next((text for row in cells[:first] if first > 1 and (text := _panel(row)) is not None), "")
    if not head:
        return None
    corner = [next((row[j].text for row in reversed(head) if row[j].text), "") for j in range(stubs)]
    if (
        stubs == 1
        and names.is_metric(corner[0])
        and not head[-1][-1].text
        and names.share_of([x.text for x in head[-1][:-1]], names.is_metric) == 1
    ):
        # The header lacks a cell for the names of the rows, so that all of it stands one column to the left.
        head = [(PrintedCell(""), *row[:-1]) for row in head]
        notes.append("the header stands one column left of its numbers; it was read one column further right")
        corner = [""]
    headers, across = list(head), tuple(_across(row, head, stubs) for row in head)
    labels = _stub_labels(grid, data, stubs)
    rows = []
    at = first
    while at < len(cells):
        row = cells[at]
        if data[at]:
            columns = tuple(tuple(level[j].text for level in headers) for j in range(width))
            rows.append((at, labels[at], columns, panel))
        elif (text := _panel(row)) is not None:
            panel = text
        else:
            run = at
            while run < len(cells) and not data[run] and _panel(cells[run]) is None:
                run += 1
            new = list(cells[at:run])
            if len(new) <= len(headers) and all(
                sum(bool(cell.text) for cell in each[stubs:]) * 2 >= width - stubs for each in new
            ):
                headers[-len(new) :] = new
            at = run - 1
        at += 1
    return Body(stubs, first, tuple(rows), tuple(corner), across, tuple(notes))


def _is_data(row: Sequence[PrintedCell]) -> bool:
    """Whether most cells after the first are numbers, or stand for missing ones, and one is a number."""
    rest = [cell for cell in row[1:] if cell.text]
    numbers = sum(cell.value is not None for cell in rest)
    return numbers > 0 and 2 * (numbers + sum(map(is_missing, rest))) >= len(rest)


def _holds_names(column: Sequence[PrintedCell]) -> bool:
    """Whether a column of rows of numbers holds names: words in most of its cells that are filled."""
    filled = [cell for cell in column if cell.text]
    words = sum(
        cell.value is None and bool(re.search("[A-Za-z]", cell.text)) and not is_missing(cell) for cell in filled
    )
    return not filled or 2 * words > len(filled)


def _panel(row: Sequence[PrintedCell]) -> str | None:
    """The text of a row that says one thing across the table."""
    texts = {cell.text for cell in row if cell.text}
    alone = bool(row[0].text) and not any(cell.text for cell in row[1:])
    across = len(texts) == 1 and sum(bool(cell.text) for cell in row) >= max(len(row) - 1, 3)
    return next(iter(texts)) if (alone or across) and len(texts) == 1 and len(row) > 2 else None


def _across(row: Sequence[PrintedCell], head: Sequence[Sequence[PrintedCell]], stubs: int) -> str:
    """The word before a row of headers, where it is not that of the names below it."""
    word = next((cell.text for cell in reversed(row[:stubs]) if cell.text), "")
    return "" if row is head[-1] or word == head[-1][stubs - 1].text else word


def _stub_labels(grid: Grid, data: Sequence[bool], stubs: int) -> list[tuple[str, ...]]:
    """The names of each row: gaps filled within the rows between two rules, names on two lines put together."""
    filled = [[cell.text for cell in row[:stubs]] for row in grid.cells]
    block = [0] * len(filled)
    for i in range(1, len(filled)):
        block[i] = block[i - 1] + (grid.ruled[i] or not data[i] or not data[i - 1])
    for j in range(stubs):
        last = j == stubs - 1
        for number in dict.fromkeys(block[i] for i in range(len(filled)) if data[i]):
            rows = [i for i in range(len(filled)) if data[i] and block[i] == number]
            named = [filled[i][j] for i in rows if filled[i][j]]
            pieces = list(dict.fromkeys(named))
            # `MovieLens` above `-25M`, `Electronics →` above `Scientific`: one name on two lines.
            cut = len(rows) == len(named) == 2 and len(pieces) == 2 and (
                re.match(r"-\w", pieces[1]) if not last else re.search("→$", pieces[0]))  # fmt: skip
            if cut:
                named = pieces = [f"{pieces[0]}{'' if pieces[1].startswith('-') else ' '}{pieces[1]}"]
                for i in rows:
                    filled[i][j] = pieces[0]
            if not last and len(pieces) == 1:
                for i in rows:
                    filled[i][j] = pieces[0]
            elif not last and not pieces and rows[0] > 0 and data[rows[0] - 1]:
                for i in rows:
                    filled[i][j] = filled[rows[0] - 1][j]
            elif not last:
                for before, i in pairwise(rows):
                    filled[i][j] = filled[i][j] or filled[before][j]
    return [tuple(row) for row in filled]
