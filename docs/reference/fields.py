"""What classes say of their fields: docstrings below fields stand in the source alone, so they are read there."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple


class Field(NamedTuple):
    """A field as its class writes it; `meaning` is the docstring below it, empty where it has none."""

    name: str
    kind: str
    meaning: str


@cache
def fields_of(kind: type[Any]) -> tuple[Field, ...]:
    """The public fields of a dataclass or a model, in their order; none of any other class."""
    names = _names(kind)
    found: dict[str, Field] = {}
    for part in reversed([one for one in kind.__mro__ if names and one.__module__.startswith("recassay")]):
        for statement, below in _statements(part):
            if isinstance(statement, ast.AnnAssign) and ast.unparse(statement.target) in names:
                name = ast.unparse(statement.target)
                found[name] = Field(name, _bare(statement.annotation), _text(below))
    return tuple(found[name] for name in names)


def _names(kind: type[Any]) -> list[str]:
    if dataclasses.is_dataclass(kind):
        return [field.name for field in dataclasses.fields(kind) if not field.name.startswith("_")]
    return list(getattr(kind, "model_fields", ()))


def _statements(kind: type[Any]) -> Iterator[tuple[ast.stmt, ast.stmt | None]]:
    """The statements of a class, each with the one below it."""
    tree = _parsed(kind.__module__).body
    body = next(one.body for one in tree if isinstance(one, ast.ClassDef) and one.name == kind.__name__)
    yield from zip(body, [*body[1:], None], strict=True)


@cache
def _parsed(module: str) -> ast.Module:
    return ast.parse(inspect.getsource(sys.modules[module]))


def _text(below: ast.stmt | None) -> str:
    said = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) and below.value.value
    return " ".join(said.split()) if isinstance(said, str) else ""


def _bare(annotation: ast.expr) -> str:
    """An annotation without what `Annotated` adds to it."""
    if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) == "Annotated":
        assert isinstance(annotation.slice, ast.Tuple)
        return _bare(annotation.slice.elts[0])
    return ast.unparse(annotation)


@cache
def named(module: str, word: str) -> Any:
    """What a word of an annotation means in a module; None where it means nothing there.

    What a module imports for annotations alone is imported here.
    """
    if hasattr(sys.modules[module], word):
        return getattr(sys.modules[module], word)
    for statement in ast.walk(_parsed(module)):
        if isinstance(statement, ast.ImportFrom) and word in [one.asname or one.name for one in statement.names]:
            return getattr(importlib.import_module(str(statement.module)), word, None)
    return None


def classes_in(module: str, annotation: str) -> Iterator[type[Any]]:
    """The classes of RecAssay that an annotation names, from left to right."""
    for word in re.findall(r"\w+", annotation):
        meant = named(module, word)
        if inspect.isclass(meant) and meant.__module__.startswith("recassay."):
            yield meant


def returned_by(function: Callable[..., Any]) -> list[type[Any]]:
    """The classes of RecAssay that a function says it returns."""
    return list(classes_in(function.__module__, str(function.__annotations__.get("return", ""))))


def parts_of(kinds: Iterable[type[Any]]) -> list[type[Any]]:
    """The classes that fields of these hold, and those that theirs hold, without these themselves."""
    given = list(kinds)
    found: dict[type[Any], None] = {}
    waiting = list(given)
    while waiting:
        kind = waiting.pop(0)
        for field in fields_of(kind):
            for inner in classes_in(kind.__module__, field.kind):
                if inner not in found and inner not in given and fields_of(inner):
                    found[inner] = None
                    waiting.append(inner)
    return list(found)
