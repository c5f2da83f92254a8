"""Numbers as the cells of tables write them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence, Sized
from string import Formatter
from typing import Any

from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import count_of


def number(value: float | None, digits: int = 2, *, missing: str = "") -> str:
    """A number to so many decimals; `missing` where there is none (None or NaN)."""
    return missing if value is None or value != value else f"{value:.{digits}f}"


def between(low: float | None, high: float | None, digits: int = 2) -> str:
    """An interval: `0.12 to 0.34`; nothing where there is none (None or NaN)."""
    if low is None or high is None or low != low or high != high:
        return ""
    return f"{low:.{digits}f} to {high:.{digits}f}"


def percent(share: float | None, digits: int = 0) -> str:
    """A share as a percentage: `12 %`; nothing where there is none."""
    return "" if share is None else f"{100 * share:.{digits}f} %"


def chance(p: float) -> str:
    """A probability in a sentence: `12 %`; one that would read as 0 or 1 is `less than 1 %` or `more than 99 %`."""
    if p < 0.005:
        return "less than 1 %"
    return "more than 99 %" if p > 0.995 else percent(p)


def better(higher_is_better: bool) -> str:
    """The direction of a metric, as titles and captions state it."""
    return "higher is better" if higher_is_better else "lower is better"


def sized(algorithms: Sized, datasets: Sized, words: Vocabulary = USUAL) -> str:
    """How large a table is: `5 algorithms on 12 datasets`."""
    return f"{count_of(len(algorithms), words.algorithm)} on {count_of(len(datasets), words.dataset)}"


DIGITS = 3
"""Significant digits of the largest number of a column; all have the same decimals."""


def decimals_of(values: Iterable[float]) -> int:
    """The decimals that give the largest of these numbers `DIGITS` significant digits."""
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    return min(max(DIGITS - 1 - math.floor(math.log10(largest)), 0), 8) if largest > 0 else 0


def even(values: Iterable[float]) -> list[str]:
    """Numbers with the same decimals: as many as give the largest `DIGITS` significant digits."""
    listed = list(values)
    decimals = decimals_of(listed)
    return [f"{value:.{decimals}f}" if math.isfinite(value) else "" for value in listed]


def even_intervals(low: Sequence[float], high: Sequence[float], *, like: Iterable[float]) -> list[str]:
    """Intervals with as many decimals as the column of their values has."""
    decimals = decimals_of(like)
    return [between(below, above, decimals) for below, above in zip(low, high, strict=True)]


def even_uplifts(uplifts: Iterable[tuple[float, float, float] | None]) -> tuple[list[str], list[str]]:
    """Relative differences in percent with their signs, and their intervals: all with the same decimals.

    One decimal, none where a difference is 100 % or more; an upper limit that is infinite is left open.
    """
    listed = list(uplifts)
    ends = [abs(end) for uplift in listed if uplift is not None for end in uplift if math.isfinite(end)]
    digits = 0 if max(ends, default=0.0) >= 1 else 1
    shares = ["" if uplift is None else f"{100 * uplift[0]:+.{digits}f} %" for uplift in listed]
    return shares, ["" if uplift is None else _limits(*uplift[1:], digits) for uplift in listed]


def _limits(low: float, high: float, digits: int) -> str:
    first = f"{100 * low:+.{digits}f}"
    return f"from {first}" if math.isinf(high) else f"{first} to {100 * high:+.{digits}f}"


def p_value(p: float | None) -> str:
    """A p-value as papers print it: `< .001`, `.034`, `> .999`; nothing where there is none (None or NaN)."""
    if p is None or p != p:
        return ""
    if p < 0.001:
        return "< .001"
    return "> .999" if p >= 0.9995 else f"{p:.3f}".removeprefix("0")


def p_text(p: float) -> str:
    """A p-value in a sentence: `p < 0.001`, `p = 0.034`."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def smallest(p: float) -> str:
    """The smallest p-value that a test can reach, of which the size matters: `0.0078`, `1.9e-06`."""
    return f"{p:.2g}"


def probability(value: float, digits: int = 2) -> str:
    """A probability in words; one that would read as 0 or 1 is `below 0.01` or `above 0.99`."""
    text, least = f"{value:.{digits}f}", 10**-digits
    if text == f"{1:.{digits}f}":
        return f"above {1 - least:.{digits}f}"
    return f"below {least:.{digits}f}" if text == f"{0:.{digits}f}" else text


def writer(template: str) -> Callable[[Any], str]:
    """From a record to its cell: `{low:.2f} to {high:.2f}` names fields of it, keys or attributes; `{a.b}` is b of a.

    A cell is empty where one of its fields is missing (None or NaN). Besides Python's own formats, `:p` writes a
    p-value, `%` stands after a space, and what is true or false is `yes` or `no`.
    """
    parsed = Formatter().parse(template)
    pieces = [(literal, field.split(".") if field else [], form or "") for literal, field, form, _ in parsed]

    def write(record: Any) -> str:
        cell = ""
        for literal, path, form in pieces:
            value = record
            for name in path:
                value = value[name] if isinstance(value, dict) else getattr(value, name)
                if value is None or value != value:
                    return ""
            cell += literal + _formatted(value, form) if path else literal
        return cell

    return write


def _formatted(value: Any, form: str) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if form == "p":
        return p_value(value)
    text = format(value, form)
    return text.replace("%", " %") if form.endswith("%") else text


def starred(pair: Any) -> str:
    """The corrected p-value of a pair, with a star where it is significant."""
    return f"{p_value(pair.p_holm)}{'*' if pair.significant else ' '}"
