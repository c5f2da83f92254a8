"""Small tables from files: text with any usual delimiter, or Parquet. Every value of a text file is read as text."""

from __future__ import annotations

import codecs
import csv
import hashlib
import io
import re
import zlib
from collections import Counter
from contextlib import suppress
from pathlib import Path

import polars as pl

from recassay.core.errors import InputError
from recassay.core.system.files import refuse_special
from recassay.core.system.lines import lines_of
from recassay.core.system.parquet import parquet_frame, parquet_shape
from recassay.core.tables.sources import Source
from recassay.core.words import listing
from recassay.data.packed import most_unpacked, refuse_costly, table_cost, text_cost

MAX_BYTES = 4 << 30
"""A table that is read whole; a larger file is some other file."""

MOST_COLUMNS = 100_000
"""Columns of a text that is read as a table: each costs a kilobyte, however short it is."""

MOST_PROPERTIES, MOST_DATASETS = 1_000, 100_000
"""Columns and rows of a table with one row per dataset."""

SPARE_CELLS = 1_000_000
"""Cells that short lines may lack: where every line is full, a text has at least as many characters as cells."""


def read_table(path: Path, *, empty_fix: str) -> tuple[pl.DataFrame, Source]:
    """A table and the hash of its bytes; each defect of the file has its own line. A `.gz` is unpacked."""
    data, origin = read_bytes(path, empty_fix=empty_fix)
    packed = Path(path.name.lower().removesuffix(".gz")).suffix in {".parquet", ".pq"}
    frame = read_frame(data, origin.file, parquet=packed, empty_fix=empty_fix)
    for name, kind in frame.schema.items():
        if kind.is_nested() or kind in (pl.Binary, pl.Object):
            what = f"column {name!r} holds {str(kind).lower()[:40]}, not text or numbers"
            raise InputError(what, where=origin.file, fix="leave it out, or write it as plain values")
    return frame, origin


def read_frame(data: bytes, name: str, *, parquet: bool | None = None, empty_fix: str = "give a table") -> pl.DataFrame:
    """The table that the bytes are: Parquet (by its first bytes, unless it is said), else delimited text."""
    if parquet or (parquet is None and data[:4] == b"PAR1"):
        try:
            rows, columns = parquet_shape(data)
            refuse_costly(table_cost(rows, rows * columns), 8 * rows * columns, len(data), name)
            return parquet_frame(data)
        except (pl.exceptions.PolarsError, OSError) as error:
            raise InputError("is not a readable Parquet file", where=name, fix="write it again") from error
    return _read_text(data, name, empty_fix)


def read_bytes(path: Path, *, empty_fix: str) -> tuple[bytes, Source]:
    """The content of a file, unpacked where it ends in `.gz`, and the hash of its bytes."""
    name = str(path)
    refuse_special(path)
    if not path.exists():
        raise InputError("no such file", where=name, fix="check the path")
    if not path.is_file():
        raise InputError("is a folder, not a table", where=name, fix="give a CSV, TSV or Parquet file")
    if path.stat().st_size > MAX_BYTES:
        raise InputError(f"has {path.stat().st_size:,} bytes", where=name, fix="give a table below 4 GiB")
    data = path.read_bytes()
    if not data:
        raise InputError("the file is empty", where=name, fix=empty_fix)
    origin = Source(name, hashlib.sha256(data).hexdigest())
    if path.suffix.lower() == ".gz":
        data = _unpacked(data, name)
    if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):  # text as spreadsheets save it; else left as it is
        with suppress(UnicodeDecodeError):
            data = data.decode("utf-16").encode()
    return data, origin


def _unpacked(data: bytes, name: str) -> bytes:
    """The content of all members, one after the other, as `gzip` reads them; zeros may pad the end, nothing else."""
    limit = min(most_unpacked(len(data)), MAX_BYTES)
    members, room, rest = [], limit + 1, data
    while rest:
        unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        try:
            members.append(unpacker.decompress(rest, room))
        except zlib.error as error:
            place = f"member {len(members) + 1}: " if members else ""
            raise InputError(f"is not a readable gzip file ({place}{error})", where=name, fix="pack it again") from None
        room -= len(members[-1])
        if unpacker.unconsumed_tail or room <= 0:
            what = f"{len(data):,} packed bytes hold more than {limit:,}"
            raise InputError(what, where=name, fix="if you trust it, save it as plain text")
        if not unpacker.eof:
            raise InputError("is not a whole gzip file", where=name, fix="pack it again")
        rest = unpacker.unused_data.lstrip(b"\0")
    content = b"".join(members)
    if content[:4] != b"PAR1":
        refuse_costly(text_cost(content), len(content), len(data), name)
    return content


def text_of(data: bytes, name: str) -> str:
    """UTF-8 text without NUL, or `InputError` with the place of the first byte that is not."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"is not UTF-8 text (byte {error.start})", where=name, fix="save it as UTF-8, or as Parquet"
        ) from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise InputError(f"line {line} holds a NUL character", where=name, fix="it is not text, or it is damaged")
    return text


def _read_text(data: bytes, name: str, empty_fix: str) -> pl.DataFrame:
    text = text_of(data, name)
    ended = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")
    first = re.search(r"\S", ended)
    header = "" if first is None else ended[ended.rfind("\n", 0, first.start()) + 1 :].partition("\n")[0]
    if not header:
        raise InputError("the file is empty", where=name, fix=empty_fix)
    delimiter = max("\t,;|", key=header.count)
    try:
        names = next(csv.reader([header], delimiter=delimiter))
    except csv.Error as error:
        raise InputError(f"its header is not a row of names ({error})", where=name, fix="check its rows") from None
    if len(names) > MOST_COLUMNS:
        what = f"has {len(names):,} columns, and {MOST_COLUMNS:,} is the limit"
        raise InputError(what, where=name, fix="give fewer columns, or one row per value")
    repeated = sorted(column for column, times in Counter(names).items() if times > 1)
    if repeated:
        what = f"column {listing(map(repr, repeated))} appears twice in the header"
        raise InputError(what, where=name, fix="rename one of them")
    if header.count(delimiter) == len(names) - 1 and _names_rows(ended, header, delimiter, len(names)):
        ended = ended.replace(header, delimiter + header, 1)  # as R writes a table whose rows have names
        names = ["", *names]
    _refuse_short_lines(ended, len(names), name)
    try:
        frame = pl.read_csv(
            io.BytesIO(ended.encode()),
            separator=delimiter,
            infer_schema=False,
            raise_if_empty=False,
        )
    except pl.exceptions.PolarsError as error:
        raise _odd_row(text, delimiter, str(error).splitlines()[0], name) from error
    # A mark that stands doubled between quotes is one; polars leaves it doubled in a header.
    return frame.rename({column: column.replace('""', '"') for column in frame.columns if '""' in column})


def dataset_names(frame: pl.DataFrame, column: str, where: str) -> list[str]:
    """The names in a table with one row per dataset and one column per property; each must be there once."""
    if frame.width > MOST_PROPERTIES:
        what = f"has {frame.width:,} columns, and {MOST_PROPERTIES:,} is the limit"
        raise InputError(what, where=where, fix="give one row per dataset, and fewer properties")
    if frame.height > MOST_DATASETS:
        what = f"has {frame.height:,} rows, and {MOST_DATASETS:,} is the limit"
        raise InputError(what, where=where, fix="give one row per dataset")
    names = frame.get_column(column).cast(pl.String).fill_null("").str.strip_chars().to_list()
    known: set[str] = set()
    for row, name in enumerate(names):
        if not name:
            raise InputError(f"data row {row + 1} names no dataset", where=where, fix="fill it in")
        if name in known:
            raise InputError(f"the dataset {name!r} appears twice", where=where, fix="keep one row per dataset")
        known.add(name)
    return names


def _names_rows(text: str, header: str, delimiter: str, columns: int) -> bool:
    """Whether every line below the header has one field more than it, the first of which is a name."""
    lines, rows = re.compile(r"[^\n]+").finditer(text, text.index(header) + len(header)), 0
    try:
        for row in csv.reader((line[0] for line in lines), delimiter=delimiter):
            rows += bool(row)
            if row and (len(row) != columns + 1 or not any(map(str.isalpha, row[0]))):
                return False
    except csv.Error:
        return False
    return rows > 0


def _refuse_short_lines(text: str, columns: int, name: str) -> None:
    """Refuse a text whose table would be far larger than itself: every field that a line lacks is a cell."""
    most = len(text) + SPARE_CELLS
    if (text.count("\n") + 1) * columns <= most:
        return
    lines = 1 + sum(part.count("\n") for part in text.split('"')[::2])  # not those inside quotes
    if lines * columns > most:
        what = f"has {lines:,} lines for {columns:,} columns, and most of them are blank or cut short"
        raise InputError(what, where=name, fix="remove blank lines, and give every line all of its fields")


def _odd_row(text: str, delimiter: str, reason: str, name: str) -> InputError:
    """The first line and field that keep a text from being a table."""
    lines = list(lines_of(text))
    reader = csv.reader(lines, delimiter=delimiter)
    fields = before = begin = 0
    try:
        for row in reader:
            begin, before = before, reader.line_num
            fields = fields or len(row)
            if row and len(row) > fields:
                what = f"line {reader.line_num} has {len(row)} fields, and the header has {fields}"
                fix = f"remove field {fields + 1} ({row[fields]!r}), or put a value that has a {delimiter!r} in quotes"
                return InputError(what, where=name, fix=fix)
        if '"' in lines[begin]:  # the last row takes all that follows its quote
            field = len(next(csv.reader([lines[begin]], delimiter=delimiter)))
            what = f"line {begin + 1}, field {field}: the quote that opens there is never closed"
            return InputError(what, where=name, fix="close it, or leave it out")
    except csv.Error as error:
        reason = f"line {reader.line_num}: {error}"
    return InputError(f"cannot be read as a table: {reason}", where=name, fix="check its rows")
