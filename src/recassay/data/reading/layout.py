"""The records of a delimited file, found without parsing it: how many fields each has, and on which line it
stands.

Polars fills up short rows and cuts long ones in silence; so the rows are counted here, from the bytes, in
blocks.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from recassay.core.errors import InputError
from recassay.core.types import BoolArray, IntArray
from recassay.core.words import count_of
from recassay.data.reading.records import SHOWN_BAD_ROWS, BadRow
from recassay.data.reading.textfile import LONGEST_LINE, line_blocks

_NEWLINE, _RETURN, _QUOTE = b"\n"[0], b"\r"[0], b'"'[0]


@dataclass(frozen=True, slots=True)
class Records:
    """Successive records of one block: their bytes, where each ends, their fields, the lines they start on, and which
    are `kept`: blank lines and those `ragged`, with another number of fields than expected, are not.
    """

    content: bytes
    ends: IntArray
    fields: IntArray
    lines: IntArray
    kept: BoolArray
    ragged: BoolArray


def is_quoted(path: Path, separator: str, where: str) -> bool:
    """Whether some field of the file starts with a quotation mark."""
    marks = (b'\n"', separator.encode() + b'"')
    blocks = line_blocks(path, where)  # each begins with a line
    begun = next(blocks, b"").removeprefix(codecs.BOM_UTF8)
    return any(block.startswith(b'"') or any(mark in block for mark in marks) for block in chain([begun], blocks))


@dataclass(frozen=True, slots=True)
class RecordsFile:
    """A text file of records: what parts their fields, whether these may be quoted, how many of them are expected, and
    what messages call the file.
    """

    path: Path
    separator: str
    quoted: bool
    expected: int
    where: str

    def records(self) -> Iterator[Records]:
        """The file's records, block by block; a line break between quotation marks belongs to its field."""
        rest, line = b"", 1
        for block in line_blocks(self.path, self.where):
            content = rest + block
            if not content.endswith(b"\n"):
                content += b"\n"
            buffer = np.frombuffer(content, dtype=np.uint8)
            breaks = np.flatnonzero(buffer == _NEWLINE)
            ends, between = breaks, buffer == ord(self.separator)
            if self.quoted:  # after an odd number of marks a line break or a separator belongs to a field
                marks = np.flatnonzero(buffer == _QUOTE)
                ends = breaks[np.searchsorted(marks, breaks) % 2 == 0]
                places = np.flatnonzero(between)
                between[places[np.searchsorted(marks, places) % 2 == 1]] = False
            # A record that the block does not end goes on in the next one.
            used = int(ends[-1]) + 1 if ends.size else 0
            rest = content[used:]
            if len(rest) > LONGEST_LINE:
                raise self._unclosed(line + int(np.searchsorted(breaks, used)))
            if ends.size:
                starts = np.concatenate([[0], ends[:-1] + 1])
                last = buffer[np.maximum(ends - 1, 0)]
                length = ends - starts
                blank = (length == 0) | ((length == 1) & (last == _RETURN))
                fields = np.add.reduceat(between[:used], starts, dtype=np.int64) + 1
                fits = fields == self.expected
                lines = line + np.searchsorted(breaks, starts)
                yield Records(content[:used], ends, fields, lines, kept=fits & ~blank, ragged=~fits & ~blank)
            line += int(np.searchsorted(breaks, used))
        if rest:
            raise self._unclosed(line)

    def survey(self) -> tuple[int, int, int, tuple[BadRow, ...]]:
        """How many records there are, how many of them are kept, how many are ragged, and the first of these."""
        total, kept, ragged = 0, 0, 0
        shown: list[BadRow] = []
        for block in self.records():
            total += block.ends.size
            kept += int(block.kept.sum())
            ragged += int(block.ragged.sum())
            for place in np.flatnonzero(block.ragged)[: SHOWN_BAD_ROWS - len(shown)]:
                what = f"{count_of(int(block.fields[place]), 'field')} instead of {self.expected}"
                shown.append(BadRow(int(block.lines[place]), what))
        return total, kept, ragged, tuple(shown)

    def write_kept(self, target: Path) -> Path:
        """Copy the file without the records that are not kept."""
        with target.open("wb") as out:
            for block in self.records():
                lengths = np.diff(block.ends, prepend=-1)
                buffer = np.frombuffer(block.content, dtype=np.uint8)
                out.write(buffer[np.repeat(block.kept, lengths)].tobytes())
        return target

    def lines_of(self, wanted: list[int]) -> list[int]:
        """The line on which each of the `wanted` records starts, counted among those kept."""
        line_of: dict[int, int] = {}
        before = 0
        for block in self.records():
            lines = block.lines[block.kept]
            for record in wanted:
                if before <= record < before + lines.size:
                    line_of[record] = int(lines[record - before])
            before += lines.size
            if len(line_of) == len(set(wanted)):
                break
        return [line_of[record] for record in wanted]

    def _unclosed(self, line: int) -> InputError:
        what = f"a quotation mark opened in line {line} is never closed"
        return InputError(what, where=self.where, fix="close or remove it")
