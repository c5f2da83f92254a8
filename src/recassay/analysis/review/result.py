"""What a review found: flags at cells, claims with their standing, and the verdict on each table of results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

import polars as pl

from recassay.analysis.verdict.result import Verdict
from recassay.core.system.plain import plain
from recassay.core.tables.printed import Entry, PaperTable
from recassay.core.tables.sources import Source
from recassay.core.tabular import stated

Family: TypeAlias = Literal[
    "marks", "arithmetic", "range", "identities", "grain", "repetition", "significance", "baselines", "sentences"
]
Certainty: TypeAlias = Literal["certain", "certain if", "worth a look"]
CERTAINTIES: tuple[Certainty, ...] = ("certain", "certain if", "worth a look")
"""From the surest to the least sure."""
Standing: TypeAlias = Literal["follows", "does not follow", "cannot be checked"]


@dataclass(frozen=True, slots=True)
class Flag:
    """Something in a table that an author may want to look at."""

    family: Family
    code: str
    """What it is, in one word for programs, such as `bold_not_best`; `words.review` has its sentence."""
    certainty: Certainty
    table: int
    """The number of the table."""
    cells: tuple[tuple[int, int], ...] = ()
    """Row and column of the cells, from 0 with the headers; the cell in question first."""
    condition: str = ""
    """What a flag that is certain if something holds rests on."""
    facts: dict[str, Any] = field(default_factory=dict)
    """Names and numbers of the sentence."""


class Place(Protocol):
    """What has a row and a column: a result, an improvement."""

    @property
    def row(self) -> int:
        """Its row, from 0 with the headers."""

    @property
    def column(self) -> int:
        """Its column, from 0."""


def flag(
    family: Family, code: str, certainty: Certainty, table: PaperTable, at: Sequence[Place], facts: dict[str, Any],
    needs: str = "",
) -> Flag:  # fmt: skip
    """A flag at these places of a table, the one in question first; `needs` is the condition that it rests on."""
    return Flag(family, code, certainty, table.number, tuple((p.row, p.column) for p in at), needs, facts)


def about(entry: Entry) -> dict[str, Any]:
    """The names and the value of a result, as facts."""
    return {**stated(entry, "algorithm", "dataset", "metric"), "value": entry.cell.text}


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """A sentence that claims something, and how the tables stand to it."""

    text: str
    place: str
    claim: str
    """Its kind: `best`, `beats`, `by`, `significant`."""
    standing: Standing
    facts: dict[str, Any] = field(default_factory=dict)
    """The numbers that it would follow from, or what is missing."""


@dataclass(frozen=True, slots=True)
class TableVerdict:
    """The court's verdict on one table of results and its leading metric."""

    table: int
    verdict: Verdict | None
    reason: str = ""
    """Why there is none."""


@dataclass(frozen=True, slots=True, eq=False)
class ReviewResult:
    """A paper's tables as they were read, and what their numbers say of themselves."""

    tables: tuple[PaperTable, ...]
    """The tables of the paper in order, each with its kind, its cells and its results."""
    flags: tuple[Flag, ...]
    """What an author may want to look at, the surest first."""
    claims: tuple[CheckedClaim, ...]
    """The sentences that claim something of the results, each with its standing."""
    verdicts: tuple[TableVerdict, ...]
    """What the datasets of each table of results support."""
    sources: tuple[Source, ...] = ()
    notes: tuple[str, ...] = ()

    def counted(self) -> dict[Certainty, int]:
        """How many flags have each certainty."""
        return {certainty: sum(flag.certainty == certainty for flag in self.flags) for certainty in CERTAINTIES}

    def to_frame(self) -> pl.DataFrame:
        """One row per flag."""
        rows = [{**stated(flag, "table", "family", "code", "certainty", "condition"),
                 "row": flag.cells[0][0] if flag.cells else None, "column": flag.cells[0][1] if flag.cells else None}
                for flag in self.flags]  # fmt: skip
        kinds = dict.fromkeys(("family", "code", "certainty", "condition"), pl.String)
        return pl.DataFrame(rows, schema={"table": pl.Int64, **kinds, "row": pl.Int64, "column": pl.Int64})

    def frames(self) -> dict[str, pl.DataFrame]:
        """The flags."""
        return {"flags": self.to_frame()}

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        tables = [
            {**stated(table, "number", "caption", "kind", "reason", "notes"), "algorithms": table.algorithms,
             "cells": [[cell.text for cell in row] for row in table.cells],
             "results": [{**stated(e, "row", "column", "algorithm", "dataset", "metric", "group", "condition"),
                          "value": e.cell.value} for e in table.entries]}
            for table in self.tables
        ]  # fmt: skip
        verdicts = [{"table": each.table, "reason": each.reason, **({} if each.verdict is None else stated(
            each.verdict, "metric", "grade", "leaders", "could_be_best"))} for each in self.verdicts]  # fmt: skip
        return plain({"flags": self.counted(), "tables": tables, "found": self.flags, "claims": self.claims,
                      "verdicts": verdicts, "notes": self.notes})  # fmt: skip
