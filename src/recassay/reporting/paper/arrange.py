"""Which tables the numbers become: all metrics in one, one a metric, turned, or cut into parts, as the page allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recassay.reporting.latex import latex_label, latex_text
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
    if len(content.findings) > 1:
        together = main_grid(content, content.findings, style)
        whole = _place(content, "main", content.findings, style, [together], room, cut=False)
        if whole is not None:
            return [whole]
    tables = []
    for findings in content.findings:
        grid = main_grid(content, [findings], style)
        name = "main" if len(content.findings) == 1 else f"main_{latex_label(findings.metric)}"
        placed = _place(content, name, [findings], style, [grid, grid.turned("")], room, cut=True)
        assert placed is not None
        tables.append(placed)
    return tables


def _place(
    content: PaperContent,
    name: str,
    metrics: Sequence[MetricFindings],
    style: TableStyle,
    grids: Sequence[Grid],
    room: Room,
    *,
    cut: bool,
) -> PlacedTable | None:
    """The first of these grids that fits; where none does, the last in pieces if it may be `cut`."""
    for width, wide in room.widths():
        for grid in grids:
            fit = fitting(grid, width, room.page if room.rotated else PAGE_HEIGHT)
            if fit is not None:
                caption = main_caption(content, metrics, style, grid)
                tex = _latex(grid, caption, name, fit, wide, room)
                return PlacedTable(name, grid, caption, (tex,))
    if not cut:
        return None
    grid = grids[-1]
    caption = main_caption(content, metrics, style, grid)
    width, wide = room.widths()[-1]
    parts = list(pieces(grid, width))
    written = []
    for number, (piece, fit) in enumerate(parts, start=1):
        caption_here = caption if number == 1 else f"Continued from the part before ({number} of {len(parts)})."
        written.append(_latex(piece, caption_here, name if number == 1 else f"{name}-{number}", fit, wide, room))
    return PlacedTable(name, grid, caption, tuple(written))


def _latex(grid: Grid, caption: str, name: str, fit: Fit, wide: bool, room: Room) -> str:
    return latex_table(grid, latex_text(caption), latex_label("tab", name), fit, wide=wide, rotated=room.rotated)
