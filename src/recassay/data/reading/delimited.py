"""Tables in text: CSV, TSV and their kin, MovieLens `::` and tab files, and RecBole `.inter` atomic files."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl

from recassay.core.errors import InputError, UsageError
from recassay.core.specs.specs import ReadSpec
from recassay.core.words import listing
from recassay.data.reading.layout import RecordsFile, is_quoted
from recassay.data.reading.records import RawTable, brief
from recassay.data.reading.roles import assign_roles, refuse_repeated_names
from recassay.data.reading.sniffing import ONE_COLUMN, Head, has_header, positional_roles, sniff_delimiter
from recassay.data.reading.textfile import line_blocks

_UNIT_SEPARATOR = "\x1f"
_INTER_TYPES = ("token", "token_seq", "float", "float_seq")


def read_delimited(text: Path, head: Head, spec: ReadSpec, kind: str, scratch: Path) -> RawTable:
    """A table in text as a lazy frame of text columns named by role.

    Lines with another number of fields than the header (or, without one, than most lines) are counted as
    lost. In an `.inter` file every name of the header carries a type after a colon.
    """
    if spec.delimiter == "" or (spec.delimiter and "\n" in spec.delimiter):
        raise UsageError(f"{spec.delimiter!r} is not a delimiter", fix="give one character, or '::'")
    delimiter = spec.delimiter or ("\t" if kind == "inter" and "\t" in head.lines[0] else sniff_delimiter(head))
    rows = head.rows(delimiter)
    blank_after = all(cell.startswith(" ") for row in rows for cell in row[1:])  # `1, 2, 3` on every line
    if spec.delimiter is None and len(delimiter) == 1 and blank_after:
        delimiter += " "
        rows = head.rows(delimiter)
    header = kind == "inter" or spec.header
    if header is None:
        header = has_header(rows, spec.columns)
    names, roles, notes = _named(rows, header, spec, kind, head.where)
    if len(names) < 2:
        raise head.refused(ONE_COLUMN)

    path, separator = text, delimiter
    if len(delimiter.encode()) > 1 or delimiter == " ":
        path, separator = scratch / "separated", _UNIT_SEPARATOR
        with path.open("wb") as out:
            out.writelines(map(_with_separator(delimiter), line_blocks(text, head.where)))
    quoted = kind != "inter" and is_quoted(path, separator, head.where)
    file = RecordsFile(path, separator, quoted, len(names), head.where)
    total, kept, ragged, shown = file.survey()
    clean = file.write_kept(scratch / "rectangular") if kept < total else path
    data_rows = kept - int(header)
    if data_rows + ragged <= 0:
        raise head.refused("there is a header and no row", fix="give a file with interactions")
    columns = [f"column_{place}" for place in range(len(names))]
    frame = pl.LazyFrame(schema={column: pl.String for column in columns})
    if data_rows > 0:
        frame = pl.scan_csv(
            clean,
            has_header=False,
            skip_rows=int(header),
            separator=separator,
            quote_char='"' if quoted else None,
            schema={column: pl.String for column in columns},
            glob=False,
        )

    return RawTable(
        frame=frame.select(pl.col(columns[place]).alias(role) for role, place in roles.items()),
        source=head.where,
        format=kind,
        columns={role: names[place] for role, place in roles.items()},
        text=True,
        lines_of=lambda rows: file.lines_of([row + int(header) for row in rows]),
        lost=ragged,
        lost_rows=shown,
        warnings=tuple(notes),
    )


def _named(
    rows: Sequence[Sequence[str]], header: bool, spec: ReadSpec, kind: str, where: str
) -> tuple[list[str], dict[str, int], list[str]]:
    """The names of the columns, their roles, and what was assumed."""
    if header:
        names = [name.strip() for name in rows[0]]
        if kind == "inter":  # RecBole: `user_id:token`
            bare = [name for name in names if name.rpartition(":")[2] not in _INTER_TYPES or ":" not in name]
            if bare:
                what = f"the .inter header gives no type for {listing(map(brief, bare))}"
                raise InputError(what, where=where, fix="write name:type with token or float, or say format='csv'")
            names = [name.rpartition(":")[0] for name in names]
        refuse_repeated_names(names, where)
        return names, assign_roles(names, spec.columns, where), []
    lengths = [len(row) for row in rows]
    fields = max(set(lengths), key=lambda length: (lengths.count(length), length))
    names = [str(place) for place in range(fields)]
    asked = {role for role in spec.columns if isinstance(spec.columns[role], int)}
    if {"user", "item"} <= asked:
        return names, assign_roles(names, spec.columns, where, by_position={}), []
    by_position = positional_roles(rows, fields, where) if fields > 1 else {}
    roles = assign_roles(names, spec.columns, where, by_position=by_position)
    places = ", ".join(f"{place} {role}" for role, place in roles.items())
    return names, roles, [f"no header: columns taken by position ({places})"]


def _with_separator(delimiter: str) -> Callable[[bytes], bytes]:
    """A change of lines that puts one byte in place of the delimiter; runs of blanks count as one."""
    if delimiter != " ":
        old = delimiter.encode()
        return lambda block: block.replace(old, _UNIT_SEPARATOR.encode())
    edges, runs = re.compile(rb"^ +| +(?=\r?$)", re.MULTILINE), re.compile(rb" +")
    return lambda block: runs.sub(_UNIT_SEPARATOR.encode(), edges.sub(b"", block))
