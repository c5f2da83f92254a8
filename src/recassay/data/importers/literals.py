"""Dictionaries as Python prints them: `OrderedDict([('ndcg@10', np.float64(0.1))])`, read without running anything."""

from __future__ import annotations

import ast
import math
import re
from typing import Any

MOST_CHARACTERS = 2_000_000
MOST_LITERALS = 200
_SPECIAL = re.compile(r"(?<![\w.'\"])(-?(?:nan|inf|NaN|Infinity|null)|true|false)(?![\w'\"])")
"""What Python prints, or JSON writes, that is not a literal of Python: truth values, and what counts as None."""


def read_literal(text: str) -> Any:
    """The value of a printed Python literal, or None where it is something else.

    Calls that only wrap a literal (numpy scalars, tensors, ordered and default dictionaries) are unwrapped; nan and inf
    are None. Everything else that is not a literal makes the whole text none.
    """
    if len(text) > MOST_CHARACTERS:
        return None
    try:
        tree = ast.parse(_prepared(text), mode="eval")
        return _value(tree.body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def literals_in(text: str) -> list[Any]:
    """The dictionaries that stand in a text, in order."""
    dictionaries: list[Any] = []
    at, budget = 0, 1_000_000 + 4 * len(text)  # characters looked at, however the brackets are nested
    while len(dictionaries) < MOST_LITERALS and budget > 0:
        begun = re.compile(r"OrderedDict\(\[|OrderedDict\(\{|\{").search(text, at)
        if begun is None:
            break
        end = _closing(text, begun.start() if text[begun.start()] == "{" else text.index("(", begun.start()))
        budget -= (end or min(len(text), begun.start() + MOST_CHARACTERS)) - begun.start()
        value = read_literal(text[begun.start() : end]) if end else None
        if isinstance(value, dict) and value:
            dictionaries.append(value)
            at = end or begun.end()
        else:
            at = begun.end()
    return dictionaries


def _prepared(text: str) -> str:
    bare = text.strip()
    bare = re.sub(r",\s*device='[^']*'|,\s*dtype=[\w.]+|,\s*grad_fn=<[^>]*>|<class '[^']*'>,\s*", "", bare)
    return _SPECIAL.sub(lambda match: {"true": "True", "false": "False"}.get(match[1], "None"), bare)


def _closing(text: str, at: int) -> int | None:
    """One past the bracket that closes the one at `at`; quotes are respected."""
    pairs = {"{": "}", "(": ")", "[": "]"}
    stack: list[str] = []
    quote = ""
    for i in range(at, min(len(text), at + MOST_CHARACTERS)):
        letter = text[i]
        if quote:
            quote = "" if letter == quote and text[i - 1] != "\\" else quote
        elif letter in "'\"":
            quote = letter
        elif letter in pairs:
            stack.append(pairs[letter])
        elif stack and letter == stack[-1]:
            stack.pop()
            if not stack:
                return i + 1
    return None


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=value):
            return None if isinstance(value, float) and not math.isfinite(value) else value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _value(operand)
            return -inner if isinstance(inner, (int, float)) else None
        case ast.Dict(keys=keys, values=values):
            return {_key(_value(k)): _value(v) for k, v in zip(keys, values, strict=True) if k is not None}
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
            return [_value(part) for part in parts]
        case ast.Call(func=function, args=[argument, *_]):
            return _called(function, _value(argument))
        case ast.Call(func=ast.Name(id="dict" | "OrderedDict"), args=[], keywords=pairs):
            return {pair.arg: _value(pair.value) for pair in pairs if pair.arg}
    raise ValueError("no literal")


def _called(function: ast.expr, inner: Any) -> Any:
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name in ("OrderedDict", "defaultdict", "dict") and isinstance(inner, list):
        return {_key(pair[0]): pair[1] for pair in inner if isinstance(pair, list) and len(pair) == 2}
    if re.fullmatch(r"OrderedDict|defaultdict|dict|(?:float|int|uint)\d*_?|tensor|array|bool_?|str_?", name):
        return inner
    raise ValueError("no literal")


def _key(value: Any) -> Any:
    return value if isinstance(value, (str, int, float, bool)) else str(value)
