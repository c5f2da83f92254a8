"""What a chart says, in words: which column of its rows decides which trait of its marks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from recassay.core.vocabulary import USUAL
from recassay.plots.shown import Shown
from recassay.reporting.section import takes
from recassay.reporting.telling import sections_of


def views(spec: dict[str, Any], above: dict[str, Any] | None = None) -> Iterator[tuple[dict[str, Any], list[dict]]]:
    """Every single chart within a chart, and its rows."""
    above = {} if above is None else above
    data = spec.get("data", above.get("data"))
    encoding = {**above.get("encoding", {}), **spec.get("encoding", {})}
    for key in ("layer", "hconcat", "vconcat", "concat"):
        for inner in spec.get(key, ()):
            yield from views(inner, {"data": data, "encoding": encoding})
    if "mark" in spec:
        yield {**spec, "encoding": encoding}, (data or {}).get("values", [])


def says(spec: dict[str, Any]) -> list[str]:
    """Each single chart in one line, such as `rule x=low x2=high y=algorithm`; equal ones once, looks left out."""
    lines = []
    for view, _ in views(spec):
        channels = [f"{name}={_channel(how)}" for name, how in sorted(view["encoding"].items()) if name != "tooltip"]
        kept = [re.sub("== '[^']*'", "== one", f"[{step['filter']}]") for step in view.get("transform", ())]
        lines.append(" ".join([view["mark"]["type"], *channels, *kept]))
    return list(dict.fromkeys(lines))


def _channel(how: dict[str, Any]) -> str:
    shown = how["field"] if "field" in how else repr(how.get("value", how.get("datum")))
    scale = how.get("scale") or {}
    marks = [scale[key] for key in ("type",) if scale.get(key, "linear") != "linear"]
    marks += ["reverse"] * bool(scale.get("reverse"))
    domain = scale.get("domain")
    if (
        domain
        and len(domain) == 2
        and all(isinstance(end, (int, float)) and 2 * end == round(2 * end) for end in domain)
    ):
        marks.append(f"{domain[0]:g}..{domain[1]:g}")
    if "condition" in how:
        marks.append(f"if {how['condition']['test']}: {_channel(how['condition'])}")
    return f"{shown}({', '.join(marks)})" if marks else str(shown)


def rows_of(spec: dict[str, Any]) -> list[list[dict]]:
    """The rows of every single chart."""
    return [rows for _, rows in views(spec)]


def shows(spec: dict[str, Any]) -> dict[str, str]:
    """What a reader sees of a chart besides its rows, by place: titles, sizes, looks, axes, legends and tips."""
    seen: dict[str, str] = {}
    for place, view in _places(spec):
        for key in ("title", "mark", "transform", "resolve", "columns", "spacing"):
            if key in view:
                seen[f"{place}{key}"] = _words(view[key])
        if "width" in view or "height" in view:
            seen[f"{place}size"] = f"{_words(view.get('width'))} x {_words(view.get('height'))}"
        for channel, how in view.get("encoding", {}).items():
            seen[f"{place}{channel}"] = _words(how)
    return seen


def _places(spec: dict[str, Any], place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    yield place, spec
    for key in ("layer", "hconcat", "vconcat", "concat"):
        for number, inner in enumerate(spec.get(key, ())):
            yield from _places(inner, f"{place}{key[0]}{number} ")


def _words(value: Any) -> str:
    if isinstance(value, dict):
        column = [f"{value['field']}:{value['type'][0].upper()}"] if {"field", "type"} <= value.keys() else []
        rest = {key: inner for key, inner in value.items() if not column or key not in ("field", "type")}
        return " ".join(column + [f"{key}={_words(inner)}" for key, inner in rest.items()])
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_words, value))}]"
    return f"{value:g}" if isinstance(value, float) else str(value)


def with_hidden(result: Any, name: str) -> dict[str, bool]:
    """By each picture of a result that takes the algorithms to show, whether it names this one although it is hidden.

    A text is taken for the name where nothing else stands in it.
    """
    plots = [plot for section in sections_of(result) for plot in section.plots if plot.when(result)]
    drawn = {
        plot.name: plot(result, USUAL, Shown(frozenset({name}), 99)) for plot in plots if takes(plot.draw, "shown")
    }
    return {picture: json.dumps(name) in json.dumps(chart.to_dict()) for picture, chart in drawn.items()}
