"""Results from one file: every importer looks at it, and the one that knows it reads it; else it is a table."""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace

import polars as pl

from recassay.core import columns as c
from recassay.core.errors import InputError, UsageError
from recassay.core.names import canonical, did_you_mean
from recassay.core.registry import importers
from recassay.core.system.printable import one_line
from recassay.core.tables.sources import Source
from recassay.data.importers.contract import KIND_WORDS, RESULTS, Imported, Importer, Kind
from recassay.data.importers.opened import OpenedFile
from recassay.data.importers.table import NAMES, read_tables
from recassay.data.tables.join import Part
from recassay.data.tables.roles import Asked


@dataclass(frozen=True, slots=True)
class Detected:
    """What a file is: the importer that knows it (None for a plain table), and what it holds."""

    importer: Importer | None
    kind: Kind


def detect(file: OpenedFile, format: str | None = None) -> Detected:
    """The importer of a file, by its content; `format` names one instead, or `table` for a plain table.

    Where several know a file, those that find results in it come first. Two that do so is a mistake of ours or of a
    plugin, and the user is asked.
    """
    if format is not None:
        if canonical(format) in map(canonical, NAMES):
            return Detected(None, "results")
        if format not in importers:
            raise UsageError(f"unknown format {format!r}", fix=did_you_mean(format, [*importers.names(), *NAMES]))
        named: Importer = importers.get(format)
        return Detected(named, named.recognise(file) or "results")
    found = [Detected(one, kind) for _, one in importers if (kind := one.recognise(file)) is not None]
    held = [one for one in found if one.kind in RESULTS]
    if len(held) > 1:
        names = [one.importer.name for one in held if one.importer]
        raise InputError(
            f"may be of {' or '.join(names)}", where=file.name, fix=f"say which with `format={names[0]!r}`"
        )
    return (held or found or [Detected(None, "results")])[0]


def refuse_other(file: OpenedFile, found: Detected) -> None:
    """A file that a framework wrote and that holds no results is refused with what it is and who reads it."""
    if found.kind in RESULTS or found.importer is None:
        return
    reader = {"lists": "`recassay.evaluate` judges lists", "judgements": "`recassay.evaluate` takes them as test data"}
    raise InputError(
        f"holds {KIND_WORDS[found.kind]} of {found.importer.title}, not results",
        where=file.name,
        fix=reader.get(found.kind, "give the file of results beside it"),
    )


def detected(file: OpenedFile, asked: Asked, format: str | None) -> Detected:
    """`detect`, unless the user said how a table is to be read."""
    if format is None and (asked.wide or asked.transpose or asked.columns):
        return Detected(None, "results")
    return detect(file, format)


def part_of(file: OpenedFile, found: Detected, asked: Asked) -> Part:
    """The long frame of a file by its importer, or as a table."""
    imported = _tables(file, asked) if found.importer is None else _imported(file, found, asked)
    return made_part(imported, file.name, file.source)


def made_part(imported: Imported, where: str, source: Source | None) -> Part:
    """A part with the means over users, where its rows are of single ones."""
    users = imported.frame if c.USER in imported.frame.columns else None
    return Part(mean_over_users(imported.frame), where, source, imported.notes, users, imported.guesses, imported.words)


def _tables(file: OpenedFile, asked: Asked) -> Imported:
    try:
        imported = read_tables(file, asked)
        _refuse_idle_dataset(imported.frame, asked, file.name)
        return imported
    except (pl.exceptions.PolarsError, csv.Error, UnicodeError) as error:
        raise InputError(
            f"cannot be read as a table ({one_line(str(error), 120)})", where=file.name,
            fix="give columns of plain text and numbers",
        ) from error  # fmt: skip


def _refuse_idle_dataset(frame: pl.DataFrame, asked: Asked, where: str) -> None:
    """A table that names several datasets leaves nothing for `--dataset` to say; it chooses none of them."""
    told = frame.get_column(c.DATASET) if c.DATASET in frame.columns else None
    if asked.dataset is not None and told is not None and not told.null_count() and told.n_unique() > 1:
        raise UsageError(
            f"names {told.n_unique()} datasets itself, so `dataset` has no effect", where=where, fix="leave it out"
        )


def _imported(file: OpenedFile, found: Detected, asked: Asked) -> Imported:
    """What an importer read, with the dataset filled in where the file does not say it."""
    assert found.importer is not None
    try:
        imported = found.importer.read(file)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, StopIteration, RecursionError,
            csv.Error, pl.exceptions.PolarsError) as error:  # fmt: skip
        raise InputError(
            f"is not what {found.importer.title} writes ({type(error).__name__}: {one_line(str(error), 120)})"
            if str(error)
            else f"is not what {found.importer.title} writes",
            where=file.name,
            fix="say `format='table'` to read it as a plain table, or name its format",
        ) from error
    frame = imported.frame
    _refuse_idle_dataset(frame, asked, file.name)
    named = frame.get_column(c.DATASET).n_unique() if c.DATASET in frame.columns else 0
    if asked.dataset is not None and named < 2:
        frame = frame.with_columns(pl.lit(asked.dataset).alias(c.DATASET))
    elif not named:
        frame = frame.with_columns(pl.lit(file.dataset()).alias(c.DATASET))
    else:
        frame = frame.with_columns(pl.col(c.DATASET).cast(pl.String).fill_null(asked.dataset or file.dataset()))
    return replace(imported, frame=frame)


def mean_over_users(frame: pl.DataFrame) -> pl.DataFrame:
    """One row for each cell from one for each user: the mean, the deviation over users, and their number.

    The deviation over the square root of the number of users is the standard error of the mean, which is how the
    deviation and the runs of a row are used everywhere. Rows without a user are means already and stay as they are.
    """
    if c.USER not in frame.columns:
        return frame
    single = frame.filter(pl.col(c.USER).is_not_null())
    keys = [name for name in frame.columns if name not in (c.USER, c.VALUE, c.DEVIATION, c.RUNS)]
    value = pl.col(c.VALUE).drop_nans()
    means = single.group_by(keys, maintain_order=True).agg(
        value.mean().alias(c.VALUE), value.std().alias(c.DEVIATION), value.count().cast(pl.Int64).alias(c.RUNS)
    )
    rest = frame.filter(pl.col(c.USER).is_null()).drop(c.USER)
    return pl.concat([means, rest], how="diagonal_relaxed") if rest.height else means
