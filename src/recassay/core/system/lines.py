"""Where a line of a text ends: at a newline, a carriage return or both, and nowhere else.

`str.splitlines` also cuts at form feeds, at U+0085 and at U+2028, which may stand inside a name.
"""

from __future__ import annotations


def lines_of(text: str) -> list[str]:
    """The lines of a text without their ends; what follows the last end is not a line where it is empty."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if not lines[-1]:
        lines.pop()
    return lines
