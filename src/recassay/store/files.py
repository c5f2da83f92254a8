"""Files that appear whole or not at all: written under a temporary name, synced, renamed."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl

TEMPORARY = ".unfinished-"


def temporary_name(target: Path) -> Path:
    """A name beside `target` that nothing else uses; `remove_unfinished` recognises it."""
    return target.with_name(f"{TEMPORARY}{target.name}-{secrets.token_hex(6)}")


def write_whole(target: Path, write: Callable[[IO[bytes]], Any]) -> None:
    """Let `write` fill a file that gets its name `target` only when all of it is on the disk."""
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = temporary_name(target)
    try:
        with temporary.open("wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(target.parent)


def write_folder(target: Path, fill: Callable[[Path], Any]) -> None:
    """Let `fill` make a folder that gets its name `target` only when it is whole; one that is there already stays.

    `fill` must have brought its files to the disk when it returns (`write_whole`, `write_array` do).
    """
    temporary = temporary_name(target)
    temporary.mkdir(parents=True)
    try:
        fill(temporary)
        sync_folder(temporary)
        temporary.rename(target)
    except OSError:
        shutil.rmtree(temporary, ignore_errors=True)
        if not target.is_dir():
            raise
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    sync_folder(target.parent)


def write_array(target: Path, values: Any) -> None:
    """Write a numpy array (never of objects) as a whole file."""
    write_whole(target, lambda file: np.save(file, values, allow_pickle=False))


def write_json(target: Path, content: Any) -> None:
    """Write plain data as a whole file."""
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    write_whole(target, lambda file: file.write(text.encode()))


def write_parquet(target: Path, frame: pl.DataFrame) -> None:
    """Write a table as a whole file."""
    write_whole(target, lambda file: frame.write_parquet(file, compression="zstd"))


def sync_folder(folder: Path) -> None:
    """Bring a folder's names to the disk, where the system knows how."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_unfinished(folder: Path) -> None:
    """Delete what a killed process left half-written; only the one that holds the study's lock may."""
    for left in [*folder.glob(f"{TEMPORARY}*"), *folder.glob(f"*/{TEMPORARY}*")]:
        if left.is_dir():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)
