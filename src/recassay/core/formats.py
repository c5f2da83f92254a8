"""The formats in which figures are written."""

from __future__ import annotations

from collections.abc import Iterable

from recassay.core.errors import UsageError
from recassay.core.names import did_you_mean

FORMATS = ("svg", "pdf", "png", "json")

USUAL = ("svg", "pdf", "json")
"""What is written unless other formats are asked for: a PNG takes as long as all of these together."""


def known_formats(asked: Iterable[str] | None) -> tuple[str, ...]:
    """The formats that were asked for, each once, or the usual ones; an unknown one raises."""
    if asked is None:
        return USUAL
    names = [name.strip().lower().removeprefix(".") for name in asked]
    for name in names:
        if name not in FORMATS:
            raise UsageError(f"unknown format of figures {name!r}", fix=did_you_mean(name, FORMATS))
    return tuple(form for form in FORMATS if form in names)
