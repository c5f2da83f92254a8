"""Writing what leaves the tool: whole files under safe names."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from recassay.core.errors import InputError


def write_atomically(path: Path, data: bytes) -> None:
    """Write to a temporary name beside `path` and rename: a reader sees the old file or the new one, never a part."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def safe_stem(name: str) -> str:
    """A name from outside as a file name that stays in its folder."""
    return re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip("._") or "unnamed"


def refuse_file(out: Path) -> None:
    """Raise where `out`, which is to be a folder, is a file: before the work, not after it."""
    if out.exists() and not out.is_dir():
        raise InputError("is a file", where=str(out), fix="name a folder for --out")


def write_files(out: Path, files: Mapping[str, bytes]) -> list[Path]:
    """Write each file (its path within `out`, with `/`) atomically, making the folders; returns them in order."""
    refuse_file(out)
    written = []
    try:
        for name, data in files.items():
            written.append(out / name)
            written[-1].parent.mkdir(parents=True, exist_ok=True)
            write_atomically(written[-1], data)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", where=str(out), fix="choose another --out") from error
    return written
