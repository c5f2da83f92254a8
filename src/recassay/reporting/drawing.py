"""A chart as files: laid out without a browser, fonts inside."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from recassay.core.formats import FORMATS

_NUMBERED = re.compile(r'( id="|="url\(#)((?:gradient_|clip)\d+)(?=["\)])')


def draw(chart: Any, formats: Sequence[str] = FORMATS) -> dict[str, bytes]:
    """A chart as SVG, PDF (fonts embedded), PNG (two pixels a point) and its Vega-Lite JSON, by format.

    No browser is needed. The chart is laid out once, as SVG; PDF and PNG are made of that.
    """
    from recassay.plots.grammar import specification

    return draw_spec(specification(chart), formats)


def draw_spec(spec: dict[str, Any], formats: Sequence[str]) -> dict[str, bytes]:
    """The same for the specification of a chart."""
    import vl_convert

    from recassay.plots.drawable import drawable

    spec = drawable(spec)
    svg = lay_out(spec) if set(formats) - {"json"} else ""
    made = {
        "svg": lambda: svg.encode(),
        "pdf": lambda: bytes(vl_convert.svg_to_pdf(svg)),
        "png": lambda: bytes(vl_convert.svg_to_png(svg, scale=2)),
        "json": lambda: json.dumps(spec, indent=1, allow_nan=False).encode(),
    }
    return {form: made[form]() for form in formats}


def lay_out(spec: dict[str, Any]) -> str:
    """A specification as SVG, the same whatever was drawn before it: the renderer numbers gradients through."""
    import vl_convert

    svg = str(vl_convert.vegalite_to_svg(spec))
    numbers: dict[str, int] = {}
    for _, name in _NUMBERED.findall(svg):
        numbers.setdefault(name, len(numbers))
    return _NUMBERED.sub(lambda found: f"{found[1]}{found[2].rstrip('0123456789')}{numbers[found[2]]}", svg)


def render(chart: Any, form: str) -> bytes:
    """A chart in one format: see `draw`."""
    return draw(chart, (form,))[form]
