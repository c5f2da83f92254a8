"""A small picture of accuracy against one kind of cost, drawn as SVG that follows the page from light to dark."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from recassay.plots.forms import label_rows
from recassay.reporting.markup import Markup, tag

WIDTH, HEIGHT = 300, 160
LEFT, RIGHT, TOP, BOTTOM = 42, 12, 12, 34
LETTER, LINE = 5.6, 11.0
"""The width of a letter and the height of a line of a label."""


@dataclass(frozen=True, slots=True)
class Point:
    """One algorithm: its cost, its accuracy, and whether it stands out."""

    name: str
    cost: float
    value: float
    best: bool


def scatter(points: Sequence[Point], *, across: str, up: str, right_is_better: bool) -> Markup:
    """The panel: cost on a logarithmic scale from left to right, accuracy upwards, each point with its name."""
    costs, values = [point.cost for point in points], [point.value for point in points]
    least, most = _decades(costs)
    low, high = min(values), max(values)
    room = (high - low) * 0.08 or abs(high) * 0.05 or 1.0
    low, high = low - room, high + room

    def x(cost: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (math.log10(cost) - least) / (most - least)

    def y(value: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (high - value) / (high - low)

    rows = label_rows([-y(point.value) for point in points], LINE, top=-TOP)
    marks = []
    for point, row in zip(points, rows, strict=True):
        at, label = x(point.cost), f"{point.name}: {up} {point.value:.4g}, {across} {point.cost:.3g}"
        left = at + 7 + LETTER * len(point.name) > WIDTH
        text = tag("text", point.name, x=f"{at - 7 if left else at + 7:.1f}", y=f"{3.5 - row:.1f}",
                   text_anchor="end" if left else None)  # fmt: skip
        dot = tag("circle", cx=f"{at:.1f}", cy=f"{y(point.value):.1f}", r="4", class_="dot")
        marks.append(tag("g", tag("title", label), dot, text, class_="possible" if point.best else "behind"))
    description = f"{up} against {across}: " + "; ".join(
        f"{point.name} {point.value:.4g} and {point.cost:.3g}" for point in points
    )
    floor = HEIGHT - BOTTOM
    axes = [
        tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=floor, y2=floor, class_="grid"),
        [_tick(x(10.0**power), floor, power) for power in _shown(least, most)],
        [
            tag("text", f"{value:.3g}", x=LEFT - 6, y=f"{y(value) + 3.5:.1f}", text_anchor="end", class_="tick")
            for value in (min(values), max(values))
        ],
        tag("text", f"{across}{' →' if right_is_better else ''}" if right_is_better else f"← {across}",
            x=(LEFT + WIDTH - RIGHT) / 2, y=HEIGHT - 4, text_anchor="middle", class_="title"),
        tag("text", f"↑ {up}", x=2, y=9, class_="title"),
    ]  # fmt: skip
    return tag("svg", tag("title", description), axes, marks, viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img",
               aria_label=description, class_="scatter")  # fmt: skip


def _decades(costs: Sequence[float]) -> tuple[float, float]:
    """The ends of the logarithmic axis, with a little room, at least a factor of three."""
    low, high = math.log10(min(costs)), math.log10(max(costs))
    room = max(0.06 * (high - low), (0.5 - (high - low)) / 2, 0.02)
    return low - room, high + room


def _shown(least: float, most: float) -> list[float]:
    """The powers of ten with a tick: whole ones, and where fewer than two are in reach those of 2 and 5, too."""
    whole: list[float] = [float(power) for power in range(math.ceil(least), math.floor(most) + 1)]
    if len(whole) > 1:
        return whole[:: math.ceil(len(whole) / 5)]
    parts = [power + math.log10(part) for power in range(math.floor(least), math.ceil(most)) for part in (1, 2, 5)]
    return [power for power in parts if least <= power <= most]


def _tick(at: float, floor: float, power: float) -> Markup:
    value = 10.0**power
    text = f"{value:,.0f}" if value >= 1 else f"{value:.{math.ceil(-power)}f}"
    return tag(
        "g",
        tag("line", x1=f"{at:.1f}", x2=f"{at:.1f}", y1=TOP, y2=floor, class_="grid"),
        tag("text", text, x=f"{at:.1f}", y=floor + 13, text_anchor="middle", class_="tick"),
    )
