"""The sheets of an Excel workbook (.xlsx), read by their own format: a ZIP of XML files (ECMA-376).

Workbooks come from anywhere: members are bounded in size, and XML with a document type (which could expand without
end) is refused. Formulas give the value that was stored with them; nothing is computed.
"""

from __future__ import annotations

import copy
import io
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from xml.etree import ElementTree

from recassay.core.errors import InputError

MOST_BYTES = 256 << 20
MOST_CELLS = 1_000_000
MOST_SHEETS = 500
_SMALL, _MOST_RATIO = 8 << 20, 40
"""A workbook may unpack to so many bytes, and to so many more for each of its own."""
_BROKEN = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, ElementTree.ParseError, LookupError, ValueError, EOFError,
    NotImplementedError, RuntimeError, OSError, struct.error,
)  # fmt: skip
"""What the standard library raises for a file that is not a ZIP or not XML, or is locked by a password."""
_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_STRICT = "{http://purl.oclc.org/ooxml/spreadsheetml/main}"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_STRICT_RELATION = "{http://purl.oclc.org/ooxml/officeDocument/relationships}id"


def workbook_grids(data: bytes, name: str) -> list[tuple[str, list[list[str]]]]:
    """The title and the grid of text of each sheet that holds something, in order; merged cells are spread out."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            book = _Book(archive, name, _SMALL + _MOST_RATIO * len(data))
            targets = {
                element.get("Id"): str(element.get("Target")) for element in book.all("xl/_rels/workbook.xml.rels", "")
            }
            shared = [_string(element) for element in book.all("xl/sharedStrings.xml", "si")]
            sheets = [
                sheet for sheet in book.all("xl/workbook.xml", "sheet") if sheet.get("state", "visible") == "visible"
            ]
            if len(sheets) > MOST_SHEETS:
                raise book.refused(f"has more than {MOST_SHEETS} sheets", fix="save those with results")
            grids, read = [], set()
            for sheet in sheets:
                target = targets.get(sheet.get(_RELATION) or sheet.get(_STRICT_RELATION), "")
                path = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
                if path in read or path not in archive.namelist():
                    continue
                read.add(path)
                grid = _grid(book, path, shared)
                if grid:
                    grids.append((sheet.get("name", ""), grid))
            return grids
    except _BROKEN as error:
        raise InputError("is not a readable .xlsx workbook", where=name, fix="save it again, or as CSV") from error


class _Book:
    """The members of a workbook, as streams of elements, within a budget of bytes and cells for all of them."""

    def __init__(self, archive: zipfile.ZipFile, name: str, most: int) -> None:
        self.archive, self.name = archive, name
        self.room = min(MOST_BYTES, most)
        self.cells = MOST_CELLS

    def refused(self, what: str, *, fix: str = "save it as CSV") -> InputError:
        """What is wrong with the workbook, as an error that names it."""
        return InputError(what, where=self.name, fix=fix)

    def elements(self, member: str, tags: tuple[str, ...]) -> Iterator[ElementTree.Element]:
        """Every element with one of the tags, whole; what was given before is forgotten."""
        size = self.archive.getinfo(member).file_size
        self.room -= size
        if self.room < 0:
            raise self.refused(f"{member} unpacks to more than the limit for a file of this size")
        with self.archive.open(member) as stream:
            text = stream.read(size + 1)
        if len(text) > size or b"<!DOCTYPE" in text[:4096] or b"<!ENTITY" in text:
            raise self.refused(f"{member} is not plain XML", fix="save it again, or as CSV")
        wanted = {f"{space}{tag}" for tag in tags for space in (_MAIN, _STRICT)}
        root = None
        for event, element in ElementTree.iterparse(io.BytesIO(text), events=("start", "end")):
            root = element if root is None else root
            if event == "end" and (element.tag in wanted or tags == ("",)):
                yield element
                if tags != ("si",):
                    element.clear()
            if event == "end" and len(root) > 1000:
                del root[:-1]

    def all(self, member: str, tag: str) -> list[ElementTree.Element]:
        """All elements with a tag (with "" all); none where there is no such member."""
        if member not in self.archive.namelist():
            return []
        return [copy.copy(element) for element in self.elements(member, (tag,))]

    def spend(self, count: int) -> None:
        """Take so many cells off the budget."""
        self.cells -= count
        if self.cells < 0:
            raise self.refused(f"has more than {MOST_CELLS:,} cells", fix="save its results as CSV")


def _string(element: ElementTree.Element) -> str:
    """The text of an element, not how it is read aloud; raised runs (superscripts) are marks, not part of a number."""
    parts = []
    read = {part for reading in _all(element, "rPh") for part in reading.iter()}
    for run in _all(element, "r") or [element]:
        raised = any(part.get("val") == "superscript" for part in _all(run, "vertAlign"))
        parts += [] if raised else [part.text or "" for part in _all(run, "t") if part not in read]
    return "".join(parts)


def _all(element: ElementTree.Element, tag: str) -> list[ElementTree.Element]:
    return list(element.iter(f"{_MAIN}{tag}")) or list(element.iter(f"{_STRICT}{tag}"))


def _grid(book: _Book, path: str, shared: list[str]) -> list[list[str]]:
    cells: dict[tuple[int, int], str] = {}
    merged: list[tuple[tuple[int, int], tuple[int, int]]] = []
    for element in book.elements(path, ("row", "mergeCell")):
        if element.tag.endswith("}mergeCell"):
            book.spend(50)
            first, _, last = (element.get("ref") or "").partition(":")
            start, end = _place(first), _place(last)
            if start and end:
                merged.append((start, end))
            continue
        for at, cell in enumerate(_all(element, "c")):
            book.spend(1)
            text = _text(cell, shared)
            if text:
                cells[_place(cell.get("r") or "") or (int(element.get("r") or 1) - 1, at)] = text
    for start, end in merged:
        area = (end[0] - start[0] + 1) * (end[1] - start[1] + 1)
        if start in cells and 0 < area <= 10_000:
            book.spend(area)
            cells |= {(i, j): cells[start] for i in range(start[0], end[0] + 1) for j in range(start[1], end[1] + 1)}
    if not cells:
        return []
    height, width = (1 + max(place[axis] for place in cells) for axis in (0, 1))
    if height * width > 20_000 + 20 * len(cells):
        raise book.refused("a sheet is too wide and too long for a table")
    return [[cells.get((i, j), "") for j in range(width)] for i in range(height)]


def _place(reference: str) -> tuple[int, int] | None:
    """`B3` -> (2, 1)."""
    parts = re.fullmatch(r"\$?([A-Z]{1,3})\$?(\d{1,7})", reference)
    if parts is None:
        return None
    column = 0
    for letter in parts[1]:
        column = 26 * column + ord(letter) - 64
    return int(parts[2]) - 1, column - 1


def _text(cell: ElementTree.Element, shared: list[str]) -> str:
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        return _string(cell).strip()
    value = next((element.text or "" for element in _all(cell, "v")), "")
    if kind == "s":
        return shared[int(value)].strip() if value else ""
    return "" if kind == "e" else value.strip()
