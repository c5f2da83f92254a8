"""One look for every chart: fonts, sizes, and a colour that stays with an algorithm."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from recassay.plots.grammar import Chart, Spec

FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
"""The renderer brings the first along, so that pictures are the same on every machine, and measures its letters in
memory; it would map a font of the system again for every word. Arial and Helvetica have the same widths."""
INK = "#1b1f24"
CELL_INK = "#1a1e23"
"""Ink on a coloured cell: it stays dark on a dark page, since the cell stays light."""
FAINT = "#687079"
GRID = "#e4e7eb"

COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#5b6770", "#883311", "#4499ff", "#aabb66",
    "#772277", "#ff99aa",
)  # fmt: skip
"""Twelve colours that differ with any colour vision: six of Okabe and Ito's, and six chosen for the greatest distance
from all before them, as seen with and without red and green cones (see the test)."""

DASHES = ([1, 0], [6, 3], [2, 2], [8, 2, 2, 2])
"""Line patterns for the thirteenth algorithm and beyond: twelve colours times four patterns."""

SEQUENTIAL = "blues"
DIVERGING = "blueorange"


_FIRST: ContextVar[tuple[str, ...]] = ContextVar("the algorithms of the report being drawn", default=())


@contextmanager
def colours_of(names: Sequence[str]) -> Iterator[None]:
    """While charts are drawn inside, `names` keep the colours that they have among themselves.

    So a chart of some of them, or with others beside them, shows each in its colour of the whole report.
    """
    token = _FIRST.set(tuple(sorted(names)))
    try:
        yield
    finally:
        _FIRST.reset(token)


def places(names: Sequence[str]) -> dict[str, int]:
    """The place of each name that gives it its colour: the report's algorithms in alphabetical order, then others."""
    first = _FIRST.get() if set(names) & set(_FIRST.get()) else ()
    return {name: i for i, name in enumerate([*first, *sorted(set(names) - set(first))])}


def colour_scale(names: Sequence[str]) -> Spec:
    """The colours of these algorithms, listed in the given order: the same in every chart of a report."""
    place = places(names)
    return {"domain": list(names), "range": [COLOURS[place[n] % len(COLOURS)] for n in names]}


def dash_scale(names: Sequence[str]) -> Spec:
    """The line patterns that go with `colour_scale`."""
    place = places(names)
    return {"domain": list(names), "range": [DASHES[place[n] // len(COLOURS) % len(DASHES)] for n in names]}


CONFIG: Spec = {
    "font": FONT,
    "background": "white",
    "padding": 12,
    "title": {"color": INK, "subtitleColor": FAINT, "fontWeight": 600},
    "view": {"continuousWidth": 300, "continuousHeight": 300, "stroke": None},
    "axis": {
        "labelColor": INK, "titleColor": INK, "gridColor": GRID, "domainColor": FAINT, "tickColor": FAINT,
        "labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal", "labelLimit": 220,
    },
    "legend": {
        "labelColor": INK, "titleColor": INK, "labelFontSize": 11, "titleFontSize": 11, "labelLimit": 260,
        "symbolLimit": 0, "titleFontWeight": "normal",
    },
}  # fmt: skip
"""Fonts and quiet axes."""


def themed(chart: Chart, title: str | list[str], subtitle: str | list[str]) -> Chart:
    """The chart with title, fonts and quiet axes; a title of several lines is a list."""
    heading = {"text": title, "subtitle": subtitle, "anchor": "start", "fontSize": 15, "subtitleFontSize": 11}
    return chart.properties(title={**heading, "offset": 12}, config=CONFIG)


def shorten(name: str, most: int = 28) -> str:
    """A name that fits beside a chart; the whole stands in the tooltip and the table."""
    return name if len(name) <= most else name[: most - 1] + "…"
