"""Figures as files: each format, the same files from one process as from several, and a renderer that stops."""

from __future__ import annotations

import json

import pytest

import recassay
from recassay.cli.main import main
from recassay.core.choices import FORMATS, USUAL, known_formats
from recassay.plots.grammar import Chart, channel
from recassay.plots.theme import themed
from recassay.reporting import drawing
from recassay.reporting.drawing import Drawers, draw_spec, lay_out

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
