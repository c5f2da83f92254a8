"""Text from outside, made fit to be shown: what would steer a terminal or break a renderer stands as its code."""

from __future__ import annotations

import re

UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffc\ufffe\uffff\ud800-\udfff]"
    "|[\U0001fffe\U0001ffff\U000e0000-\U000e007f\U0010fffe\U0010ffff]"
)
"""Control characters (without tab and newline), marks of direction, separators of lines, halves of pairs, and what
is not a character at all."""
MAYBE_UNPRINTABLE = r"\p{C}|\p{Zl}|\p{Zp}|[\x{fff9}-\x{fffc}]"
"""What polars finds them by; it finds a few harmless ones besides."""


def printable(text: str) -> str:
    """The text with every unprintable character as its code: `\\x1b` for an escape."""
    return UNPRINTABLE.sub(_code, text) if UNPRINTABLE.search(text) else text


def one_line(text: str, most: int = 160) -> str:
    """The text on one line, printable, and cut where it is longer than `most`."""
    flat = " ".join(printable(text[: 4 * most]).split())
    return flat if len(flat) <= most and len(text) <= 4 * most else flat[: most - 1] + "…"


def _code(match: re.Match[str]) -> str:
    number = ord(match[0])
    return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}" if number < 65536 else f"\\U{number:08x}"
