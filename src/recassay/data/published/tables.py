"""Published tables by name: `published:kdd24` wherever a results table, characteristics or responses are taken."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from recassay.core import columns as c
from recassay.core.errors import NotApplicableError, UsageError
from recassay.core.names import canonical, did_you_mean
from recassay.core.tables.characteristics import CharacteristicsTable
from recassay.core.tables.responses import Responses
from recassay.core.tables.results import Results
from recassay.core.tables.sources import Source
from recassay.data.tables.characteristics import read_characteristics
from recassay.data.tables.read import read_table
from recassay.data.tables.responses import read_responses

PREFIX = "published:"
FOLDER = Path(__file__).parent
PART_METRIC = "ndcg@10"
"""Gaps are those of this metric."""


@dataclass(frozen=True, slots=True)
class Published:
    """A published table: what it is, where it comes from, and the files it has."""

    name: str
    title: str
    paper: str
    licence: str
    date: str
    repository: str = ""
    protocol: str = ""
    results: str = ""
    characteristics: str = ""
    responses: str = ""
    universes: str = ""
    """Results under several protocols, for `recassay multiverse`."""
    items: str = ""
    positive_threshold: float | None = None
    complete: bool = False
    """The results are those of the algorithms that have a value on every dataset."""
    replaced_by: str = ""
    """A newer table of the same datasets: what learns from all tables leaves this one out."""


@cache
def published() -> dict[str, Published]:
    """Every published table by name."""
    with (FOLDER / "manifest.toml").open("rb") as stream:
        return {name: Published(name, **described) for name, described in tomllib.load(stream).items()}


def is_published(source: Any) -> bool:
    """Whether a source is the name of a published table."""
    return isinstance(source, (str, Path)) and str(source).startswith(PREFIX)


def find_published(source: Any) -> Published:
    """The table that `published:NAME` means; an unknown name raises with the nearest."""
    name = str(source).removeprefix(PREFIX)
    match = {canonical(known): table for known, table in published().items()}.get(canonical(name))
    if match is None:
        raise UsageError(f"there is no published table {name!r}", fix=did_you_mean(name, published()))
    return match


def published_results(source: Any) -> Results:
    """The results of a published table."""
    frame, origin = _read(source, "results")
    if find_published(source).complete:
        whole = on_every_dataset(frame.filter(pl.col(c.METRIC) == PART_METRIC).unique([c.ALGORITHM, c.DATASET]))
        frame = frame.join(whole, on=[c.ALGORITHM, c.DATASET], how="semi", maintain_order="left")
    typed = frame.with_columns(pl.col(c.VALUE).cast(pl.Float64, strict=False))
    return Results.from_frame(typed, where=origin.file, sources=(origin,))


def on_every_dataset(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows (one per algorithm and dataset) of the algorithms that have one on every dataset of the table."""
    return rows.filter(pl.len().over(c.ALGORITHM) == rows[c.DATASET].n_unique())


def published_choices(source: Any) -> tuple[pl.DataFrame, tuple[Source, ...]]:
    """The rows of a published multiverse, with a column per choice of the protocol; of other tables the plain rows."""
    frame, origin = _read(source, "universes" if find_published(source).universes else "results")
    return frame.with_columns(pl.col(c.VALUE).cast(pl.Float64, strict=False)), (origin,)


def published_characteristics(source: Any) -> CharacteristicsTable:
    """The characteristics of a published table's datasets."""
    return read_characteristics(_read(source, "characteristics", " of its datasets")[0])


def published_responses(source: Any) -> Responses:
    """The answers of a published response table."""
    frame, origin = _read(source, "responses")
    return replace(read_responses(frame), sources=(origin,))


def published_table(file: str) -> pl.DataFrame:
    """A file of this folder as text."""
    return read_table(FOLDER / file, empty_fix="install RecAssay again")[0]


def _read(source: Any, kind: str, further: str = "") -> tuple[pl.DataFrame, Source]:
    """A file of a published table; one that has none of this kind is refused with those that have."""
    chosen = find_published(source)
    file, name = getattr(chosen, kind), f"{PREFIX}{chosen.name}"
    if not file:
        if chosen.universes:
            raise NotApplicableError(f"{name} has results under many protocols", fix="ask for multiverse")
        held = [known for known in ("results", "characteristics", "responses") if getattr(chosen, known)]
        others = ", ".join(f"{PREFIX}{other}" for other, table in published().items() if getattr(table, kind))
        fix = f"it holds {' and '.join(held)}; {kind} are in {others}"
        raise NotApplicableError(f"{name} has no {kind}{further}", fix=fix)
    frame, origin = read_table(FOLDER / file, empty_fix="install RecAssay again")
    return frame, Source(name, origin.sha256)
