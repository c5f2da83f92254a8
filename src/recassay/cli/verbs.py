"""What a verb says of itself, read from its text: parameters, annotations, defaults and the `Args:` section.

A command is derived from this. The text is read and not the function imported, because importing a verb loads what it
computes with (about a second), and help, completion and complaints about options need none of that.
"""

from __future__ import annotations

import ast
import re
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from inspect import cleandoc
from pathlib import Path
from typing import Any

from recassay.api import inputs
from recassay.core import choices

UNKNOWN: Any = object()
"""The default of a parameter that has none, or whose text alone does not tell it."""

_KNOWN = {
    **vars(typing),
    **vars(choices),
    **vars(inputs),
    "Field": lambda ge=None, le=None, **others: choices.Range(ge, le),  # as pydantic states limits
    "Callable": Callable,
    "Iterable": Iterable,
    "Mapping": Mapping,
    "Path": Path,
    "Sequence": Sequence,
}


class Other:
    """Stands for a class that a text names and that nobody needs to know here."""

    def __init__(self, *values: Any, **named: Any) -> None:
        pass


@dataclass(frozen=True)
class Parameter:
    """One parameter of a verb, or one field of a specification."""

    name: str
    kind: Any
    """Its annotation; a class that the text does not tell is an `Other` of that name."""
    default: Any
    help: str
    required: bool = False


@cache
def read_verb(place: str) -> tuple[Parameter, ...]:
    """The parameters of a function, such as `recassay.api.rank:rank`."""
    module, _, name = place.partition(":")
    function = _definition(module, name)
    if not isinstance(function, ast.FunctionDef):
        raise TypeError(f"{place} is no function")
    texts = described(ast.get_docstring(function) or "")
    positional, keywords = function.args.args, function.args.kwonlyargs
    defaults = [None] * (len(positional) - len(function.args.defaults)) + list(function.args.defaults)
    return tuple(
        Parameter(
            argument.arg,
            _kind(module, argument.annotation),
            _value(module, default),
            texts.get(argument.arg, ""),
            required=default is None,
        )
        for argument, default in zip([*positional, *keywords], [*defaults, *function.args.kw_defaults], strict=True)
    )


@cache
def read_fields(place: str) -> tuple[Parameter, ...]:
    """The fields of a class, such as `recassay.core.specs.specs:ReadSpec`, each with the text below it."""
    module, _, name = place.partition(":")
    lines = _definition(module, name).body
    return tuple(
        Parameter(
            line.target.id,
            _kind(module, line.annotation),
            _value(module, line.value),
            " ".join(_text(after).split()),
        )
        for line, after in zip(lines, [*lines[1:], None], strict=True)
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name)
    )


def described(docstring: str) -> dict[str, str]:
    """By parameter, what the `Args:` section of a docstring says."""
    texts: dict[str, str] = {}
    name = ""
    for line in cleandoc(docstring).partition("Args:\n")[2].splitlines():
        start = re.match(r" {4}(\w+): (.*)", line)
        if start:
            name, texts[start[1]] = start[1], start[2]
        elif line.startswith("        ") and name:
            texts[name] += f" {line.strip()}"
        elif line.strip():
            break
    return texts


def function_of(place: str) -> Callable[..., Any]:
    """The function itself, imported now."""
    from importlib import import_module

    module, _, name = place.partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function


@cache
def _tree(module: str) -> ast.Module:
    spec = find_spec(module)
    source = spec.loader.get_source(module) if spec and spec.loader else None  # type: ignore[attr-defined]
    if source is None:
        raise ImportError(f"the text of {module} is not there")
    return ast.parse(source)


def _definition(module: str, name: str) -> ast.FunctionDef | ast.ClassDef:
    for line in _tree(module).body:
        if isinstance(line, (ast.FunctionDef, ast.ClassDef)) and line.name == name:
            return line
    raise AttributeError(f"{module} has no {name}")


def _text(line: ast.stmt | None) -> str:
    """The text of a line that is nothing but a text."""
    if isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant) and isinstance(line.value.value, str):
        return line.value.value
    return ""


class _Names(dict[str, Any]):
    """Names as a module's annotations use them: known ones, those it assigns, and `Other` for the rest."""

    def __init__(self, module: str) -> None:
        self.module = module

    def __missing__(self, name: str) -> Any:
        if name in _KNOWN:
            return _KNOWN[name]
        if name in __builtins__:  # type: ignore[operator]
            return __builtins__[name]  # type: ignore[index]
        assigned = _value(self.module, ast.Name(name))
        return type(name, (Other,), {}) if assigned is UNKNOWN else assigned


def _kind(module: str, annotation: ast.expr | None) -> Any:
    return Any if annotation is None else eval(compile(ast.Expression(annotation), module, "eval"), {}, _Names(module))  # noqa: S307


def _value(module: str, expression: ast.expr | None) -> Any:
    """What a default is, where the text tells it: a constant, or a name that is assigned one here or where it is
    imported from."""
    if expression is None:
        return UNKNOWN
    if isinstance(expression, ast.Name):
        return _assigned(module, expression.id)
    if isinstance(expression, ast.Call) and expression.args:  # Path("name")
        return _value(module, expression.args[0])
    try:
        return ast.literal_eval(expression)
    except ValueError:
        return UNKNOWN


def _assigned(module: str, name: str) -> Any:
    for line in _tree(module).body:
        if name in _targets(line):
            value = line.value  # type: ignore[attr-defined]
            return _kind(module, value) if isinstance(value, ast.Subscript) else _value(module, value)
        if isinstance(line, ast.ImportFrom) and line.module and line.module.startswith("recassay"):
            for imported in line.names:
                if name == (imported.asname or imported.name):
                    return _assigned(line.module, imported.name)
    return UNKNOWN


def _targets(line: ast.stmt) -> Iterator[str]:
    targets = line.targets if isinstance(line, ast.Assign) else [line.target] if isinstance(line, ast.AnnAssign) else []
    return (target.id for target in targets if isinstance(target, ast.Name))
