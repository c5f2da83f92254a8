"""Names from outside at the door of the renderer: what would make it stop the whole process goes in escaped."""

from __future__ import annotations

from typing import Any

from recassay.core.printable import printable

_INHERITED = frozenset(
    {"constructor", "toString", "toLocaleString", "valueOf", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable",
     "__proto__", "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__"}
)  # fmt: skip
"""Names that every JavaScript object has already, so that none can be looked up by them."""

_JOINER = "\u2060"
"""Takes no place and joins: a name with it looks the same and is another."""


def drawable(spec: Any) -> Any:
    """A chart's specification with every text printable, on one line, and none that means something to JavaScript."""
    if isinstance(spec, dict):
        return {_text(key): drawable(value) for key, value in spec.items()}
    if isinstance(spec, (list, tuple)):
        return [drawable(value) for value in spec]
    return _text(spec) if isinstance(spec, str) else spec


def _text(text: str) -> str:
    if text in _INHERITED:
        return text + _JOINER
    return printable(text).replace("\n", "\\n").replace("\t", " ")
