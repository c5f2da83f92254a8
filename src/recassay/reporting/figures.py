"""The pictures of results, and charts as files."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from recassay.analysis.rank.result import RankResult
from recassay.core.analysis import AnalysisResult
from recassay.reporting.section import Figure, Section
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


@dataclass(frozen=True, slots=True)
class Told:
    """A result with the section that tells it, the name of its analysis and its pictures."""

    section: Section
    analysis: str
    result: AnalysisResult
    figures: list[Figure]


def told(results: Mapping[str, AnalysisResult]) -> list[Told]:
    """These results in reading order; one without a section is left out."""
    return list(_telling(results))


def _telling(results: Mapping[str, AnalysisResult]) -> Iterator[Told]:
    from recassay.plots.theme import colours_of

    ranked = next((result.algorithms for result in results.values() if isinstance(result, RankResult)), ())
    for section in SECTIONS:
        for name, result in results.items():
            if isinstance(result, section.of):
                with colours_of(ranked):
                    drawn = section.figures(result)
                yield Told(section, name, result, drawn)


def told_and_drawn(results: Mapping[str, AnalysisResult]) -> tuple[list[Told], dict[str, str]]:
    """`told`, and the SVG of every picture by its name; one is laid out while the next is being built."""
    import vl_convert

    parts, pending = [], {}
    with ThreadPoolExecutor(1) as drawer:
        for part in _telling(results):
            parts.append(part)
            for figure in part.figures:
                spec = figure.chart.to_dict(validate=False)
                pending[figure.name] = drawer.submit(vl_convert.vegalite_to_svg, spec)
        return parts, {name: str(drawing.result()) for name, drawing in pending.items()}


def figures(results: Mapping[str, AnalysisResult]) -> Figures:
    """The pictures of these results in reading order; a result without a section has none."""
    return Figures(figure for part in told(results) for figure in part.figures)


def draw(chart: Any, formats: Sequence[str] = FORMATS) -> dict[str, bytes]:
    """A chart as SVG, PDF (fonts embedded), PNG (two pixels a point) and its Vega-Lite JSON, by format.

    No browser is needed. The chart is laid out once, as SVG; PDF and PNG are made of that.
    """
    import vl_convert

    spec = chart.to_dict(validate=False)
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
