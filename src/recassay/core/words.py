"""Words that every room writes alike: counts, times and lists of names."""

from __future__ import annotations

from collections.abc import Iterable


def count_of(number: int, noun: str) -> str:
    """`1 dataset`, `2 datasets`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def duration(seconds: float) -> str:
    """A time as people say it: `0.3 s`, `45 s`, `12 min`, `3.5 h`."""
    if seconds < 90:
        return f"{seconds:.{0 if seconds >= 1 else 1}f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def energy(joules: float) -> str:
    """An energy as people say it: `7.9 J`, `2.5 kJ`, `1.2 MJ`."""
    step = 0 if joules < 999.5 else 1 if joules < 999.5e3 else 2
    number = joules / 1e3**step
    return f"{number:.{0 if number >= 99.95 else 1}f}".removesuffix(".0") + f" {('J', 'kJ', 'MJ')[step]}"


def listing(names: Iterable[object], *, most: int | None = 5, last: str = "") -> str:
    """Names in words, the first `most` of them (None: all): `a, b, c and 4 more`.

    `last` stands before the last name where all are named: with `or`, `a, b or c`.
    """
    shown = [str(name) for name in names]
    if most is not None and len(shown) > most:
        return f"{', '.join(shown[:most])} and {len(shown) - most} more"
    if last and len(shown) > 1:
        return f"{', '.join(shown[:-1])} {last} {shown[-1]}"
    return ", ".join(shown)
