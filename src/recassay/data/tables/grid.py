"""A grid of text as people draw tables: header rows of one or more levels, merged cells, panels; made into columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate

import polars as pl

from recassay.core.errors import InputError
from recassay.data.tables.cells import read_alone
from recassay.data.tables.form import Level, Table, levels_in
from recassay.data.tables.words import role_word

PANEL = "panel"
"""The header of a column made of rows that name what the rows below them are about."""

MOST_CELLS = 5_000_000
MOST_LOOKED_AT = 2_000
"""Of a longer column so many cells, evenly spread, decide whether it holds names or numbers."""
MOST_COLUMNS = 5_000
_GREEK = re.compile(r"\\(alpha|beta|gamma|delta|epsilon|lambda|mu|pi|sigma|tau|phi|psi|omega|theta|ell)\b")
_NAME_NOISE = re.compile(
    r"\\(?:[cC]ite\w*|footnote\w*|tnote|label|ref|cellcolor|rowcolor|hphantom|phantom|color)\*?(?:\[[^\]]*\])*\{[^{}]*\}|"
    r"\\textcolor\{[^{}]*\}|\\rotatebox(?:\[[^\]]*\])?\{[^{}]*\}|!\[[^\]]*\]\([^)]*\)"
)
_PAIRED = re.compile(r"<([a-zA-Z]+)\b[^<>]*>([^<>]*)</\1>")
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")

_TITLE = re.compile(r"^\W*(table|tab\.|tabelle|tableau|figure|fig\.)\s*[\dIVXA-Z]+\b", re.IGNORECASE)
_WORDS_OF_NAMES = 5

_MARK = re.compile(r"(?:\^?[†‡§¶*]+|\^\s*[\d,]+|\^\s*[a-z]|\s\[\d+(?:,\s*\d+)*\])+$")


def too_many_cells(where: str) -> InputError:
    """A small text whose merged cells would fill a huge table."""
    return InputError("its merged cells spread to more cells than a text of its size may", where=where,
                      fix="write the cells out, or save it as CSV")  # fmt: skip


def refuse_wide(width: int, where: str | None = None) -> None:
    """A table with more columns than any table of results has."""
    if width > MOST_COLUMNS:
        raise InputError(f"has {width:,} columns, and {MOST_COLUMNS:,} is the limit", where=where,
                         fix="give one row per value (algorithm, dataset, metric, value)")  # fmt: skip


def plain_name(text: str, *, lone_tags: bool = False) -> str:
    """A name without the marks of LaTeX, Markdown and HTML around it: `\\textbf{EASE}~\\cite{x}` is EASE.

    `lone_tags` keeps what looks like a tag and is not closed, as in `EASE <a>`.
    """
    if not re.search(r"[\\$*_`\[<{~]", text):
        return " ".join(text.split())
    bare = re.sub(r"\\textsuperscript\s*\{", "^{", _NAME_NOISE.sub("", _PAIRED.sub(r"\2", _PAIRED.sub(r"\2", text))))
    bare = bare if lone_tags else _TAG.sub("", bare)
    bare = re.sub(r"\\(?:dag|dagger)\b", "†", re.sub(r"\\(?:ddag|ddagger)\b", "‡", bare))
    bare = re.sub(r"\\(?:ast|star)\b", "*", bare)
    bare = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", bare)
    bare = _GREEK.sub(r"\1", bare).replace("\\_", "_").replace("\\%", "%").replace("\\&", "&").replace("\\#", "#")
    bare = re.sub(r"\\(?:uparrow)\b", "↑", bare)
    bare = re.sub(r"\\(?:downarrow)\b", "↓", bare)
    bare = re.sub(r"\\[a-zA-Z]+\*?(?:\[[^\]]*\])?|[${}`]|\\[,;!]", "", bare).replace("~", " ").replace("\\\\", " ")
    bare = re.sub(r"^(\*\*|__|\*)(.+)\1$", r"\2", bare.strip())
    return " ".join(bare.replace("**", "").split())


def plain_names(names: Sequence[str]) -> list[str]:
    """Names without marks around them, unless two of them would be one (`EASE <a>` and `EASE <b>`)."""
    bare, tagged = ({name: plain_name(name, lone_tags=kept) for name in names} for kept in (False, True))
    fewer = len(set(bare.values())) < len(set(tagged.values()))
    return [tagged[name] if fewer else bare[name] for name in names]


def without_marks(names: list[str]) -> list[str]:
    """Names without the marks of footnotes and references (`SASRec^†`, `NGCF [12]`), unless two would be one."""
    bare = [_MARK.sub("", name).strip() or name for name in names]
    return bare if len(set(bare)) == len(set(names)) else names


def table_of(rows: Sequence[Sequence[str]], title: str = "", *, drawn: bool = False) -> Table | None:
    """The table of a grid; None where no row of numbers stands below a header. `drawn`: see `Table`."""
    grid = _without_gaps(rows)
    first = next((i for i, row in enumerate(grid) if _is_data(row)), 1 if _is_long(grid) else 0)
    if first == 0:
        return None
    named, head = _without_titles(grid[:first])
    title = title or named
    head, body = _panels_with_headers(head, grid[first:])
    head, body, corners = _without_counted_index(head, body)
    head, index = _without_index_names(head, body)
    named_above = len(head) > 1 and bool(head[-2][0] or head[-1][0])
    if index is None and named_above and _panel(head[-1]) is not None and len(grid[0]) > 2:
        head, body = head[:-1], [head[-1], *body]
    body, panels = _without_panels(body)
    if not body:
        return None
    headers, levels = _headers(head, index)
    if corners:
        levels = tuple(Level(plain_name(word), names) for word, (_, names) in zip(corners, levels, strict=False))
    columns = _filled_names(body)
    if panels is not None:
        columns, headers = [panels, *columns], [(PANEL,), *headers]
    series = tuple(pl.Series(f"{j}", column, dtype=pl.String) for j, column in enumerate(columns))
    return Table(series, tuple(headers), title, levels, index is not None or bool(corners), drawn)


def _without_gaps(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """The grid with rows of one length, without blank rows and columns; empty where it is too large for a table."""
    width = max((len(row) for row in rows), default=0)
    if width * len(rows) > MOST_CELLS:
        return []
    refuse_wide(width)
    grid = [[cell.strip() for cell in row] + [""] * (width - len(row)) for row in rows if any(map(str.strip, row))]
    filled = [j for j in range(width) if any(row[j] for row in grid)]
    return [[row[j] for j in filled] for row in grid] if len(filled) < width else grid


def _without_titles(head: list[list[str]]) -> tuple[str, list[list[str]]]:
    """The title that stands above the headers, across the table or in the first cell, and the rows below it."""
    titles: list[str] = []
    while len(head) > 1 and len(head[0]) > 1 and (text := _panel(head[0])) and is_title(text):
        titles.append(text)
        head = head[1:]
    return " ".join(titles), head


def is_title(text: str) -> bool:
    """Whether a text is a title of a table and no name: it says so, or it has as many words as no name has."""
    return bool(_TITLE.match(text)) or len(text.split()) > _WORDS_OF_NAMES


def _panels_with_headers(head: list[list[str]], body: list[list[str]]) -> tuple[list[list[str]], list[list[str]]]:
    """Head and body of a table whose panels each repeat the header, with it once and the panels in the body."""
    if not head or head[-1] not in body:
        return head, body
    *above, header = head
    first = above[-1:] if above and _panel(above[-1]) is not None else []
    return [*above[: len(above) - len(first)], header], [*first, *(row for row in body if row != header)]


def _without_counted_index(
    head: list[list[str]], body: list[list[str]]
) -> tuple[list[list[str]], list[list[str]], list[str]]:
    """Head and body without the index of pandas (0, 1, ...) under the words of the levels, which are the corners.

    The names of the columns stand beside it; a row with the name of the index says that its numbers are names.
    """
    named = bool(head[-1][0]) and not any(head[-1][1:])
    numbered = [row[0] for row in body] == [f"{i}" for i in range(len(body))]
    if len(head) < 2 or len(head[0]) < 3 or named or not numbered:
        return head, body, []
    return [row[1:] for row in head], [row[1:] for row in body], [row[0] for row in head]


def _filled_names(body: Sequence[Sequence[str]]) -> list[list[str]]:
    """The columns of the body; names without marks, and in all but the last of their columns without gaps."""
    columns = [without_marks(plain_names(column)) if _is_text(column) else list(column)
               for column in zip(*body, strict=True)]  # fmt: skip
    texts = [j for j, column in enumerate(columns) if _is_text(column)]
    return [_filled(column) if j in texts[:-1] else column for j, column in enumerate(columns)]


def is_number(text: str) -> bool:
    """Whether a cell holds a number, however it is decorated."""
    return read_alone(text).value is not None


def _is_data(row: Sequence[str]) -> bool:
    """Whether most of the cells after the first hold numbers or stand for a missing one."""
    rest = [cell for cell in row[1:] if cell]
    read = [read_alone(cell) for cell in rest]
    held = sum(cell.value is not None for cell in read)
    return held > 0 and 2 * sum(cell.value is not None or cell.missing for cell in read) >= len(rest)


def _is_long(grid: Sequence[Sequence[str]]) -> bool:
    """Whether a row of names stands above rows with more names than numbers: algorithm, dataset, metric, value."""
    head, body = (grid[0], grid[1:]) if grid else ([], [])
    named = bool(body) and all(head) and not any(map(is_number, head))
    return named and not all(_is_text(column) for column in zip(*body, strict=True))


def _is_text(column: Sequence[str]) -> bool:
    """Whether a column holds names: most of its cells that are filled are not numbers."""
    filled = [cell for cell in column if cell]
    filled = filled[:: 1 + len(filled) // MOST_LOOKED_AT]
    read = [read_alone(cell) for cell in filled]
    return 2 * sum(cell.value is None and not cell.missing for cell in read) > len(filled)


def _panel(row: Sequence[str]) -> str | None:
    """The text of a row that says one thing across the table, and no number."""
    texts = {cell for cell in row if cell}
    alone = len(texts) == 1 and (sum(map(bool, row)) > 1 or bool(row[0]))
    text = next(iter(texts), "")
    return plain_name(text) if alone and not is_number(text) else None


def _without_panels(body: list[list[str]]) -> tuple[list[list[str]], list[str] | None]:
    """The rows without those that name a panel, and the panel of each row; None where there is none, or where the
    panels are groups of different rows (kinds of algorithms) instead of the same rows again (datasets).
    """
    rows: list[list[str]] = []
    panels: list[str] = []
    current = ""
    for row in body:
        panel = _panel(row) if len(row) > 2 else None
        if panel is not None:
            current = panel
        else:
            rows.append(row)
            panels.append(current)
    named = [row[0] for row in rows]
    again = len(set(zip(panels, named, strict=True))) > len(set(named))
    return rows, panels if any(panels) and again else None


def _without_index_names(head: list[list[str]], body: list[list[str]]) -> tuple[list[list[str]], list[str] | None]:
    """The head without the row in which pandas writes the names of the index, and these names; None where it has none.

    A row that names a panel looks alike. A word for algorithms, datasets or metrics names the index; another text does
    so where nothing stands in the corner above it and no panel follows.
    """
    if len(head) < 2 or not head[-1][0] or not body:
        return head, None
    *above, row = head
    texts = [_is_text(column) for column in zip(*body, strict=True)]
    leading = max(1, next((j for j, text in enumerate(texts) if not text), len(texts)))
    named = any(role_word(cell) for cell in row) or sum(map(bool, row)) > 1
    bare = not any(other[0] for other in above) and _without_panels(body)[1] is None
    return (above, row[:leading]) if not any(row[leading:]) and (named or bare) else (head, None)


def _headers(head: list[list[str]], index: list[str] | None) -> tuple[list[tuple[str, ...]], tuple[Level, ...]]:
    """The levels above each column, merged cells spread to the right, and the rows of headers with their corners."""
    rows, first = [row[:] for row in head], len(index or [0])
    corners = [next((cell for cell in row[:first] if cell), "") for row in rows]
    if index is not None:
        for row in rows:
            row[:first] = index if row is rows[-1] else [""] * first
    rows[:-1] = map(_filled, rows[:-1])
    levels = tuple(
        Level(plain_name(corner), frozenset(plain_name(cell) for cell in row[first:] if cell))
        for corner, row in zip(corners, rows, strict=True)
    )
    named = [tuple(dict.fromkeys(plain_name(row[j]) for row in rows)) for j in range(len(rows[0]))]
    if len(rows) == 1:
        named = [levels_in(each[0]) for each in named]
    return [tuple(level for level in each if level) or ("",) for each in named], levels


def _filled(cells: Iterable[str]) -> list[str]:
    """Cells of a row or a column, with what stands before a gap written into it."""

    def carried(before: str, cell: str) -> str:
        return cell or before

    return list(accumulate(cells, carried))
