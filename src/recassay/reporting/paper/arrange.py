"""Which tables the numbers become: all metrics in one, one a metric, turned, or cut into parts, as the page allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from recassay.reporting.latex import latex_label
from recassay.reporting.paper.captions import main_caption
from recassay.reporting.paper.content import MetricFindings, PaperContent
from recassay.reporting.paper.fit import PAGE_HEIGHT, Fit, Grid, fitting, pieces
from recassay.reporting.paper.latex_table import latex_table
from recassay.reporting.paper.main_table import TableStyle, main_grid


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
        grid, caption, fit, wide = chosen
        parts = [(grid, fit)]
    written = []
    for number, (piece, fit) in enumerate(parts, start=1):
        continued = f"Continued from the part before ({number} of {len(parts)})."
        above, label = (caption, name) if number == 1 else (continued, f"{name}-{number}")
        written.append(latex_table(piece, above, label, fit, wide=wide, rotated=room.rotated, after=after))
    return PlacedTable(name, grid, caption, tuple(written))


def _first_fitting(
    choices: Sequence[tuple[Grid, str]], room: Room, after: Mapping[str, str]
) -> tuple[Grid, str, Fit, bool] | None:
    """The first grid that fits, in the narrowest room: with its caption, how it is set, and whether over both columns.

    A citation after a name is about as wide as `[00]`.
    """
    for width, wide in room.widths():
        for grid, caption in choices:
            cited = replace(grid, rows=tuple((name + "[00]" * (name in after), cells) for name, cells in grid.rows))
            fit = fitting(cited, width, room.height)
            if fit is not None:
                return grid, caption, fit, wide
    return None
