"""Algorithms of a user's own: `./mymodel.py:MyModel`, or another library's `./library.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from pathlib import Path
from typing import Any

from recassay.algorithms.external.models import INTERFACE, broken_rules, wrap
from recassay.algorithms.external.process import external_process
from recassay.core.errors import InputError
from recassay.core.system.plugin_file import load_class, plugin_path, split_reference


def load_plugin(reference: str, base_dir: str | Path) -> type[Any]:
    """The algorithm class that `reference` names: `FILE.py:CLASS` or `LIBRARY.toml`.

    Paths and failures are those of `recassay.core.system.plugin_file.load_class`. A class that satisfies `Algorithm` is
    taken as it is, with what it does not declare filled in; any other is adapted by `wrap`.
    """
    file = plugin_path(reference, base_dir)
    if file.suffix.lower() == ".toml":
        return external_process(file)
    return as_algorithm(load_class(reference, base_dir), f"{file.name}:{split_reference(reference)[1]}")


def as_algorithm(given: type[Any], where: str) -> type[Any]:
    """A class as an algorithm; `InputError` lists every rule that it breaks."""
    try:
        is_algorithm = _is_algorithm(given)
        space = getattr(given, "space", {})
    except Exception as error:
        raise InputError(
            f"its attributes cannot be read: {type(error).__name__}", where=where, fix=INTERFACE
        ) from error
    if is_algorithm and not isinstance(space, Mapping):
        what = f"its space is {type(space).__name__}, not a mapping from argument to range"
        raise InputError(what, where=where, fix="write it as {'argument': Real(0, 1, default=0.5)}, or leave it out")
    if not is_algorithm:
        problems = broken_rules(given)
        if problems:
            raise InputError("does not implement the interface: " + "; ".join(problems), where=where, fix=INTERFACE)
        return wrap(given)
    declared = {"name": (str, given.__name__), "space": (Mapping, {}), "source": (str, where)}
    lacking = {
        attribute: default
        for attribute, (kind, default) in declared.items()
        if not isinstance(getattr(given, attribute, None), kind)
    }
    return type(given.__name__, (given,), {**lacking, "__module__": given.__module__}) if lacking else given


def _is_algorithm(given: type[Any]) -> bool:
    """Whether a class follows `Algorithm`: `fit` takes `rng`, and what makes the lists takes what to exclude."""
    fit, recommend = getattr(given, "fit", None), getattr(given, "recommend", None)
    if not callable(fit) or "rng" not in signature(fit).parameters:
        return False
    if recommend is None:
        return not hasattr(given, "score")
    return callable(recommend) and "exclude" in signature(recommend).parameters
