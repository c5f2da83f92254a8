"""The few forms that charts are made of: names along an axis, dots with intervals, heat maps with numbers, lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from recassay.core import columns as c
from recassay.plots.theme import (
    CELL_INK,
    DIVERGING,
    FAINT,
    SEQUENTIAL,
    colour_scale,
    dash_scale,
    inline,
    shorten,
)

QUIET = {"domain": False, "ticks": False}
"""An axis of names has no line and no ticks."""

MANY = 18
"""Names from which on a legend has two columns."""


def names_down(field: str, order: Sequence[str], *, shared: bool = False, **style: Any) -> alt.Y:
    """Names down the left side in this order; a panel whose neighbour shows them (`shared`) has none."""
    return alt.Y(f"{field}:N", sort=list(order), title=None, axis=None if shared else alt.Axis(**QUIET, **style))


def names_above(field: str, order: Any, *, angle: int = -35, **style: Any) -> alt.X:
    """Names along the top in this order."""
    axis = alt.Axis(orient="top", labelAngle=angle, **QUIET, **style)
    return alt.X(f"{field}:N", sort=order, title=None, axis=axis)


def renamed(labels: Mapping[str, object]) -> str:
    """A label expression that shows other words for names, which stay whole in the data."""
    pairs = ", ".join(f"{quoted(name)}: {quoted(str(label))}" for name, label in labels.items())
    return "({" + pairs + "})[datum.label]"


def short_labels(names: Sequence[str], most: int = 26) -> str:
    """A label expression that shortens names."""
    return renamed({name: shorten(name, most) for name in names})


def quoted(text: str) -> str:
    """Text as a string of an expression."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def algorithm_colour(order: Sequence[str]) -> alt.Color:
    """Each algorithm in its colour, without a legend: its name stands beside its row."""
    return alt.Color(f"{c.ALGORITHM}:N", scale=colour_scale(order), legend=None)


def line_legend(names: Sequence[str], **more: Any) -> alt.Legend:
    """A legend of lines, in two columns where there are many."""
    style = {"title": None, "columns": 2 if len(names) > MANY else 1, "symbolStrokeWidth": 2.5, "symbolType": "stroke"}
    return alt.Legend(**{**style, **more})


def line_looks(field: str, names: Sequence[str], legend: alt.Legend) -> dict[str, Any]:
    """Colour and pattern that tell the lines of these names apart, for any number of them."""
    shared = {"sort": list(names), "legend": legend}
    return {
        "color": alt.Color(f"{field}:N", scale=colour_scale(names), **shared),
        "strokeDash": alt.StrokeDash(f"{field}:N", scale=dash_scale(names), **shared),
    }


def intervals(
    base: Any,
    value: str,
    low: str,
    high: str,
    *,
    scale: alt.Scale,
    title: Any = alt.Undefined,
    axis: Any = alt.Undefined,
    size: float = 52,
    line: Mapping[str, Any] | None = None,
    dot: Mapping[str, Any] | None = None,
) -> tuple[Any, Any]:
    """Two layers: a line from `low` to `high` in each row of `base`, and a dot at `value`; the rest is their style."""
    spans = base.mark_rule(**{"strokeWidth": 2, **(line or {})}).encode(
        x=alt.X(f"{low}:Q", scale=scale, title=title), x2=f"{high}:Q"
    )
    dots = base.mark_circle(**{"size": size, "opacity": 1, **(dot or {})}).encode(
        x=alt.X(f"{value}:Q", scale=scale, axis=axis)
    )
    return spans, dots


def heat_map(
    rows: list[dict[str, Any]],
    across: alt.X,
    down: alt.Y,
    fill: alt.Color,
    tooltip: list[str],
    *,
    dark: str | None = None,
    faint: tuple[str, float] | None = None,
    text_size: float = 10.5,
    gap: float = 1.5,
    written: bool = True,
) -> Any:
    """Cells with the text of their `shown`: white where the expression `dark` holds.

    `faint` is an expression and the opacity that a text has where it holds; `written` False leaves the texts out.
    """
    base = alt.Chart(inline(rows)).encode(x=across, y=down, tooltip=tooltip)
    cells = base.mark_rect(stroke="white", strokeWidth=gap).encode(color=fill)
    if not written:
        return cells
    ink = alt.value(CELL_INK) if dark is None else alt.condition(dark, alt.value("white"), alt.value(CELL_INK))
    opacity = {} if faint is None else {"opacity": alt.condition(faint[0], alt.value(faint[1]), alt.value(1.0))}
    return cells + base.mark_text(fontSize=text_size).encode(text="shown:N", color=ink, **opacity)


def correlation_fill(field: str, title: str, *, length: float = 140) -> alt.Color:
    """From -1 (orange) over 0 to 1 (blue)."""
    scale = alt.Scale(scheme=DIVERGING, domain=[-1, 1], reverse=True)
    return alt.Color(f"{field}:Q", scale=scale, legend=alt.Legend(title=title, gradientLength=length))


def rank_fill(field: str, count: int, title: str = "rank", **legend: Any) -> alt.Color:
    """The better the rank, the darker."""
    scale = alt.Scale(scheme=SEQUENTIAL, reverse=True, domain=[1, count])
    return alt.Color(f"{field}:Q", scale=scale, legend=alt.Legend(title=title, **legend))


def share_fill(field: str, title: str) -> alt.Color:
    """From nothing (light) to the whole (dark)."""
    scale = alt.Scale(scheme=SEQUENTIAL, domain=[0, 1], clamp=True)
    return alt.Color(f"{field}:Q", scale=scale, legend=alt.Legend(title=title, gradientLength=120, format="%"))


def panel_title(text: str, subtitle: str | None = None, **style: Any) -> alt.TitleParams:
    """The heading of one panel of several."""
    below = {} if subtitle is None else {"subtitle": subtitle, "subtitleFontSize": 10, "subtitleColor": FAINT}
    return alt.TitleParams(text, **{"fontSize": 11, "anchor": "start", **below, **style})
