"""Tables with an interval drawn in every row: mean ranks, means and differences, each on the axis of its column."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from recassay.reporting.markup import Child, Markup, fold, tag


def unbroken(text: str) -> str:
    """A number and its sign of percent on one line."""
    return text.replace(" %", "\u00a0%")


class Axis:
    """A line of values with ticks at round numbers; places are in percent of its width."""

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = low, high

    @classmethod
    def around(cls, values: Sequence[float]) -> Axis:
        """The axis that these values need."""
        known = [value for value in values if math.isfinite(value)] or [0.0]
        low, high = min(known), max(known)
        return cls(low, high) if high > low else cls(low - 0.5, high + 0.5)

    def place(self, value: float) -> str:
        """Where a value lies, with room for half a dot at both ends."""
        return f"{3 + 94 * (value - self.low) / (self.high - self.low):.2f}%"

    def ticks(self) -> list[tuple[float, str]]:
        """Two to four round numbers in reach, and as they are written."""
        raw = (self.high - self.low) / 3
        power = 10.0 ** math.floor(math.log10(raw))
        step = next(power * size for size in (1, 2, 5, 10) if power * size >= raw)
        first = math.ceil(self.low / step - 1e-9)
        decimals = max(0, -math.floor(math.log10(step) + 1e-9))
        values = [step * at for at in range(first, math.floor(self.high / step + 1e-9) + 1)]
        return [(value, f"{value:.{decimals}f}") for value in values]

    def labels(self) -> Markup:
        """The ticks with their numbers, as the heading of a column."""
        labels = [tag("span", text, style=f"left:{self.place(at)}") for at, text in self.ticks()]
        return tag("span", labels, class_="axis", aria_hidden="true")

    def interval(self, low: float, value: float, high: float, label: str, base: float | None = None) -> Markup:
        """A value with its interval, and a dashed line at `base`, which the others are compared with."""
        left, point, right = (self.place(end) for end in (low, value, high))
        grid = [self._line(at, "0", "100%", "grid") for at, _ in self.ticks()]
        across = None if base is None else self._line(base, "-10%", "110%", "reference")
        marks = [
            tag("line", x1=left, x2=right, y1="50%", y2="50%", class_="span"),
            tag("circle", cx=point, cy="50%", r="5", class_="dot"),
        ]
        return tag("svg", tag("title", label), grid, across, marks, role="img", aria_label=label, class_="interval")

    def _line(self, at: float, top: str, bottom: str, look: str) -> Markup:
        return tag("line", x1=self.place(at), x2=self.place(at), y1=top, y2=bottom, class_=look)


class RankAxis(Axis):
    """The axis of mean ranks, from 1 to the number of algorithms."""

    def __init__(self, count: int) -> None:
        super().__init__(1, count)

    def place(self, value: float) -> str:
        """Where a rank lies, with room for half a dot at both ends."""
        return f"{2 + 96 * (value - 1) / max(self.high - 1, 1):.2f}%"

    def ticks(self) -> list[tuple[float, str]]:
        """Both ends and at most two ranks between them."""
        count = int(self.high)
        step = max(1, -(-(count - 1) // 3))
        inner = [rank for rank in range(1 + step, count, step) if count - rank >= 0.7 * step]
        return [(rank, str(rank)) for rank in ([1, *inner, count] if count > 1 else [1])]


def heading_row(heads: Mapping[str, Child]) -> Markup:
    """The head of a table: by the class of its cells, the heading of each column."""
    return tag("thead", tag("tr", [tag("th", title, scope="col", class_=kind) for kind, title in heads.items()]))


def folded_table(
    heads: Mapping[str, Child], rows: Sequence[Markup], shown: Collection[int], *, look: str, what: str, legend: Markup
) -> Markup:
    """The rows at the places that are `shown`, the others (more of `what`) folded below them, and the legend."""

    def table(places: Collection[int]) -> Markup:
        return tag("table", heading_row(heads), tag("tbody", [rows[place] for place in places]), class_=look)

    others = [place for place in range(len(rows)) if place not in shown]
    rest = fold(f"{len(others)} more {what}", table(others)) if others else None
    return tag("figure", table(shown), rest, tag("figcaption", legend), class_="forest-plot")


def legend_of_dots(possible: int, count: int, behind: str) -> Markup:
    """What filled dots and empty ones mean; `behind` is said of the empty ones."""
    return tag(
        "p",
        tag("span", "●", class_="possible", aria_hidden="true"),
        f" could be best ({possible} of {count}) ",
        tag("span", "○", class_="behind", aria_hidden="true"),
        f" {behind}",
        class_="note",
    )
