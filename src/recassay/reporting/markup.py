"""HTML by construction: whatever is not `Markup` is text, and text is escaped by one function."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable
from typing import Any, TypeAlias

from recassay.core.system.plain import plain


class Markup(str):
    """Text that is HTML already: made here, or by a template of ours."""

    __slots__ = ()


Child: TypeAlias = "str | int | float | Iterable[Child] | None"

_VOID = frozenset({"br", "col", "hr", "img", "input", "meta"})


def escaped(value: object) -> Markup:
    """Any value as HTML text, fit for content and for quoted attributes; `Markup` stays as it is."""
    return value if isinstance(value, Markup) else Markup(html.escape(str(value), quote=True))


POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'"
"""What a page without scripts may load: nothing."""


def tag(name: str, *children: Child, **attributes: object) -> Markup:
    """An element; children and attribute values are escaped unless they are `Markup`.

    `class_` stands for `class`, other underscores for hyphens; None and False leave an attribute out, True writes its
    bare name.
    """
    written = "".join(
        f" {key}" if value is True else f' {key}="{escaped(value)}"'
        for key, value in ((k.rstrip("_").replace("_", "-"), v) for k, v in attributes.items())
        if value is not None and value is not False
    )
    return Markup(f"<{name}{written}>" + ("" if name in _VOID else f"{joined(children)}</{name}>"))


def fold(summary: Child, *children: Child, **attributes: object) -> Markup:
    """Children behind a line that opens them."""
    return tag("details", tag("summary", summary), *children, **attributes)


def answered(title: Markup, answer: str) -> Child:
    """The line of a fold that says what is inside: its heading, and the answer."""
    return [title, tag("span", answer, class_="answer")]


def joined(children: Iterable[Child]) -> Markup:
    """Children one after the other, nested lists laid flat, None left out."""
    known = (child for child in children if child is not None)
    return Markup("".join(escaped(child) if isinstance(child, (str, int, float)) else joined(child) for child in known))


def data_block(identifier: str, value: Any) -> Markup:
    """Plain data as JSON that a script reads: no character in it can end the element or start another."""
    text = json.dumps(plain(value), allow_nan=False, separators=(",", ":"))
    for character, code in (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026")):
        text = text.replace(character, code)
    return Markup(f'<script type="application/json" id="{escaped(identifier)}">{text}</script>')
