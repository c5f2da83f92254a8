"""The tables of an HTML text (a README, `DataFrame.to_html()`), with merged cells spread out; nothing runs."""

from __future__ import annotations

from html.parser import HTMLParser

from recassay.data.tables.grid import too_many_cells

MOST_SPAN = 1000
_CELLS = ("td", "th")


def html_grids(text: str, where: str = "the text") -> list[list[list[str]]]:
    """The grid of text of each table, in order; a table inside a cell is part of its text."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    room = 20_000 + len(text)
    grids = []
    for rows in reader.tables:
        grid = _spread(rows, room, where)
        room -= sum(map(len, grid))
        grids.append(grid)
    return [grid for grid in grids if grid]


class _Reader(HTMLParser):
    """Collects rows of (text, columns covered, rows covered)."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[list[list[tuple[str, int, int]]]] = []
        self._depth = 0
        self._cell: list[str] | None = None
        self._spans = (1, 1)
        self._raised = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self._depth += 1
            if self._depth == 1:
                self.tables.append([])
        elif self._depth == 1 and tag == "tr":
            self._end_cell()
            self.tables[-1].append([])
        elif self._depth == 1 and tag in _CELLS:
            self._end_cell()
            attributes = dict(attrs)
            self._cell = []
            self._spans = (_span(attributes.get("colspan")), _span(attributes.get("rowspan")))
        elif tag == "sup":
            self._raised += 1
        elif tag == "br" and self._cell is not None:
            self._cell.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag == "table" and self._depth:
            self._end_cell()
            self._depth -= 1
        elif tag in (*_CELLS, "tr") and self._depth == 1:
            self._end_cell()
        elif tag == "sup":
            self._raised = max(0, self._raised - 1)

    def handle_data(self, data: str) -> None:
        if self._cell is not None and not self._raised:
            self._cell.append(data)

    def _end_cell(self) -> None:
        if self._cell is not None:
            if not self.tables[-1]:
                self.tables[-1].append([])
            self.tables[-1][-1].append((" ".join("".join(self._cell).split()), *self._spans))
        self._cell = None
        self._raised = 0


def _span(text: str | None) -> int:
    if not text or not text.isascii() or not text.isdigit():
        return 1
    return min(max(int(text[:9]), 1), MOST_SPAN)


def _spread(rows: list[list[tuple[str, int, int]]], room: int, where: str) -> list[list[str]]:
    """Each cell written into every place that it covers, `room` of them at most; cells from above push to the right."""
    grid: list[list[str]] = []
    below: dict[int, tuple[int, str]] = {}
    for row in rows:
        written: list[str] = []
        for text, across, down in [*row, ("", 0, 1)]:  # the last takes what cells above have at the end of the row
            while (held := below.get(len(written), (0, "")))[0] > 0:
                below[len(written)] = (held[0] - 1, held[1])
                written.append(held[1])
            for _ in range(across):
                below[len(written)] = (down - 1, text)
                written.append(text)
        room -= len(written)
        if room < 0:
            raise too_many_cells(where)
        grid.append(written)
    return [row for row in grid if any(row)]
