"""Marks: bold is the best and underlined the second, in the stated direction."""

from __future__ import annotations

import re
from collections.abc import Iterator

from recassay.analysis.review.result import Certainty, Flag, about, flag
from recassay.analysis.review.settings import marks_of, out_of_competition, settings_of, upward
from recassay.core.tables.printed import Entry, PaperTable

_SAID = re.compile(
    r"(?:best|highest|top|winner)[^.]{0,80}\b(?:bold|boldface)|(?:bold|boldface)[^.]{0,80}(?:best|highest|top|winner)",
    re.IGNORECASE,
)
USUAL = 0.6
"""Of the settings that have a mark, the share whose marked value is the best: then the mark means the best."""


def check_marks(table: PaperTable) -> Iterator[Flag]:
    """Marked cells that are not what their mark says, where the other settings say what it means."""
    marks, explained = marks_of(table), bool(_SAID.search(table.caption))
    every = [each for each in settings_of(table).values() if len(each) > 1]
    aside = out_of_competition(every, marks)
    left = [[entry for entry in each if entry.algorithm not in aside] for each in every]
    sets = [each for each in left if len(each) > 1]
    kinds = sorted(set(marks.values()))
    for rank, code in enumerate(("bold_not_best", "underline_not_second")):
        shares = {kind: _share(sets, marks, kind, rank) for kind in kinds}
        kind = max(shares, key=lambda kind: shares[kind], default="")
        if not kind or shares[kind][0] < USUAL or (shares[kind][1] < 2 and not explained):
            continue
        kinds.remove(kind)
        for each in sets:
            ranked = sorted(map(upward, each), reverse=True)
            right_ones = _fitting(ranked, rank)
            for entry in each:
                if marks.get((entry.row, entry.column)) == kind and upward(entry) not in right_ones:
                    right = next(e for e in each if upward(e) == ranked[min(rank, len(ranked) - 1)])
                    facts = {**about(entry), "other": right.algorithm, "others": right.cell.text, "mark": kind}
                    sureness: Certainty = "certain" if explained else "certain if"
                    yield flag("marks", code, sureness, table, [entry, right], facts, "" if explained else "mark")
        if rank == 0 and aside:
            facts = {"algorithms": sorted(aside), "mark": kind}
            yield flag("marks", "out_of_competition", "worth a look", table, [], facts)


def _share(sets: list[list[Entry]], marks: dict[tuple[int, int], str], kind: str, rank: int) -> tuple[float, int]:
    """The share of the settings with a mark in which all that have it stand at the place, and their number."""
    fits = []
    for each in sets:
        ranked = sorted(map(upward, each), reverse=True)
        marked = [upward(entry) for entry in each if marks.get((entry.row, entry.column)) == kind]
        if marked and len(marked) < len(each):
            fits.append(_fitting(ranked, rank).issuperset(marked))
    return (sum(fits) / len(fits), len(fits)) if fits else (0.0, 0)


def _fitting(ranked: list[float], rank: int) -> set[float]:
    """The best of values from the best down, or the second: with ties at the top, also the next one below."""
    distinct = sorted(set(ranked), reverse=True)
    return {distinct[0]} if rank == 0 else {ranked[1], *distinct[1:2]}
