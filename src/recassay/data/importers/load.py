"""Results in, whatever they come as: tables of every usual shape, files of other frameworks, folders, frames."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl

from recassay.core import columns as c
from recassay.core.errors import InputError, UsageError, listing
from recassay.core.system.printable import one_line
from recassay.core.tables.sources import Source
from recassay.data.importers.contract import KIND_WORDS, RESULTS, Imported
from recassay.data.importers.detect import Detected, detect, refuse_other
from recassay.data.importers.folder import files_below
from recassay.data.importers.opened import OpenedFile
from recassay.data.importers.table import read_tables
from recassay.data.tables.join import Part
from recassay.data.tables.memory import table_from_memory
from recassay.data.tables.roles import Asked
from recassay.data.tables.shapes import long_form
from recassay.data.tables.users import mean_over_users


def read_parts(source: Any, asked: Asked, format: str | None = None) -> list[Part]:
    """The long frames of a path, a folder or a frame, each with its place.

    A file of a known framework is read by its importer, unless the user said how a table is to be read; everything else
    is a table (see `tables.shapes`). `format` forces an importer, or `table`.
    """
    if (asked.wide or asked.transpose) and asked.metric is None:
        raise UsageError("a wide table does not say which metric it holds", fix="name it, for example --metric ndcg@10")
    if not isinstance(source, (str, PathLike)):
        table = table_from_memory(source)
        frame, notes = long_form(table, asked, "the frame", "frame")
        return [_made(frame, "the frame", None, notes)]
    path = Path(source)
    if path.is_dir():
        return _folder(path, asked, format)
    file = OpenedFile(path, empty_fix="give at least two algorithms on two datasets")
    found = _detected(file, asked, format)
    refuse_other(file, found)
    return [_part(file, found, asked)]


def _detected(file: OpenedFile, asked: Asked, format: str | None) -> Detected:
    if format is None and (asked.wide or asked.transpose or asked.columns):
        return Detected(None, "results")
    return detect(file, format)


def _part(file: OpenedFile, found: Detected, asked: Asked) -> Part:
    imported = _tables(file, asked) if found.importer is None else _imported(file, found, asked)
    return _made(imported.frame, file.name, file.source, imported.notes)


def _made(frame: pl.DataFrame, where: str, source: Source | None, notes: Sequence[str]) -> Part:
    """A part with the means over users, where its rows are of single ones."""
    users = frame if c.USER in frame.columns else None
    return Part(mean_over_users(frame), where, source, tuple(notes), users)


def _tables(file: OpenedFile, asked: Asked) -> Imported:
    try:
        imported = read_tables(file, asked)
        _refuse_idle_dataset(imported.frame, asked, file.name)
        return imported
    except (pl.exceptions.PolarsError, csv.Error) as error:
        raise InputError(
            f"cannot be read as a table ({one_line(str(error), 120)})", where=file.name,
            fix="give columns of plain text and numbers",
        ) from error  # fmt: skip


def _refuse_idle_dataset(frame: pl.DataFrame, asked: Asked, where: str) -> None:
    """A table that names several datasets leaves nothing for `--dataset` to say; it chooses none of them."""
    told = frame.get_column(c.DATASET) if c.DATASET in frame.columns else None
    if asked.dataset is not None and told is not None and not told.null_count() and told.n_unique() > 1:
        raise UsageError(
            f"names {told.n_unique()} datasets itself, so --dataset has no effect", where=where, fix="leave it out"
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
            fix="say --from table to read it as a plain table, or name its format",
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
    return Imported(frame, imported.notes)


_REPEAT = re.compile(r"(?:^|[-_. ])(seed|fold|run|split)[-_= ]?(\d+)(?=$|[-_. ])", re.IGNORECASE)


def _repeated(part: Part, path: Path) -> Part:
    """A part with the seed or the fold that its path names (`ml-1m/seed_1/results.csv`), where no column does."""
    if {c.SEED, c.FOLD} & set(part.frame.columns):
        return part
    said = [found for name in (*path.parts[:-1], path.stem) for found in _REPEAT.findall(name)]
    if not said:
        return part
    kind, number = said[-1]
    column = pl.lit(number).alias(c.SEED if kind.lower() in ("seed", "run") else c.FOLD)
    return replace(part, frame=part.frame.with_columns(column))


def _folder(folder: Path, asked: Asked, format: str | None) -> list[Part]:
    """Every file with results below a folder; what is something else is counted, and told once."""
    parts: list[Part] = []
    users: list[Part] = []
    left: Counter[str] = Counter()
    unread: list[str] = []
    for path in files_below(folder):
        if path.stat().st_size == 0:
            left["empty files"] += 1
            continue
        try:
            file = OpenedFile(path)
            found = _detected(file, asked, format)
            if found.kind not in RESULTS:
                left[KIND_WORDS[found.kind]] += 1
                continue
            part = _repeated(_part(file, found, asked), path.relative_to(folder))
            (users if found.kind == "user results" else parts).append(part)
        except InputError as error:
            unread.append(f"{path.relative_to(folder)} ({error.what})")
    if not parts and not users:
        why = f"; {unread[0]}" if unread else ""
        raise InputError(f"there is no study in this folder, and no file with results{why}", where=str(folder),
                         fix="name the folder of a study, or files with results")  # fmt: skip
    told = [
        f"{count} files with {kind}" if kind != "empty files" else f"{count} empty files"
        for kind, count in left.items()
    ]
    if unread:
        told.append(f"{len(unread)} files that were not understood: {listing(unread, most=3)}")
    first, *rest = [*parts, *users]
    if told:
        note = f"left out of {folder}: {'; '.join(told)}"
        first = replace(first, notes=(*first.notes, note))
    return [first, *rest]
