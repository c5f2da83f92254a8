"""What packed files may cost. What would take much memory and time is refused, and not what packs well.

A table of zeros packs a thousand times, and is a table. So the memory that reading takes is estimated from what was
unpacked: measured at every door (`benchmarks/grown.py --packed`) and rounded up.
"""

from __future__ import annotations

from recassay.core.errors import InputError

MOST_COST = 400_000_000
"""Bytes of memory that any packed file may take."""

USUAL = 50
"""A file that unpacks to at most so many times its size may take more: tables compress 3 to 30 times."""

PER_BYTE, PER_WIDE_BYTE, PER_CELL, PER_ROW, PER_VALUE, PER_EVENT = 6, 20, 24, 200, 200, 44
"""What a byte of text costs, a byte of text with characters beyond ASCII, a cell of a table, a row of it, a value of
JSON, and an event.
"""


def most_unpacked(packed: int) -> int:
    """Bytes beyond which nothing that so many bytes unpack to is within what it may cost."""
    return max(MOST_COST // PER_BYTE, USUAL * packed)


def text_cost(text: bytes) -> int:
    """The memory that reading a text takes: JSON by its values, anything else by its rows and cells."""
    size = len(text) * (PER_BYTE if text.isascii() else PER_WIDE_BYTE)
    if text[:64].lstrip()[:1] in (b"{", b"["):
        return size + PER_VALUE * sum(map(text.count, (b"[", b"{", b",", b":")))
    rows = text.count(b"\n")
    return size + table_cost(rows, max(map(text.count, (b",", b"\t", b";", b"|", b" "))) + rows)


def table_cost(rows: int, cells: int) -> int:
    """The memory that a table takes."""
    return PER_ROW * rows + PER_CELL * cells


def refuse_costly(cost: int, unpacked: int, packed: int, where: str) -> None:
    """Raise for what costs more than a packed file may."""
    if cost > MOST_COST and unpacked > USUAL * packed:
        what = f"{packed:,} packed bytes hold {unpacked:,}, and reading them would take about {cost / 1e6:,.0f} MB"
        raise InputError(what, where=where, fix="if you trust it, save it as plain text")
