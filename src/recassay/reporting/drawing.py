"""A chart as files: laid out without a browser, fonts inside; many charts in processes of their own.

The renderer draws one chart at a time in a process, whatever the threads.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from recassay.core.choices import FORMATS
from recassay.core.system.aside import Helpers
from recassay.core.system.printable import UNPRINTABLE
from recassay.plots.grammar import specification

_NUMBERED = re.compile(r'( id="|="url\(#)((?:gradient_|clip)\d+)(?=["\)])')


def draw_spec(spec: dict[str, Any], formats: Sequence[str] = FORMATS) -> dict[str, bytes]:
    """A chart's specification as SVG, PDF (fonts embedded), PNG (two pixels per point) and Vega-Lite JSON, by format.

    No browser is needed. The chart is laid out once, as SVG; PDF and PNG are made of that.
    """
    import vl_convert

    spec = drawable(spec)
    svg = lay_out(spec) if set(formats) - {"json"} else ""
    made = {
        "svg": lambda: svg.encode(),
        "pdf": lambda: as_pdf(svg),
        "png": lambda: bytes(vl_convert.svg_to_png(svg, scale=2)),
        "json": lambda: json.dumps(spec, indent=1, allow_nan=False).encode(),
    }
    return {form: made[form]() for form in formats}


PDF_VERSION = b"%PDF-1.5"
"""What journals and old printers take; the converter uses nothing newer (object streams came with 1.5)."""


def as_pdf(svg: str) -> bytes:
    """An SVG as PDF, fonts embedded."""
    import vl_convert

    made = bytes(vl_convert.svg_to_pdf(svg))
    return PDF_VERSION + made[len(PDF_VERSION) :] if made.startswith(b"%PDF-1.") else made


def lay_out(spec: dict[str, Any]) -> str:
    """A specification as SVG, the same whatever was drawn before it: the renderer numbers gradients through."""
    import vl_convert

    svg = str(vl_convert.vegalite_to_svg(spec))
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
