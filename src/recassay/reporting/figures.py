"""The pictures of results: built by their sections, drawn as files, shown in a notebook."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from recassay.analysis.rank.result import RankResult
from recassay.core.analysis import AnalysisResult
from recassay.reporting.files import safe_stem
from recassay.reporting.section import Figure, Section, Table
from recassay.reporting.telling import ask, failure, with_sections

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
class FilledSection:
    """A section filled with one result: the name of its analysis, its sentences, tables and pictures.

    `files` holds the drawn pictures by name and format, `not_done` what could not be told or drawn and why.
    """

    section: Section
    analysis: str
    result: AnalysisResult
    sentences: list[str]
    tables: list[Table]
    figures: list[Figure]
    files: Mapping[str, Mapping[str, bytes]]
    not_done: list[str]


def fill_sections(results: Mapping[str, AnalysisResult], formats: Sequence[str]) -> list[FilledSection]:
    """These results in reading order, their pictures drawn in `formats`; a result without a section is left out.

    One picture is laid out while the next is being built. One that cannot be drawn is left out, and told.
    """
    with ThreadPoolExecutor(1) as drawer:
        pending = []
        for filled in build_sections(results):
            drawings: dict[str, Future[dict[str, bytes]]] = {}
            for figure in filled.figures:
                try:
                    drawings[figure.name] = drawer.submit(_draw, figure.chart.to_dict(validate=False), formats)
                except Exception as error:
                    filled.not_done.append(failure(f"the picture {figure.name!r}", error))
            pending.append((filled, drawings))
        return [_drawn(filled, drawings) for filled, drawings in pending]


def build_sections(results: Mapping[str, AnalysisResult]) -> Iterator[FilledSection]:
    """These results in reading order with their tables and charts, none of them drawn yet."""
    from recassay.plots.theme import colours_of

    ranked = next((result.algorithms for result in results.values() if isinstance(result, RankResult)), ())
    taken: set[str] = set()
    for section, name, result in with_sections(results):
        not_done: list[str] = []
        sentences = ask(section, "sentences", result, not_done)
        tables = ask(section, "tables", result, not_done)
        with colours_of(ranked):
            built = ask(section, "figures", result, not_done)
        frames = set(result.frames()) if built else set()
        figures = [figure for figure in built if _fits(figure, frames, taken, not_done)]
        yield FilledSection(section, name, result, sentences, tables, figures, {}, not_done)


def _fits(figure: Figure, frames: set[str], taken: set[str], not_done: list[str]) -> bool:
    """Whether a picture has a name of its own and names a table of its result."""
    if not isinstance(figure, Figure):
        not_done.append(f"what should be a Figure is {type(figure).__name__}")
    elif safe_stem(figure.name) in taken:
        not_done.append(f"the picture {figure.name!r} has the name of another one")
    elif figure.table not in frames:
        not_done.append(f"the picture {figure.name!r} names a table that its result does not have: {figure.table!r}")
    else:
        taken.add(safe_stem(figure.name))
        return True
    return False


def _drawn(filled: FilledSection, drawings: Mapping[str, Future[dict[str, bytes]]]) -> FilledSection:
    files = {}
    for name, drawing in drawings.items():
        try:
            files[name] = drawing.result()
        except Exception as error:
            filled.not_done.append(failure(f"the picture {name!r}", error))
    return replace(filled, figures=[figure for figure in filled.figures if figure.name in files], files=files)


def figures(results: Mapping[str, AnalysisResult]) -> Figures:
    """The pictures of these results in reading order; a result without a section has none."""
    return Figures(figure for filled in build_sections(results) for figure in filled.figures)


def draw(chart: Any, formats: Sequence[str] = FORMATS) -> dict[str, bytes]:
    """A chart as SVG, PDF (fonts embedded), PNG (two pixels a point) and its Vega-Lite JSON, by format.

    No browser is needed. The chart is laid out once, as SVG; PDF and PNG are made of that.
    """
    return _draw(chart.to_dict(validate=False), formats)


def _draw(spec: dict[str, Any], formats: Sequence[str]) -> dict[str, bytes]:
    import vl_convert

    from recassay.plots.drawable import drawable

    spec = drawable(spec)
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
