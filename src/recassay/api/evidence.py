"""What is known of a study beyond its results table, loaded only when an analysis asks for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any


def evidence_of(folder: Path | None) -> dict[str, Callable[[], Any]]:
    """By name, ways to load what the study in `folder` holds besides its table; nothing for a bare table."""
    if folder is None:
        return {}
    from recassay.api.user_scores import user_scores

    return {"user_scores": lambda: user_scores(folder)}
