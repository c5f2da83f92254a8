"""Algorithms of a user's own: `./mymodel.py:MyModel`, or another library's `./library.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recassay.algorithms.external.models import implicit_style, is_implicit_style
from recassay.algorithms.external.process import external_process
from recassay.core.errors import InputError, listing
from recassay.core.system.plugin_file import load_class, plugin_path, split_reference


def load_plugin(reference: str, base_dir: str | Path) -> type[Any]:
    """The algorithm class that `reference` names: `FILE.py:CLASS` or `LIBRARY.toml`.

    Paths and failures are those of `recassay.core.system.plugin_file.load_class`. A class in the style of implicit is
    adapted; anything else must satisfy `Algorithm`.
    """
    file = plugin_path(reference, base_dir)
    if file.suffix.lower() == ".toml":
        return external_process(file)
    return _as_algorithm(load_class(reference, base_dir), f"{file.name}:{split_reference(reference)[1]}")


def _as_algorithm(found: type[Any], where: str) -> type[Any]:
    needed = {"name": str, "source": str, "space": Mapping}
    missing = [name for name, kind in needed.items() if not isinstance(getattr(found, name, None), kind)]
    missing += [name for name in ("fit", "memory_bytes") if not callable(getattr(found, name, None))]
    if not missing:
        return found
    if is_implicit_style(found):
        return implicit_style(found)
    raise InputError(
        f"is no algorithm: it lacks {listing(missing)}",
        where=where,
        fix="give it name, source, space, fit(train, *, rng) and memory_bytes(...), or fit(matrix) and"
        " recommend(users, user_items, N=...) as in implicit",
    )
