"""The files of a folder that may hold results."""

from __future__ import annotations

import os
from pathlib import Path

from recassay.core.errors import InputError
from recassay.data.importers.table import ENDINGS

MOST_FILES = 20_000
_SKIPPED = {"__pycache__", "node_modules", ".git", ".ipynb_checkpoints", "saved", "wandb", "log_tensorboard"}


def files_below(folder: Path) -> list[Path]:
    """Every file below the folder with an ending that results have, sorted; hidden ones and caches are passed over."""
    found: list[Path] = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED)
        for name in sorted(names):
            ending = Path(name.lower().removesuffix(".gz")).suffix
            if ending in ENDINGS and not name.startswith((".", "~$")):
                found.append(Path(place) / name)
        if len(found) > MOST_FILES:
            raise InputError(
                f"holds more than {MOST_FILES:,} files", where=str(folder), fix="name the folder of results"
            )
    return found
