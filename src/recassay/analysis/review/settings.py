"""The settings of a table: results that compare with each other, and who does not compete in them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from recassay.core.tables.labels import known_direction
from recassay.core.tables.printed import Entry, PaperTable, PrintedCell

Setting = tuple[str, str, str, str]
MOST_NAMES = 300
"""Algorithms or datasets of a table that gets a verdict, and algorithms of one that sentences are held against."""


def settings_of(table: PaperTable) -> dict[Setting, list[Entry]]:
    """By setting, its results in the order of the table; those of metrics whose direction is known."""
    found: dict[Setting, list[Entry]] = defaultdict(list)
    for entry in table.entries:
        if known_direction(entry.metric) is not None:
            found[entry.setting].append(entry)
    return found


def upward(entry: Entry) -> float:
    """The value, so that more is better, as it is for most metrics that nobody knows."""
    return (entry.cell.value or 0.0) * (-1 if known_direction(entry.metric) is False else 1)


def marks_of(table: PaperTable) -> dict[tuple[int, int], str]:
    """By cell the mark that tells places: bold or underline; the colour where bold cells have several."""
    bold = [entry.cell for entry in table.entries if "bold" in entry.cell.marks]
    colours = {mark for cell in bold for mark in cell.marks if mark.startswith("colour")}
    made: dict[tuple[int, int], str] = {}
    for entry in table.entries:
        mark = _mark(entry.cell, len(colours) > 1)
        if mark:
            made[entry.row, entry.column] = mark
    return made


def _mark(cell: PrintedCell, by_colour: bool) -> str:
    if by_colour:
        return next((mark for mark in sorted(cell.marks) if mark.startswith("colour")), "")
    return "bold" if "bold" in cell.marks else "underline" if "underline" in cell.marks else ""


def out_of_competition(sets: Sequence[list[Entry]], marks: dict[tuple[int, int], str]) -> set[str]:
    """Algorithms without any mark that beat all marked ones in most settings: a teacher, an upper bound."""
    marked = {entry.algorithm for each in sets for entry in each if (entry.row, entry.column) in marks}
    beats: Counter[str] = Counter()
    present: Counter[str] = Counter()
    for each in sets:
        best = max((upward(entry) for entry in each if (entry.row, entry.column) in marks), default=None)
        if best is not None:
            for entry in each:
                present[entry.algorithm] += 1
                beats[entry.algorithm] += upward(entry) > best
    return {name for name in present if name not in marked and present[name] > 1 and 2 * beats[name] >= present[name]}


def competing(table: PaperTable) -> list[list[Entry]]:
    """The settings of a table without those who do not compete."""
    sets = list(settings_of(table).values())
    aside = out_of_competition(sets, marks_of(table))
    return [[entry for entry in each if entry.algorithm not in aside] for each in sets]


def ratio(ours: Entry, base: Entry) -> tuple[float, float]:
    """The relative improvements that the printed digits allow; more is better."""
    lows, highs = (ours.cell.low, ours.cell.high), (base.cell.low, base.cell.high)
    ends = [a / b - 1 for a in lows for b in highs if b > 0] or [-1e9, 1e9]
    sign = -1 if known_direction(ours.metric) is False else 1
    return min(sign * end for end in ends), max(sign * end for end in ends)
