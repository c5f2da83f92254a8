"""Names from outside never stop the renderer."""

from __future__ import annotations

import json

import pytest

from recassay.core.system.printable import one_line, printable
from recassay.plots.grammar import Chart, channel
from recassay.plots.theme import colour_scale, themed
from recassay.reporting.drawing import drawable, render

NAMES = (
    "constructor", "toString", "valueOf", "__proto__", "hasOwnProperty", "\x00", "a\x01b", "\x1b[31mred\x1b[0m",
    "two\nlines",
    "tab\there", "\x85", "\u2028", "\u202eright to left", "\ufeff", "\uffff", "\ufffe", "\ud800", "\U0001fffe",
    "</svg><script>alert(1)</script>", "&amp;", "'quotes\"", "\\", "{}", "[0]", "a.b", "datum", "", " ", "null",
    "undefined",
    "NaN", "\U0001f600", "x" * 400,
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES, ids=[repr(name)[:30] for name in NAMES])
def test_a_chart_with_any_name_is_drawn(name):
    names = [name, "other"]
    rows = [{"algorithm": one, "value": 0.1 * (i + 1), "dataset": one} for i, one in enumerate(names)]
    y = channel("algorithm:N", sort=names)
    colour = channel("algorithm:N", scale=colour_scale(names))
    chart = Chart(rows).mark("bar").encode(x="value:Q", y=y, color=colour, tooltip=["algorithm:N", "dataset:N"])
    svg = render(themed(chart, f"About {name}", name), "svg").decode()
    assert svg.startswith("<svg")
    assert "<script>" not in svg
    assert "other" in svg


def test_what_is_escaped_is_escaped_everywhere_alike():
    spec = drawable({"data": {"values": [{"constructor": 1, "name": "toString"}]}, "field": "constructor"})
    (row,) = spec["data"]["values"]
    assert spec["field"] in row
    assert row["name"].startswith("toString")
    assert drawable({"x": [1, None, 2.5, True]}) == {"x": [1, None, 2.5, True]}
    assert drawable("two\nlines\x1b") == "two↵lines<U+001B>"
    assert drawable(json.dumps("a\uffff😀\n")) == r'"a<U+FFFF>\ud83d\ude00\n"'


OF_EVERY_OBJECT = (
    "constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf",
    "__proto__", "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__",
)  # fmt: skip
"""The properties of Object.prototype in ECMAScript."""


@pytest.mark.parametrize("name", OF_EVERY_OBJECT)
def test_a_name_that_every_object_has_is_another_that_looks_the_same(name):
    assert drawable([name, {name: 1}, f"{name}s"]) == [f"{name}\u2060", {f"{name}\u2060": 1}, f"{name}s"]


def test_printable_text_shows_what_it_does_not_do():
    assert printable("plain — ñ 漢字 🎵\tand\nmore") == "plain — ñ 漢字 🎵\tand\nmore"
    assert printable("\x1b]0;title\x07") == "\\x1b]0;title\\x07"
    assert printable("\u202e\uffff") == "\\u202e\\uffff"
    assert one_line("a\n\n  b\x00") == "a b\\x00"
    assert len(one_line("x" * 10_000)) == 160
    assert (one_line("x" * 160), one_line("x" * 161)) == ("x" * 160, "x" * 159 + "…")
    assert one_line(f"a{' ' * 700}b") == "a…", "what lies far behind is not looked at, and that is shown"
