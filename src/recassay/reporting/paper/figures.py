"""Figures for print: no title of their own, as wide as the column, letters of the size of the text around them.

A chart is laid out again for its width, not shrunk: only where its panels cannot be made narrow enough does it go over
both columns, and only where that does not suffice either do its letters become smaller."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from recassay.plots.grammar import specification
from recassay.reporting.drawing import as_pdf, lay_out

POINTS = 72.0
"""PostScript points in an inch: the unit of PDF."""

LETTERS = 11.0
"""The size of most letters in our charts, in their own pixels."""

NARROWEST = {"cells": 0.8, "labels": 0.15, "": 0.3}
"""The least share of the width that panels were drawn for: with text in cells, with labels at their sides, others."""

FLATTEST = 0.55
"""The least share of the height that a panel keeps when it is made narrow."""

ROOMY = 0.55
"""Where legends beside the panels leave them less than this share of the width, they go below."""

VIEWS = ("layer", "hconcat", "vconcat", "concat", "spec")


@dataclass(frozen=True, slots=True)
class PaperFigure:
    """A drawn figure: its files by format, whether it is over both columns, inches of width, points of letters."""

    name: str
    caption: str
    files: dict[str, bytes]
    wide: bool
    width: float
    letters: float


def paper_figure(
    name: str, caption: str, chart: Any, *, width: float, page_width: float, letters: float
) -> PaperFigure:
    """Draw a chart `width` inches wide with letters of `letters` points; `page_width` where it must."""
    spec = _bare(specification(chart))
    for room, wide in ((width, False), (page_width, True)):
        svg = _within(spec, room * POINTS * LETTERS / letters)
        if svg is not None:
            return _drawn(name, caption, svg, wide and page_width > width, letters / LETTERS)
    svg = lay_out(_scaled(spec, NARROWEST[_texts(spec)]))
    return _drawn(name, caption, svg, page_width > width, page_width * POINTS / _size(svg)[0])


def _drawn(name: str, caption: str, svg: str, wide: bool, scale: float) -> PaperFigure:
    across, down = (scale * side for side in _size(svg))

    def sized(unit: str) -> str:
        sides = f' width="{across:.2f}{unit}" height="{down:.2f}{unit}"'
        return re.sub(r'(<svg\b[^>]*?) width="[^"]*" height="[^"]*"', rf"\1{sides}", svg, count=1)

    # The converter counts a pixel as a point of the page.
    files = {"svg": sized("pt").encode(), "pdf": as_pdf(sized(""))}
    return PaperFigure(name, caption, files, wide, across / POINTS, LETTERS * scale)


def _bare(spec: dict[str, Any]) -> dict[str, Any]:
    """The chart without title, margin and background."""
    bare = {key: value for key, value in spec.items() if key != "title"}
    config = {key: value for key, value in spec.get("config", {}).items() if key not in ("background", "padding")}
    return bare | {"padding": 2, "background": None, "config": config}


def _within(spec: dict[str, Any], width: float) -> str | None:
    """The chart as SVG, at most so many pixels wide; None where its panels would become too narrow."""
    beside = _fitted(spec, width)
    if beside is not None and (beside[1] >= ROOMY or not list(_legends(spec))):
        return beside[0]
    below = _fitted(_legends_below(spec, width), width)
    return below[0] if below is not None else None if beside is None else beside[0]


def _fitted(spec: dict[str, Any], width: float) -> tuple[str, float] | None:
    """The chart at this width and the share of its panels' width that is left; None where that is too little."""
    kind = _texts(spec)
    panels = _panels_width(spec)

    def at(factor: float) -> tuple[str, float]:
        svg = lay_out(_scaled(spec, factor))
        return svg, _size(svg)[0]

    # As it was drawn, where that fits: text in cells is never stretched, other panels fill the width.
    whole, full = at(1.0)
    if (kind == "cells" and full <= width) or 0.98 * width < full <= width:
        return whole, panels / width
    # Else the width is a nearly linear function of the factor: interpolate between one that fits and one that does not.
    low = NARROWEST[kind]
    svg, across = at(low)
    if across > width:
        return None
    high, above = (1.0, full) if full > width else (1.0 + 1.5 * (width - full) / max(panels, 1.0), 2 * width - full)
    for _ in range(5):
        middle = low + (high - low) * (0.995 * width - across) / max(above - across, 1.0)
        trial, wide = at(middle)
        if wide > width:
            high, above = middle, wide
        else:
            low, svg, across = middle, trial, wide
        if across > 0.98 * width:
            break
    return svg, low * panels / width


def _scaled(spec: dict[str, Any], factor: float) -> dict[str, Any]:
    """The chart with every panel's width multiplied."""
    scaled = copy.deepcopy(spec)
    for view in _views(scaled):
        if isinstance(view.get("width"), (int, float)):
            view["width"] = max(round(view["width"] * factor, 1), 10)
        elif isinstance(view.get("width"), dict) and "step" in view["width"]:
            view["width"] = {"step": round(view["width"]["step"] * factor, 2)}
        if isinstance(view.get("height"), (int, float)) and _texts(view) == "" and _measured_down(view):
            view["height"] = round(view["height"] * min(max(factor, FLATTEST), 1.0), 1)
    return scaled


def _panels_width(spec: dict[str, Any]) -> float:
    """The width of the panels that stand side by side, without what is between them."""
    across = spec.get("hconcat") or ([] if "vconcat" in spec else spec.get("concat"))
    if across:
        return sum(map(_panels_width, across))
    if spec.get("vconcat"):
        return max(map(_panels_width, spec["vconcat"]))
    inner = [view for view in (spec, *spec.get("layer", ()), spec.get("spec", {})) if isinstance(view, dict)]
    return next((float(view["width"]) for view in inner if isinstance(view.get("width"), (int, float))), 0.0)


def _legends(spec: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The encodings that have a legend."""
    for view in _views(spec):
        for channel, how in view.get("encoding", {}).items():
            shown = isinstance(how, dict) and "field" in how and how.get("legend", {}) is not None
            if shown and channel in ("color", "strokeDash", "shape", "size", "opacity", "fill", "stroke"):
                yield how


def _legends_below(spec: dict[str, Any], width: float) -> dict[str, Any]:
    """The chart with its legends under the panels, in as many columns as there is room for."""
    below = copy.deepcopy(spec)
    for how in _legends(below):
        names = [str(name) for name in how.get("scale", {}).get("domain", ()) or ()]
        longest = max(map(len, names), default=12)
        extra = 8 if "labelExpr" in (how.get("legend") or {}) else 0
        columns = max(1, int(width // (30 + 6.6 * (longest + extra))))
        legend = {**(how.get("legend") or {}), "orient": "bottom"}
        if how.get("type") != "quantitative":
            legend["columns"] = columns
        how["legend"] = legend
    return below


def _texts(spec: dict[str, Any]) -> str:
    """Where a chart has text: in `cells`, which must stay wide enough for it, in `labels` of its own, or nowhere."""
    stated = [view.get("mark") for view in _views(spec)]
    marks = {mark.get("type") if isinstance(mark, dict) else mark for mark in stated}
    return ("cells" if "rect" in marks else "labels") if "text" in marks else ""


def _measured_down(spec: dict[str, Any]) -> bool:
    """Whether every vertical axis is one of numbers, so that it may be made shorter."""
    down = [view.get("encoding", {}).get("y") for view in _views(spec)]
    return {axis.get("type") for axis in down if isinstance(axis, dict)} == {"quantitative"}


def _views(spec: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A chart and all charts in it."""
    yield spec
    for key in VIEWS:
        inner = spec.get(key)
        for view in inner if isinstance(inner, list) else [inner] if isinstance(inner, dict) else []:
            yield from _views(view)


def _size(svg: str) -> tuple[float, float]:
    match = re.search(r'<svg\b[^>]*? width="([\d.]+)" height="([\d.]+)"', svg)
    if match is None:
        raise ValueError("the drawing has no size")
    return float(match[1]), float(match[2])
