"""The tables of a LaTeX source: `tabular` and its kin, with merged cells spread out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from recassay.data.tables.grid import too_many_cells

_ENVIRONMENT = re.compile(
    r"\\begin\{(tabular[*xy]?|longtable\*?|tabu|longtabu|NiceTabular[*X]?|tblr|array|supertabular)\}"
)
_GROUP = r"\s*\{(?:[^{}]|\{[^{}]*\})*\}"
_INNER = re.compile(
    rf"\\begin\{{(?:(?:tabular[*xy]|NiceTabular[*X])\}}{_GROUP}|(?:tabular|array|NiceTabular|tblr)\}})"
    rf"(?:\s*\[[^\]{{}}]*\])?{_GROUP}"
)
_INNER_END = re.compile(r"\\end\{(?:tabular[*xy]?|array|NiceTabular[*X]?|tblr)\}")
_RULES = re.compile(
    r"\\(?:toprule|midrule|bottomrule|hline|hdashline|firsthline|lasthline|endhead|endfirsthead|endfoot|endlastfoot|"
    r"addlinespace|centering|thickhline|morecmidrules|small|scriptsize|footnotesize)(?![A-Za-z])(?:\s*\[[^\]]{0,80}\])*|"
    r"\\(?:noalign|vspace|rowcolor|arrayrulecolor|specialrule|cmidrule|cline|cdashline|Xhline|tabucline|rule|hlineB|"
    r"extrarowheight)(?:\s*\([lr][^)]{0,80}\)|\s*\[[^\]]{0,80}\]|\s*\{[^{}]{0,80}\})*"
)
_ACROSS = re.compile(r"\\(?:midrule|hline|hdashline|thickhline|Xhline|specialrule)(?![A-Za-z])")
_LENGTH = re.compile(r"^\s*\[\s*-?[\d.]+\s*(?:pt|em|ex|cm|mm|in|\\\w+)?\s*\]")
_MERGED = re.compile(r"\\(multicolumn|multirow)\b")
_STACKED = re.compile(r"\\(?:makecell|shortstack|thead|specialcell)\b(?:\[[^\]]*\])?")
_OPENING = re.compile(r"\s*([{\[])")
MOST_SPAN = 1000


@dataclass(frozen=True, slots=True)
class Drawn:
    """A table of a source: its cells, above which of its rows a rule goes across, and where it stands."""

    grid: list[list[str]]
    ruled: list[bool]
    begin: int
    end: int


def latex_grids(text: str, where: str = "the text") -> list[tuple[list[list[str]], str]]:
    """The grid of cells of each table and its caption, in order."""
    source = re.sub(r"(?<!\\)%.*", "", text)
    tables = []
    for drawn in drawn_tables(source, where):
        around = source[max(0, drawn.begin - 2000) : drawn.begin] + source[drawn.end : drawn.end + 2000]
        caption = re.search(r"\\caption(?:\[[^\]]*\])?\s*\{([^{}]*)", around)
        tables.append((drawn.grid, " ".join(caption[1].split()) if caption else ""))
    return tables


def drawn_tables(source: str, where: str = "the text") -> Iterator[Drawn]:
    """Each table of a source without comments, in order."""
    end = -1
    while (begun := _ENVIRONMENT.search(source, end + 1)) is not None:
        depth, end = 1, len(source)
        for mark in re.compile(rf"\\(begin|end)\{{{re.escape(begun[1])}\}}").finditer(source, begun.end()):
            depth += 1 if mark[1] == "begin" else -1
            if depth == 0:
                end = mark.start()
                break
        body = source[begun.end() : end].replace("\\tabularnewline", "\\\\")
        groups = 6 if begun[1].startswith("Nice") else 2 if re.fullmatch(r"tabular[*xy]", begun[1]) else 1
        body = body[arguments(body, 0, most=groups)[1] :]  # after position, width and column types
        # A table inside a cell only breaks its lines: it becomes a group.
        body = _INNER_END.sub("}", _INNER.sub("{", body))
        rows, ruled, rule = [], [], False
        for row in _parted(body, "\\\\"):
            plain = _RULES.sub(" ", _LENGTH.sub("", row.lstrip("*")))
            rule = rule or _ACROSS.search(row) is not None
            if plain.strip():
                rows.append(_parted(plain, "&"))
                ruled.append(rule)
                rule = False
        grid = _spread(rows, 20_000 + len(source), where)
        if grid:
            yield Drawn(grid, ruled, begun.start(), end)


def arguments(text: str, at: int, most: int) -> tuple[list[str], int]:
    """The arguments in braces from a place on, so many at most, and where they end; those in brackets are options."""
    groups: list[str] = []
    while len(groups) < most and (begun := _OPENING.match(text, at)):
        closing = {"{": "}", "[": "]"}[begun[1]]
        depth, at = 1, begun.end()
        while depth and at < len(text):
            depth += (text[at] == begun[1]) - (text[at] == closing)
            at += 2 if text[at] == "\\" else 1
        if begun[1] == "{":
            groups.append(text[begun.end() : at - 1])
    return groups, at


def _parted(text: str, mark: str) -> list[str]:
    """The text parted at a mark that stands outside of braces and is not escaped."""
    if not any(sign in text for sign in "{}\\"):
        return text.split(mark)
    parts, begun, depth = [], 0, 0
    # Only these tokens matter; a backslash takes the character after it along unless the two are the mark.
    for token in re.finditer(re.escape(mark) + r"|\\.|[{}]", text, re.DOTALL):
        if token[0] == mark and depth == 0:
            parts.append(text[begun : token.start()])
            begun = token.end()
        elif token[0] in "{}":
            depth += 1 if token[0] == "{" else -1
    return [*parts, text[begun:]]


def _spread(rows: list[list[str]], room: int, where: str) -> list[list[str]]:
    """The cells with each merged one written into every place that it covers, `room` of them at most."""
    grid: list[list[str]] = []
    below: dict[int, tuple[int, str]] = {}
    for row in rows:
        written: list[str] = []
        for cell in row:
            text, across, down = _merged(cell)
            room -= across
            if room < 0:
                raise too_many_cells(where)
            for _ in range(across):
                place = len(written)
                left, above = below.get(place, (0, ""))
                if left > 0:
                    below[place] = (left - 1, above)
                    text_here = text or above
                else:
                    text_here = text
                if down > 1:
                    below[place] = (down - 1, text)
                written.append(text_here)
        grid.append(written)
    return grid


def _merged(cell: str) -> tuple[str, int, int]:
    """The text of a cell, and how many columns and rows it covers."""
    across = down = 1
    text = cell.strip()
    if "\\" not in text:
        return text, across, down
    for _ in range(4):
        macro = _MERGED.search(text)
        if macro is None:
            break
        groups, at = arguments(text, macro.end(), most=3)
        if not groups:
            break
        count = re.search(r"-?\d{1,9}", groups[0])
        span = min(max(abs(int(count[0])), 1), MOST_SPAN) if count else 1
        if macro[1] == "multicolumn":
            across = span
        else:
            down = span if not (count and count[0].startswith("-")) else 1
        text = (text[: macro.start()] + groups[-1] + text[at:]).strip()
    return _STACKED.sub("", text).replace("\\\\", " "), across, down
