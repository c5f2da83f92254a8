"""The few forms that charts are made of: names along an axis, dots with intervals, heat maps with numbers, lines."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from recassay.core import columns as c
from recassay.core.types import FloatArray
from recassay.plots.grammar import Chart, Row, Spec, channel, condition, fixed, quoted, tips
from recassay.plots.theme import (
    CELL_INK,
    DIVERGING,
    FAINT,
    SEQUENTIAL,
    colour_scale,
    dash_scale,
    shorten,
)

QUIET = {"domain": False, "ticks": False}
"""An axis of names has no line and no ticks."""

MOST_WRITTEN = 20
"""Names up to which a square map carries the numbers."""

MANY = 18
"""Names from which on a legend has two columns."""


def names_down(field: str, order: Sequence[str], *, shared: bool = False, **style: Any) -> Spec:
    """Names down the left side in this order; a panel whose neighbour shows them (`shared`) has none."""
    return channel(f"{field}:N", sort=list(order), title=None, axis=None if shared else {**QUIET, **style})


def names_above(field: str, order: Any, *, angle: int = -35, **style: Any) -> Spec:
    """Names along the top in this order."""
    axis = {"orient": "top", "labelAngle": angle, **QUIET, **style}
    return channel(f"{field}:N", sort=order, title=None, axis=axis)


def renamed(labels: Mapping[str, object]) -> str:
    """A label expression that shows other words for names, which stay whole in the data."""
    pairs = ", ".join(f"{quoted(name)}: {quoted(str(label))}" for name, label in labels.items())
    return "({" + pairs + "})[datum.label]"


def short_labels(names: Sequence[str], most: int = 26) -> str:
    """A label expression that shortens names."""
    return renamed({name: shorten(name, most) for name in names})


def label_rows(heights: list[float], room: float, top: float = math.inf) -> list[float]:
    """Heights for labels that start at `heights`, moved as little as needed to stand `room` apart, in the same order.

    Neighbours that would touch form a block around their mean; blocks that touch are joined. Where a label would stand
    above `top`, all are moved down.
    """

    def lowest(block: list[int]) -> float:
        return sum(heights[i] for i in block) / len(block) - room * (len(block) - 1) / 2

    blocks: list[list[int]] = []
    for i in sorted(range(len(heights)), key=lambda i: heights[i]):
        blocks.append([i])
        while len(blocks) > 1 and lowest(blocks[-1]) < lowest(blocks[-2]) + room * len(blocks[-2]):
            last = blocks.pop()
            blocks[-1] += last
    placed = [0.0] * len(heights)
    for block in blocks:
        for place, i in enumerate(block):
            placed[i] = lowest(block) + place * room
    over = max(0.0, max(placed) - top)
    return [height - over for height in placed]


def algorithm_colour(order: Sequence[str]) -> Spec:
    """Each algorithm in its colour, without a legend: its name stands beside its row."""
    return channel(f"{c.ALGORITHM}:N", scale=colour_scale(order), legend=None)


def by_algorithm(rows: list[Row], order: Sequence[str], numbers: str, *, shared: bool = False, **axis: Any) -> Chart:
    """One row per algorithm in this order, each in its colour, others left out; the tooltip lists `numbers`."""
    return Chart([row for row in rows if row[c.ALGORITHM] in order]).encode(
        y=names_down(c.ALGORITHM, order, shared=shared, **axis),
        color=algorithm_colour(order),
        tooltip=tips(c.ALGORITHM, numbers),
    )


def line_legend(names: Sequence[str], *, strokes: bool = True, **more: Any) -> Spec:
    """A legend of lines, in two columns where there are many."""
    symbol = {"symbolType": "stroke"} if strokes else {}
    return {"title": None, "columns": 2 if len(names) > MANY else 1, "symbolStrokeWidth": 2.5, **symbol, **more}


def line_looks(field: str, names: Sequence[str], legend: Spec) -> dict[str, Any]:
    """Colour and pattern that tell the lines of these names apart, for any number of them."""
    shared = {"sort": list(names), "legend": legend}
    return {
        "color": channel(f"{field}:N", scale=colour_scale(names), **shared),
        "strokeDash": channel(f"{field}:N", scale=dash_scale(names), **shared),
    }


def intervals(
    base: Chart,
    value: str,
    low: str,
    high: str,
    *,
    scale: Spec,
    axis: Spec | None = None,
    size: float = 52,
    line: Mapping[str, Any] | None = None,
    dot: Mapping[str, Any] | None = None,
    **title: Any,
) -> tuple[Chart, Chart]:
    """Two layers: a line from `low` to `high` in each row of `base`, and a dot at `value`; the rest is their style.

    `title` is that of the axis; by default the columns' names, none where it is None.
    """
    spans = base.mark("rule", **{"strokeWidth": 2, **(line or {})}).encode(
        x=channel(f"{low}:Q", scale=scale, **title), x2=f"{high}:Q"
    )
    dots = base.mark("circle", **{"size": size, "opacity": 1, **(dot or {})}).encode(
        x=channel(f"{value}:Q", scale=scale, **({} if axis is None else {"axis": axis}))
    )
    return spans, dots


def heat_map(
    rows: list[dict[str, Any]],
    across: Spec,
    down: Spec,
    fill: Spec,
    tooltip: list[str],
    *,
    dark: str | None = None,
    faint: tuple[str, float] | None = None,
    text_size: float = 10.5,
    gap: float = 1.5,
    written: bool = True,
) -> Chart:
    """Cells with the text of their `shown`: white where the expression `dark` holds.

    `faint` is an expression and the opacity that a text has where it holds; `written` False leaves the texts out.
    """
    base = Chart(rows).encode(x=across, y=down, tooltip=tooltip)
    cells = base.mark("rect", stroke="white", strokeWidth=gap).encode(color=fill)
    if not written:
        return cells
    ink = fixed(CELL_INK) if dark is None else condition(dark, fixed("white"), fixed(CELL_INK))
    opacity = {} if faint is None else {"opacity": condition(faint[0], fixed(faint[1]), fixed(1.0))}
    return cells + base.mark("text", fontSize=text_size).encode(text="shown:N", color=ink, **opacity)


def square_map(
    order: Sequence[str], names: Sequence[str], values: FloatArray, field: str, form: str, fill: Spec, dark: str
) -> Chart:
    """The names of `order` against themselves, each pair with its value in the row's favour; few have numbers.

    `values` are of all `names`, and written as `form`.
    """
    places = [(place, name) for place, name in enumerate(names) if name in order]
    rows = [
        {"row": name, "column": other, field: float(values[a, b]), "shown": format(values[a, b], form)}
        for a, name in places
        for b, other in places
        if a != b
    ]
    down, across = names_down("row", order), names_above("column", order)
    tip = tips("row column", field)
    chart = heat_map(rows, across, down, fill, tip, dark=dark, written=len(order) <= MOST_WRITTEN)
    return chart.properties(width=40 * len(order), height=24 * len(order))


def correlation_fill(field: str, title: str, *, length: float = 140) -> Spec:
    """From -1 (orange) over 0 to 1 (blue)."""
    scale = {"scheme": DIVERGING, "domain": [-1, 1], "reverse": True}
    return channel(f"{field}:Q", scale=scale, legend={"title": title, "gradientLength": length})


def rank_fill(field: str, count: int, title: str = "rank", **legend: Any) -> Spec:
    """The better the rank, the darker."""
    scale = {"scheme": SEQUENTIAL, "reverse": True, "domain": [1, count]}
    return channel(f"{field}:Q", scale=scale, legend={"title": title, **legend})


def share_fill(field: str, title: str) -> Spec:
    """From nothing (light) to the whole (dark)."""
    scale = {"scheme": SEQUENTIAL, "domain": [0, 1], "clamp": True}
    return channel(f"{field}:Q", scale=scale, legend={"title": title, "gradientLength": 120, "format": "%"})


def panel_title(text: str, subtitle: str | None = None, *, centred: bool = False, **style: Any) -> Spec:
    """The heading of one panel of several."""
    below = {} if subtitle is None else {"subtitle": subtitle, "subtitleFontSize": 10, "subtitleColor": FAINT}
    return {"text": text, "fontSize": 11, **({} if centred else {"anchor": "start"}), **below, **style}
