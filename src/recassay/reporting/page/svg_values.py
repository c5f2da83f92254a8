"""The values behind the marks of a chart, as compact data for hover and highlighting.

A group of marks carries the names of its values once (`data-keys="algorithm|rank"`), each mark its values
(`data-v="#3|1"`, `#3` for the fourth known name), and a mark that belongs to a known name its number
(`data-n="3"`; the first in the list of names where it belongs to several).
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

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
