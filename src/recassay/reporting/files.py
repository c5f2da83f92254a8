"""Writing what leaves the tool: whole files under safe names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from recassay.core.errors import InputError, from_os
from recassay.core.system.files import write_all
from recassay.core.system.places import shareable

_TEXTS = (".html", ".json", ".csv", ".md", ".tex", ".svg", ".bib", ".txt")


def safe_stem(name: str) -> str:
    """A name from outside as a file name that stays in its folder."""
    return re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip("._") or "unnamed"


def refuse_file(out: Path) -> None:
    """Raise where `out`, which is to be a folder, is a file: before the work, not after it."""
    if out.exists() and not out.is_dir():
        raise InputError("is a file", where=str(out), fix="name a folder with `out`")


def write_files(out: Path, files: Mapping[str, bytes], *, share: bool = False) -> list[Path]:
    """Write the files (by their paths within `out`, with `/`), all of them or none; returns them in order.

    With `share` texts are written without the places of this machine (`core.system.places.shareable`).
    """
    refuse_file(out)
    if share:
        files = {name: shareable(data.decode()).encode() if name.endswith(_TEXTS) else data
                 for name, data in files.items()}  # fmt: skip
    try:
        return write_all(out, files)
    except OSError as error:
        raise InputError(
            f"cannot be written: {from_os(error).what}", where=str(out), fix="choose another `out`"
        ) from error
