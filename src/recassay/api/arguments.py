"""Arguments of the verbs, held against their annotations: a wrong kind is one line that names the argument.

Numbers, texts, truth values, choices, paths, lists and mappings are distinguished; of other kinds (tables, results) the
function itself knows more. An `int` is a `float`; a truth value is neither, and NaN and infinity are not numbers here.
"""

from __future__ import annotations

import builtins
import os
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from functools import cache, wraps
from inspect import signature
from typing import Annotated, Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from recassay.core.choices import Range
from recassay.core.errors import UsageError
from recassay.core.system.blas import one_blas_thread
from recassay.core.system.printable import one_line
from recassay.core.words import listing

_Arguments = ParamSpec("_Arguments")
_Answer = TypeVar("_Answer")
_PLAIN: Mapping[Any, tuple[tuple[type, ...], str]] = {
    float: ((int, float, np.integer, np.floating), "a number"),
    int: ((int, np.integer), "a whole number"),
    str: ((str,), "a text"),
    bool: ((bool, np.bool_), "True or False"),
    types.NoneType: ((types.NoneType,), "None"),
}
_CONTAINERS: Mapping[Any, tuple[type, str]] = {
    os.PathLike: (os.PathLike, "a path"),
    Mapping: (Mapping, "a mapping"),
    Sequence: (Iterable, "a list"),
    Iterable: (Iterable, "a list"),
    Callable: (Callable, "a function"),  # type: ignore[dict-item]
}


def checked(function: Callable[_Arguments, _Answer]) -> Callable[_Arguments, _Answer]:
    """The function, which refuses arguments of another kind than its annotations say; one that judges results does
    so with one thread of BLAS."""

    @wraps(function)
    def call(*given: _Arguments.args, **named: _Arguments.kwargs) -> _Answer:
        kinds, stated = _kinds(function), signature(function)
        for name, value in stated.bind(*given, **named).arguments.items():
            if name in kinds and not _fits(value, kinds[name]):
                raise UsageError(f"{name} is {one_line(repr(value), 80)}", fix=f"give {_words(kinds[name])}")
        with one_blas_thread() if "results" in stated.parameters else nullcontext():
            return function(*given, **named)

    return call


class _Known(dict[str, Any]):
    """The names of a module; what only a type checker imports is of any kind."""

    def __missing__(self, name: str) -> Any:
        return getattr(builtins, name, Any)


@cache
def _kinds(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations as far as they are known at run time."""
    return get_type_hints(function, localns=_Known(getattr(function, "__globals__", {})), include_extras=True)


def _fits(value: Any, kind: Any) -> bool:
    origin = _origin(kind)
    if origin is Annotated:
        return _fits(value, get_args(kind)[0]) and all(limits.holds(value) for limits in _limits(kind))
    if origin in (Union, types.UnionType):
        return any(_fits(value, member) for member in get_args(kind))
    if origin is Literal:
        equal = [choice for choice in get_args(kind) if isinstance(value, type(choice)) and value == choice]
        return any(isinstance(value, bool) == isinstance(choice, bool) for choice in equal)
    if origin in _PLAIN:
        fits = isinstance(value, _PLAIN[origin][0]) and (origin is bool or not isinstance(value, bool))
        return fits and (origin is not float or Range().holds(value))
    if origin not in _CONTAINERS:
        return not _is_ours(origin) or isinstance(value, origin)
    if not isinstance(value, _CONTAINERS[origin][0]):
        return False
    if origin in (Sequence, Iterable):
        inner = (get_args(kind) or (Any,))[0]
        listed = value if isinstance(value, (list, tuple)) else ()
        return not isinstance(value, (str, bytes)) and all(_fits(member, inner) for member in listed)
    return True


def _limits(kind: Any) -> list[Range]:
    return [extra for extra in kind.__metadata__ if isinstance(extra, Range)]


def _origin(kind: Any) -> Any:
    """What is left of an annotation without what it holds; every kind of path is a path."""
    origin = get_origin(kind) or kind
    return os.PathLike if isinstance(origin, type) and issubclass(origin, os.PathLike) else origin


def _is_ours(kind: Any) -> bool:
    """Whether a kind is a class of ours, which a value can be held against."""
    ours = isinstance(kind, type) and kind.__module__.startswith("recassay.")
    return ours and not getattr(kind, "_is_protocol", False)


def _words(kind: Any) -> str:
    origin = _origin(kind)
    if origin is Annotated:
        return _words(get_args(kind)[0]) + "".join(limits.words() for limits in _limits(kind))
    if origin in (Union, types.UnionType):
        return listing(dict.fromkeys(map(_words, get_args(kind))), most=None, last="or")
    if origin is Literal:
        return f"one of {listing(map(repr, get_args(kind)), most=None)}"
    if origin in _PLAIN:
        return _PLAIN[origin][1]
    return _CONTAINERS[origin][1] if origin in _CONTAINERS else getattr(origin, "__name__", "another value")


def refuse_no_time(budget: float | None) -> None:
    """Refuse a budget of seconds in which nothing can be done."""
    if budget is not None and not budget > 0:
        raise UsageError(f"budget is {budget}", fix="give seconds above 0, or None for no limit")
