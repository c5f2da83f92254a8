"""What `reproduce` found: each printed number beside ours, and the counts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import polars as pl

from recassay.core.system.display import Displayed
from recassay.core.tabular import stated
from recassay.data.published.printed import VERDICTS, PaperRecord, PrintedNumber, Verdict

Numbers: TypeAlias = dict[tuple[str, str, str], float | str | None]
"""The numbers of a paper by table, row and column: a number or a word; None where it cannot be computed."""


def in_column(table: str, rows: Iterable[str], column: str, values: Iterable[float]) -> Numbers:
    """The numbers of one column of a table, by row."""
    return {(table, row, column): float(value) for row, value in zip(rows, values, strict=True)}


@dataclass(frozen=True, slots=True)
class ReproducedNumber:
    """A printed number, ours, and what follows."""

    published: PrintedNumber
    """What is printed, and where."""
    ours: float | str | None
    """What was computed; None where it could not be."""
    difference: float | None
    """Ours less the printed; None where they are not numbers."""
    verdict: Verdict
    """How far the two agree."""

    @property
    def fell(self) -> bool:
        """Whether it used to agree better than it does now."""
        return VERDICTS.index(self.verdict) > VERDICTS.index(self.published.expected)

    @property
    def reason(self) -> str:
        """Why it does not agree fully, where the list knows it; that it used to, where it did."""
        if self.fell:
            return f"it used to be: {self.published.expected}"
        return self.published.reason if self.verdict in ("near", "does not follow") else ""


@dataclass(frozen=True, slots=True, eq=False)
class ReproduceResult(Displayed):
    """The numbers of the papers, computed again."""

    papers: tuple[PaperRecord, ...]
    """The papers, each with what of it is not computed again, and why."""
    numbers: tuple[ReproducedNumber, ...]
    """Every printed number beside ours, and whether they agree."""

    @property
    def fallen(self) -> list[ReproducedNumber]:
        """Numbers that used to agree and no longer do."""
        return [number for number in self.numbers if number.fell]

    def count(self, paper: str | None = None, table: str | None = None) -> dict[Verdict, int]:
        """How many numbers have each verdict, of one paper or one table of it."""
        kept = [
            number
            for number in self.numbers
            if paper in (None, number.published.paper) and table in (None, number.published.table)
        ]
        return {verdict: sum(row.verdict == verdict for row in kept) for verdict in VERDICTS}

    def summary(self) -> pl.DataFrame:
        """One row for each table of each paper: how many numbers have each verdict."""
        places = list(dict.fromkeys((number.published.paper, number.published.table) for number in self.numbers))
        return pl.DataFrame([{"paper": paper, "table": table, **self.count(paper, table)} for paper, table in places])

    def to_frame(self) -> pl.DataFrame:
        """One row for each number: where it stands, printed, ours, difference, verdict and reason."""
        return pl.DataFrame(
            [
                {
                    **stated(number.published, "paper", "table", "row", "column", "printed"),
                    "ours": shown(number.ours, number.published.digits),
                    "difference": number.difference,
                    "verdict": number.verdict,
                    "reason": number.reason,
                }
                for number in self.numbers
            ],
            schema_overrides={"difference": pl.Float64},
        )

    def frames(self) -> dict[str, pl.DataFrame]:
        """Every number, and the counts by table."""
        return {"reproduction": self.to_frame(), "reproduction_summary": self.summary()}

    def to_dict(self) -> dict[str, Any]:
        """Counts, every number, what is left out, and what no longer agrees."""
        fallen = [number.published for number in self.fallen]
        return {
            "counts": self.count(),
            "by_table": self.summary().to_dicts(),
            "numbers": self.to_frame().to_dicts(),
            "left_out": {paper.name: [{"what": w, "why": y} for w, y in paper.not_recomputed] for paper in self.papers},
            "no_longer_agrees": [f"{one.paper}, {one.table}, {one.row}, {one.column}" for one in fallen],
        }


def shown(ours: float | str | None, digits: int | None) -> str | None:
    """Ours to two digits more than the printed."""
    if ours is None or isinstance(ours, str):
        return ours
    if digits == 0 and ours.is_integer():
        return f"{ours:.0f}"
    return f"{ours:.{min(digits + 2, 10)}f}" if digits is not None else repr(ours)
