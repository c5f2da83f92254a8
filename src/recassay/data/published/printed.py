"""Numbers as papers print them, and how near we are expected to come: the list that tests and `reproduce` share.

`printed.csv` has a row for each number: paper, table, row, column, the printed text, the digits after the point (empty
where the number is given in full), the distance that still counts as near, the verdict that was reached when the list
was made, and the key of a reason in `reproduction.toml` where the number does not follow.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args

from recassay.data.published.tables import FOLDER, published_table

Verdict = Literal["exact", "printed digits", "near", "does not follow"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
"""From the best to the worst."""


@dataclass(frozen=True, slots=True)
class PrintedNumber:
    """A number of a paper: where it stands, what is printed, and the verdict that it had."""

    paper: str
    """Name of the paper."""
    table: str
    """The table, figure or section that it stands in."""
    row: str
    """The row there."""
    column: str
    """The column there."""
    printed: str
    """The number or word as printed."""
    digits: int | None
    """How many decimals are printed; None where it is not a decimal number or is given in full."""
    near: float
    """The distance that still counts as near."""
    expected: Verdict
    """The verdict that was reached when the list was made."""
    reason: str = ""
    """Why it does not agree fully, where that is known."""


@dataclass(frozen=True, slots=True)
class PaperRecord:
    """A paper: its title, and what of it is not computed again, with the reason."""

    name: str
    title: str
    not_recomputed: tuple[tuple[str, str], ...]
    """What is not computed again, each with the reason."""


@cache
def printed_numbers() -> tuple[PrintedNumber, ...]:
    """Every number of the list, in the order of the papers and their tables."""
    reasons = _document()["reasons"]
    return tuple(
        PrintedNumber(
            **{name: row[name] for name in ("paper", "table", "row", "column", "printed")},
            digits=int(row["digits"]) if row["digits"] else None,
            near=float(row["near"] or 0),
            expected=row["verdict"],
            reason=reasons[row["reason"]] if row["reason"] else "",
        )
        for row in published_table("printed.csv.gz").iter_rows(named=True)
    )


@cache
def papers() -> dict[str, PaperRecord]:
    """The papers by name, in order."""
    return {
        name: PaperRecord(
            name, paper["title"], tuple((part["what"], part["why"]) for part in paper.get("left_out", []))
        )
        for name, paper in _document()["papers"].items()
    }


@cache
def _document() -> dict[str, dict[str, Any]]:
    with (FOLDER / "reproduction.toml").open("rb") as stream:
        return tomllib.load(stream)
