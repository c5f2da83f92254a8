"""The journal of an adaptive run: what was asked, what was run and why, kept in the study's folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recassay.core.errors import InputError
from recassay.core.system.plain import plain
from recassay.store.sealed import read_sealed, write_sealed

ADAPTIVE_FILE = "adaptive.json"
VERSION = 1
MOST_BYTES = 64_000_000
"""A journal of a million cells is smaller."""

_KEYS = {"metric", "algorithms", "datasets", "question", "steps", "seed", "said"}


def write_adaptive(folder: Path, journal: Mapping[str, Any]) -> None:
    """Keep the journal, whole."""
    write_sealed(folder / ADAPTIVE_FILE, plain({"version": VERSION, **journal}))


def read_adaptive(folder: str | Path) -> dict[str, Any] | None:
    """The journal of the study in `folder`; None where it was never run adaptively."""
    path = Path(folder) / ADAPTIVE_FILE
    if not path.is_file():
        return None
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ValueError
        journal = read_sealed(path.parent, ADAPTIVE_FILE, "the journal")
        if journal.get("version") != VERSION or not journal.keys() >= _KEYS:
            raise ValueError
    except (OSError, ValueError, InputError):
        raise InputError(
            "the journal of the adaptive run is damaged", where=str(path), fix="remove it: the cells stay"
        ) from None
    return journal
