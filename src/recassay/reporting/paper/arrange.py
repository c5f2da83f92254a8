"""Which tables the numbers become: all metrics in one, one a metric, turned, or cut into parts, as the page allows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from recassay.reporting.latex import latex_label
from recassay.reporting.paper.captions import main_caption
from recassay.reporting.paper.content import MetricFindings, PaperContent
from recassay.reporting.paper.grid import Grid
from recassay.reporting.paper.latex_table import latex_table
from recassay.reporting.paper.main_table import TableStyle, main_grid

COLUMN_WIDTH, PAGE_WIDTH, PAGE_HEIGHT = 3.33, 7.0, 9.0
"""Inches of a column, of two of them with their gap, and of the text of a page: a letter-size conference paper."""

LETTERS, LINES = 18, 8
"""Letters and lines in an inch of a table that is shrunk as far as it stays readable."""

BETWEEN_COLUMNS = 2
"""The room between two columns, in letters."""

CAPTION = 9
"""The room of a caption and the rules, in lines."""


@dataclass(frozen=True, slots=True)
class Room:
    """The room that tables have: inches of a column and a page, and whether they must be wide or turned."""

    column: float
    page: float
    wide: bool = False
    rotated: bool = False

    @property
    def height(self) -> float:
        """How high a table may be: a turned one stands across the page."""
        return self.page if self.rotated else PAGE_HEIGHT

    def widths(self) -> list[tuple[float, bool]]:
        """The widths to try, the narrower first, each with whether it takes both columns."""
        if self.rotated:
            return [(PAGE_HEIGHT, self.page > self.column)]
        both = [(self.page, self.page > self.column)]
        return both if self.wide or self.page <= self.column else [(self.column, False), *both]


@dataclass(frozen=True, slots=True)
class PlacedTable:
    """A table for one file: its name, its grid and caption for any format, and the pieces that LaTeX sets."""

    name: str
    grid: Grid
    caption: str
    latex: tuple[str, ...]


def main_tables(content: PaperContent, style: TableStyle, room: Room) -> list[PlacedTable]:
    """The main tables: one with all metrics where that fits, else one a metric."""

    def captioned(metrics: Sequence[MetricFindings]) -> list[tuple[Grid, str]]:
        grid = main_grid(content, metrics, style)
        grids = [grid, grid.turned()] if len(metrics) == 1 else [grid]
        return [(choice, main_caption(content, metrics, style, choice)) for choice in grids]

    together = captioned(content.findings)
    if len(content.findings) == 1 or _first_fitting(together, room, {}) is not None:
        return [placed("main", together, room)]
    return [placed(f"main_{latex_label(metric.metric)}", captioned([metric]), room) for metric in content.findings]


def placed(
    name: str, choices: Sequence[tuple[Grid, str]], room: Room, after: Mapping[str, str] | None = None
) -> PlacedTable:
    """The first of these grids, each with its caption, that fits the room; where none does, the last in pieces.

    `after` is LaTeX that follows the names of rows.
    """
    after = after or {}
    chosen = _first_fitting(choices, room, after)
    if chosen is None:
        grid, caption = choices[-1]
        width, wide = room.widths()[-1]
        parts = list(pieces(grid, width, room.height))
    else:
        grid, caption, upright, wide = chosen
        parts = [(grid, upright)]
    written = []
    for number, (piece, upright) in enumerate(parts, start=1):
        continued = f"Continued from the part before ({number} of {len(parts)})."
        above, label = (caption, name) if number == 1 else (continued, f"{name}-{number}")
        written.append(latex_table(piece, above, label, upright=upright, wide=wide, rotated=room.rotated, after=after))
    return PlacedTable(name, grid, caption, tuple(written))


def _first_fitting(
    choices: Sequence[tuple[Grid, str]], room: Room, after: Mapping[str, str]
) -> tuple[Grid, str, bool, bool] | None:
    """The first grid that fits, in the narrowest room: with its caption, whether its headings are upright, and whether
    it goes over both columns.

    A citation after a name is about as wide as `[00]`.
    """
    for width, wide in room.widths():
        for grid, caption in choices:
            cited = replace(grid, rows=tuple((name + "[00]" * (name in after), cells) for name, cells in grid.rows))
            for upright in (False, True):
                if fits(cited, width, room.height, upright=upright):
                    return grid, caption, upright, wide
    return None


def fits(grid: Grid, width: float, height: float = PAGE_HEIGHT, *, upright: bool) -> bool:
    """Whether a grid is readable in so many inches, by its letters and lines; LaTeX itself makes it fit exactly."""
    head = max(map(len, grid.heads), default=0) / 2 if upright else 1  # a letter is half as wide as high
    lines = len(grid.rows) + head + bool(grid.groups) + CAPTION
    return letters_across(grid, upright=upright) <= width * LETTERS and lines <= height * LINES


def letters_across(grid: Grid, *, upright: bool) -> int:
    """How many letters wide a grid is, with the room between its columns."""
    widths = [
        max([len(cell.text) + len(cell.deviation) for cell in column] + [2 if upright else len(head)]) + BETWEEN_COLUMNS
        for head, column in zip(grid.heads, grid.columns(), strict=True)
    ]
    titles = sum(len(title) + BETWEEN_COLUMNS for title, _ in grid.groups)
    return max((len(name) for name, _ in grid.rows), default=0) + max(sum(widths), titles)


def pieces(grid: Grid, width: float, height: float = PAGE_HEIGHT) -> Iterator[tuple[Grid, bool]]:
    """A grid that does not fit, cut into pieces that do: first its columns, then its rows; the names stay."""
    most = int(height * LINES - CAPTION - 1)
    start = 0
    while start < len(grid.heads):
        end = start + 1
        while end < len(grid.heads) and (
            letters_across(grid.part(range(start, end + 1)), upright=False) <= width * LETTERS
        ):
            end += 1
        across = grid.part(range(start, end))
        for top in range(0, len(grid.rows), most):
            piece = across.part(rows=range(top, min(top + most, len(grid.rows))))
            yield piece, not fits(piece, width, height, upright=False)
        start = end
