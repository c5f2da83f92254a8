"""The forms that charts are made of, as specifications: axes of names, intervals, maps, fills, legends."""

from __future__ import annotations

import numpy as np

from recassay.plots.forms import (
    algorithm_colour,
    by_algorithm,
    correlation_fill,
    heat_map,
    intervals,
    line_legend,
    line_looks,
    names_above,
    names_down,
    panel_title,
    quoted,
    rank_fill,
    renamed,
    share_fill,
    short_labels,
    square_map,
)
from recassay.plots.grammar import Chart, condition, fixed, tips
from recassay.plots.theme import CELL_INK, COLOURS, DASHES, FAINT, colour_scale, dash_scale, shorten


def test_axes_of_names():
    down = {"field": "a", "type": "nominal", "sort": ["x", "y"], "title": None}
    assert names_down("a", ("x", "y")) == {**down, "axis": {"domain": False, "ticks": False}}
    assert names_down("a", ("x", "y"), shared=True, labels=True) == {**down, "axis": None}
    assert names_down("a", ("x", "y"), labels=False)["axis"] == {"domain": False, "ticks": False, "labels": False}
    above = {"orient": "top", "labelAngle": -35, "domain": False, "ticks": False}
    assert names_above("a", ["x", "y"]) == {**down, "axis": above}
    assert names_above("a", ["x"], angle=0, labelLimit=9)["axis"] == {**above, "labelAngle": 0, "labelLimit": 9}
    assert quoted("it's a \\") == r"'it\'s a \\'"
    assert renamed({"a": 1}) == "({'a': '1'})[datum.label]"
    assert short_labels(["abcdef"], 4) == "({'abcdef': 'abc…'})[datum.label]"
    assert (shorten("x" * 28), shorten("x" * 29)) == ("x" * 28, "x" * 27 + "…")


def test_colours_and_lines_of_algorithms():
    names = ["b", "a"]
    colours = {"domain": names, "range": [COLOURS[1], COLOURS[0]]}
    assert colour_scale(names) == colours
    assert dash_scale([f"{i:02d}" for i in range(13)])["range"] == [DASHES[0]] * 12 + [DASHES[1]]
    assert algorithm_colour(names) == {"field": "algorithm", "type": "nominal", "scale": colours, "legend": None}
    looks = line_looks("name", names, {"title": None})
    shared = {"field": "name", "type": "nominal", "sort": names, "legend": {"title": None}}
    assert looks == {"color": {**shared, "scale": colours}, "strokeDash": {**shared, "scale": dash_scale(names)}}
    assert line_legend(["x"] * 18)["columns"] == 1
    assert line_legend(["x"] * 19)["columns"] == 2
    assert line_legend(names)["symbolType"] == "stroke"
    assert "symbolType" not in line_legend(names, strokes=False)
    spec = by_algorithm([{"algorithm": "a"}], names, "rating low", shared=True).spec
    assert spec["data"] == {"values": [{"algorithm": "a"}]}
    assert spec["encoding"] == {
        "y": names_down("algorithm", names, shared=True), "color": algorithm_colour(names),
        "tooltip": Chart().encode(tooltip=tips("algorithm", "rating low")).spec["encoding"]["tooltip"],
    }  # fmt: skip


def test_intervals():
    scale = {"zero": False}
    spans, dots = (chart.spec for chart in intervals(Chart([]), "v", "l", "h", scale=scale, title="T"))
    assert spans["mark"] == {"type": "rule", "strokeWidth": 2}
    assert spans["encoding"] == {
        "x": {"field": "l", "type": "quantitative", "scale": scale, "title": "T"}, "x2": {"field": "h"}
    }  # fmt: skip
    assert dots["mark"] == {"type": "circle", "size": 52, "opacity": 1}
    assert dots["encoding"] == {"x": {"field": "v", "type": "quantitative", "scale": scale}}
    spans, dots = (
        chart.spec
        for chart in intervals(
            Chart([]),
            "v",
            "l",
            "h",
            scale=scale,
            axis={"grid": False},
            size=9,
            line={"color": "red"},
            dot={"color": "blue"},
        )
    )
    assert spans["mark"] == {"type": "rule", "strokeWidth": 2, "color": "red"}
    assert dots["mark"] == {"type": "circle", "size": 9, "opacity": 1, "color": "blue"}
    assert dots["encoding"]["x"]["axis"] == {"grid": False}
    assert "title" not in spans["encoding"]["x"]


def test_maps():
    across, down, fill = ({"field": name} for name in "xyz")
    rows = [{"x": 1}]
    bare = heat_map(rows, across, down, fill, ["x:Q"], written=False).spec
    assert bare["mark"] == {"type": "rect", "stroke": "white", "strokeWidth": 1.5}
    tip = [{"field": "x", "type": "quantitative"}]
    assert bare["encoding"] == {"x": across, "y": down, "tooltip": tip, "color": fill}
    text = heat_map(rows, across, down, fill, ["x:Q"]).spec["layer"][1]
    assert text["encoding"] == {
        "x": across, "y": down, "tooltip": tip, "text": {"field": "shown", "type": "nominal"}, "color": fixed(CELL_INK)
    }  # fmt: skip
    faint = heat_map(rows, across, down, fill, ["x:Q"], dark="d", faint=("f", 0.4), text_size=7).spec["layer"][1]
    assert faint["encoding"]["color"] == condition("d", fixed("white"), fixed(CELL_INK))
    assert faint["encoding"]["opacity"] == condition("f", fixed(0.4), fixed(1.0))
    assert faint["mark"] == {"type": "text", "fontSize": 7}
    values = np.array([[0.0, 0.25], [0.75, 0.0]])
    square = square_map(["b", "a"], ["a", "b"], values, "share", ".0%", fill, "d").spec
    assert square["data"]["values"] == [
        {"row": "a", "column": "b", "share": 0.25, "shown": "25%"},
        {"row": "b", "column": "a", "share": 0.75, "shown": "75%"},
    ]
    assert (square["width"], square["height"]) == (80, 48)
    assert square["layer"][1]["encoding"]["color"]["condition"]["test"] == "d"
    assert square["layer"][0]["encoding"]["x"] == names_above("column", ["b", "a"])
    many = [str(i) for i in range(21)]
    assert "layer" in square_map(many[:20], many[:20], np.zeros((20, 20)), "share", ".0%", fill, "d").spec
    assert "layer" not in square_map(many, many, np.zeros((21, 21)), "share", ".0%", fill, "d").spec


def test_fills_and_titles():
    assert correlation_fill("r", "rho") == {
        "field": "r", "type": "quantitative", "scale": {"scheme": "blueorange", "domain": [-1, 1], "reverse": True},
        "legend": {"title": "rho", "gradientLength": 140},
    }  # fmt: skip
    assert rank_fill("rank", 7, tickCount=3) == {
        "field": "rank", "type": "quantitative", "scale": {"scheme": "blues", "reverse": True, "domain": [1, 7]},
        "legend": {"title": "rank", "tickCount": 3},
    }  # fmt: skip
    assert share_fill("s", "share") == {
        "field": "s", "type": "quantitative", "scale": {"scheme": "blues", "domain": [0, 1], "clamp": True},
        "legend": {"title": "share", "gradientLength": 120, "format": "%"},
    }  # fmt: skip
    assert panel_title("T") == {"text": "T", "fontSize": 11, "anchor": "start"}
    assert panel_title("T", "S", centred=True, fontSize=9) == {
        "text": "T", "fontSize": 9, "subtitle": "S", "subtitleFontSize": 10, "subtitleColor": FAINT
    }  # fmt: skip
