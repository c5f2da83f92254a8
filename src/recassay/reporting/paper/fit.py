"""A table before it is written, and whether it fits: its size at each size of letters, and how it is cut."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

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
    names = max((text_width(name) for name, _ in grid.rows), default=0.0)
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
    around = DEVIATION * text_width("±" + cell.deviation) if cell.deviation else 0.0
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


def pieces(grid: Grid, width: float, height: float = PAGE_HEIGHT) -> Iterator[tuple[Grid, Fit]]:
    """A grid that fits nowhere, cut into pieces that do: first its columns, then its rows; the names stay."""
    tight, upright = Fit("scriptsize", 2.5, False), CHOICES[-1]
    start = 0
    while start < len(grid.heads):
        end = start + 1
        while end < len(grid.heads) and width_of(grid.part(range(start, end + 1)), tight) <= width * INCH:
            end += 1
        across = grid.part(range(start, end))
        fit = tight if width_of(across, tight) <= width * INCH else upright
        room = int(((height - CAPTION_HEIGHT) * INCH / SIZES[fit.size] - 3) / LEADING)
        for top in range(0, len(grid.rows), room):
            piece = across.part(rows=range(top, min(top + room, len(grid.rows))))
            yield piece, fitting(piece, width, height) or fit
        start = end


@dataclass(frozen=True, slots=True)
class Cell:
    """A number as it is printed: with its deviation, its `place` (1 best, 2 second, else 0), and whether it is marked.

    Text without digits after a point, or no number at all, is a cell too.
    """

    text: str
    deviation: str = ""
    place: int = 0
    marked: bool = False

    def halves(self) -> tuple[str, str]:
        """What stands before the decimal point, with it, and what follows: columns are aligned there."""
        whole, point, rest = self.text.partition(".")
        return whole + point, rest


EMPTY = Cell("–")
"""A cell without a value."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows of cells under headings; `groups` are headings over several columns, from the left, by their width.

    A rule separates the last `closing` rows, and a gap the columns of each group.
    """

    heads: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    groups: tuple[tuple[str, int], ...] = ()
    closing: int = 0

    def columns(self) -> list[tuple[Cell, ...]]:
        """The cells column by column."""
        return list(zip(*(cells for _, cells in self.rows), strict=True))

    def turned(self) -> Grid:
        """Rows and columns exchanged; columns of the last group stand as closing rows. For grids without many groups.

        Of cells it is their text and standing that turn; a group's heading is dropped where it is the only one.
        """
        names = tuple(name for name, _ in self.rows)
        rows = tuple(zip(self.heads, self.columns(), strict=True))
        return Grid(names, rows, closing=self.groups[-1][1] if len(self.groups) > 1 else 0)

    def part(self, columns: Sequence[int] | None = None, rows: Sequence[int] | None = None) -> Grid:
        """Some columns and rows of a grid without groups; the rule before closing rows stays where they all do."""
        chosen = range(len(self.heads)) if columns is None else columns
        kept = range(len(self.rows)) if rows is None else rows
        first_closing = len(self.rows) - self.closing
        body = tuple((self.rows[r][0], tuple(self.rows[r][1][i] for i in chosen)) for r in kept)
        return replace(
            self,
            heads=tuple(self.heads[i] for i in chosen),
            rows=body,
            groups=(),
            closing=sum(r >= first_closing for r in kept),
        )
