"""How an algorithm that was named beforehand stands against the others."""

from __future__ import annotations

from recassay.analysis.verdict.result import Status, Verdict
from recassay.core.words import listing

STANDINGS: dict[str, tuple[Status, ...]] = {
    "better than": ("better",),
    "worse than": ("worse",),
    "equivalent to": ("equivalent",),
    "undecided against": ("undecided", "undecidable"),
}
"""How an algorithm stands against another, by the statuses that say so."""


def of_control(v: Verdict) -> str:
    """How many of the others the control is better and worse than, and with how many nothing is decided."""
    name, pairs = str(v.control), v.against(str(v.control))
    counts = {phrase: sum(pair.status in statuses for pair in pairs) for phrase, statuses in STANDINGS.items()}
    counted = [(phrase, count) for phrase, count in counts.items() if count]
    if len(counted) == 1:
        phrase, count = counted[0]
        others = f"all {count} others" if count > 1 else pairs[0].b
        return f"{name}, the control, is {phrase} {others}."
    (first, count), *rest = counted
    parts = [f"{first} {count} of {len(pairs)} others", *(f"{phrase} {number}" for phrase, number in rest)]
    return f"{name}, the control, is {listing(parts, last='and')}."
