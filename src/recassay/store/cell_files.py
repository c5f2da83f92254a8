"""The files of a store's cells, held against the checksums in their rows."""

from __future__ import annotations

import hashlib
import sqlite3
from pathlib import Path

import polars as pl

from recassay.core.errors import InputError
from recassay.core.system.parquet import parquet_frame
from recassay.store.files import (
    LISTS,
    RESPONSES,
    SCORES,
    cell_file,
    file_checksum,
    lists_file,
    responses_file,
    scores_file,
)
from recassay.store.records import unpacked


class CellFiles:
    """What a store reads of the files that its cells left."""

    folder: Path
    _connection: sqlite3.Connection

    def per_user(self, cell: str) -> pl.DataFrame:
        """The scores of a cell: the user's own id and one column a metric label, null where undefined."""
        return self._read(SCORES, cell)

    def top_lists(self, cell: str) -> pl.DataFrame:
        """The lists of a cell: user, rank (from 1), item (original ids) and score."""
        return self._read(LISTS, cell)

    def responses(self, cell: str) -> pl.DataFrame:
        """The answers of a classifier's cell: row (from 1, in the file), truth, predicted, right (0 or 1)."""
        return self._read(RESPONSES, cell)

    def has_files(self, cell: str) -> bool:
        """Whether the files of a cell are there: scores and lists of a recommender, or responses of a classifier."""
        if responses_file(self.folder, cell).is_file():
            return True
        return scores_file(self.folder, cell).is_file() and lists_file(self.folder, cell).is_file()

    def damaged_file(self, cell: str) -> Path | None:
        """The first file of a done cell that is gone or is not what was written; None where all are sound."""
        checksums = self._checksums(cell)
        if not checksums:
            return None if self.has_files(cell) else scores_file(self.folder, cell)
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
