"""Where the project and real data lie."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("RECASSAY_DATA") or ROOT.parent / "shared" / "data")


def needed(folder: Path, variable: str) -> Path:
    """The folder, or a skip that says what is missing."""
    if not folder.is_dir():
        pytest.skip(f"no {folder.name} folder at {folder} (set {variable})")
    return folder
