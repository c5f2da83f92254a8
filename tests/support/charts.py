"""What a chart says, in words: which column of its rows decides which trait of its marks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any


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
