"""The pictures of results, and charts as files."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from typing import Any

from recassay.core.analysis import AnalysisResult
from recassay.reporting.section import Figure
from recassay.reporting.sections import SECTIONS

FORMATS = ("svg", "pdf", "png", "json")


class Figures(list[Figure]):
    """Pictures that a notebook shows one below the other, each with its caption."""

    def _repr_html_(self) -> str:
        return "".join(
            f"<figure>{render(figure.chart, 'svg').decode()}"
            f"<figcaption>{html.escape(figure.caption)}</figcaption></figure>"
            for figure in self
        )


def figures(results: Mapping[str, AnalysisResult]) -> Figures:
    """The pictures of these results in reading order; a result without a section has none."""
    return Figures(
        figure
        for section in SECTIONS
        for result in results.values()
        if isinstance(result, section.of)
        for figure in section.figures(result)
    )


def draw(chart: Any, formats: Sequence[str] = FORMATS) -> dict[str, bytes]:
    """A chart as SVG, PDF, PNG (two pixels a point) and its Vega-Lite JSON, by format, without a browser.

    The chart is laid out once, as SVG; PDF and PNG are made of that.
    """
    import vl_convert

    spec = chart.to_dict()
    svg = str(vl_convert.vegalite_to_svg(spec)) if set(formats) - {"json"} else ""
    made = {
        "svg": lambda: svg.encode(),
        "pdf": lambda: bytes(vl_convert.svg_to_pdf(svg)),
        "png": lambda: bytes(vl_convert.svg_to_png(svg, scale=2)),
        "json": lambda: json.dumps(spec, indent=1, allow_nan=False).encode(),
    }
    return {form: made[form]() for form in formats}


def render(chart: Any, form: str) -> bytes:
    """A chart in one format: see `draw`."""
    return draw(chart, (form,))[form]
