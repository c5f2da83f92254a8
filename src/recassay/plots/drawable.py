"""Names from outside at the door of the renderer: what would make it stop the whole process goes in escaped."""

from __future__ import annotations

import re
from typing import Any

from recassay.core.system.printable import UNPRINTABLE

_INHERITED = frozenset(
    {"constructor", "toString", "toLocaleString", "valueOf", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable",
     "__proto__", "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__"}
)  # fmt: skip
"""Names that every JavaScript object has already, so that none can be looked up by them."""

_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})")
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
    shown = _ESCAPED.sub(_unescaped, text) if "\\" in text else text
    return UNPRINTABLE.sub(_code, shown).replace("\n", "↵").replace("\t", " ")


def _code(found: re.Match[str]) -> str:
    """A code without a backslash: inside an expression the renderer would take it for the character again."""
    return f"<U+{ord(found[0]):04X}>"


def _unescaped(found: re.Match[str]) -> str:
    """The same for a character that is escaped already, as names in expressions are."""
    number = int(found[1] or found[2], 16)
    if 0xD800 <= number <= 0xDFFF or not UNPRINTABLE.match(chr(number)):
        return found[0]
    return f"<U+{number:04X}>"
