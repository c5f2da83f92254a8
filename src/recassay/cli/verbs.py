"""What a verb says of itself, read from its text: parameters, annotations, defaults and the `Args:` section.

A command is derived from this. The text is read and not the function imported, because importing a verb loads what it
computes with (about a second), and help, completion and complaints about options need none of that.
"""

from __future__ import annotations

import ast
import builtins
import re
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from inspect import cleandoc
from pathlib import Path
from typing import Any

from recassay.api import inputs
from recassay.core import choices

_KNOWN = {
    **vars(builtins),
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


_TOLD = (ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.Subscript, ast.BinOp, ast.Name)
"""The values that are read where a module assigns them to a name: constants, what holds them, and types."""


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
    """None where there is none; an `Other` where it is made of classes that the text does not tell."""
    help: str
    required: bool = False


@cache
def read_verb(place: str) -> tuple[Parameter, ...]:
    """The parameters of a function, such as `recassay.api.rank:rank`."""
    module, _, name = place.partition(":")
    function = _definition(module, name)
    if not isinstance(function, ast.FunctionDef):
        raise TypeError(f"{place} is not a function")
    texts = described(ast.get_docstring(function) or "")
    positional, keywords = function.args.args, function.args.kwonlyargs
    defaults = [None] * (len(positional) - len(function.args.defaults)) + list(function.args.defaults)
    return tuple(
        Parameter(
            argument.arg,
            Any if argument.annotation is None else _evaluated(module, argument.annotation),
            None if default is None else _evaluated(module, default),
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
            _evaluated(module, line.annotation),
            None if line.value is None else _evaluated(module, line.value),
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
    """Names as a module uses them: known ones, those that it assigns or imports from us, and `Other` for the rest."""

    def __init__(self, module: str) -> None:
        super().__init__(_KNOWN)
        self.module = module

    def __missing__(self, name: str) -> Any:
        for line in _tree(self.module).body:
            if isinstance(line, (ast.Assign, ast.AnnAssign)) and isinstance(line.value, _TOLD):
                targets = line.targets if isinstance(line, ast.Assign) else [line.target]
                if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                    return _evaluated(self.module, line.value)
            if isinstance(line, ast.ImportFrom) and line.module and line.module.startswith("recassay"):
                for imported in line.names:
                    if name == (imported.asname or imported.name):
                        return _Names(line.module)[imported.name]
        return type(name, (Other,), {})


def _evaluated(module: str, expression: ast.expr) -> Any:
    """What an annotation or a default is."""
    return eval(compile(ast.Expression(expression), module, "eval"), {}, _Names(module))  # noqa: S307
