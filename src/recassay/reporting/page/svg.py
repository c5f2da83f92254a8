"""A chart's SVG made fit to stand inside a page: no colliding ids, little weight, one image with a text alternative.

The data of every mark (`drawing.MARKED`) are for hover and highlighting; screen readers skip the single marks. A group
of marks carries the names of its values once (`data-keys="algorithm|rank"`), each mark its values (`data-v="#3|1"`,
`#3` for the fourth known name), and a mark that belongs to a known name its number (`data-n="3"`; the first in the list
of names where it belongs to several). Labels of axes and legends are matched by their text: Vega gives them no data.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from recassay.plots.theme import FAINT, GRID, INK
from recassay.reporting.drawing import IS, NEXT
from recassay.reporting.markup import Markup

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
            value = _LONG_NUMBER.sub(lambda number: f"{float(number[0]):.1f}".removesuffix(".0"), value)
        elif name in ("fill", "stroke"):
            value = _RGB.sub(lambda rgb: "#" + "".join(f"{int(part):02x}" for part in rgb.groups()), value)
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
        kept[name] = value if name == "aria-label" else value.replace("url(#", f"url(#{identifier}-")
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


def note_values(root: ElementTree.Element, names: Sequence[str]) -> None:
    """Turn the data of every mark into `data-v` and `data-n`, and descriptions of everything else into nothing."""
    numbers = {name: number for number, name in enumerate(names)}
    seen: set[tuple[str, str]] = set()
    for group in root.iter():
        marks = {}
        for child in group:
            label = child.attrib.pop("aria-label", "")
            if IS in label:
                marks[child] = dict(part.split(IS) for part in label.split(NEXT))
        if marks:
            _write(group, marks, numbers, seen)
    for text in root.iter("text"):
        if text.text and "data-n" not in text.attrib:
            words = (text.text.strip(), *map(str.strip, text.text.split("  ")))
            number = next((n for n in (_named(word, numbers) for word in words) if n is not None), None)
            if number is not None:
                text.set("data-n", str(number))


def _write(
    group: ElementTree.Element,
    marks: dict[ElementTree.Element, dict[str, str]],
    numbers: dict[str, int],
    seen: set[tuple[str, str]],
) -> None:
    """The data of the marks of one group; all of them have the same columns."""
    kept = [key for key in next(iter(marks.values())) if any(data.get(key) for data in marks.values())]
    shown = "|".join(map(_plain, kept))
    group.set("data-keys", shown)
    for mark, data in marks.items():
        number = min((numbers[value] for value in data.values() if value in numbers), default=None)
        if number is not None:
            mark.set("data-n", str(number))
        cells = [data.get(key, "") for key in kept]
        values = "|".join(f"#{numbers[cell]}" if cell in numbers else _plain(cell) for cell in cells)
        if mark.tag == "text" and (shown, values) in seen:
            mark.set("pointer-events", "none")
        else:
            mark.set("data-v", values)
            seen.add((shown, values))


def _plain(text: str) -> str:
    return text.replace("|", "¦").replace("#", "＃")


def _named(word: str, numbers: dict[str, int]) -> int | None:
    """The number of the name that a label shows, whole or cut off by an ellipsis."""
    if word.endswith("…") and len(word) > 8:
        return next((number for name, number in numbers.items() if name.startswith(word[:-1])), None)
    return numbers.get(word)
