"""What a study's names of algorithms mean."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from recassay.core.registry import algorithms
from recassay.runner.references import is_part_file


def load_algorithm(reference: str, base: str) -> type[Any]:
    """The class of an algorithm: registered, or from a file (which is executed)."""
    if is_part_file(reference):
        from recassay.algorithms.plugins import load_plugin

        return load_plugin(reference, Path(base))
    found: type[Any] = algorithms.get(reference)
    return found
