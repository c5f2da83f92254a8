"""The tables of a source, each with its caption, as grids of cells."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from recassay.core.tables.printed import PrintedCell
from recassay.data.papers.cells import plain_text, read_cell
from recassay.data.papers.source import ALONE, Budget
from recassay.data.tables.latex import arguments, drawn_tables

LONGEST_CAPTION = 8_000
MOST_TABLES = 200
MOST_CELLS = 20_000
"""Of all tables together; a long paper has a quarter of that."""
_FLOAT = re.compile(r"\\(begin|end)\{((?:side|wrap|long|sub|sc)?(?:ways)?table\*?|figure\*?|minipage|subfigure)\}")
_CAPTION = re.compile(r"\\(?:sub|tab)?caption(?:of\s*\{table\})?\*?\s*(?=[\[{])")


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of a source: its cells in rows of one length, the rows that a rule stands above, and its caption."""

    number: int
    caption: str
    cells: tuple[tuple[PrintedCell, ...], ...]
    ruled: tuple[bool, ...]


def grids(text: str, budget: Budget) -> list[Grid]:
    """Every table of a source, numbered from 1 in the order of the source; arrays of formulas do not count."""
    floats, captions = list(_floats(text)), list(_captions(text, budget))
    made: list[Grid] = []
    room = MOST_CELLS
    for drawn in drawn_tables(text, budget.where):
        budget.take(0)
        if len(made) == MOST_TABLES:
            raise budget.refused(f"holds more than {MOST_TABLES} tables", fix=ALONE)
        around = [(begin, end) for begin, end in floats if begin <= drawn.begin and drawn.end <= end]
        if text.startswith(r"\begin{array}", drawn.begin) and not around:
            continue
        begin, end = max(around, default=(drawn.begin, drawn.end + 400 * bool(not floats)))
        while around and not any(begin <= at < end for at, _ in captions) and (begin, end) != min(around):
            begin, end = max(pair for pair in around if pair < (begin, end))
        near = [
            (abs(at - (drawn.begin if at < drawn.begin else drawn.end)), caption)
            for at, caption in captions
            if begin <= at < end
        ]
        width = max(map(len, drawn.grid))
        room -= width * len(drawn.grid)
        if room < 0:
            raise budget.refused(f"its tables have more than {MOST_CELLS:,} cells", fix=ALONE)
        rows = [(tuple(map(read_cell, row)) + (PrintedCell(""),) * (width - len(row)), ruled)
                for row, ruled in zip(drawn.grid, drawn.ruled, strict=True)]  # fmt: skip
        rows = [(row, ruled) for row, ruled in rows if any(cell.text for cell in row)]
        kept = [j for j in range(width) if any(row[j].text for row, _ in rows)]
        if rows and len(kept) > 1:
            cells = tuple(tuple(row[j] for j in kept) for row, _ in rows)
            made.append(Grid(len(made) + 1, min(near, default=(0, ""))[1], cells, tuple(ruled for _, ruled in rows)))
    return made


def _floats(text: str) -> Iterator[tuple[int, int]]:
    """Where each environment that may have a caption begins and ends."""
    open_ones: list[tuple[str, int]] = []
    for mark in _FLOAT.finditer(text):
        if mark[1] == "begin":
            open_ones.append((mark[2], mark.start()))
        elif any(name == mark[2] for name, _ in open_ones):
            while open_ones:
                name, begin = open_ones.pop()
                if name == mark[2]:
                    yield begin, mark.end()
                    break


def _captions(text: str, budget: Budget) -> Iterator[tuple[int, str]]:
    """Where each caption stands, and its text."""
    for found in _CAPTION.finditer(text):
        budget.take(0)
        groups, _ = arguments(text[found.end() : found.end() + LONGEST_CAPTION], 0, most=1)
        if groups:
            yield found.start(), plain_text(groups[0])
