"""The formats of a store's files, each written whole."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from recassay.core.system.files import write_whole


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
