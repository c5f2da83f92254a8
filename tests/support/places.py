"""Where the project and real data lie."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("RECASSAY_DATA") or ROOT.parent / "shared" / "data")


def needed(folder: Path, variable: str) -> Path:
    """The folder, or a skip that says what is missing."""
    if not folder.is_dir():
        pytest.skip(f"no {folder.name} folder at {folder} (set {variable})")
    return folder


def announced(group: str) -> set[str]:
    """The names that the project's own entry points announce in a group."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return set(project["entry-points"][group])
