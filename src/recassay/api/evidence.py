"""What is known of a study beyond its results table, loaded only when an analysis asks for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any


def evidence_of(folder: Path | None) -> dict[str, Callable[[], Any]]:
    """By name, ways to load what the study in `folder` holds besides its table; nothing for a bare table."""
    if folder is None:
        return {}
    return {"comper": partial(comper_settings, folder)}


def comper_settings(folder: Path) -> dict[str, Any]:
    """The metric of correctness and the cut-off that the study's `[comper]` section names; nothing without one."""
    from recassay.store.store import Store

    with Store.open(folder) as store:
        said = store.manifest()["study"].get("comper")
    return {name: said[name] for name in ("correctness", "k")} if said else {}
