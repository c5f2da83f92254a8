"""Charts as plain Vega-Lite specifications, in Altair's words.

Altair checks and copies every object whenever charts are joined, which takes longer than drawing them. Here a chart is
a dictionary that grows; the tests hold every figure's specification against the schema of Vega-Lite.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

Spec: TypeAlias = dict[str, Any]
Row: TypeAlias = dict[str, Any]

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"

TYPES = {"Q": "quantitative", "N": "nominal", "O": "ordinal", "T": "temporal"}
ENDS = ("x2", "y2")
"""Channels that share the type of their partner and state none."""


class Chart:
    """A specification that grows: every method returns another chart, and none is ever changed.

    Its rows stand inside the specification: a chart is one self-contained JSON.
    """

    __slots__ = ("spec",)

    def __init__(self, rows: list[Row] | None = None, **spec: Any) -> None:
        self.spec: Spec = spec if rows is None else {"data": {"values": rows}, **spec}

    def __add__(self, other: Chart) -> Chart:
        """The other chart on top of this one."""
        layers = self.spec.get("layer")
        if layers is None:
            return layer(self, other)
        return _joined("layer", [Chart(**view) for view in layers] + [other], self.spec)

    def mark(self, kind: str, **style: Any) -> Chart:
        """What stands for a row: `line`, `rect`, `text`, ... and how it looks."""
        return self.properties(mark={"type": kind, **style})

    def encode(self, **channels: Any) -> Chart:
        """What of a row decides which trait of its mark: shorthands such as `share:Q`, or what `channel` gives."""
        made = {name: _channel(name, given) for name, given in channels.items()}
        return self.properties(encoding={**self.spec.get("encoding", {}), **made})

    def transform_filter(self, test: str) -> Chart:
        """The rows alone for which the expression holds."""
        return self.properties(transform=[*self.spec.get("transform", ()), {"filter": test}])

    def resolve(self, **how: Mapping[str, str]) -> Chart:
        """Whether panels or layers share their scales or legends: `resolve(scale={"color": "shared"})`."""
        return self.properties(resolve={**self.spec.get("resolve", {}), **how})

    def properties(self, **given: Any) -> Chart:
        """The chart with these entries in its specification: width, height, title, ..."""
        return Chart(**{**self.spec, **given})

    def to_dict(self) -> Spec:
        """The specification, ready to be drawn."""
        return {**self.spec, "$schema": SCHEMA}


def marks(rows: list[Row], kind: str, **style: Any) -> Chart:
    """A chart with a mark of one kind and style for each row: see `Chart.mark`."""
    return Chart(rows).mark(kind, **style)


def channel(shorthand: str, **style: Any) -> Spec:
    """A column with its type (`share:Q`), and the scale, axis, legend, title, order that go with it."""
    column, _, kind = shorthand.rpartition(":")
    return {"field": column, "type": TYPES[kind], **style}


def tips(names: str, numbers: str) -> list[str]:
    """What a tooltip lists: columns of names, then columns of numbers."""
    return [*(f"{name}:N" for name in names.split()), *(f"{name}:Q" for name in numbers.split())]


def fixed(value: Any) -> Spec:
    """The same for every row."""
    return {"value": value}


def condition(test: str, then: Spec, otherwise: Spec) -> Spec:
    """`then` for rows for which the expression holds, `otherwise` for the others."""
    return {**otherwise, "condition": {"test": test, **then}}


def layer(*charts: Chart) -> Chart:
    """Charts on top of each other, the last in front."""
    return _joined("layer", charts, {})


def hconcat(*charts: Chart, **spec: Any) -> Chart:
    """Charts side by side."""
    return _joined("hconcat", charts, spec)


def vconcat(*charts: Chart, **spec: Any) -> Chart:
    """Charts one below the other."""
    return _joined("vconcat", charts, spec)


def concat(*charts: Chart, **spec: Any) -> Chart:
    """Charts in rows of `columns`."""
    return _joined("concat", charts, spec)


def specification(chart: Any) -> Spec:
    """The Vega-Lite specification of one of our charts, or of an Altair chart."""
    spec: Spec = chart.to_dict() if isinstance(chart, Chart) else chart.to_dict(validate=False)
    return spec


def _joined(how: str, charts: Sequence[Chart], spec: Spec) -> Chart:
    """Charts as one; data that all of them share stand once, above."""
    views = [chart.spec for chart in charts]
    shared = spec.get("data") or views[0].get("data")
    if shared is not None and all(view.get("data", shared if "data" in spec else None) is shared for view in views):
        spec = {**spec, "data": shared}
        views = [{key: value for key, value in view.items() if key != "data"} for view in views]
    return Chart(**{**spec, how: views})


def _channel(name: str, given: Any) -> Any:
    if isinstance(given, list):
        return [_channel(name, part) for part in given]
    if not isinstance(given, str):
        return given
    if name in ENDS:
        return {"field": given.rpartition(":")[0]}
    return channel(given)


def quoted(text: str) -> str:
    """Text as a string of an expression."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
