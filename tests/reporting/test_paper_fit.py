"""Whether tables and figures fit a page of a paper, of grids and charts whose widths are known."""

from __future__ import annotations

import json
import re

import pytest

from recassay.plots.grammar import Chart, channel
from recassay.reporting.paper import figures
from recassay.reporting.paper.arrange import fits, letters_across, pieces
from recassay.reporting.paper.grid import EMPTY, Cell, Grid
from recassay.reporting.paper.latex_table import PACKAGES, latex_table
from support.tex import needs_tex, needs_tex_file, set_pages


def grid(cells=("0.5",), heads=("x",), groups=(), rows=1):
    row = tuple(cell if isinstance(cell, Cell) else Cell(cell) for cell in cells)
    return Grid(tuple(heads), (("ab", row),) * rows, groups=tuple(groups))


@pytest.mark.parametrize(
    ("made", "upright", "letters"),
    [
        (grid(), False, 2 + 3 + 2),
        (grid(heads=("heading",)), False, 2 + 7 + 2),
        (grid(heads=("heading",)), True, 2 + 3 + 2),
        (grid(cells=("1",), heads=("heading",)), True, 2 + 2 + 2),
        (grid(cells=(Cell("0.5", "0.12"),)), False, 2 + 7 + 2),
        (grid(cells=("0.5", "0.5"), heads=("x", "y"), groups=[("G", 2)]), False, 2 + 5 + 5),
        (grid(cells=("0.5", "0.5"), heads=("x", "y"), groups=[("a long heading", 2)]), False, 2 + 14 + 2),
    ],
)
def test_letters_across_a_grid(made, upright, letters):
    assert letters_across(made, upright=upright) == letters
    assert fits(made, letters / 18, upright=upright)
    assert not fits(made, (letters - 1) / 18, upright=upright)


def test_lines_of_a_grid():
    assert fits(grid(rows=62), 7.0, upright=False), "72 lines, less nine of the caption and one of the headings"
    assert not fits(grid(rows=63), 7.0, upright=False)
    assert not fits(grid(rows=62, groups=[("G", 1)]), 7.0, upright=False), "a heading over columns is a line"
    assert fits(grid(rows=58, heads=("h" * 10,)), 7.0, upright=True), "upright, ten letters are five lines high"
    assert not fits(grid(rows=59, heads=("h" * 10,)), 7.0, upright=True)


def test_columns_are_cut_before_rows():
    """A name of two letters, and five for each number with its gap."""
    three = grid(cells=("0.5",) * 3, heads=("x", "y", "z"))
    assert [(piece.heads, upright) for piece, upright in pieces(three, 12 / 18)] == [
        (("x", "y"), False),
        (("z",), False),
    ]
    named = grid(heads=("m" * 20,))
    ((piece, upright),) = pieces(named, 12 / 18)
    assert (piece.heads, upright) == (named.heads, True), "a long heading stands upright"
    nowhere = list(pieces(grid(cells=("0.5",) * 2, heads=("x", "y")), 0.1))
    assert [piece.heads for piece, _ in nowhere] == [("x",), ("y",)], "LaTeX shrinks what fits nowhere"
    tall = list(pieces(grid(rows=63), 7.0))
    assert [len(piece.rows) for piece, _ in tall] == [62, 1]


TOO_LARGE = {"wide": grid(cells=("0.123",) * 30, heads=[f"h{i}" for i in range(30)]), "tall": grid(rows=90)}


@pytest.mark.slow
@needs_tex
@pytest.mark.parametrize("document", ["article", "IEEEtran", "llncs", "acmart"])
def test_latex_shrinks_what_is_larger_than_the_page(tmp_path, document):
    """Whatever was thought of its letters, in the classes of venues that are installed."""
    needs_tex_file(f"{document}.cls")
    tables = "".join(
        latex_table(made, "C", name, upright=False, wide=False, rotated=False, after={})
        for name, made in TOO_LARGE.items()
    )
    packages = re.sub(r"\\(?=usepackage|sisetup)", r"\n\\", PACKAGES)
    (tmp_path / "main.tex").write_text(
        f"\\documentclass{{{document}}}{packages}\n\\begin{{document}}\n{tables}\n\\end{{document}}\n"
    )
    made = set_pages(tmp_path, references=False)
    assert made.overfull == []
    assert "Float too large" not in made.log


def test_a_turned_grid_and_parts_of_one():
    whole = Grid(("x", "y", "mean"), (("a", (Cell("1"), Cell("2"), EMPTY)), ("b", (Cell("3"), Cell("4"), Cell("5")))),
                 groups=(("", 2), ("", 1)))  # fmt: skip
    turned = whole.turned()
    assert (turned.heads, turned.closing, turned.groups) == (("a", "b"), 1, ())
    assert turned.rows[2] == ("mean", (EMPTY, Cell("5")))
    assert Grid(whole.heads, whole.rows, groups=(("G", 3),)).turned().closing == 0
    part = turned.part(columns=[1], rows=[1, 2])
    assert (part.heads, part.rows, part.closing) == (("b",), (("y", (Cell("4"),)), ("mean", (Cell("5"),))), 1)
    assert turned.part(rows=[0, 1]).closing == 0
    assert whole.part(rows=[0]).groups == ()
    assert [Cell(text).halves() for text in ("12.5", "7")] == [("12.", "5"), ("7", "")]


def drawing(monkeypatch, beside=60):
    """Charts come out as wide as their panel and `beside` pixels, 20 with the legend below."""

    def lay_out(spec):
        below = '"orient": "bottom"' in json.dumps(spec)
        kind = "below" if below else "beside"
        return f'<svg width="{spec["width"] + (20 if below else beside)}" height="50"><!-- {kind} --></svg>'

    monkeypatch.setattr(figures, "lay_out", lay_out)
    monkeypatch.setattr(figures, "as_pdf", lambda svg: svg.encode())


def chart(*, text=False, legend=False):
    drawn = Chart([]).mark("rect" if text else "point").encode(y="a:Q")
    if legend:
        drawn = drawn.encode(color=channel("b:N", scale={"domain": ["long name", "b"]}))
    layers = drawn + Chart([]).mark("text").encode(y="a:Q") if text else drawn
    return layers.properties(width=300, height=200, title="T")


def across(svg):
    return float(re.search('width="([0-9.]+)', svg)[1])


@pytest.mark.parametrize(
    ("width", "text", "drawn"),
    [(360, False, 360), (364, False, 360), (200, False, 199), (800, False, 796), (140, False, None), (600, True, 360),
     (320, True, 318), (299, True, None)],
)  # fmt: skip
def test_panels_are_drawn_for_the_width_they_have(monkeypatch, width, text, drawn):
    drawing(monkeypatch)
    found = figures._fitted(chart(text=text).to_dict(), width)
    if drawn is None:
        assert found is None, "panels are never narrower than their least share"
    else:
        svg, share = found
        assert across(svg) == pytest.approx(drawn, abs=0.02 * width)
        assert across(svg) <= width
        assert share == pytest.approx((across(svg) - 60) / width, abs=0.01)


def test_legends_go_below_where_they_leave_too_little_room(monkeypatch):
    drawing(monkeypatch, beside=200)
    wide = figures._within(chart(legend=True).to_dict(), 500)
    assert across(wide) == 500, "three fifths are left for the panel"
    assert "beside" in wide
    narrow = figures._within(chart(legend=True).to_dict(), 400)
    assert 392 <= across(narrow) <= 400, "the legend is below, and the panel fills the width"
    assert "below" in narrow
    assert "beside" in figures._within(chart().to_dict(), 400), "without a legend there is nothing to move"
    assert "beside" in figures._within(chart(legend=True).to_dict(), 450), "exactly enough is left: 250 of 450 pixels"
    assert figures._within(chart(legend=True).to_dict(), 100) is None
    spec = figures._legends_below(chart(legend=True).to_dict(), 400)
    assert spec["encoding"]["color"]["legend"] == {"orient": "bottom", "columns": 4}, "30 + 6.6 pixels a letter each"
    named = {"field": "b", "type": "nominal", "legend": {"labelExpr": "x"}, "scale": {"domain": ["long name"]}}
    shown = figures._legends_below({"encoding": {"color": named}}, 400)["encoding"]["color"]["legend"]
    assert shown["columns"] == 2, "a label that is made longer needs more room"
    assert shown["labelExpr"] == "x"
    gradient = {"encoding": {"color": {"field": "b", "type": "quantitative"}}}
    assert figures._legends_below(gradient, 400)["encoding"]["color"]["legend"] == {"orient": "bottom"}


def test_which_channels_have_a_legend():
    encoding = {"color": {"field": "a"}, "shape": {"field": "a", "legend": None}, "size": {"value": 3},
                "x": {"field": "a"}, "fill": {"field": "b", "legend": {"title": None}}}  # fmt: skip
    spec = {"encoding": encoding, "layer": [{"encoding": {"opacity": {"field": "c"}}}]}
    assert [how["field"] for how in figures._legends(spec)] == ["a", "b", "c"]
    shown = ("color", "strokeDash", "shape", "size", "opacity", "fill", "stroke")
    every = {"encoding": {name: {"field": name} for name in (*shown, "x", "y", "detail", "text", "tooltip", "order")}}
    assert [how["field"] for how in figures._legends(every)] == list(shown)


@pytest.mark.parametrize("way", ["layer", "hconcat", "vconcat", "concat", "spec"])
def test_charts_in_a_chart_are_found_however_they_are_joined(way):
    inner = {"layer": [{"mark": "text"}]}
    assert list(figures._views({way: [inner]})) == [{way: [inner]}, inner, {"mark": "text"}]
    assert figures._texts({way: inner if way == "spec" else [inner]}) == "labels"


def test_panels_beside_and_below_each_other():
    one = {"width": 100}
    assert figures._panels_width({"hconcat": [one, {"width": 50}]}) == 150
    assert figures._panels_width({"vconcat": [one, {"width": 250}]}) == 250
    assert figures._panels_width({"concat": [one, one, one]}) == 300
    assert figures._panels_width({"layer": [{}, {"width": 70}]}) == 70
    assert figures._panels_width({"spec": {"width": 80}}) == 80
    assert figures._panels_width({"width": {"step": 20}}) == 0
    spec = {"vconcat": [{"width": 100, "height": 100, "encoding": {"y": {"type": "quantitative"}}},
                        {"width": {"step": 20}, "height": 100, "encoding": {"y": {"type": "nominal"}}},
                        {"width": 15, "height": 100}]}  # fmt: skip
    half, whole = figures._scaled(spec, 0.5)["vconcat"], figures._scaled(spec, 2.0)["vconcat"]
    assert [view["width"] for view in half] == [50, {"step": 10}, 10], "no panel is narrower than ten pixels"
    assert [view["height"] for view in half] == [55, 100, 100], "only an axis of numbers becomes shorter"
    assert [view["height"] for view in whole] == [100, 100, 100]
    assert spec["vconcat"][0]["width"] == 100, "the chart itself stays"
    written = {"width": 100, "height": 100, "mark": "text", "encoding": {"y": {"type": "quantitative"}}}
    assert figures._scaled(written, 0.5)["height"] == 100, "text keeps its lines apart"
    assert figures._texts({"spec": {"mark": "text"}}) == "labels"
    marks = {
        "cells": [{"mark": "rect"}, {"mark": {"type": "text"}}],
        "labels": [{"mark": "text"}],
        "": [{"mark": "rect"}],
    }
    assert {kind: figures._texts({"layer": views}) for kind, views in marks.items()} == {kind: kind for kind in marks}
    with pytest.raises(ValueError, match="no size"):
        figures._size("<svg></svg>")


def test_a_figure_takes_one_column_both_or_smaller_letters(monkeypatch):
    drawing(monkeypatch)

    def made(text, width, page):
        return figures.paper_figure("f", "C.", chart(text=text), width=width, page_width=page, letters=9)

    one = made(False, 3.33, 7.0)
    assert (one.wide, one.letters) == (False, 9)
    assert (one.name, one.caption) == ("f", "C.")
    assert 0.98 * 3.33 <= one.width <= 3.33
    both = made(True, 3.33, 7.0)
    assert (both.wide, both.letters, both.width) == (True, 9, pytest.approx(360 * 9 / 11 / 72)), (
        "cells are not stretched"
    )
    assert not made(True, 6.0, 6.0).wide, "there is one column"
    assert not made(True, 2.5, 2.5).wide, "a page of one column has no other to go over"
    tight = made(True, 2.0, 2.5)
    assert (tight.wide, tight.width) == (True, pytest.approx(2.5))
    assert tight.letters == pytest.approx(11 * 2.5 * 72 / 300), "at four fifths of its width, shrunk to the page"
    assert b'width="180.00pt" height="30.00pt"' in tight.files["svg"]
    assert b'width="180.00" height="30.00"' in tight.files["pdf"]
    bare = figures._bare({"title": "T", "padding": 9, "config": {"background": "white", "padding": 3, "font": "f"}})
    assert bare == {"padding": 2, "background": None, "config": {"font": "f"}}


def test_a_chart_whose_width_does_not_follow_its_panels_evenly_still_fits(monkeypatch):
    def lay_out(spec):
        return f'<svg width="{60 + 20 * spec["width"] ** 0.5:.3f}" height="50"></svg>'

    monkeypatch.setattr(figures, "lay_out", lay_out)
    for width in (260, 330, 390):
        svg, share = figures._fitted(chart().to_dict(), width)
        assert 0.98 * width <= across(svg) <= width
        assert share == pytest.approx(((across(svg) - 60) / 20) ** 2 / width, abs=0.002)
    assert figures._fitted(chart().to_dict(), 249) is None, "three tenths of the panel make 250 pixels"
