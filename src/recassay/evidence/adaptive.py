"""What an adaptive study keeps of its decisions, and what its cells took."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recassay.store.store import Store


def is_adaptive(folder: Path) -> bool:
    """Whether the study was ever run adaptively."""
    from recassay.store.adaptive import ADAPTIVE_FILE

    return (folder / ADAPTIVE_FILE).is_file()


def adaptive_journal(folder: Path) -> dict[str, Any] | None:
    """The journal, and under `seconds` what each algorithm took on each dataset in all, tuning included."""
    from recassay.store.adaptive import read_adaptive
    from recassay.store.store import Store

    journal = read_adaptive(folder)
    if journal is None:
        return None
    with Store.open(folder) as store:
        return {**journal, "seconds": _seconds(store)}


def _seconds(store: Store) -> list[tuple[str, str, float]]:
    found: dict[tuple[str, str], float] = {}
    for cell in store.cells():
        found[cell.algorithm, cell.dataset] = found.get((cell.algorithm, cell.dataset), 0.0) + (cell.seconds or 0.0)
    return [(*key, took) for key, took in found.items()]
