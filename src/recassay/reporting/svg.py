"""A chart's SVG made fit to stand inside a page: no colliding ids, little weight, values for hover and highlighting.

Vega describes every mark in an `aria-label` (`algorithm: EASE; rank: 1; ...`). Here that description moves to
`data-tip`, and marks of a known name get its number as `data-n`; the script of the page needs nothing else. The picture
as a whole becomes one image with a text alternative, so that nobody has to listen to a thousand marks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from recassay.reporting.markup import Markup

_KEPT_CLASSES = ("mark-line", "role-axis", "role-axis-label", "role-axis-title", "role-legend-label")
_DROPPED = {
    "role", "aria-roledescription", "aria-hidden", "aria-label", "font-family", "pointer-events", "version", "width",
    "height",
}  # fmt: skip
_IDLE = {("opacity", "1"), ("stroke-dasharray", "1,0"), ("stroke-miterlimit", "10"), ("text-anchor", "start")}
_NUMBERS = {"d", "transform", "x", "y", "x1", "x2", "y1", "y2", "width", "height", "font-size"}
_LONG_NUMBER = re.compile(r"-?\d+\.\d{2,}")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def inline_svg(svg: str, identifier: str, description: str, names: Sequence[str]) -> Markup:
    """The SVG of a chart as part of a page.

    `identifier` goes before every id in it, `description` is its text alternative, and marks that belong to one of
    `names` carry its position.
    """
    root = ElementTree.fromstring(_CONTROL.sub("", svg))
    labels = {name: number for number, name in enumerate(names)}
    by_value = {f": {name};": number for number, name in enumerate(names)}
    width = root.get("width", "600")
    tips: set[str] = set()
    for element in list(root.iter()):
        _slim(element, identifier)
        _describe(element, labels, by_value, tips)
        _drop_empty(element)
    root.set("class", "chart")
    root.set("role", "img")
    root.set("aria-label", description)
    root.set("style", f"max-width:{width}px;min-width:min({width}px,36rem)")
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def _slim(element: ElementTree.Element, identifier: str) -> None:
    element.tag = element.tag.rpartition("}")[2]
    element.tail = None
    spoken = element.get("aria-label")
    kept = {}
    for key, value in element.attrib.items():
        name = key.rpartition("}")[2]
        sized = element.tag in ("rect", "image") and name in ("width", "height")
        if (name in _DROPPED and not sized) or (name, value) in _IDLE:
            continue
        if name in _NUMBERS:
            value = _LONG_NUMBER.sub(_rounded, value)
        elif name == "class":
            value = " ".join(c for c in value.split() if c in _KEPT_CLASSES)
            if not value:
                continue
        elif name == "id":
            value = f"{identifier}-{value}"
        elif name == "href":
            value = value.replace("#", f"#{identifier}-")
        elif "url(#" in value:
            value = value.replace("url(#", f"url(#{identifier}-")
        kept[name] = value
    element.attrib.clear()
    element.attrib.update(kept)
    if spoken is not None and ": " in spoken and element.tag in ("path", "text", "line", "rect", "image"):
        element.set("data-tip", spoken)


def _describe(element: ElementTree.Element, labels: dict[str, int], by_value: dict[str, int], tips: set[str]) -> None:
    spoken = element.attrib.pop("data-tip", None)
    if spoken is not None:
        number = next((n for value, n in by_value.items() if value in f"{spoken};"), None)
        if number is not None:
            element.set("data-n", str(number))
        tip = _tip(spoken)
        if element.tag == "text" and tip in tips:
            element.set("pointer-events", "none")
        elif tip:
            tips.add(tip)
            element.set("data-tip", tip)
    if element.tag == "text" and element.text and "data-n" not in element.attrib:
        words = [element.text.strip(), *map(str.strip, element.text.split("  "))]
        number = next((n for n in (_named(word, labels) for word in words) if n is not None), None)
        if number is not None:
            element.set("data-n", str(number))


def _named(word: str, labels: dict[str, int]) -> int | None:
    """The number of the name that a label shows, whole or cut off by an ellipsis."""
    if word.endswith("…") and len(word) > 8:
        return next((number for name, number in labels.items() if name.startswith(word[:-1])), None)
    return labels.get(word)


def _tip(spoken: str) -> str:
    """`key: value` lines, numbers at four digits, a number told twice told once."""
    lines: dict[str, None] = {}
    values: set[str] = set()
    for part in spoken.split("; "):
        key, colon, value = part.partition(": ")
        if not colon:
            lines[part] = None
            continue
        number = _number(value)
        shown = value if number is None else f"{number:.4g}"
        if "." in value and shown in values:
            continue
        values.add(shown)
        lines[f"{key.replace('_', ' ')}: {shown}"] = None
    return "\n".join(lines)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _rounded(found: re.Match[str]) -> str:
    return f"{float(found[0]):.1f}".removesuffix(".0")


def _drop_empty(element: ElementTree.Element) -> None:
    """Leave out what is never seen: hidden paths and frames without paint."""
    for child in list(element):
        unpainted = child.tag.endswith("path") and not {"fill", "stroke"} & child.attrib.keys()
        if child.get("display") == "none" or (unpainted and "background" in child.get("class", "")):
            element.remove(child)
