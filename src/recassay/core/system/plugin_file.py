"""Classes in a user's own Python file, named as `./mymodel.py:MyModel`."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from recassay.core.errors import InputError, UsageError
from recassay.core.names import did_you_mean
from recassay.core.system.printable import one_line


def split_reference(reference: str) -> tuple[Path, str]:
    """The path of a reference and its class name, '' where it names none."""
    head, colon, tail = reference.rpartition(":")
    if colon and tail.strip().isidentifier() and head:
        return Path(head), tail.strip()
    return Path(reference), ""


def typed_reference(reference: str, base_dir: str | Path = ".") -> str:
    """A reference as somebody typed it: a relative path that leads out of the folder is made absolute.

    In the file of a study, which may be somebody else's, `plugin_path` refuses such a path.
    """
    path, name = split_reference(reference)
    if path.is_absolute() or ".." not in path.parts:
        return reference
    return f"{(Path(base_dir) / path).resolve()}{f':{name}' if name else ''}"


def plugin_path(reference: str, base_dir: str | Path) -> Path:
    """The file that `reference` names; a relative path starts from `base_dir` and must stay in it."""
    path, _ = split_reference(reference)
    base = Path(base_dir).resolve()
    try:
        file = (base / path.expanduser()).resolve()
        file.is_file()
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: links in a circle, before Python 3.13
        raise InputError("is not a path that can be followed", where=one_line(reference), fix="check it") from error
    if not path.expanduser().is_absolute() and not file.is_relative_to(base):
        raise UsageError(
            "a relative path may not leave the folder of the study", where=reference, fix="give an absolute path"
        )
    if not file.is_file():
        raise InputError("there is no such file", where=str(file), fix=f"check the path (relative to {base})")
    return file


def load_class(reference: str, base_dir: str | Path) -> type[Any]:
    """The class that `FILE.py:CLASS` names.

    Loading a file runs it, under a module name of its own: files of one name in two folders do not collide, and
    `sys.path` stays as it is (what the file needs must be in it, or installed). Every failure is an `InputError` or
    `UsageError` that says which file, and for an error while it runs, which line.
    """
    file = plugin_path(reference, base_dir)
    _, class_name = split_reference(reference)
    if file.suffix != ".py" or not class_name:
        raise UsageError(f"{reference!r} names no class", fix="write it as ./mymodel.py:MyModel")
    module = _run(file)
    loaded = getattr(module, class_name, None)
    if not isinstance(loaded, type):
        classes = [
            name
            for name, value in vars(module).items()
            if isinstance(value, type) and value.__module__ == module.__name__
        ]
        raise InputError(
            f"has no class {class_name!r}", where=file.name, fix=did_you_mean(class_name, classes) if classes else None
        )
    return loaded


def _run(file: Path) -> ModuleType:
    """The module of a file, run again; its errors with the line that raised them."""
    name = f"recassay_plugin_{file.stem}_{hashlib.sha256(str(file).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise InputError("cannot be loaded as Python", where=str(file))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise InputError(
            f"fails when it is loaded: {type(error).__name__}: {error}", where=_line_of(error, file)
        ) from error
    return module


def _line_of(error: BaseException, file: Path) -> str:
    if isinstance(error, SyntaxError) and error.filename == str(file):
        return f"{file.name}, line {error.lineno}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
    return f"{file.name}, line {lines[-1]}" if lines else file.name
