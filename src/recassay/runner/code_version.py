"""The version of a part's code: a hash of its module's source, and of the source of what that module imports.

The version of a package does not change with every edit. The source does: a cell whose algorithm was edited since is
another cell. Sources are read and parsed, never executed.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from importlib.machinery import SOURCE_SUFFIXES, ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias

Named: TypeAlias = tuple[str, ...]
"""Candidates for one import, the first that is a module counts: `from a import b` is `a.b`, or else `a`."""


def code_hash(module: str, packages: Iterable[str]) -> str | None:
    """The hash of `module` and of all modules of `packages` that it imports, directly or through one another.

    Imports inside functions count, those for type checkers alone do not. A package's `__init__` counts where something
    is imported from it by name, not where it is only on the way to a module. None where `module` has no file.
    """
    sources = _closure([(module,)], packages)
    return _hash(sources) if module in sources else None


def imported_hash(file: Path, packages: Iterable[str]) -> str | None:
    """The hash of the modules of `packages` that a Python file outside of them imports; None where there are none."""
    _, imports = _read(file, file.stem, False)
    sources = _closure(imports, packages)
    return _hash(sources) if sources else None


def _closure(wanted: Iterable[Named], packages: Iterable[str]) -> dict[str, str]:
    """By module, the hash of its source: those of `packages` that are reached from `wanted`."""
    roots = {package: spec for package in packages if (spec := _found(package)) is not None}
    hashes: dict[str, str] = {}
    waiting, seen = list(wanted), set()
    while waiting:
        candidates = waiting.pop()
        if candidates in seen:
            continue
        seen.add(candidates)
        files = ((name, file) for name in candidates if (file := _file(name, roots)) is not None)
        name, file = next(files, ("", None))
        if file is not None and name not in hashes:
            hashes[name], imports = _read(file, name, file.stem == "__init__")
            waiting += imports
    return hashes


def _hash(sources: dict[str, str]) -> str:
    lines = "\n".join(f"{name} {source}" for name, source in sorted(sources.items()))
    return hashlib.sha256(lines.encode()).hexdigest()[:32]


def _file(module: str, packages: Mapping[str, ModuleSpec]) -> Path | None:
    """The file of a module of one of the packages (or of a module on its own), None where there is none.

    The import system is asked for the packages alone: to ask it for a module would import the packages on the way.
    """
    for package, spec in packages.items():
        if module == package or module.startswith(f"{package}."):
            place: ModuleSpec | None = spec
            for part in module.removeprefix(package).split(".")[1:]:
                folders = None if place is None else place.submodule_search_locations
                place = None if folders is None else PathFinder.find_spec(part, folders)
            if place is not None and place.origin and Path(place.origin).is_file():
                return Path(place.origin)
    return None


def _found(package: str) -> ModuleSpec | None:
    with contextlib.suppress(ImportError, ValueError):
        return find_spec(package)
    return None


def _read(file: Path, module: str, is_package: bool) -> tuple[str, tuple[Named, ...]]:
    """The hash of a file and what it imports; read once, and again only when it was written since."""
    status = file.stat()
    return _parsed(file, module, is_package, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=4096)
def _parsed(file: Path, module: str, is_package: bool, written: int, size: int) -> tuple[str, tuple[Named, ...]]:
    source = file.read_bytes().replace(b"\r\n", b"\n")
    digest = hashlib.sha256(source).hexdigest()
    try:
        tree = ast.parse(source) if file.suffix in SOURCE_SUFFIXES else ast.Module(body=[], type_ignores=[])
    except (SyntaxError, ValueError, RecursionError):  # a file that is not Python says so when it is run
        return digest, ()
    return digest, tuple(_imports(tree, module if is_package else module.rpartition(".")[0]))


def _imports(tree: ast.AST, package: str) -> Iterator[Named]:
    """What `tree`, a module in `package`, imports, by absolute names."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name,) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.rsplit(".", node.level - 1)[0] if node.level else ""
            origin = ".".join(filter(None, (above, node.module)))
            yield from ((f"{origin}.{alias.name}", origin) for alias in node.names)
        elif isinstance(node, ast.If) and ast.unparse(node.test).rpartition(".")[2] == "TYPE_CHECKING":
            yield from _imports(ast.Module(body=node.orelse, type_ignores=[]), package)
        elif isinstance(node, ast.stmt | ast.excepthandler | ast.match_case):
            yield from _imports(node, package)
