"""The files of a store: where those of a cell lie, and their formats, each written whole."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from recassay.core.system.files import write_whole

SCORES, LISTS, RESPONSES = "scores", "lists", "responses"
"""The kinds of files that a cell leaves, which are also the names of their folders."""


def write_array(target: Path, values: Any) -> None:
    """Write a numpy array (never of objects) as a whole file."""
    write_whole(target, lambda file: np.save(file, values, allow_pickle=False))


def write_json(target: Path, content: Any) -> None:
    """Write plain data as a whole file."""
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    write_whole(target, text.encode())


def write_parquet(target: Path, frame: pl.DataFrame) -> str:
    """Write a table as a whole file; the SHA-256 of its bytes."""
    packed = io.BytesIO()
    frame.write_parquet(packed, compression="zstd")
    content = packed.getvalue()
    write_whole(target, content)
    return hashlib.sha256(content).hexdigest()


def file_checksum(path: Path) -> str:
    """The SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def checksum(content: Any) -> str:
    """The SHA-256 of plain data."""
    return hashlib.sha256(
        json.dumps(content, ensure_ascii=False, allow_nan=True).encode(errors="surrogatepass")
    ).hexdigest()


def cell_file(folder: Path, kind: str, cell: str) -> Path:
    """Where a cell's file of a kind (`SCORES`, `LISTS`, `RESPONSES`) lies."""
    return folder / kind / f"{cell}.parquet"


def scores_file(folder: Path, cell: str) -> Path:
    """Where a cell's per-user scores lie."""
    return cell_file(folder, SCORES, cell)


def lists_file(folder: Path, cell: str) -> Path:
    """Where a cell's lists lie."""
    return cell_file(folder, LISTS, cell)


def responses_file(folder: Path, cell: str) -> Path:
    """Where the answers of a classifier's cell lie."""
    return cell_file(folder, RESPONSES, cell)


def write_cell_files(folder: Path, cell: str, *, per_user: pl.DataFrame, lists: pl.DataFrame) -> dict[str, str]:
    """Write a cell's scores and lists, each whole; their checksums, for its row, which the holder of the index writes
    after them.
    """
    return {
        SCORES: write_parquet(scores_file(folder, cell), per_user),
        LISTS: write_parquet(lists_file(folder, cell), lists),
    }
