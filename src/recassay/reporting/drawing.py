"""A chart as files: laid out without a browser, fonts inside; many charts in processes of their own.

The renderer draws one chart at a time in a process, whatever the threads.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from functools import cache
from pathlib import Path
from typing import Any

from recassay.core.choices import FORMATS
from recassay.core.system.aside import Helpers
from recassay.core.system.printable import UNPRINTABLE
from recassay.plots.grammar import quoted, specification

FONTS = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.local/share/fonts", "~/.fonts")
"""Where a Linux system has fonts."""

_LOADING = threading.Lock()


def renderer() -> Any:
    """The module that draws, with its own fonts before those of the system.

    Of two fonts of one name it takes the first that was loaded. It maps a font of the system again for each letter, and
    the system's Liberation Sans may be another version. A FONTCONFIG_FILE that is set already keeps its meaning.
    """
    with _LOADING:
        return _loaded()


@cache
def _loaded() -> Any:
    import vl_convert

    if sys.platform == "linux" and "FONTCONFIG_FILE" not in os.environ:
        os.environ["FONTCONFIG_FILE"] = str(Path(__file__).with_name("templates") / "fonts.conf")
        try:
            for folder in FONTS:
                vl_convert.register_font_directory(os.path.expanduser(folder))
        finally:
            del os.environ["FONTCONFIG_FILE"]
    return vl_convert


_NUMBERED = re.compile(r'( id="|="url\(#)((?:gradient_|clip)\d+)(?=["\)])')


MARKED = "marked"
"""The format for `page/svg.py`: an SVG whose marks carry the names and values of their data, parted by `NEXT` and `IS`.

Vega has one text per mark; in it they are the two invisible characters that no data has (`drawable`).
"""
NEXT, IS = "\u2063", "\u2064"


def draw_spec(spec: dict[str, Any], formats: Sequence[str] = FORMATS) -> dict[str, bytes]:
    """A chart's specification as SVG, PDF (fonts embedded), PNG (two pixels per point) and Vega-Lite JSON, by format.

    No browser is needed. The chart is laid out once, as SVG; PDF and PNG are made of that.
    """
    spec = drawable(spec)
    marked = lay_out(with_data(spec)) if set(formats) - {"json"} else ""
    svg = marked.replace(NEXT, "; ").replace(IS, ": ")
    made = {
        MARKED: lambda: marked.encode(),
        "svg": lambda: svg.encode(),
        "pdf": lambda: as_pdf(svg),
        "png": lambda: bytes(renderer().svg_to_png(svg, scale=2)),
        "json": lambda: json.dumps(spec, indent=1, allow_nan=False).encode(),
    }
    return {form: made[form]() for form in formats}


def with_data(spec: dict[str, Any], above: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The specification with the data of each mark as its description: the columns of its tooltip, then its others.

    `above` are the encodings of the charts around it.
    """
    stated = spec.get("encoding", {})
    if not isinstance(stated, dict):  # the renderer says what is wrong with the chart of a plugin
        return spec
    encoding = {**(above or {}), **stated}
    inside = {
        key: [with_data(view, encoding) for view in value] if isinstance(value, list) else with_data(value, encoding)
        for key, value in spec.items()
        if key in VIEWS
    }
    if "mark" not in spec or "description" in encoding:
        return {**spec, **inside}
    columns: dict[str, dict[str, Any]] = {}
    for how in (encoding.get("tooltip"), *encoding.values()):
        for column in _columns(how):
            columns.setdefault(column["field"], column)
    titled: dict[str, str] = {}
    for name, column in columns.items():
        if name not in LAYOUT:
            titled.setdefault(_title(column), _value(column))
    if not titled:
        return spec
    pairs = [f"{quoted(title)} + '\\u{ord(IS):04x}' + {value}" for title, value in titled.items()]
    described = {"value": {"expr": f" + '\\u{ord(NEXT):04x}' + ".join(pairs)}}
    return {**spec, "encoding": {**stated, "description": described}}


VIEWS = ("layer", "hconcat", "vconcat", "concat", "spec")
LAYOUT = ("shown", "label", "edge")
"""Columns that charts carry for their own drawing."""

_COMPUTED = re.compile(r"[.\[\]\\]")


def _columns(how: Any) -> list[dict[str, Any]]:
    """The columns of the data that a channel shows; what the renderer computes itself is not among them."""
    parts = how if isinstance(how, list) else [how]
    return [
        part
        for part in parts
        if isinstance(part, dict)
        and isinstance(part.get("field"), str)
        and not {"aggregate", "bin", "timeUnit"} & part.keys()
        and not _COMPUTED.search(part["field"])
    ]


def _title(column: dict[str, Any]) -> str:
    title = column.get("title") or column["field"].replace("_", " ")
    return " ".join(title) if isinstance(title, list) else str(title)


def _value(column: dict[str, Any]) -> str:
    """An expression for the text of a value: four digits of a number, or the stated format."""
    value = f"datum[{quoted(column['field'])}]"
    form = column.get("format", ".4~g" if column.get("type") == "quantitative" else None)
    text = f"format({value}, {quoted(form)})" if isinstance(form, str) else value
    return f"(isValid({value}) ? {text} : '')"


PDF_VERSION = b"%PDF-1.5"
"""What journals and old printers take; the converter uses nothing newer (object streams came with 1.5)."""


def as_pdf(svg: str) -> bytes:
    """An SVG as PDF, fonts embedded."""
    made = bytes(renderer().svg_to_pdf(svg))
    return PDF_VERSION + made[len(PDF_VERSION) :] if made.startswith(b"%PDF-1.") else made


def lay_out(spec: dict[str, Any]) -> str:
    """A specification as SVG, the same whatever was drawn before it: the renderer numbers gradients through."""
    svg = str(renderer().vegalite_to_svg(spec))
    numbers: dict[str, int] = {}
    for _, name in _NUMBERED.findall(svg):
        numbers.setdefault(name, len(numbers))
    return _NUMBERED.sub(lambda match: f"{match[1]}{match[2].rstrip('0123456789')}{numbers[match[2]]}", svg)


def render(chart: Any, form: str) -> bytes:
    """A chart in one format: see `draw_spec`."""
    return draw_spec(specification(chart), (form,))[form]


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


def _code(match: re.Match[str]) -> str:
    """A code without a backslash: inside an expression the renderer would take it for the character again."""
    return f"<U+{ord(match[0]):04X}>"


def _unescaped(match: re.Match[str]) -> str:
    """The same for a character that is escaped already, as names in expressions are."""
    number = int(match[1] or match[2], 16)
    if 0xD800 <= number <= 0xDFFF or not UNPRINTABLE.match(chr(number)):
        return match[0]
    return f"<U+{number:04X}>"


WARM_UP = {"mark": "point", "data": {"values": [{"a": 1}]}, "encoding": {"x": {"field": "a", "type": "nominal"}}}


def drawer() -> Callable[..., dict[str, bytes]]:
    """What a process that draws answers with; its renderer starts while others still compute."""
    draw_spec(WARM_UP, ("svg",))
    return draw_spec


MOST = 4
"""Processes at most: each takes half a second to start and some 150 MB."""


class Drawers(Helpers):
    """Processes that draw, as a context; they start at once, so that they are ready when the first chart is.

    With none the charts are drawn here, one after the other: the files are the same. A chart is drawn once, however
    often it is asked for.
    """

    def __init__(self, processes: int | None = None) -> None:
        super().__init__(f"{__name__}:drawer", most=MOST, processes=processes)
        self._asked: dict[str, Future[dict[str, bytes]]] = {}

    def submit(self, *request: Any) -> Future[dict[str, bytes]]:
        """The files of a chart (its specification, and the formats), by format, when they are drawn."""
        key = json.dumps(request)
        if key not in self._asked:
            self._asked[key] = super().submit(*request) if self._started else self._threads.submit(draw_spec, *request)
        return self._asked[key]
