"""The front door for lists: a file, a folder of files or a frame in, one table per algorithm out."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl

from recassay.core.errors import InputError, listing
from recassay.core.system.parquet import parquet_frame
from recassay.data.lists.nested import json_table, lz4_table
from recassay.data.lists.records import ReadLists
from recassay.data.lists.roles import SPLIT
from recassay.data.lists.shape import FINGERPRINT, lists_of
from recassay.data.lists.text import text_table
from recassay.data.tables.memory import frame_from_memory
from recassay.data.tables.read import read_bytes

SUFFIXES = (
    ".csv",
    ".tsv",
    ".tab",
    ".txt",
    ".dat",
    ".trec",
    ".run",
    ".json",
    ".jsonl",
    ".lz4",
    ".parquet",
    ".pq",
    ".inter",
)
"""What files of lists end in, each also with .gz (but Parquet and lz4)."""

SIDECAR = "split.json"
"""Beside lists, or with their name before it: what `recassay split` wrote of the split they were made for."""

_FOLDERS = ("recs", "recommendations", "lists", "runs")
_EMPTY = "give columns user, item and score or rank"
_TAG = "tag"
_DATED = re.compile(r"_\d{2}\.\d{2}\.\d{4}_\d{2}-\d{2}-\d{2}$")
"""WarpRec ends the names of its files in the time of the run."""
_SETTINGS = re.compile(r"_(?=[A-Za-z0-9]+=)")
"""Elliot writes the settings of a model behind its name: `ItemKNN_nn=20_sim=cosine`."""


def read_lists(source: Any, *, name: str | None = None) -> list[ReadLists]:
    """The lists in `source`, one `ReadLists` for each algorithm that it names.

    A file is known by its content: a table with the usual column names (with or without a header), a TREC run, JSON
    (ranx, pandas), ranx's LZ4, or Parquet, flat or nested as LensKit writes it. A folder gives the lists of all such
    files in it. Where no column (or run tag) names the algorithm, it is `name`, or the stem of the file.
    """
    if not isinstance(source, str | Path):
        return lists_of(frame_from_memory(source), name or "lists", "the frame", "frame")
    path = Path(source)
    if path.is_dir():
        files = _files_of_lists(path)
        if not files:
            raise InputError("the folder holds no file of lists", where=str(path), fix=f"give {listing(SUFFIXES)}")
        return [lists for file in files for lists in _read_file(file, None)]
    return _read_file(path, name)


def _files_of_lists(folder: Path) -> list[Path]:
    """The files of lists in a folder; where it has none, those in its subfolder that is called after them."""
    for place in (folder, *(folder / name for name in _FOLDERS)):
        files = sorted(file for file in place.iterdir() if file.is_file()) if place.is_dir() else []
        files = [file for file in files if is_list_file(file.name) and not file.name.endswith(SIDECAR)]
        if files:
            return files
    return []


def is_list_file(name: str) -> bool:
    """Whether a file of that name may hold lists."""
    return name.lower().removesuffix(".gz").endswith(SUFFIXES)


def _read_file(path: Path, name: str | None) -> list[ReadLists]:
    data, origin = read_bytes(path, empty_fix=_EMPTY)
    where, stem = origin.file, name or _stem(path)
    notes: list[str] = []
    kind = Path(path.name.lower().removesuffix(".gz")).suffix
    if kind in (".parquet", ".pq") or data.startswith(b"PAR1"):
        try:
            frame, form = parquet_frame(data), "Parquet"
        except (pl.exceptions.PolarsError, OSError) as error:
            raise InputError("is not a readable Parquet file", where=where, fix="write it again") from error
    elif kind == ".lz4":
        frame, form = lz4_table(data, where), "ranx"
    elif data.lstrip()[:1] in (b"{", b"["):
        frame, form = json_table(data, where), "JSON"
    else:
        frame, form, notes = text_table(data, where)
        tags = frame.get_column(_TAG).unique().to_list() if form == "TREC run" else []
        if len(tags) == 1:
            frame = frame.drop(_TAG)
            stem = name or (tags[0] if re.search(r"[A-Za-z]", tags[0]) else stem)
    found = lists_of(frame, stem, where, form)
    fingerprint, named_in = _sidecar(path)
    return [
        ReadLists(one.name, one.frame, where, form, one.split or fingerprint, one.named_in or named_in,
                  (*notes, *one.notes))
        for one in found
    ]  # fmt: skip


def _sidecar(path: Path) -> tuple[str | None, str | None]:
    """The fingerprint that lies beside the lists: `NAME.split.json`, or `split.json` in their folder."""
    for beside in (path.with_name(f"{path.name}.{SIDECAR}"), path.with_name(f"{_stem(path)}.{SIDECAR}"),
                   path.with_name(SIDECAR)):  # fmt: skip
        if not beside.is_file():
            continue
        try:
            if beside.stat().st_size > 1 << 24:
                raise ValueError("too large")
            named = json.loads(beside.read_text(encoding="utf-8"))["fingerprint"]
            if not re.match(FINGERPRINT, named):
                raise ValueError("no fingerprint")
        except (OSError, ValueError, KeyError, TypeError):
            raise InputError(
                "this file beside the lists does not name their split", where=str(beside),
                fix='write {"fingerprint": "..."} as recassay split does, or remove it',
            ) from None  # fmt: skip
        return str(named), str(beside)
    return None, None


def _stem(path: Path) -> str:
    name = path.name
    for suffix in (".gz", *SUFFIXES):
        name = name[: -len(suffix)] if name.lower().endswith(suffix) and len(name) > len(suffix) else name
    return _SETTINGS.split(_DATED.sub("", name), maxsplit=1)[0] or name


__all__ = ["SPLIT", "ReadLists", "is_list_file", "read_lists"]
