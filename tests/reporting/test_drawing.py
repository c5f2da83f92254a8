"""Figures as files: each format, the same files from one process as from several, and a renderer that stops."""

from __future__ import annotations

import html
import json
import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import recassay
from recassay.cli.main import main
from recassay.core.choices import FORMATS, USUAL, known_formats
from recassay.plots.grammar import SCHEMA, Chart, channel
from recassay.plots.theme import themed
from recassay.reporting import drawing
from recassay.reporting.drawing import IS, MARKED, NEXT, Drawers, draw_spec, lay_out

BEGINS = {"svg": b"<svg", "pdf": b"%PDF", "png": b"\x89PNG", "json": b"{"}


def chart(number: int) -> Chart:
    rows = [{"a": f"name {i}", "b": i * number, "clip": "clip1"} for i in range(4)]
    colour = channel("b:Q", scale={"scheme": "blues"})
    drawn = Chart(rows).mark("rect", clip=True).encode(x="b:Q", y="a:N", color=colour, tooltip=["clip:N"])
    return themed(drawn, f"Chart {number}", "a gradient and a clip")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "results.csv"
    rows = [
        f"{a},{d},ndcg@10,{0.1 * i + 0.01 * j * (i + 1)}" for i, a in enumerate("xyz") for j, d in enumerate("klmno")
    ]
    path.write_text("\n".join(["algorithm,dataset,metric,value", *rows]) + "\n")
    return path


@pytest.mark.slow
def test_several_processes_give_the_files_of_one():
    charts = [chart(number) for number in range(1, 6)]
    alone = [draw_spec(each.to_dict()) for each in charts]
    with Drawers(2) as drawers:
        parallel = [pending.result() for pending in [drawers.submit(one.to_dict(), FORMATS) for one in charts]]
    for one, other in zip(alone, parallel, strict=True):
        assert len(one.pop("pdf")) == len(other.pop("pdf"))  # the converter lists the fonts of a page in any order
    assert parallel == alone
    assert len({files["svg"] for files in alone}) == 5


@pytest.mark.slow
def test_a_drawing_does_not_depend_on_those_before_it():
    spec = chart(1).to_dict()
    first, again = lay_out(spec), lay_out(spec)
    assert first == again
    assert "url(#gradient_" in first
    assert "clip: clip1" in first


def described(*marks: dict, **above: object) -> list[dict[str, str]]:
    """The data that the marks of a chart carry for the page."""
    rows = [{"algorithm": "E; rank: 2", "v": -1 / 3, "share": 0.25, "n": None, "label": "E", "a.b": 1},
            {"algorithm": "0012", "v": 2, "share": 1.0, "n": 12345678, "label": "0", "a.b": 2}]  # fmt: skip
    spec = {"$schema": SCHEMA, "data": {"values": rows}, "layer": list(marks), **above}
    drawn = draw_spec(spec, (MARKED,))[MARKED].decode()
    labels = [html.unescape(label) for label in re.findall(f'aria-label="([^"]*{IS}[^"]*)"', drawn)]
    return [dict(part.split(IS) for part in label.split(NEXT)) for label in labels]


@pytest.mark.slow
def test_marks_carry_their_data_for_the_page():
    x, y = {"field": "v", "type": "quantitative", "title": "it's"}, {"field": "algorithm", "type": "nominal"}
    tips = [{"field": "n", "type": "quantitative"}, {"field": "share", "type": "quantitative", "format": ".0%"}]
    assert described({"mark": "point", "encoding": {"x": x, "y": y, "tooltip": tips}}) == [
        {"n": "", "share": "25%", "it's": "−0.3333", "algorithm": "E; rank: 2"},
        {"n": "1.235e+7", "share": "100%", "it's": "2", "algorithm": "0012"},
    ], "the tooltip first; a name that looks like a number stays a name"
    shared = described({"mark": "text", "encoding": {"text": {"field": "label"}, "x": x}}, encoding={"y": y})
    assert shared == [{"algorithm": "E; rank: 2", "it's": "−0.3333"}, {"algorithm": "0012", "it's": "2"}]
    low = {"field": "share", "type": "quantitative", "title": "v"}
    assert described({"mark": "rule", "encoding": {"x": low, "tooltip": [{"field": "v", "type": "quantitative"}]}}) == [
        {"v": "−0.3333"}, {"v": "2"},
    ], "of two columns with one title the first counts, and that is the tooltip's"  # fmt: skip
    nested = {"field": "a.b", "type": "quantitative"}
    counted = {"aggregate": "count", "field": "v", "type": "quantitative"}
    assert described({"mark": "bar", "encoding": {"x": counted, "y": nested}}) == [], "computed by the renderer"
    stated = {"value": "said"}
    assert described({"mark": "point", "encoding": {"x": x, "description": stated}}) == [], "the chart has its own text"


@pytest.mark.slow
def test_files_have_readable_descriptions():
    drawn = draw_spec(Chart([{"v": 1, "who": "EASE"}]).mark("point").encode(x="v:Q", y="who:N").to_dict(), ("svg",))
    drawn = drawn["svg"].decode()
    assert 'aria-label="v: 1; who: EASE"' in drawn
    assert not {NEXT, IS} & set(drawn)


@pytest.mark.slow
def test_a_chart_that_cannot_be_drawn_costs_no_other():
    with Drawers(2) as drawers:
        wrong = drawers.submit({"mark": "nothing", "data": {"values": []}, "encoding": 3}, ("svg",))
        right = drawers.submit(chart(1).to_dict(), ("json",))
        assert json.loads(right.result()["json"])["title"]["text"] == "Chart 1"
        with pytest.raises(ValueError, match="Vega-Lite"):
            wrong.result()


@pytest.mark.slow
def test_a_renderer_that_stops_is_replaced():
    with Drawers(2) as drawers:
        for helper in drawers._started:
            helper.process.kill()
            helper.process.wait()
        assert drawers.submit(chart(2).to_dict(), ("svg",)).result() == draw_spec(chart(2).to_dict(), ("svg",))


def test_a_chart_in_one_format_is_of_that_format():
    assert json.loads(drawing.render(chart(1), "json"))["title"]["text"] == "Chart 1"


def test_formats_are_known_by_name():
    assert known_formats(None) == USUAL
    assert known_formats([" PNG", ".svg", "png"]) == ("svg", "png")
    with pytest.raises(recassay.UsageError, match="unknown format of figures 'jpg'"):
        known_formats(["svg", "jpg"])


@pytest.mark.parametrize("form", FORMATS)
def test_each_format_by_itself(table, tmp_path, form):
    with pytest.raises(SystemExit) as ended:
        main(["ratings", str(table), "--out", str(tmp_path / "out"), "--formats", form])
    assert not ended.value.code
    written = sorted((tmp_path / "out" / "figures").iterdir())
    assert written
    assert all(file.name.endswith(".vl.json" if form == "json" else f".{form}") for file in written)
    assert all(file.read_bytes().startswith(BEGINS[form]) for file in written)
    assert list((tmp_path / "out" / "tables").glob("*.csv"))


@pytest.mark.parametrize("command", ["analyze", "stress", "rank"])
def test_an_unknown_format_is_refused_in_one_line_before_the_work(table, tmp_path, capsys, command):
    with pytest.raises(SystemExit) as ended:
        main([command, str(table), "--out", str(tmp_path / "out"), "--formats", "svg,tiff"])
    assert ended.value.code == 2
    said = capsys.readouterr().err.strip()
    assert said.startswith("recassay: unknown format of figures 'tiff'")
    assert "\n" not in said
    assert not (tmp_path / "out").exists()


def test_a_process_that_draws_has_drawn_once_before_the_first_chart(monkeypatch):
    drawn = []
    monkeypatch.setattr(drawing, "draw_spec", lambda spec, formats: drawn.append((spec, formats)))
    assert drawing.drawer() is drawing.draw_spec
    assert drawn == [(drawing.WARM_UP, ("svg",))]


@pytest.mark.parametrize("given", [None, "own.conf"])
def test_fonts_of_the_renderer_come_before_those_of_the_system(monkeypatch, given):
    registered = []

    def register(folder: str) -> None:
        registered.append((folder, Path(os.environ["FONTCONFIG_FILE"]).read_text().count("<dir>/nonexistent</dir>")))

    monkeypatch.setitem(sys.modules, "vl_convert", SimpleNamespace(register_font_directory=register))
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("FONTCONFIG_FILE", raising=False)
    if given is not None:
        monkeypatch.setenv("FONTCONFIG_FILE", given)
    drawing._loaded.__wrapped__()
    assert registered == ([] if given else [(os.path.expanduser(folder), 1) for folder in drawing.FONTS])
    assert os.environ.get("FONTCONFIG_FILE") == given
