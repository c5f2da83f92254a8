"""Tables and sentences laid out as lines of a given width: no word, name or number is ever broken in two.

What does not fit is left out by importance, and said. Widths are in cells of a terminal, which wide characters fill
two of.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recassay.reporting.section import Brief, Table

GAP = 2
"""Cells between two columns."""

LONG_NAME = 28
"""Cells that a single word of a name may claim before it is shortened to make room for numbers."""


LINES, FEWEST_ROWS = 25, 3
"""Lines of a brief answer, and rows of its table that it has in any case."""


def brief_lines(brief: Brief, width: int, rest: Sequence[str], *, most: int = LINES) -> list[tuple[str, str]]:
    """A brief answer in at most so many lines, each with its kind: `headline`, `marked` or nothing.

    Rows of the table that do not fit are counted; then sentences are left out, the last first.
    """
    head = [(line, "headline") for line in wrapped(brief.headline, width)]
    lead, *others = [wrapped(sentence, width) for sentence in brief.sentences] or [[]]
    ends = [wrapped(text, width) for text in (
        *([f"Caution: {brief.caution}"] if brief.caution else []),
        *([f"Next: {brief.next_step}"] if brief.next_step else []), *rest)]  # fmt: skip
    header, rows, _ = table_parts(brief.table, width) if brief.table is not None else ([], [], [])

    def room() -> int:
        below = sum(map(len, [*others, *ends]))
        return most - len(head) - len(lead) - len(header) - (2 if header else 0) - below - (1 if below else 0)

    while others and room() < min(sum(len(lines) for _, lines in rows), FEWEST_ROWS + 1):
        others.pop()
    shown = rows
    while len(shown) > FEWEST_ROWS and sum(len(lines) for _, lines in shown) > room():
        shown = shown[:-1]
    if len(shown) < len(rows):  # the line that counts them takes the place of one more row
        shown = shown[: max(FEWEST_ROWS, len(shown) - 1)]
    table = [(line, "marked" if name in brief.marked else "") for name, lines in shown for line in lines]
    more = [(f"{len(rows) - len(shown):,} more: --all", "")] if len(shown) < len(rows) else []
    above = [*head, *((line, "") for line in lead)]
    middle = [("", ""), *((line, "") for line in header), *table, *more] if header else []
    below = [line for lines in [*others, *ends] for line in lines]
    return [*above, *middle, *([("", "")] if below else []), *((line, "") for line in below)]


def table_lines(table: Table, width: int, *, whole: bool = False) -> list[str]:
    """A table below its title: header, rule, rows, what was left out, and notes.

    `whole` keeps every column and every name, even where that makes lines wider than `width`.
    """
    header, rows, remarks = table_parts(table, width, whole=whole)
    return [*header, *(line for _, lines in rows for line in lines), *remarks]


def table_parts(
    table: Table, width: int, *, whole: bool = False
) -> tuple[list[str], list[tuple[str, list[str]]], list[str]]:
    """The lines of the header, of each row with the name in its first column, and of the remarks."""
    header = [_clean(cell) for cell in table.header]
    rows = [[_clean(cell) for cell in row] for row in table.rows[: table.most]]
    columns = [[heading, *(row[i] for row in rows)] for i, heading in enumerate(header)]
    least = [_least(column, words=i < table.names, whole=whole) for i, column in enumerate(columns)]
    kept = list(range(len(columns)))
    if whole:
        width = max(width, _needed(least))
    for column in table.left_out_first():
        if _needed([least[i] for i in kept]) <= width:
            break
        kept.remove(column)
    names = sum(i < table.names for i in kept)
    widths = _widened([columns[i] for i in kept], [least[i] for i in kept], names, width)
    head = [*_row([header[i] for i in kept], widths, names, bottom=True), "─" * _needed(widths)]
    body = [(row[0], _row([row[i] for i in kept], widths, names)) for row in rows]
    return head, body, _remarks(table, kept, width)


def wrapped(text: str, width: int) -> list[str]:
    """A sentence in lines; a single word wider than the width (a path) stays whole on a line of its own."""
    text = _clean(text)
    if cells(text) <= width:
        return [text]
    lines: list[str] = []
    for word in text.split():
        if lines and cells(lines[-1]) + 1 + cells(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines or [""]


def shortened(word: str, width: int) -> str:
    """A word with its middle left out where it is wider than `width`: both ends tell names apart."""
    if cells(word) <= width:
        return word
    front = _cut(word, (width - 1) - (width - 1) // 3)
    back = _cut(word[::-1], width - 1 - cells(front))[::-1]
    return f"{front}…{back}"


def cells(text: str) -> int:
    """How many cells of a terminal the text fills."""
    return len(text) if text.isascii() else sum(map(_width, text))


def _width(letter: str) -> int:
    """0 for marks that join the letter before them, 2 for wide letters of East Asia and pictures, else 1."""
    if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def _cut(text: str, width: int) -> str:
    """As much of the start of a text as fits."""
    while cells(text) > max(width, 0):
        text = text[:-1]
    return text


def _clean(text: str) -> str:
    """The text without what would steer a terminal: names come from files of others."""
    return "".join(character if character.isprintable() else " " for character in text)


def _least(column: Sequence[str], *, words: bool, whole: bool) -> int:
    """The fewest cells a column can do with: its longest word, and of numbers the whole cell."""
    heading, *body = column
    longest = _longest_word([heading])
    if not words:
        return max([longest, *map(cells, body)])
    needed = _longest_word(body)
    if not whole and needed > LONG_NAME:
        needed = next((n for n in range(LONG_NAME, needed) if _distinct(body, n)), needed)
    return max(longest, needed)


def _longest_word(texts: Iterable[str]) -> int:
    return max((cells(word) for text in texts for word in text.split()), default=1)


def _distinct(names: Sequence[str], width: int) -> bool:
    """Whether different names stay different when their words are shortened to `width`."""
    return len({_short_words(name, width) for name in names}) == len(set(names))


def _short_words(text: str, width: int) -> str:
    return text if _longest_word([text]) <= width else " ".join(shortened(word, width) for word in text.split())


def _needed(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _widened(columns: Sequence[Sequence[str]], least: Sequence[int], names: int, width: int) -> list[int]:
    """The room that is left goes to long words, then to whole names, then to headings: in one line where they can."""
    widths = list(least)
    if _needed(widths) > width:  # the first column alone, or with one that must stay
        widths[0] = max(4, widths[0] - (_needed(widths) - width))
    wanted = [(i, _longest_word(column)) for i, column in enumerate(columns[:names])]
    wanted += [(i, max(map(cells, column))) for i, column in enumerate(columns)]
    for i, wish in wanted:
        room = width - _needed(widths)
        widths[i] += max(0, min(room, wish - widths[i]))
    return widths


def _row(texts: Sequence[str], widths: Sequence[int], names: int, *, bottom: bool = False) -> list[str]:
    """One row as lines: words on the left, numbers on the right; of a header the last lines stand side by side."""
    blocks = [
        wrapped(_short_words(text, widths[i]), widths[i]) if bottom or i < names else [text]
        for i, text in enumerate(texts)
    ]
    height = max(map(len, blocks))
    lines = []
    for n in range(height):
        parts = []
        for i, block in enumerate(blocks):
            at = n - (height - len(block)) if bottom else n
            text = block[at] if 0 <= at < len(block) else ""
            space = " " * (widths[i] - cells(text))
            parts.append(text + space if i < names else space + text)
        lines.append((" " * GAP).join(parts).rstrip())
    return lines


def _remarks(table: Table, kept: Sequence[int], width: int) -> list[str]:
    """What was left out, then the table's own notes."""
    remarks = []
    hidden = len(table.rows) - len(table.rows[: table.most])
    if hidden:
        remarks.append(f"and {hidden:,} more rows (--json or --out DIR has all)")
    dropped = [heading for i, heading in enumerate(table.header) if i not in kept]
    if dropped:
        remarks.append(f"Left out at {width} columns: {', '.join(dropped)} (a wider terminal or --json has all).")
    return [line for text in (*remarks, *table.notes) for line in wrapped(text, width)]
