"""Results tables of no framework: CSV, TSV, Parquet, Excel, LaTeX, Markdown, JSON, and what consoles print."""

from __future__ import annotations

import csv
import re
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from io import BytesIO
from itertools import islice

import polars as pl

from recassay.core import columns as c
from recassay.core.errors import InputError
from recassay.core.system.json_text import read_json
from recassay.core.system.lines import lines_of
from recassay.core.words import count_of
from recassay.data.importers.contract import Imported
from recassay.data.importers.literals import read_literal
from recassay.data.importers.opened import OpenedFile
from recassay.data.tables.form import Asked, Table
from recassay.data.tables.grid import is_number, is_title, refuse_wide, table_of
from recassay.data.tables.html import html_grids
from recassay.data.tables.labels import known_metric, metrics_in, spelled
from recassay.data.tables.latex import latex_grids
from recassay.data.tables.nested import table_from_json
from recassay.data.tables.read import read_frame
from recassay.data.tables.shapes import long_form
from recassay.data.tables.textual import barred_grids, dashed_grids, spaced_grid
from recassay.data.tables.words import role_word, words_of
from recassay.data.tables.workbook import workbook_grids

NAMES = ("table", "csv", "tsv", "parquet", "excel", "xlsx", "latex", "markdown", "json")
"""What `--from` takes for a plain table; the file itself says which of these it is."""

_ENDINGS = (
    "csv tsv txt parquet pq xlsx xlsm tex md json jsonl ndjson log db sqlite sqlite3 out "
    "dat result trec run runs qrels qrel eval res htm html arff"
)
ENDINGS = frozenset(f".{ending}" for ending in _ENDINGS.split())
"""Endings of files that may hold results, in a folder."""
_LATEX = re.compile(r"\\begin\{(?:tabular|longtable|tabu|NiceTabular|tblr|array|supertabular)")
_HTML = re.compile(r"<table[\s>]", re.IGNORECASE)
_TITLED = re.compile(r"^\W*(?:table|tab\.|tabelle|tableau)\s*\d", re.IGNORECASE)
_PAIR = re.compile(r"^\s*([^:=]+?)\s*[:=]\s*([-+]?[\d.][\d.,eE+-]*\s*%?)\s*$")
"""A line of a log that says a metric and its value."""
_FIX = "give at least two algorithms on two datasets"


def read_tables(file: OpenedFile, asked: Asked) -> Imported:
    """Every table of the file in the long form, below each other; a table that has no results gets a note."""
    tables = tables_of(file, asked)
    if not tables:
        fix = "give a table with a column of algorithms and one for each metric, or name its `format`"
        raise file.refused("holds no table of results", fix=fix)
    read: list[Imported] = []
    failures: list[InputError] = []
    for table in tables:
        try:
            read.append(long_form(table, asked, file.name, table.dataset or file.dataset(), file.stem, _folder(file)))
        except InputError as error:
            failures.append(error)
    if not read:
        raise failures[0]
    notes = [note for imported in read for note in imported.notes]
    if failures:
        verb = "was" if len(failures) == 1 else "were"
        notes.append(f"{count_of(len(failures), 'further table')} in it {verb} left out: {failures[0].what}")
    guesses = (guess for imported in read for guess in imported.guesses)
    return Imported(
        pl.concat([imported.frame for imported in read], how="diagonal_relaxed"),
        tuple(dict.fromkeys(notes)),
        tuple(dict.fromkeys(guesses)),
        words_of(cell for table in tables for levels in table.headers for cell in levels),
    )


def _folder(file: OpenedFile) -> str:
    return next(iter(file.parents()), "")


def tables_of(file: OpenedFile, asked: Asked) -> list[Table]:
    """The tables of a file, by what its content is."""
    if file.is_parquet:
        frame = read_frame(file.data, file.name, parquet=True)
        raw = [name for name, kind in frame.schema.items() if kind in (pl.Binary, pl.Object)]
        if raw:
            what = f"column {raw[0]!r} holds binary, not text or numbers"
            raise file.refused(what, fix="leave it out, or write it as plain values")
        return [replace(Table.of(frame), verbatim=True)]
    if file.data[:4] == b"PK\x03\x04" and zipfile.is_zipfile(BytesIO(file.data)):
        sheets = _drawn(table_of(grid, title) for title, grid in workbook_grids(file.data, file.name))
        # Of several sheets each is named after its dataset, unless the name says a metric.
        return [
            replace(sheet, dataset=sheet.title) if len(sheets) > 1 and not metrics_in(sheet.title) else sheet
            for sheet in sheets
        ]
    if file.suffix in {".xlsx", ".xlsm"}:
        raise file.refused("is not a readable .xlsx workbook", fix="save it again, or as CSV")
    text = file.text
    document = _document(file, text)
    if document is not None:
        return _drawn([table_from_json(document, file.stem, asked, file.name)])
    if _LATEX.search(text):
        return _drawn(table_of(grid, title, drawn=True) for grid, title in latex_grids(text, file.name))
    html = html_grids(text, file.name) if _HTML.search(text) else []
    for grids in (html, barred_grids(text), dashed_grids(text)):
        tables = _drawn(table_of(grid, drawn=grids is html) for grid in grids)
        if tables:
            return tables
    return [_delimited(file, text)]


def _drawn(tables: Iterable[Table | None]) -> list[Table]:
    return [table for table in tables if table is not None]


def _document(file: OpenedFile, text: str) -> object:
    """The JSON, the JSON lines, or the printed dictionary that a text is; None where it is something else."""
    if file.json is not None:
        return file.json
    start = text.lstrip()[:20]
    if start.startswith("{"):
        try:
            return [read_json(line, file.name) for line in lines_of(text) if line.strip()]
        except ValueError:
            pass
    return read_literal(text) if start.startswith(("{", "OrderedDict", "defaultdict", "[{")) else None


def _delimited(file: OpenedFile, text: str) -> Table:
    """A delimited text; a grid where its header is not one row of different names, or spaces part its columns."""
    lines = list(lines_of(text))
    above = _title_lines(lines)
    title = " ".join(line.strip() for line in lines[:above])
    table = _below(file, "\n".join(lines[above:]) if above else text)
    return replace(table, title=title) if title and not table.title else table


def _below(file: OpenedFile, text: str) -> Table:
    """The table of a delimited text below its title."""
    filled = islice((line for line in lines_of(text) if line.strip()), 2)
    first, second = next(filled, ""), next(filled, "")
    delimiter = max("\t,;|", key=first.count)
    if not first.count(delimiter):
        pairs = [_PAIR.match(line) for line in islice(lines_of(text), 1000) if line.strip()]
        named = [pair.groups() for pair in pairs if pair and known_metric(pair[1])]
        if named and len(named) == len(pairs):
            return Table.of(pl.DataFrame(named, schema=[c.METRIC, c.VALUE], orient="row"))
        spaced = spaced_grid(text)
        drawn = table_of(spaced, drawn=True) if spaced else None
        return drawn or Table.of(read_frame(text.encode(), file.name, empty_fix=_FIX))
    names = next(csv.reader([first], delimiter=delimiter), [])
    refuse_wide(len(names), file.name)
    below = next(csv.reader([second], delimiter=delimiter), [])[: len(names)]
    long = {c.METRIC, c.VALUE} <= set(map(role_word, names))  # its first row may lack a value
    levels = not long and not any(map(is_number, below)) and any(spelled(cell) for cell in below)
    odd = levels or len(set(names)) < len(names) or any(not name.strip() for name in names[1:])
    if odd and len(text) < 50_000_000:
        drawn = table_of([row for row in csv.reader(lines_of(text), delimiter=delimiter) if any(row)])
        named = [levels for levels in drawn.headers if any(levels)] if drawn is not None else []
        if drawn is not None and len(set(named)) == len(named):
            return drawn
    return Table.of(read_frame(text.encode(), file.name, empty_fix=_FIX))


def _title_lines(text: Sequence[str]) -> int:
    """How many lines stand above the header of a delimited text: comments, and a title, which may have commas."""
    lines = text[:12]
    delimiter = max("\t,;|", key=lambda mark: sum(mark in line for line in lines))
    most = max((line.count(delimiter) for line in lines), default=0)
    lone = not most and is_title(lines[0]) if lines else False
    for at, line in enumerate(lines[:5]):
        if line.lstrip().startswith(("#", "%", "//")) and not line.lstrip().startswith(("#,", "#\t", "#;", "%,")):
            continue
        titled = is_title(next(iter(line.split(delimiter)))) and any(line.split(delimiter)[1:])
        if titled and at + 1 < len(lines) and not _is_row(line, lines[at + 1], delimiter):
            continue
        if line.strip() and (line.count(delimiter) or not most) and not (lone and at == 0):
            return at
    return 0


def _is_row(line: str, below: str, delimiter: str) -> bool:
    """Whether a line that begins like a title is a row of the table: it is quoted, or its fields end with numbers."""
    fields = line.split(delimiter)
    return line.lstrip().startswith('"') or is_number(fields[-1]) or (
        len(fields) == len(below.split(delimiter)) and not _TITLED.match(line)
    )  # fmt: skip
