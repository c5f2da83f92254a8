"""What a paper's numbers are kept in: by table, row and column, a number or a word; None where it cannot be had."""

from __future__ import annotations

from typing import TypeAlias

Numbers: TypeAlias = dict[tuple[str, str, str], float | str | None]
