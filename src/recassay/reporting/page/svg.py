"""A chart's SVG made fit to stand inside a page: no colliding ids, little weight, one image with a text alternative.

What Vega says of every mark (`algorithm: EASE; rank: 1; ...`) becomes data for hover and highlighting; screen readers
skip the single marks. A group of marks carries the names of its values once (`data-keys="algorithm|rank"`), each mark
its values (`data-v="#3|1"`, `#3` for the fourth known name), and a mark that belongs to a known name its number
(`data-n="3"`; the first in the list of names where it belongs to several).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from recassay.plots.theme import FAINT, GRID, INK
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


MARKS = ("path", "text", "line", "rect", "image")
LAYOUT = ("shown", "label", "edge")
"""Columns that charts carry for their own drawing."""


def note_values(root: ElementTree.Element, names: Sequence[str]) -> None:
    """Turn the `aria-label` of every mark into `data-v` and `data-n`, and that of everything else into nothing."""
    numbers = {name: number for number, name in enumerate(names)}
    seen: set[tuple[str, str]] = set()
    for group in root.iter():
        spoken = {}
        for child in group:
            label = child.attrib.pop("aria-label", None)
            if label is not None and child.tag in MARKS and ": " in label:
                spoken[child] = _parts(label, names)
        if spoken:
            _write(group, spoken, numbers, seen)
    for text in root.iter("text"):
        if text.text and "data-n" not in text.attrib:
            words = (text.text.strip(), *map(str.strip, text.text.split("  ")))
            number = next((n for n in (_named(word, numbers) for word in words) if n is not None), None)
            if number is not None:
                text.set("data-n", str(number))


def _write(
    group: ElementTree.Element,
    spoken: dict[ElementTree.Element, list[tuple[str, str]]],
    numbers: dict[str, int],
    seen: set[tuple[str, str]],
) -> None:
    keys = [key for key, _ in next(iter(spoken.values()))]
    for mark, parts in list(spoken.items()):
        number = min((numbers[value] for _, value in parts if value in numbers), default=None)
        if number is not None:
            mark.set("data-n", str(number))
        if [key for key, _ in parts] != keys:
            del spoken[mark]
    columns = [[value for _, value in column] for column in zip(*spoken.values(), strict=True)]
    kept = [
        i
        for i, column in enumerate(columns)
        if keys[i] not in LAYOUT and column not in columns[:i] and any(value not in ("null", "") for value in column)
    ]
    shown = "|".join(_plain(keys[i].replace("_", " ")) for i in kept)
    group.set("data-keys", shown)
    for mark, parts in spoken.items():
        values = "|".join(_value(parts[i][1], numbers) for i in kept)
        if mark.tag == "text" and (shown, values) in seen:
            mark.set("pointer-events", "none")
        else:
            mark.set("data-v", values)
            seen.add((shown, values))


def _parts(label: str, names: Sequence[str]) -> list[tuple[str, str]]:
    """`key: value` pairs of Vega's description; a known name that itself holds `; ` stays whole."""
    whole = {name: name.replace("; ", "\0") for name in names if "; " in name}
    for name, joined in whole.items():
        label = label.replace(f": {name}", f": {joined}")
    pairs = [part.partition(": ") for part in label.split("; ")]
    return [(key, value.replace("\0", "; ")) for key, _, value in pairs]


def _value(value: str, numbers: dict[str, int]) -> str:
    if value in numbers:
        return f"#{numbers[value]}"
    if value == "null":
        return ""
    share = value.endswith("%")
    try:
        number = float(value.removesuffix("%"))
    except ValueError:
        return _plain(value)
    return f"{number:.3g}%" if share else f"{number:.4g}"


def _plain(text: str) -> str:
    return text.replace("|", "¦").replace("#", "＃")


def _named(word: str, numbers: dict[str, int]) -> int | None:
    """The number of the name that a label shows, whole or cut off by an ellipsis."""
    if word.endswith("…") and len(word) > 8:
        return next((number for name, number in numbers.items() if name.startswith(word[:-1])), None)
    return numbers.get(word)
