"""Tables drawn with characters: Markdown, the boxes of consoles, and columns under dashes."""

from __future__ import annotations

import re
from collections import Counter

from recassay.core.system.lines import lines_of

_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_RULE = re.compile(r"^[\s|+:=\-─━═┼╪┿├┤╞╡┌┐└┘┬┴╒╕╘╛╤╧╭╮╰╯╔╗╚╝╠╣╦╩╬]{3,}$")
_DASHES = re.compile(r"^\s*-{2,}(?:\s+-{2,})+\s*$")
_BARS = str.maketrans({"│": "|", "┃": "|", "║": "|", "╎": "|"})


def without_escapes(text: str) -> str:
    """The text without the escape codes that colour a terminal."""
    return _ESCAPES.sub("", text) if "\x1b" in text else text


def barred_grids(text: str) -> list[list[list[str]]]:
    """The tables whose columns are parted by bars; one needs a rule under its header. Prose around them is skipped."""
    grids: list[list[list[str]]] = []
    block: list[str] = []
    for line in [*lines_of(text.translate(_BARS)), ""]:
        if "|" in line or _RULE.match(line):
            block.append(line)
            continue
        drawn = [row for row in block if not _RULE.match(row)]
        if len(drawn) > 1 and len(drawn) < len(block):
            boxed = all(row.lstrip().startswith("|") for row in drawn)
            grids.append([_cells(row, boxed) for row in drawn])
        block = []
    return grids


def _cells(line: str, boxed: bool) -> list[str]:
    """The cells of a line; `boxed` where every line begins with a bar, which then parts nothing."""
    bare = line.strip().removeprefix("|") if boxed else line
    bare = bare.rstrip()
    bare = bare[:-1] if boxed and bare.endswith("|") and not bare.endswith("\\|") else bare
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", bare)]


def dashed_grids(text: str) -> list[list[list[str]]]:
    """The tables whose header stands over groups of dashes, one for each column (`tabulate`'s plain style)."""
    lines = lines_of(text)
    grids = []
    for i, line in enumerate(lines):
        if i == 0 or not _DASHES.match(line):
            continue
        starts = [m.start() for m in re.finditer(r"-{2,}", line)]
        spans = list(zip(starts, [*starts[1:], None], strict=True))
        rows = [[lines[i - 1][a:b].strip() for a, b in spans]]
        below = i + 1
        while below < len(lines) and lines[below].strip() and not _DASHES.match(lines[below]):
            rows.append([lines[below][a:b].strip() for a, b in spans])
            below += 1
        if len(rows) > 1:
            grids.append(rows)
    return grids


def spaced_grid(text: str) -> list[list[str]] | None:
    """The one table of a text whose columns are parted by spaces, as pandas prints it; None else.

    Two or more spaces part columns, or single ones where that gives every line the same number of cells. A title above
    and remarks below are left out; a header may lack the name of its first column.
    """
    raw = [line for line in lines_of(text) if line.strip()]
    lines = [line.strip() for line in raw]
    if len(lines) < 3 or len(lines) > 100_000 or "\t" in text[:10_000]:
        return None
    for gap, share in ((r"\s{2,}", 0.8), (r"\s+", 1.0)):
        rows = [re.split(gap, line) for line in lines]
        widths = Counter(map(len, rows))
        width = max(widths, key=lambda cells: (widths[cells], cells))
        first = next((i for i, row in enumerate(rows) if len(row) == width), 0)
        if first > 1 and len(rows[first - 1]) == 1 and len(rows[first - 2]) == width - 1:
            # pandas writes the name of the index on a line of its own
            rows[first - 1] = [rows[first - 1][0], *rows[first - 2]]
            first -= 1
        elif first and len(rows[first - 1]) == width - 1:
            first -= 1
        body = rows[first:]
        head = ["", *body[0]] if len(body[0]) == width - 1 else body[0]
        kept = [head, *(row for row in body[1:] if len(row) == width)]
        if width > 1 and first < 4 and len(kept) > 2 and len(kept) >= share * len(body):
            above = _above(raw[first - 1], raw[first], width) if first and gap != r"\s+" else None
            return kept if above is None else [above, *kept]
    return None


def _above(line: str, header: str, width: int) -> list[str] | None:
    """The upper level of two levels of headers that are aligned with spaces: each name over the columns it is of."""
    names, below = (list(re.finditer(r"\S+(?: \S+)*", text)) for text in (line, header))
    if len(below) != width or not 1 < len(names) < width - 1 or (width - 1) % len(names):
        return None
    each = (width - 1) // len(names)
    places = [1 + i * each for i in range(len(names))]
    for name, place in zip(names, places, strict=True):
        middle = (name.start() + name.end()) / 2
        if not below[place].start() - 2 <= middle <= below[place + each - 1].end() + 2:
            return None
    cells = [""] * width
    for name, place in zip(names, places, strict=True):
        cells[place] = name[0]
    return cells
