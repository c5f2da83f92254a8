"""Arithmetic: improvements and averages that follow from the printed digits, with their rounding intervals."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial

from recassay.analysis.review.result import Certainty, Flag, about, flag
from recassay.analysis.review.settings import marks_of, out_of_competition, ratio, settings_of, upward
from recassay.core.tables.printed import Derived, Entry, PaperTable

_OVER_BEST = re.compile(
    r"(?:improv|gain|impr)[^.]{0,120}(?:over|against|compared|relative)[^.]{0,60}(?:best|strongest|second)",
    re.IGNORECASE,
)
_P_VALUE = re.compile(r"\W*p\W?val", re.IGNORECASE)
USUAL = 0.6
"""The share of numbers that one definition must explain before those that it does not are flagged."""

Definition = Callable[[list[Entry]], "tuple[Entry, Entry] | None"]


def check_arithmetic(table: PaperTable) -> Iterator[Flag]:
    """Improvements and averages that are not those of the numbers beside them."""
    yield from _gains(table)
    yield from _averages(table)


def _pool(table: PaperTable, derived: Derived) -> list[Entry]:
    """The results that a derived number may be made of: above it up to the last derived row, or in its row."""
    if derived.along == "row":
        metric = derived.setting[1]
        return [e for e in table.entries if e.row == derived.row and metric in ("", e.metric)]
    if derived.what == "average":
        return [
            e
            for e in table.entries
            if e.column == derived.column and e.row < derived.row and e.metric == derived.setting[1]
        ]
    before = max((d.row for d in table.derived if d.along == "column" and d.row < derived.row), default=-1)
    return [e for e in table.entries if e.column == derived.column and before < e.row < derived.row]


def _gains(table: PaperTable) -> Iterator[Flag]:
    aside = out_of_competition([*settings_of(table).values()], marks_of(table))
    pools = []
    for derived in table.derived:
        pool = [entry for entry in _pool(table, derived) if entry.algorithm not in aside]
        compared = derived.what == "gain" and not _P_VALUE.match(derived.name)
        if compared and len(pool) > 1 and len({entry.metric for entry in pool}) == 1:
            pools.append((derived, pool))
    if not pools:
        return
    names = dict.fromkeys(entry.algorithm for _, pool in pools for entry in pool)
    definitions: list[Definition] = [partial(_compared, last=last) for last in (1, 2, 3)]
    definitions += [partial(_compared, last=last, base=name) for last in (1, 2, 3) for name in (None, *names)]
    tried = [([_explains(derived, definition(pool), form, table.unit) for derived, pool in pools], definition)
             for definition in definitions for form in ("relative", "points", "share")]  # fmt: skip
    fits, definition = max(tried, key=lambda each: sum(fit is True for fit in each[0]))
    explained, known = sum(fit is True for fit in fits), sum(fit is not None for fit in fits)
    if explained < max(USUAL * known, 1):
        if known > 1:
            counts = {"count": len(pools), "explained": explained}
            yield Flag("arithmetic", "gains_unexplained", "worth a look", table.number, facts=counts)
        return
    sure = bool(_OVER_BEST.search(table.caption)) and definition in definitions[:3]
    for (derived, pool), fit in zip(pools, fits, strict=True):
        if fit is False:
            ours, base = definition(pool) or (pool[-1], pool[0])
            low, high = (100 * end for end in ratio(ours, base))
            facts = {**about(ours), "printed": derived.cell.text, "low": low, "high": high, "other": base.algorithm,
                     "others": base.cell.text}  # fmt: skip
            sureness: Certainty = "certain" if sure else "certain if"
            yield flag("arithmetic", "gain", sureness, table, [derived, ours, base], facts, "" if sure else "base")


def _compared(pool: list[Entry], last: int, base: str | None = "") -> tuple[Entry, Entry] | None:
    """The best of the last rows, and the best of those before, the first of them (None), or the one of a name."""
    subject, others = pool[-last:], pool[:-last]
    if base is None:
        others = others[:1]
    elif base:
        others = [entry for entry in others if entry.algorithm == base]
    return (max(subject, key=upward), max(others, key=upward)) if others else None


def _explains(derived: Derived, found: tuple[Entry, Entry] | None, form: str, unit: float) -> bool | None:
    """Whether a number is the improvement of one result over another; None where there are no two."""
    if found is None:
        return None
    ours, base = found
    if form == "points":
        low, high = ((ours.cell.low - base.cell.high) * 100 / unit, (ours.cell.high - base.cell.low) * 100 / unit)
    else:
        low, high = (end * (100 if form == "relative" else 1) for end in ratio(ours, base))
    slack = 2 * derived.cell.half + 1e-9  # authors round, and some cut off
    value = derived.cell.value or 0.0
    return any(low - slack <= sign * value <= high + slack for sign in ((1,) if derived.cell.signed else (1, -1)))


def _averages(table: PaperTable) -> Iterator[Flag]:
    checked = []
    for derived in table.derived:
        pool = _pool(table, derived) if derived.what == "average" else []
        if len(pool) > 1 and derived.cell.value is not None:
            low, high = (sum(ends) / len(pool) for ends in zip(*((e.cell.low, e.cell.high) for e in pool), strict=True))
            slack = 2 * derived.cell.half + 1e-9
            checked.append((derived, low, high, low - slack <= derived.cell.value <= high + slack))
    right = sum(fits for *_, fits in checked)
    for derived, low, high, fits in checked:
        if not fits and right >= USUAL * len(checked):
            facts = {"printed": derived.cell.text, "low": low, "high": high, "name": derived.name}
            yield flag("arithmetic", "average", "certain if", table, [derived], facts, "mean")
