"""Results from one file: every importer looks at it, and the one that knows it reads it; else it is a table."""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace

import polars as pl

from recassay.core import columns as c
from recassay.core.errors import UsageError
from recassay.core.names import canonical, did_you_mean
from recassay.core.registry import importers
from recassay.core.system.printable import one_line
from recassay.core.tables.sources import Source
from recassay.data.importers.contract import KIND_WORDS, RESULTS, Imported, Importer, Kind
from recassay.data.importers.opened import OpenedFile
from recassay.data.importers.table import NAMES, read_tables
from recassay.data.tables.join import Part
from recassay.data.tables.roles import Asked

_NOTHING_ASKED = Asked()


@dataclass(frozen=True, slots=True)
class Detected:
    """What a file is: the importer that knows it (None for a plain table), and what it holds."""

    importer: Importer | None
    kind: Kind


def detect(file: OpenedFile, format: str | None = None, asked: Asked = _NOTHING_ASKED) -> Detected:
    """The importer of a file, by its content; `format` names one instead, or `table` for a plain table.

    Where the user said how a table is to be read, it is one. Where several importers know a file, those that find
    results in it come first. Two that do so is a mistake of ours or of a plugin, and the user is asked.
    """
    if format is not None:
        if canonical(format) in map(canonical, NAMES):
            return Detected(None, "results")
        if format not in importers:
            raise UsageError(f"unknown format {format!r}", fix=did_you_mean(format, [*importers.names(), *NAMES]))
        named: Importer = importers.get(format)
        return Detected(named, named.recognise(file) or "results")
    if asked.rows is not None or asked.columns:
        return Detected(None, "results")
    known = [Detected(importer, kind) for _, importer in importers if (kind := importer.recognise(file)) is not None]
    held = [detected for detected in known if detected.kind in RESULTS]
    if len(held) > 1:
        names = [detected.importer.name for detected in held if detected.importer]
        raise file.refused(f"may be of {' or '.join(names)}", fix=f"say which with `format={names[0]!r}`")
    return (held or known or [Detected(None, "results")])[0]


def refuse_other(file: OpenedFile, detected: Detected) -> None:
    """A file that a framework wrote and that holds no results is refused with what it is and who reads it."""
    if detected.kind in RESULTS or detected.importer is None:
        return
    reader = {"lists": "`recassay.evaluate` judges lists", "judgements": "`recassay.evaluate` takes them as test data"}
    what = f"holds {KIND_WORDS[detected.kind]} of {detected.importer.title}, not results"
    raise file.refused(what, fix=reader.get(detected.kind, "give the file of results beside it"))


def part_of(file: OpenedFile, detected: Detected, asked: Asked) -> Part:
    """The long frame of a file by its importer, or as a table."""
    importer = detected.importer
    imported = _tables(file, asked) if importer is None else _imported(file, importer, asked)
    return made_part(imported, file.name, file.source)


def made_part(imported: Imported, where: str, source: Source | None) -> Part:
    """A part with the means over users, where its rows are of single ones."""
    users = imported.frame if c.USER in imported.frame.columns else None
    notes, guesses, words = imported.notes, imported.guesses, imported.words
    return Part(mean_over_users(imported.frame), notes, guesses, words, where=where, source=source, users=users)


def _tables(file: OpenedFile, asked: Asked) -> Imported:
    try:
        imported = read_tables(file, asked)
        _refuse_idle_dataset(imported.frame, asked, file.name)
        return imported
    except (pl.exceptions.PolarsError, csv.Error, UnicodeError) as error:
        what = f"cannot be read as a table ({one_line(str(error), 120)})"
        raise file.refused(what, fix="give columns of plain text and numbers") from error


def _refuse_idle_dataset(frame: pl.DataFrame, asked: Asked, where: str) -> None:
    """A table that names several datasets leaves nothing for `--dataset` to say; it chooses none of them."""
    named = frame.get_column(c.DATASET) if c.DATASET in frame.columns else None
    if asked.dataset is not None and named is not None and not named.null_count() and named.n_unique() > 1:
        raise UsageError(
            f"names {named.n_unique()} datasets itself, so `dataset` has no effect", where=where, fix="leave it out"
        )


def _imported(file: OpenedFile, importer: Importer, asked: Asked) -> Imported:
    """What an importer read, with the dataset filled in where the file does not say it."""
    try:
        imported = importer.read(file)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, StopIteration, RecursionError,
            csv.Error, pl.exceptions.PolarsError) as error:  # fmt: skip
        reason = f" ({type(error).__name__}: {one_line(str(error), 120)})" if str(error) else ""
        what = f"is not what {importer.title} writes{reason}"
        raise file.refused(what, fix="say `format='table'` to read it as a plain table, or name its format") from error
    frame = imported.frame
    _refuse_idle_dataset(frame, asked, file.name)
    named = frame.get_column(c.DATASET).n_unique() if c.DATASET in frame.columns else 0
    dataset = pl.lit(asked.dataset or file.dataset())
    if named > 1 or (named and asked.dataset is None):
        dataset = pl.col(c.DATASET).cast(pl.String).fill_null(dataset)
    return replace(imported, frame=frame.with_columns(dataset.alias(c.DATASET)))


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
