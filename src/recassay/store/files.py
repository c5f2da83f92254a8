"""The files of a store: where those of a cell lie, their formats, and how they are held against their checksums."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl

from recassay.core.errors import InputError
from recassay.core.system.files import file_checksum, write_whole
from recassay.core.system.parquet import parquet_bytes, parquet_frame
from recassay.store.records import unpacked

SCORES, LISTS, RESPONSES = "scores", "lists", "responses"
"""The kinds of files that a cell leaves, which are also the names of their folders."""


def write_array(target: Path, values: Any) -> None:
    """Write a numpy array (never of objects) as a whole file."""
    # Given only `write`, numpy writes through Python, and a full disk is an error with its number. Given the file, it
    # writes through C and says no more than how many bytes are missing.
    write_whole(target, lambda file: np.save(SimpleNamespace(write=file.write), values, allow_pickle=False))


def write_json(target: Path, content: Any) -> None:
    """Write plain data as a whole file."""
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    write_whole(target, text.encode())


def write_parquet(target: Path, frame: pl.DataFrame) -> str:
    """Write a table as a whole file; the SHA-256 of its bytes."""
    content = parquet_bytes(frame)
    write_whole(target, content)
    return hashlib.sha256(content).hexdigest()


def checksum(content: Any) -> str:
    """The SHA-256 of plain data."""
    return hashlib.sha256(
        json.dumps(content, ensure_ascii=False, allow_nan=True).encode(errors="surrogatepass")
    ).hexdigest()


def cell_file(folder: Path, kind: str, cell: str) -> Path:
    """Where a cell's file of a kind (`SCORES`, `LISTS`, `RESPONSES`) lies."""
    return folder / kind / f"{cell}.parquet"


def write_cell_files(folder: Path, cell: str, *, per_user: pl.DataFrame, lists: pl.DataFrame) -> dict[str, str]:
    """Write a cell's scores and lists, each whole; their checksums, for its row, which the holder of the index writes
    after them.
    """
    return {
        SCORES: write_parquet(cell_file(folder, SCORES, cell), per_user),
        LISTS: write_parquet(cell_file(folder, LISTS, cell), lists),
    }


class CellFiles:
    """What a store reads of the files that its cells left."""

    folder: Path
    _connection: sqlite3.Connection

    def per_user(self, cell: str) -> pl.DataFrame:
        """The scores of a cell: the user's own id and one column per metric label, null where undefined."""
        return self._read(SCORES, cell)

    def top_lists(self, cell: str) -> pl.DataFrame:
        """The lists of a cell: user, rank (from 1), item (original ids) and score."""
        return self._read(LISTS, cell)

    def responses(self, cell: str) -> pl.DataFrame:
        """The answers of a classifier's cell: row (from 1, in the file), truth, predicted, right (0 or 1)."""
        return self._read(RESPONSES, cell)

    def has_files(self, cell: str) -> bool:
        """Whether the files of a cell are there: scores and lists of a recommender, or responses of a classifier."""
        kinds = {kind for kind in (SCORES, LISTS, RESPONSES) if cell_file(self.folder, kind, cell).is_file()}
        return RESPONSES in kinds or kinds >= {SCORES, LISTS}

    def damaged_file(self, cell: str) -> Path | None:
        """The first file of a done cell that is gone or is not what was written; None where all are sound."""
        checksums = self._checksums(cell)
        if not checksums:
            return None if self.has_files(cell) else cell_file(self.folder, SCORES, cell)
        for kind, written in checksums.items():
            path = cell_file(self.folder, kind, cell)
            if not path.is_file() or file_checksum(path) != written:
                return path
        return None

    def _read(self, kind: str, cell: str) -> pl.DataFrame:
        path = cell_file(self.folder, kind, cell)
        if not path.is_file():
            raise InputError(f"there is no finished cell {cell!r}", where=str(self.folder), fix="see the status")
        content = path.read_bytes()
        written = self._checksums(cell).get(kind)
        again = "run the study again: it makes this cell again"
        if written is not None and hashlib.sha256(content).hexdigest() != written:
            raise InputError(
                f"the {kind} of this cell are not what was written (the checksum differs)", where=str(path), fix=again
            )
        try:
            return parquet_frame(content)
        except (pl.exceptions.PolarsError, OSError):
            raise InputError(f"the {kind} of this cell cannot be read", where=str(path), fix=again) from None

    def _checksums(self, cell: str) -> dict[str, str]:
        """Empty for a cell of a version that kept none."""
        row = self._connection.execute("SELECT files FROM cells WHERE id = ?", (cell,)).fetchone()
        kept: dict[str, str] | None = unpacked("files", row[0], self.folder) if row is not None else None
        return kept or {}
