"""A table before it is written: rows of cells under headings, for every format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace


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
