"""Plain data inside the rows of a store: JSON that must be of the kind that was written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recassay.core.errors import InputError

KINDS: Mapping[str, type] = {
    "spec": dict, "parameters": dict, "counts": dict, "files": dict, "metrics": list, "stages": list
}  # fmt: skip
"""Of the columns that hold JSON, what each of them holds."""


def unpacked(column: str, text: str | None, folder: Path) -> Any:
    """What a column of JSON says, None where it is empty; `InputError` where it is damaged."""
    if text is None:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, KINDS[column]):
        raise InputError(
            f"the store is damaged: {column} of a row is not what was written", where=str(folder),
            fix="restore it from a copy, or run the study in a new folder",
        )  # fmt: skip
    return value
