"""The sheets of an Excel workbook (.xlsx), read by their own format: a ZIP of XML files (ECMA-376).

Workbooks come from anywhere: members are bounded in size, and XML with a document type (which could expand without
end) is refused. Formulas give the value that was stored with them; nothing is computed.
"""

from __future__ import annotations

import io
import lzma
import re
import struct
import zipfile
import zlib
from xml.etree import ElementTree

from recassay.core.errors import InputError

MOST_BYTES = 256 << 20
MOST_CELLS = 2_000_000
_BROKEN = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, ElementTree.ParseError, LookupError, ValueError, EOFError,
    NotImplementedError, RuntimeError, OSError, struct.error,
)  # fmt: skip
"""What the standard library raises for a file that is no ZIP, or no XML, or is locked by a password."""
_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_STRICT = "{http://purl.oclc.org/ooxml/spreadsheetml/main}"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_STRICT_RELATION = "{http://purl.oclc.org/ooxml/officeDocument/relationships}id"


def workbook_grids(data: bytes, name: str) -> list[tuple[str, list[list[str]]]]:
    """The title and the grid of text of each sheet that holds something, in order; merged cells are spread out."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            book = _xml(archive, "xl/workbook.xml", name)
            targets = {
                one.get("Id"): str(one.get("Target"))
                for one in _xml(archive, "xl/_rels/workbook.xml.rels", name)
            }  # fmt: skip
            shared = _shared(archive, name)
            grids = []
            for sheet in _all(book, "sheet"):
                target = targets.get(sheet.get(_RELATION) or sheet.get(_STRICT_RELATION), "")
                path = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
                if path in archive.namelist() and sheet.get("state", "visible") == "visible":
                    grid = _grid(_xml(archive, path, name), shared, name)
                    if grid:
                        grids.append((sheet.get("name", ""), grid))
            return grids
    except _BROKEN as error:
        raise InputError("is not a readable .xlsx workbook", where=name, fix="save it again, or as CSV") from error


def _xml(archive: zipfile.ZipFile, member: str, name: str) -> ElementTree.Element:
    if archive.getinfo(member).file_size > MOST_BYTES:
        raise InputError(f"{member} unpacks to more than {MOST_BYTES >> 20} MiB", where=name, fix="save it as CSV")
    with archive.open(member) as stream:
        text = stream.read(MOST_BYTES + 1)
    if len(text) > MOST_BYTES or b"<!DOCTYPE" in text[:4096] or b"<!ENTITY" in text:
        raise InputError(f"{member} is not plain XML", where=name, fix="save it again, or as CSV")
    return ElementTree.fromstring(text)


def _all(element: ElementTree.Element, tag: str) -> list[ElementTree.Element]:
    return list(element.iter(f"{_MAIN}{tag}")) or list(element.iter(f"{_STRICT}{tag}"))


def _shared(archive: zipfile.ZipFile, name: str) -> list[str]:
    if "xl/sharedStrings.xml" not in archive.namelist():
        return []
    return [_said(one) for one in _all(_xml(archive, "xl/sharedStrings.xml", name), "si")]


def _said(element: ElementTree.Element) -> str:
    """The text of an element; raised runs (superscripts) are marks, not part of a number."""
    parts = []
    for run in _all(element, "r") or [element]:
        raised = any(one.get("val") == "superscript" for one in _all(run, "vertAlign"))
        parts += [] if raised else [one.text or "" for one in _all(run, "t")]
    return "".join(parts)


def _grid(sheet: ElementTree.Element, shared: list[str], name: str) -> list[list[str]]:
    cells: dict[tuple[int, int], str] = {}
    for row in _all(sheet, "row"):
        for at, cell in enumerate(_all(row, "c")):
            place = _place(cell.get("r") or "") or (int(row.get("r") or 1) - 1, at)
            text = _text(cell, shared)
            if text:
                cells[place] = text
            if len(cells) > MOST_CELLS:
                raise InputError(f"a sheet has more than {MOST_CELLS:,} cells", where=name, fix="save it as CSV")
    for merged in _all(sheet, "mergeCell"):
        first, _, last = (merged.get("ref") or "").partition(":")
        start, end = _place(first), _place(last)
        if start and end and start in cells and (end[0] - start[0] + 1) * (end[1] - start[1] + 1) <= 10_000:
            for i in range(start[0], end[0] + 1):
                for j in range(start[1], end[1] + 1):
                    cells[i, j] = cells[start]
    if not cells:
        return []
    height, width = (1 + max(place[axis] for place in cells) for axis in (0, 1))
    if height * width > 10 * MOST_CELLS:
        raise InputError("a sheet is too wide and too long for a table", where=name, fix="save it as CSV")
    return [[cells.get((i, j), "") for j in range(width)] for i in range(height)]


def _place(reference: str) -> tuple[int, int] | None:
    """`B3` -> (2, 1)."""
    found = re.fullmatch(r"\$?([A-Z]{1,3})\$?(\d{1,7})", reference)
    if found is None:
        return None
    column = 0
    for letter in found[1]:
        column = 26 * column + ord(letter) - 64
    return int(found[2]) - 1, column - 1


def _text(cell: ElementTree.Element, shared: list[str]) -> str:
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        return _said(cell).strip()
    value = next((one.text or "" for one in _all(cell, "v")), "")
    if kind == "s":
        return shared[int(value)].strip() if value else ""
    return "" if kind == "e" else value.strip()
