"""What prose names exists: every path and module of ours in the documentation, docstrings and comments."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from support.places import ROOT

SOURCE = ROOT / "src" / "recassay"
ROOMS = sorted(place.name for place in SOURCE.iterdir() if (place / "__init__.py").is_file())
PATH = re.compile(rf"(?:(?:src/recassay|{'|'.join(ROOMS)}|docs|tests|benchmarks|release)/[\w./*-]+)")
MODULE = re.compile(r"[a-z_]\w*(?:\.\w+)+")
FILES = {"json", "html", "csv", "pyi", "py", "js", "toml", "md"}
ELSEWHERE = {"analysis.list_metrics", "mlflow.search_runs", "tests/figures/critical_difference.pdf"}
"""Names of other projects that look like ours."""
PLACEHOLDERS = re.compile(r"NAME|WORD|\bX\b|\.\.\.|\*")
KEYS = {"protocol", "data", "metrics", "store"}
"""Rooms that are also tables of a study file or fields: `protocol.split` is such a key unless it names a module."""


@cache
def defined(module: Path) -> frozenset[str]:
    """The names that a module defines or imports, its classes' members with them."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute):
            names.add(node.attr)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).split(".")[0])
    return frozenset(names)


def resolves(parts: list[str], start: Path) -> bool | None:
    """Whether `parts` lead from a folder to a module and to names in it; None where not even the first step exists."""
    place = start
    for position, part in enumerate(parts):
        if (place / part).is_dir():
            place = place / part
            continue
        module = place / f"{part}.py"
        rest = parts[position + 1 :]
        if not module.is_file():
            module, rest = place / "__init__.py", parts[position:]
            if place == start or not module.is_file():
                return None if position == 0 else False
        return all(name in defined(module) for name in rest)
    return True


def path_exists(name: str, beside: Path) -> bool:
    name = name.rstrip("/.")
    starts = [ROOT, SOURCE, ROOT / "src", beside, *beside.parents]
    return any((start / name).exists() for start in starts)


def module_exists(name: str, beside: Path) -> bool:
    parts = name.split(".")
    if parts[-1] in FILES:
        return True
    if parts[0] == "recassay":
        return resolves(parts[1:], SOURCE) is not False and (len(parts) > 2 or parts[1] in public_names())
    if parts[0] in ROOMS:
        return parts[0] in KEYS or resolves(parts, SOURCE) is True
    if (beside / f"{parts[0]}.py").is_file():
        return resolves(parts, beside) is True
    return True


@cache
def public_names() -> frozenset[str]:
    groups = re.findall(r'"recassay\.(\w+)"\)', (SOURCE / "core" / "registry.py").read_text())
    return frozenset([*re.findall(r"\w+", (SOURCE / "__init__.pyi").read_text()), *ROOMS, *groups])


def prose(file: Path) -> Iterator[tuple[int, str]]:
    """(line, text) of what people read in a file: all of a page; docstrings and comments of a module."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".md":
        yield 1, re.sub(r"^```.*?^```", lambda block: "\n" * block[0].count("\n"), text, flags=re.S | re.M)
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def stale(file: Path) -> Iterator[str]:
    for first, text in prose(file):
        for quoted in re.finditer(r"(?<!`)`([^`\n]+)`(?!`)", text):
            name = quoted[1].split(":")[0].split("(")[0].strip()
            if name in ELSEWHERE or PLACEHOLDERS.search(name):
                continue
            line = first + text.count("\n", 0, quoted.start())
            if PATH.fullmatch(name):
                sound = path_exists(name, file.parent)
            elif MODULE.fullmatch(name):
                sound = module_exists(name, file.parent)
            else:
                continue
            if not sound:
                yield f"{file.relative_to(ROOT)}:{line}: `{name}`"


PAGES = [*sorted((ROOT / "docs").glob("*.md")), *sorted(ROOT.glob("*.md"))]


@pytest.mark.parametrize("room", ["pages", *ROOMS])
def test_every_path_and_module_that_prose_names_exists(room: str) -> None:
    files = (
        [page for page in PAGES if page.name != "CHANGELOG.md"] if room == "pages" else (SOURCE / room).rglob("*.py")
    )
    assert [found for file in sorted(files) for found in stale(file)] == []


def test_a_stale_reference_is_noticed() -> None:
    beside = ROOT / "docs"
    assert not module_exists("core.results.Results.matrix", beside)
    assert module_exists("core.tables.results.Results.matrix", beside)
    assert not path_exists("data/tables/results.py", beside)
    assert path_exists("core/tables/results.py", beside)
