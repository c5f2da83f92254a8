"""A chart's SVG made fit to stand inside a page: no colliding ids, little weight, one image with a text alternative.

What Vega says of every mark (`algorithm: EASE; rank: 1; ...`) becomes data for hover and highlighting (see
`svg_values`); nobody has to listen to a thousand marks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from recassay.plots.theme import FAINT, GRID, INK
from recassay.reporting.markup import Markup
from recassay.reporting.page.svg_values import note_values

_KEPT_CLASSES = ("mark-line", "role-axis", "role-axis-label", "role-axis-title", "role-legend-label")
_DROPPED = {
    "role", "aria-roledescription", "aria-hidden", "font-family", "pointer-events", "version", "width", "height",
}  # fmt: skip
_IDLE = {("opacity", "1"), ("stroke-dasharray", "1,0"), ("stroke-miterlimit", "10"), ("text-anchor", "start")}
_NUMBERS = {"d", "transform", "x", "y", "x1", "x2", "y1", "y2", "width", "height", "font-size"}
_THEME = {
    ("fill", INK): "currentColor", ("stroke", INK): "currentColor",
    ("fill", FAINT): "var(--soft)", ("stroke", FAINT): "var(--soft)",
    ("stroke", GRID): "var(--line)", ("stroke", "#eef0f2"): "var(--line)", ("stroke", "#ddd"): "var(--line)",
    ("stroke", "white"): "var(--ground)", ("stroke", "#ffffff"): "var(--ground)",
}  # fmt: skip
"""Colours that are the page's own, so that a picture follows it from light to dark; those of data stay as they are."""
_INHERITED = ("fill", "stroke", "stroke-width", "stroke-dasharray", "font-size", "font-weight", "text-anchor")
_LONG_NUMBER = re.compile(r"-?\d+\.\d{2,}")
_RGB = re.compile(r"rgb\((\d+), (\d+), (\d+)\)")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def inline_svg(svg: str, identifier: str, description: str, names: Sequence[str]) -> Markup:
    """The SVG of a chart as part of a page.

    `identifier` goes before every id in it, `description` is its text alternative, and marks that belong to one of
    `names` carry its position as `data-n`.
    """
    root = ElementTree.fromstring(_CONTROL.sub("", svg))
    width = root.get("width", "600")
    _drop_ground(root)
    for element in list(root.iter()):
        _drop_unseen(element)
        _slim(element, identifier)
    note_values(root, names)
    for group in list(root.iter("g")):
        _hoist(group)
    root.set("class", "chart")
    root.set("role", "img")
    root.set("aria-label", description)
    root.set("style", f"max-width:{width}px;min-width:min({width}px,36rem)")
    return Markup(ElementTree.tostring(root, encoding="unicode").replace(" />", "/>"))


def _drop_ground(root: ElementTree.Element) -> None:
    """Leave out the white sheet under the picture: the page is its ground."""
    for child in list(root):
        if child.tag.endswith("rect") and child.get("fill") == "white":
            root.remove(child)


def _drop_unseen(element: ElementTree.Element) -> None:
    """Leave out what is never seen: hidden paths, and frames without paint."""
    for child in list(element):
        unpainted = child.tag.endswith("path") and not {"fill", "stroke"} & child.attrib.keys()
        if child.get("display") == "none" or (unpainted and "background" in child.get("class", "")):
            element.remove(child)


def _slim(element: ElementTree.Element, identifier: str) -> None:
    element.tag = element.tag.rpartition("}")[2]
    element.tail = None
    kept = {}
    for key, value in element.attrib.items():
        name = key.rpartition("}")[2]
        sized = element.tag in ("rect", "image") and name in ("width", "height")
        if (name in _DROPPED and not sized) or (name, value) in _IDLE:
            continue
        if name in _NUMBERS:
            value = _LONG_NUMBER.sub(_rounded, value)
        elif name in ("fill", "stroke"):
            value = _RGB.sub(lambda rgb: "#" + "".join(f"{int(part):02x}" for part in rgb.groups()), value)
            value = value.replace("url(#", f"url(#{identifier}-")
            value = _THEME.get((name, value), value)
            if name == "fill" and value == "white" and element.tag != "text":
                value = "var(--ground)"  # hollow marks
        elif name == "class":
            value = " ".join(c for c in value.split() if c in _KEPT_CLASSES)
            if not value:
                continue
        elif name == "id":
            value = f"{identifier}-{value}"
        elif name == "href":
            value = value.replace("#", f"#{identifier}-")
        elif name != "aria-label" and "url(#" in value:
            value = value.replace("url(#", f"url(#{identifier}-")
        kept[name] = value
    element.attrib.clear()
    element.attrib.update(kept)


def _hoist(group: ElementTree.Element) -> None:
    """What all marks of a group have in common is said once, by the group: these attributes are inherited."""
    marks = list(group)
    if len(marks) < 2 or any(mark.tag == "g" for mark in marks):
        return
    for name in _INHERITED:
        values = {mark.get(name) for mark in marks}
        if len(values) == 1 and None not in values and name not in group.attrib:
            group.set(name, values.pop() or "")
            for mark in marks:
                del mark.attrib[name]


def _rounded(found: re.Match[str]) -> str:
    return f"{float(found[0]):.1f}".removesuffix(".0")
