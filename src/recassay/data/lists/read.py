"""The front door for lists: a file, a folder of files or a frame in, one table per algorithm out.

Columns are found by role, nested lists unfolded, and the table is split by algorithm.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from recassay.core import columns as c
from recassay.core.errors import InputError
from recassay.core.words import listing
from recassay.data.lists.nested import json_table, lz4_table
from recassay.data.lists.roles import LISTS, SPLIT, list_roles
from recassay.data.lists.text import text_table
from recassay.data.tables.memory import frame_from_memory
from recassay.data.tables.read import read_bytes, read_frame

_ENDINGS = ".csv .tsv .tab .txt .dat .trec .run .json .jsonl .lz4 .parquet .pq .inter"
SUFFIXES = tuple(_ENDINGS.split())
"""What files of lists end in, each also with .gz (but Parquet and lz4)."""

SIDECAR, MOST_BYTES_BESIDE = "split.json", 1 << 24
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
    files in it, or in its subfolder that is called after lists. Where no column (or run tag) names the algorithm, it is
    `name`, or the stem of the file.
    """
    if not isinstance(source, str | Path):
        return lists_of(frame_from_memory(source), name or "lists", "the frame", "frame")
    path = Path(source)
    if path.is_dir():
        for folder in (path, *(path / name for name in _FOLDERS)):
            files = sorted(file for file in folder.iterdir() if file.is_file()) if folder.is_dir() else []
            files = [file for file in files if is_list_file(file.name) and not file.name.endswith(SIDECAR)]
            if files:
                return [lists for file in files for lists in _read_file(file, None)]
        raise InputError("the folder holds no file of lists", where=str(path), fix=f"give {listing(SUFFIXES)}")
    return _read_file(path, name)


def is_list_file(name: str) -> bool:
    """Whether a file of that name may hold lists."""
    return name.lower().removesuffix(".gz").endswith(SUFFIXES)


def _read_file(path: Path, name: str | None) -> list[ReadLists]:
    data, origin = read_bytes(path, empty_fix=_EMPTY)
    where, stem = origin.file, name or _stem(path)
    notes: list[str] = []
    kind = Path(path.name.lower().removesuffix(".gz")).suffix
    if kind in (".parquet", ".pq") or data.startswith(b"PAR1"):
        frame, form = read_frame(data, where, parquet=True), "Parquet"
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
    tables = lists_of(frame, stem, where, form)
    fingerprint, named_in = _sidecar(path)
    return [
        replace(lists, split=lists.split or fingerprint, named_in=lists.named_in or named_in,
                notes=(*notes, *lists.notes))
        for lists in tables
    ]  # fmt: skip


def _sidecar(path: Path) -> tuple[str | None, str | None]:
    """The fingerprint that lies beside the lists: `NAME.split.json`, or `split.json` in their folder."""
    places = [path.with_name(name) for name in (f"{path.name}.{SIDECAR}", f"{_stem(path)}.{SIDECAR}", SIDECAR)]
    beside = next((place for place in places if place.is_file()), None)
    if beside is None:
        return None, None
    try:
        small = beside.stat().st_size <= MOST_BYTES_BESIDE
        named = re.match(FINGERPRINT, json.loads(beside.read_text(encoding="utf-8"))["fingerprint"]) if small else None
    except (OSError, ValueError, KeyError, TypeError):
        named = None
    if named is None:
        what, fix = "does not name their split", 'write {"fingerprint": "..."} as recassay split does, or remove it'
        raise InputError(f"this file beside the lists {what}", where=str(beside), fix=fix)
    return named[0], str(beside)


def _stem(path: Path) -> str:
    name = path.name
    for suffix in (".gz", *SUFFIXES):
        name = name[: -len(suffix)] if name.lower().endswith(suffix) and len(name) > len(suffix) else name
    return _SETTINGS.split(_DATED.sub("", name), maxsplit=1)[0] or name


__all__ = ["SPLIT", "ReadLists", "is_list_file", "read_lists"]


FINGERPRINT = "^[0-9a-f]{12,64}$"
"""What names a split: the fingerprint, or its beginning."""


def lists_of(frame: pl.DataFrame, name: str, where: str, form: str) -> list[ReadLists]:
    """The lists of every algorithm in `frame`; `name` is that of the only one where no column names them."""
    roles = list_roles(frame.columns, where)
    notes: list[str] = []
    table = frame.select(pl.col(column).alias(role) for role, column in roles.items())
    if LISTS in roles:
        table = _unfolded(table, where)
    if c.RANK not in table.columns and c.SCORE not in table.columns:
        keys = [role for role in (c.USER, c.ALGORITHM) if role in table.columns]
        table = table.with_columns(pl.int_range(1, pl.len() + 1).over(keys).alias(c.RANK))
        notes.append("no column of ranks or scores: the order of the rows is the order of the list")
    table = table.with_columns(_number(table, role, where) for role in (c.RANK, c.SCORE) if role in table.columns)
    kept = [role for role in (c.USER, c.ITEM, c.RANK, c.SCORE) if role in table.columns]
    parts = {name: table}
    if c.ALGORITHM in table.columns:
        named = table.with_columns(pl.col(c.ALGORITHM).cast(pl.String).fill_null(name))
        parts = {str(key): part for (key,), part in named.group_by([c.ALGORITHM], maintain_order=True)}
    return [
        ReadLists(key, part.select(kept), where, form, *_split_of(part, where), notes=tuple(notes))
        for key, part in parts.items()
    ]


def _unfolded(table: pl.DataFrame, where: str) -> pl.DataFrame:
    """One row per recommended item: of lists of ids, of lists of structs (LensKit), or of text such as `[3, 1, 2]`.

    A column that is only called like one of lists, and holds a single id in each row, is one of items.
    """
    column = table.get_column(LISTS)
    if column.dtype == pl.String and column.str.strip_chars().str.contains(r"[\[\s,;|]").any():
        bare = pl.col(LISTS).str.replace_all(r"[\[\]\(\)'\"]", "").str.strip_chars()
        table = table.with_columns(bare.str.replace_all(r"[\s,;|]+", " ").str.split(" ").alias(LISTS))
        column = table.get_column(LISTS)
    if not isinstance(column.dtype, pl.List | pl.Array):
        return table.rename({LISTS: c.ITEM})
    inner = column.dtype.inner
    others = [name for name in table.columns if name != LISTS]
    if isinstance(inner, pl.Struct):
        flat = table.explode(LISTS).drop_nulls(LISTS)
        names = [field.name for field in inner.fields]
        within = list_roles([c.USER, *(name for name in names if name != c.USER)], where)
        fields = {role: within[role] for role in (c.ITEM, c.RANK, c.SCORE) if role in within}
        return flat.select(*others, *(pl.col(LISTS).struct.field(name).alias(role) for role, name in fields.items()))
    if c.SCORE in others and isinstance(table.schema[c.SCORE], pl.List | pl.Array):
        flat = table.explode(LISTS, c.SCORE)
    else:
        flat = table.with_columns(pl.int_ranges(1, pl.col(LISTS).list.len() + 1).alias(c.RANK)).explode(LISTS, c.RANK)
    return flat.rename({LISTS: c.ITEM}).drop_nulls(c.ITEM)


def _number(table: pl.DataFrame, role: str, where: str) -> pl.Series:
    column = table.get_column(role)
    numbers = column
    if column.dtype == pl.Object:  # values of several kinds, such as a number beyond 64 bits
        numbers = pl.Series(role, [None if value is None else str(value) for value in column], pl.String)
    if not column.dtype.is_numeric():
        numbers = numbers.cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)
    bad = ((numbers.is_null() & column.is_not_null()) | numbers.cast(pl.Float64).is_infinite()).arg_true()
    if role == c.RANK and not bad.len():
        bad = (numbers < 0).arg_true()
    if bad.len():
        row = int(bad[0])
        what = f"the {role} column holds {column[row]!r} in data row {row + 1}"
        raise InputError(what, where=where, fix="give it finite numbers" + (" from 1 on" if role == c.RANK else ""))
    return numbers.alias(role)


def _split_of(table: pl.DataFrame, where: str) -> tuple[str | None, str | None]:
    """The fingerprint that the table itself names, where it does."""
    if SPLIT not in table.columns:
        return None, None
    written = table.get_column(SPLIT).cast(pl.String).str.strip_chars().str.to_lowercase()
    named = written.filter(written.str.contains(FINGERPRINT)).unique().to_list()
    if len(named) > 1:
        raise InputError(f"names {len(named)} splits", where=where, fix="keep the lists of one split in one file")
    return (named[0], f"the column {SPLIT!r} of {where}") if named else (None, None)


@dataclass(frozen=True, slots=True, eq=False)
class ReadLists:
    """The lists of one algorithm: `frame` has the columns user, item, and rank, score or both.

    `split` is the fingerprint of the split that the lists were made for, where the file or a sidecar names it, and
    `named_in` where that stands. `notes` say what was assumed.
    """

    name: str
    frame: pl.DataFrame
    where: str
    """The file, for messages."""
    format: str
    """The format that it is in."""
    split: str | None = None
    named_in: str | None = None
    notes: tuple[str, ...] = ()
