"""Whether a table fits: its width and height at each size of letters, and how it is cut where nothing fits."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from recassay.reporting.paper.grid import Cell, Grid

INCH = 72.27
"""TeX's points in an inch."""

COLUMN_WIDTH, PAGE_WIDTH, PAGE_HEIGHT = 3.33, 7.0, 9.0
"""Inches of a column, of two of them with their gap, and of the text of a page: a letter-size conference paper."""

CAPTION_HEIGHT = 1.1
"""Inches left for the caption and the rules of a table that fills a page."""

SIZES = {"small": 9.0, "footnotesize": 8.0, "scriptsize": 7.0}
BROADER = {"small": 1.03, "footnotesize": 1.07, "scriptsize": 1.15}
"""Computer Modern's small letters are broader for their size than those of its text."""

LEADING = 1.2
"""Distance of two lines, in the size of their letters."""

BETWEEN_GROUPS = 7.0
"""Points between two groups of columns, besides the gap between any two."""

MARK = 0.45
DEVIATION = 0.8
"""Size of a deviation beside that of its number."""


@dataclass(frozen=True, slots=True)
class Fit:
    """How a grid is set: the size of its letters, points on either side of a column, headings upright or not."""

    size: str
    gap: float
    upright: bool


CHOICES = (
    Fit("small", 5, False), Fit("small", 3, False), Fit("footnotesize", 4, False), Fit("footnotesize", 2.5, False),
    Fit("scriptsize", 2.5, False), Fit("small", 4, True), Fit("footnotesize", 4, True), Fit("footnotesize", 2.5, True),
    Fit("scriptsize", 2, True),
)  # fmt: skip
"""From the most readable to the tightest; headings are turned only where they fit in no size."""


def fitting(grid: Grid, width: float, height: float = PAGE_HEIGHT) -> Fit | None:
    """The most readable way to set a grid in so many inches; None where there is none."""
    return next((f for f in CHOICES if width_of(grid, f) <= width * INCH and height_of(grid, f) <= height * INCH), None)


def width_of(grid: Grid, fit: Fit) -> float:
    """The points that a grid is wide, by the widths of Computer Modern's letters."""
    size = SIZES[fit.size] * BROADER[fit.size]
    names = max([text_width(name) for name, _ in grid.rows] + [text_width(grid.corner)])
    widths = [
        max([_cell_width(cell) for cell in column] + [LEADING if fit.upright else text_width(head)])
        for head, column in zip(grid.heads, grid.columns(), strict=True)
    ]
    place = 0
    for title, span in grid.groups:
        have = sum(widths[place : place + span]) + 2 * (span - 1) * fit.gap / size
        widths[place] += max(0.0, text_width(title) - have)
        place += span
    apart = BETWEEN_GROUPS * max(len(grid.groups) - 1, 0)
    return (names + sum(widths)) * size + 2 * fit.gap * len(widths) + apart


def height_of(grid: Grid, fit: Fit) -> float:
    """The points that a grid with its caption is high."""
    head = max(map(text_width, grid.heads), default=0.0) if fit.upright else LEADING
    lines = LEADING * (len(grid.rows) + bool(grid.groups))
    return (head + lines) * SIZES[fit.size] + CAPTION_HEIGHT * INCH


def _cell_width(cell: Cell) -> float:
    around = 0.0
    if cell.deviation:
        around = DEVIATION * text_width("±" + cell.deviation)
    return text_width(cell.text) * (1.15 if cell.place == 1 else 1) + around + (MARK if cell.marked else 0.0)


def text_width(text: str) -> float:
    """The width of a text in ems, roughly: letters of Computer Modern fall into a few classes."""
    return sum(map(_letter_width, text))


def _letter_width(letter: str) -> float:
    if unicodedata.combining(letter):
        return 0.0
    if letter in "iljI.,:;'|!()[]f t":
        return 0.34
    if letter in "mwMW@%±–—" or unicodedata.east_asian_width(letter) in "WF":
        return 0.88
    if letter.isupper():
        return 0.72
    return 0.52


def pieces(grid: Grid, width: float) -> Iterator[tuple[Grid, Fit]]:
    """A grid that fits nowhere, cut into pieces that do: first its columns, then its rows; the names stay."""
    tight, upright = Fit("scriptsize", 2.5, False), CHOICES[-1]
    start = 0
    while start < len(grid.heads):
        end = start + 1
        while end < len(grid.heads) and width_of(grid.part(range(start, end + 1)), tight) <= width * INCH:
            end += 1
        across = grid.part(range(start, end))
        fit = tight if width_of(across, tight) <= width * INCH else upright
        room = int(((PAGE_HEIGHT - CAPTION_HEIGHT) * INCH / SIZES[fit.size] - 3) / LEADING)
        for top in range(0, len(grid.rows), room):
            piece = across.part(rows=range(top, min(top + room, len(grid.rows))))
            yield piece, fitting(piece, width) or fit
        start = end
