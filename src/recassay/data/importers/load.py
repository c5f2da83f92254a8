"""Results in, whatever they come as: a file, a frame, or a folder of files."""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl

from recassay.core import columns as c
from recassay.core.errors import InputError, UsageError
from recassay.core.tables.results import Results
from recassay.core.words import listing
from recassay.data.importers.contract import KIND_WORDS, RESULTS
from recassay.data.importers.detect import detect, made_part, part_of
from recassay.data.importers.opened import OpenedFile
from recassay.data.importers.table import ENDINGS
from recassay.data.tables.form import Asked
from recassay.data.tables.join import Part
from recassay.data.tables.memory import table_from_memory
from recassay.data.tables.shapes import long_form

MOST_FILES = 20_000
_SKIPPED = {"__pycache__", "node_modules", ".git", ".ipynb_checkpoints", "saved", "wandb", "log_tensorboard"}
_REPEAT = re.compile(r"(?:^|[-_. ])(seed|fold|run|split)[-_= ]?(\d+)(?=$|[-_. ])", re.IGNORECASE)


def read_parts(source: Any, asked: Asked, format: str | None = None) -> list[Part]:
    """The long frames of a path, a folder or a frame, each with its place.

    A file of a known framework is read by its importer, unless the user said how a table is to be read; everything else
    is a table (see `tables.shapes`). `format` forces an importer, or `table`.
    """
    if asked.wide and asked.transpose:
        raise UsageError("`wide` and `transpose` exclude each other", fix="keep one")
    if asked.table is not None and not isinstance(source, (str, PathLike)):
        raise UsageError("a frame is one table, so `table` has no effect", fix="leave it out")
    if not isinstance(source, (str, PathLike)):
        imported = long_form(table_from_memory(source), asked, "the frame", "frame")
        return [made_part(imported, "the frame", None, asked.dataset)]
    path = Path(source)
    if asked.table is not None:
        from recassay.data.papers.frame import table_of_paper

        return [table_of_paper(path, asked)]
    if path.is_dir():
        return _folder(path, asked, format)
    file = OpenedFile(path, empty_fix="give at least two algorithms on two datasets")
    importer, kind = detect(file, format, asked)
    if importer is not None and kind not in RESULTS:
        reader = {
            "lists": "`recassay.evaluate` judges lists",
            "judgements": "`recassay.evaluate` takes them as test data",
        }
        what = f"holds {KIND_WORDS[kind]} of {importer.title}, not results"
        raise file.refused(what, fix=reader.get(kind, "give the file of results beside it"))
    return [part_of(file, importer, asked)]


def _files_below(folder: Path) -> list[Path]:
    """Every file below the folder with an ending that results have, sorted; hidden ones and caches are passed over."""
    files: list[Path] = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED)
        for name in sorted(names):
            ending = Path(name.lower().removesuffix(".gz")).suffix
            if ending in ENDINGS and not name.startswith((".", "~$")):
                files.append(Path(place) / name)
        if len(files) > MOST_FILES:
            raise InputError(
                f"holds more than {MOST_FILES:,} files", where=str(folder), fix="name the folder of results"
            )
    return files


def _repeated(part: Part, path: Path) -> Part:
    """A part with the seed or the fold that its path names (`ml-1m/seed_1/results.csv`), where no column does."""
    if {c.SEED, c.FOLD} & set(part.frame.columns):
        return part
    repeats = [repeat for name in (*path.parts[:-1], path.stem) for repeat in _REPEAT.findall(name)]
    if not repeats:
        return part
    kind, number = repeats[-1]
    column = pl.lit(number).alias(c.SEED if kind.lower() in ("seed", "run") else c.FOLD)
    return replace(part, frame=part.frame.with_columns(column))


def _repeats_cells(part: Part) -> bool:
    """Whether cells stand in a part several times and nothing tells them apart, as the trials of a search do."""
    key = [name for name in (*c.RESULT_KEY, c.SEED, c.FOLD) if name in part.frame.columns]
    return bool(part.frame.select(pl.struct(key).is_duplicated().any()).item())


def _judged_run(run: Path, judgements: list[Path]) -> Part:
    """A run of TREC, judged by the qrels of its folder, else of the nearest folder above it."""
    from recassay.data.importers.trec import judged_run

    for place in run.parents:
        qrels = [path for path in judgements if path.parent == place]
        if len(qrels) > 1:
            qrels = [path for path in qrels if path.stem.lower().removesuffix(".qrels") in run.name.lower()] or qrels
        if len(qrels) == 1:
            file = OpenedFile(run)
            return made_part(judged_run(file, OpenedFile(qrels[0]), file.folder()), file.name, file.source)
        if qrels:
            names = listing(path.name for path in qrels)
            raise InputError(
                f"several files may judge it: {names}", where=str(run), fix="keep one qrels file per folder"
            )
    raise InputError("no qrels stand in its folder or above", where=str(run), fix="put the qrels beside the runs")


def _folder(folder: Path, asked: Asked, format: str | None) -> list[Part]:
    """Every file with results below a folder; what is something else is counted, and named in one note."""
    parts: list[Part] = []
    users: list[Part] = []
    left: Counter[str] = Counter()
    unread: list[str] = []
    vain: UsageError | None = None
    trec: dict[str, list[Path]] = {"lists": [], "judgements": []}
    for path in _files_below(folder):
        if path.stat().st_size == 0:
            left["empty files"] += 1
            continue
        try:
            file = OpenedFile(path)
            importer, kind = detect(file, format, asked)
            if kind not in RESULTS:
                left[f"files with {KIND_WORDS[kind]}"] += 1
                if importer is not None and importer.name == "trec":
                    trec[kind].append(path)
                continue
            part = _repeated(part_of(file, importer, asked), path.relative_to(folder))
            if not _repeats_cells(part):  # one that is refused must not spoil the folder
                Results.from_frame(part.frame, where=part.where)
            (users if kind == "user results" else parts).append(part)
        except (InputError, UsageError) as error:
            vain = vain or (error if isinstance(error, UsageError) else None)
            unread.append(f"{path.relative_to(folder)} ({error.what})")
    if not parts and not users and all(trec.values()):
        users = [_judged_run(run, trec["judgements"]) for run in trec["lists"]]
        for judged in trec:
            left.pop(f"files with {KIND_WORDS[judged]}", None)
    if not parts and not users:
        if vain is not None:
            raise vain
        why = f"; {unread[0]}" if unread else ""
        raise InputError(f"there is no study in this folder, and no file with results{why}", where=str(folder),
                         fix="name the folder of a study, or files with results")  # fmt: skip
    whole = [part for part in parts if not _repeats_cells(part)]
    if whole and len(whole) < len(parts):  # a search beside its results
        left["files with several values per cell (trials of a search?)"] += len(parts) - len(whole)
        parts = whole
    reasons = [f"{count} {kind.replace('files', 'file', 1) if count == 1 else kind}" for kind, count in left.items()]
    if unread:
        files = "1 file that was" if len(unread) == 1 else f"{len(unread)} files that were"
        reasons.append(f"{files} not understood: {listing(unread, most=3)}")
    first, *rest = [*parts, *users]
    if reasons:
        note = f"left out of {folder}: {'; '.join(reasons)}"
        first = replace(first, notes=(*first.notes, note))
    return [first, *rest]
