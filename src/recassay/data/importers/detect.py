"""Results from one file: every importer looks at it, and the one that knows it reads it; else it is a table."""

from __future__ import annotations

import csv
from dataclasses import replace

import polars as pl

from recassay.core import columns as c
from recassay.core.errors import UsageError
from recassay.core.names import canonical, did_you_mean
from recassay.core.registry import importers
from recassay.core.system.printable import one_line
from recassay.core.tables.sources import Source
from recassay.data.importers.contract import RESULTS, Imported, Importer, Kind
from recassay.data.importers.opened import OpenedFile
from recassay.data.importers.table import NAMES, read_tables
from recassay.data.tables.form import Asked
from recassay.data.tables.join import Part

_NOTHING_ASKED = Asked()
_NO_TABLE = (pl.exceptions.PolarsError, csv.Error, UnicodeError)
_NOT_AS_WRITTEN = (
    LookupError, TypeError, ValueError, AttributeError, ArithmeticError, StopIteration, RecursionError,
    csv.Error, pl.exceptions.PolarsError,
)  # fmt: skip
"""What an importer raises for a file that looks like one of its framework and is not."""


def detect(file: OpenedFile, format: str | None = None, asked: Asked = _NOTHING_ASKED) -> tuple[Importer | None, Kind]:
    """The importer of a file by its content (None for a plain table), and what the file holds.

    `format` names an importer instead, or `table`. Where the user said how a table is to be read, it is one. Where
    several importers know a file, those that find results in it come first. Two that do so is a mistake of ours or of a
    plugin, and the user is asked.
    """
    if format is not None:
        if canonical(format) in map(canonical, NAMES):
            return None, "results"
        if format not in importers:
            raise UsageError(f"unknown format {format!r}", fix=did_you_mean(format, [*importers.names(), *NAMES]))
        named: Importer = importers.get(format)
        return named, named.recognise(file) or "results"
    if asked.rows is not None or asked.columns:
        return None, "results"
    known = [(importer, kind) for _, importer in importers if (kind := importer.recognise(file)) is not None]
    held = [(importer, kind) for importer, kind in known if kind in RESULTS]
    if len(held) > 1:
        names = [importer.name for importer, _ in held]
        raise file.refused(f"may be of {' or '.join(names)}", fix=f"say which with `format={names[0]!r}`")
    return (held or known or [(None, "results")])[0]


def part_of(file: OpenedFile, importer: Importer | None, asked: Asked) -> Part:
    """What a file holds by its importer, with the dataset filled in where it does not say it; or by `read_tables`."""
    foreseen = _NO_TABLE if importer is None else _NOT_AS_WRITTEN
    try:
        imported = read_tables(file, asked) if importer is None else importer.read(file)
    except foreseen as error:
        if importer is None:
            what, fix = "cannot be read as a table", "give columns of plain text and numbers"
            raise file.refused(f"{what} ({one_line(str(error), 120)})", fix=fix) from error
        reason = f" ({type(error).__name__}: {one_line(str(error), 120)})" if str(error) else ""
        what = f"is not what {importer.title} writes{reason}"
        raise file.refused(what, fix="say `format='table'` to read it as a plain table, or name its format") from error
    frame = imported.frame
    named = frame.get_column(c.DATASET) if c.DATASET in frame.columns else pl.Series([None])
    if asked.dataset is not None and not named.null_count() and named.n_unique() > 1:
        # A file that names several datasets leaves nothing for `dataset` to say; it chooses none of them.
        what = f"names {named.n_unique()} datasets itself, so `dataset` has no effect"
        raise UsageError(what, where=file.name, fix="leave it out")
    if importer is None:
        return made_part(imported, file.name, file.source, asked.dataset)
    if asked.dataset is not None and named.n_unique() < 2:
        imported = replace(imported, frame=frame.drop(c.DATASET, strict=False))
    return made_part(imported, file.name, file.source, asked.dataset or file.dataset())


def made_part(imported: Imported, where: str, source: Source | None, dataset: str | None = None) -> Part:
    """A part with one row per cell: where rows are of single users the mean, the deviation and the number of these.

    `dataset` is that of rows which name none.

    The deviation over the square root of the number of users is the standard error of the mean, which is how the
    deviation and the runs of a row are used everywhere. Rows without a user are means already and stay as they are.
    """
    frame, users = imported.frame, None
    if dataset is not None:
        named = pl.col(c.DATASET).cast(pl.String) if c.DATASET in frame.columns else pl.lit(None, dtype=pl.String)
        frame = frame.with_columns(named.fill_null(dataset).alias(c.DATASET))
    if c.USER in frame.columns:
        users = frame
        keys = [name for name in frame.columns if name not in (c.USER, c.VALUE, c.DEVIATION, c.RUNS)]
        value = pl.col(c.VALUE).drop_nans()
        means = users.drop_nulls(c.USER).group_by(keys, maintain_order=True).agg(
            value.mean().alias(c.VALUE), value.std().alias(c.DEVIATION), value.count().cast(pl.Int64).alias(c.RUNS)
        )  # fmt: skip
        rest = users.filter(pl.col(c.USER).is_null()).drop(c.USER)
        frame = pl.concat([means, rest], how="diagonal_relaxed") if rest.height else means
    notes, guesses, words = imported.notes, imported.guesses, imported.words
    return Part(frame, notes, guesses, words, where=where, source=source, users=users)
