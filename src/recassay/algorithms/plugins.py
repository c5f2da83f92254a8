"""Algorithms of a user's own: `./mymodel.py:MyModel`, or a file of recommendations."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from recassay.algorithms.external import implicit_style, is_implicit_style
from recassay.algorithms.recommendations_file import SUFFIXES, recommendations_file
from recassay.core.errors import InputError, UsageError, listing
from recassay.core.names import did_you_mean


def is_plugin(reference: str) -> bool:
    """Whether `reference` names a file (`./mymodel.py:MyModel`, `lists.csv`) and not a registered algorithm."""
    path, _, _ = _parts(reference)
    return path.suffix.lower() in (".py", *SUFFIXES)


def load_plugin(reference: str, base_dir: str | Path) -> type[Any]:
    """The algorithm class that `reference` names: `FILE.py:CLASS`, or a table of recommendations.

    A relative path starts from `base_dir` (the folder of the study file) and must stay in it; an absolute path may
    point anywhere. Loading a `.py` file runs it, under a module name of its own: files of one name in two folders do
    not collide, and `sys.path` stays as it is (what the file needs must be in it, or installed). A class in the style
    of implicit is adapted; anything else must satisfy `Algorithm`. Every failure is an `InputError` or `UsageError`
    that says which file, and for an error while it runs, which line.
    """
    path, class_name, relative = _parts(reference)
    base = Path(base_dir).resolve()
    file = (base / path).resolve()
    if relative and not file.is_relative_to(base):
        raise UsageError(
            "a relative path may not leave the folder of the study", where=reference, fix="give an absolute path"
        )
    if not file.is_file():
        raise InputError("there is no such file", where=str(file), fix=f"check the path (relative to {base})")
    if file.suffix.lower() in SUFFIXES:
        return recommendations_file(file)
    if file.suffix != ".py" or not class_name:
        raise UsageError(f"{reference!r} names no class", fix="write it as ./mymodel.py:MyModel")
    module = _run(file)
    found = getattr(module, class_name, None)
    if not isinstance(found, type):
        classes = [
            name
            for name, value in vars(module).items()
            if isinstance(value, type) and value.__module__ == module.__name__
        ]
        raise InputError(
            f"has no class {class_name!r}", where=file.name, fix=did_you_mean(class_name, classes) if classes else None
        )
    return _as_algorithm(found, f"{file.name}:{class_name}")


def _parts(reference: str) -> tuple[Path, str, bool]:
    """Path, class name ('' where there is none), and whether the path is relative."""
    head, colon, tail = reference.rpartition(":")
    path, name = (Path(head), tail.strip()) if colon and tail.strip().isidentifier() and head else (Path(reference), "")
    return path, name, not path.is_absolute()


def _run(file: Path) -> ModuleType:
    """The module of a file, run anew; its errors with the line that raised them."""
    name = f"recassay_plugin_{file.stem}_{hashlib.sha256(str(file).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise InputError("cannot be loaded as Python", where=str(file))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise InputError(
            f"fails when it is loaded: {type(error).__name__}: {error}", where=_line_of(error, file)
        ) from error
    return module


def _line_of(error: Exception, file: Path) -> str:
    if isinstance(error, SyntaxError) and error.filename == str(file):
        return f"{file.name}, line {error.lineno}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
    return f"{file.name}, line {lines[-1]}" if lines else file.name


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
