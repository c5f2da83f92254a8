"""Several tables into one: cells by where they come from, contradictions refused, and what cannot be compared told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

import numpy as np
import polars as pl

from recassay.core import columns as c
from recassay.core.errors import InputError, UsageError
from recassay.core.tables.labels import normal_label
from recassay.core.tables.result_checks import shown_names
from recassay.core.tables.results import Results
from recassay.core.tables.sources import Source
from recassay.core.words import count_of, listing
from recassay.data.tables.comparability import incomparable

_PART = "part"
_CELL = [*c.RESULT_KEY]
_CELL_OF_PART = {**dict.fromkeys(_CELL, pl.String), _PART: pl.Int64}


@dataclass(frozen=True, slots=True, eq=False)
class Imported:
    """A long frame (algorithm, metric, value; dataset, seed, fold, user, details where known) and what to say about it.

    Where the file does not say the dataset, the column is absent or null, and the caller fills it in. Rows of single
    users name them in the column `user`; the caller takes the means.
    """

    frame: pl.DataFrame
    notes: tuple[str, ...] = ()
    guesses: tuple[str, ...] = ()
    """Where the reading is a guess."""
    words: tuple[str, str] = ("algorithm", "dataset")
    """What the framework calls what is compared, and what it is compared on: `("model", "task")`."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Part(Imported):
    """What was imported from one place, with one row per cell: what messages call the place, and its file."""

    where: str
    source: Source | None = None
    users: pl.DataFrame | None = None
    """The rows of single users that the frame has the means of, where the place has them."""


MOST_SOURCES = 4
"""Files whose cells are counted one by one in a note."""


def join_parts(parts: Sequence[Part], prefer: str = "error") -> Results:
    """One checked table. The same cell from two places must have one value, unless `prefer` says whose counts.

    `prefer` is `error`, `first`, `last`, or (the end of) the name of the place that wins. Repeats of a cell with seeds
    or folds of their own are put together; values that agree to the digits of the shorter one are one.
    """
    if prefer not in ("error", "first", "last") and not any(_names(part.where, prefer) for part in parts):
        places = listing(part.where for part in parts)
        raise UsageError(f"`prefer` {prefer!r} is not one of the places", fix=f"use first, last or one of {places}")
    tables = [Results.from_frame(part.frame, where=part.where) for part in parts]
    checked = [
        table.frame.with_columns(pl.lit(i, dtype=pl.Int64).alias(_PART), pl.lit(part.where).alias(c.SOURCE))
        for i, (table, part) in enumerate(zip(tables, parts, strict=True))
    ]
    named = [*_notes_once(parts), *(note for table in tables for note in table.notes)]
    frame = pl.concat(checked, how="diagonal_relaxed")
    notes: list[str] = []
    contradicted = pl.DataFrame(schema=_CELL_OF_PART)
    if len(parts) > 1:
        frame, notes, contradicted = _settled(frame, [part.where for part in parts], prefer)
        notes = [_provenance(frame), *notes]
    notes += incomparable(frame)
    frame = frame.drop(_PART) if len(parts) > 1 else frame.drop(_PART, c.SOURCE)
    # Seeds and folds that some parts lack: their rows get a mark of their own, and a column of gaps goes.
    repeats = [name for name in (c.SEED, c.FOLD) if name in frame.columns]
    frame = frame.drop(name for name in repeats if frame.get_column(name).null_count() == frame.height)
    frame = frame.with_columns(pl.col(name).fill_null("") for name in repeats if name in frame.columns)
    sources = tuple(part.source for part in parts if part.source is not None)
    where = listing(part.where for part in parts)
    results = Results.from_frame(frame, where=where, sources=sources, notes=tuple(dict.fromkeys([*named, *notes])))
    guesses = tuple(dict.fromkeys(guess for part in parts for guess in part.guesses))
    words = parts[0].words if len({part.words for part in parts}) == 1 else results.words
    return replace(results, users=_single_users(parts, contradicted), guesses=guesses, words=words)


def _notes_once(parts: Sequence[Part]) -> list[str]:
    """The notes of all parts, each with the file that it is about; what holds for several files is said once."""
    if len(parts) == 1:
        return list(parts[0].notes)
    about: dict[str, list[str]] = {}
    for part in parts:
        for note in dict.fromkeys(part.notes):
            about.setdefault(note, []).append(PurePath(part.where).name)
    return [f"{files[0] if len(files) == 1 else f'{len(files)} files'}: {note}" for note, files in about.items()]


def _single_users(parts: Sequence[Part], contradicted: pl.DataFrame) -> pl.DataFrame | None:
    """The rows of single users of all parts, without those of cells whose value another part gave."""
    kept = [*_CELL, c.USER, c.VALUE]
    rows = [
        part.users.drop_nulls(c.USER)
        .select(pl.col(name).cast(pl.Float64 if name == c.VALUE else pl.String) for name in kept)
        .with_columns(pl.lit(i, dtype=pl.Int64).alias(_PART))
        for i, part in enumerate(parts)
        if part.users is not None
    ]
    if not rows:
        return None
    both = pl.concat(rows)
    labels = {label: normal_label(label) for label in both.get_column(c.METRIC).unique().to_list()}
    both, _ = shown_names(both.with_columns(pl.col(c.METRIC).replace(labels)))
    return both.join(contradicted, on=[*_CELL, _PART], how="anti", maintain_order="left").drop(_PART)


def _settled(frame: pl.DataFrame, places: Sequence[str], prefer: str) -> tuple[pl.DataFrame, list[str], pl.DataFrame]:
    """The frame with each cell from one place, what was done about cells from several, and which lost to another."""
    repeats = [name for name in (c.SEED, c.FOLD) if name in frame.columns]
    mark = pl.concat_str([pl.col(n).fill_null("") for n in repeats], separator="|") if repeats else pl.lit("")
    by_place = frame.group_by([*_CELL, _PART], maintain_order=True).agg(
        pl.len().alias("rows"), pl.col(c.VALUE).mean(), mark.alias("marks")
    )
    shared = by_place.filter(pl.len().over(_CELL) > 1)
    if shared.height == 0:
        return frame, [], pl.DataFrame(schema=_CELL_OF_PART)
    dropped: list[tuple[Any, ...]] = []
    agreeing, conflicts, kept_from = 0, [], set()
    for cell, group in shared.group_by(_CELL, maintain_order=True):
        rows = group.sort(_PART).to_dicts()
        marks = [mark for row in rows for mark in row["marks"]]
        if marks and all(mark.strip("|") for mark in marks) and len(set(marks)) == len(marks):
            continue
        best = max(rows, key=lambda row: (row[c.VALUE] is not None, row["rows"], -row[_PART]))
        values = [row[c.VALUE] for row in rows if row[c.VALUE] is not None]
        agree = all(_agree(value, values[0]) for value in values)
        if agree:
            agreeing += 1
        else:
            best = _preferred([row for row in rows if row[c.VALUE] is not None], places, prefer)
            conflicts.append((cell, rows))
            kept_from.add(places[best[_PART]])
        dropped += [(*cell, row[_PART], agree) for row in rows if row is not best]
    differ = f"{count_of(len(conflicts), 'cell')} {'has' if len(conflicts) == 1 else 'have'} different values"
    if conflicts and prefer == "error":
        (algorithm, dataset, metric), rows = conflicts[0]
        first = next(row for row in rows if row[c.VALUE] is not None)
        other = next(row for row in rows if row[c.VALUE] is not None and not _agree(row[c.VALUE], first[c.VALUE]))
        shown = " and ".join(f"{row[c.VALUE]:g} in {places[row[_PART]]}" for row in (first, other))
        raise InputError(
            f"{differ}, the first {algorithm} on {dataset}, {metric}: {shown}",
            fix="say whose value counts with `prefer='first'`, `prefer='last'` or the name of a file; or tell repeats "
            "apart by a column 'seed'",
        )  # fmt: skip
    notes = []
    if agreeing:
        stand = f"{count_of(agreeing, 'cell')} {'stands' if agreeing == 1 else 'stand'}"
        notes.append(f"{stand} in several files with one value; each was taken once")
    if conflicts:
        notes.append(f"{differ}; those of {listing(sorted(kept_from))} were taken")
    gone = pl.DataFrame(dropped, schema={**_CELL_OF_PART, "agrees": pl.Boolean}, orient="row")
    kept = frame.join(gone, on=[*_CELL, _PART], how="anti", maintain_order="left")
    doubles = frame.join(gone.filter("agrees"), on=[*_CELL, _PART], how="semi")
    return _with_deviations(kept, doubles), notes, gone.filter(~pl.col("agrees"))


def _with_deviations(kept: pl.DataFrame, gone: pl.DataFrame) -> pl.DataFrame:
    """A kept value without a deviation takes that of its double, which may be the mean over users that it is."""
    if c.DEVIATION not in kept.columns:
        return kept
    names = [name for name in (c.DEVIATION, c.RUNS) if name in kept.columns]
    known = gone.drop_nulls(c.DEVIATION).unique(_CELL, keep="first").select(*_CELL, *names)
    joined = kept.join(known, on=_CELL, how="left", suffix=" other", maintain_order="left")
    absent = pl.col(c.DEVIATION).is_null()
    return joined.with_columns(
        pl.when(absent).then(pl.col(f"{name} other")).otherwise(pl.col(name)).alias(name) for name in names
    ).drop(f"{name} other" for name in names)


def _preferred(rows: list[dict[str, Any]], places: Sequence[str], prefer: str) -> dict[str, Any]:
    """The row whose place wins; the first where the one that wins does not have a value."""
    if prefer in ("error", "first"):
        return rows[0]
    if prefer == "last":
        return rows[-1]
    return next((row for row in rows if _names(places[row[_PART]], prefer)), rows[0])


def _names(place: str, prefer: str) -> bool:
    """Whether a place is what the user named: by its whole name, its end, or a folder that it lies in."""
    wanted = prefer.rstrip("/")
    return place.rstrip("/").endswith(wanted) or place.startswith(f"{wanted}/") or wanted in PurePath(place).parts


def _agree(first: float, other: float) -> bool:
    """Whether two numbers are one to the digits of the shorter, of which there must be three or more."""
    if np.isclose(first, other, rtol=1e-6, atol=1e-12):
        return True
    digits = min(len(f"{abs(x):.10f}".rstrip("0").partition(".")[2]) for x in (first, other))
    return digits >= 3 and abs(first - other) <= 0.51 * 10.0**-digits


def _provenance(frame: pl.DataFrame) -> str:
    """Which cells come from where, in one line."""
    counts = frame.group_by(c.SOURCE, maintain_order=True).agg(
        pl.struct(_CELL).n_unique().alias("cells"),
        pl.col(c.ALGORITHM).n_unique().alias("algorithms"),
        pl.col(c.DATASET).n_unique().alias("datasets"),
    )
    if counts.height > MOST_SOURCES:
        return f"{counts.get_column('cells').sum():,} cells from {counts.height:,} files"
    places = [
        f"{count_of(cells, 'cell')} ({count_of(models, 'algorithm')} on {count_of(datasets, 'dataset')}) from {file}"
        for file, cells, models, datasets in counts.iter_rows()
    ]
    return listing(places, most=None)
