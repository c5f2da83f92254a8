"""Results show themselves in a notebook, with everything escaped."""

from __future__ import annotations

import html
import re
import sys
from dataclasses import replace
from types import ModuleType

import pytest

import recassay
from recassay.api.publish.content import tell
from recassay.core.registry import analyses
from recassay.core.tables.results import Results
from recassay.testing.results import synthetic_results

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def report():
    frame = synthetic_results(8)
    first = frame["algorithm"][0]
    return recassay.analyze(
        Results.from_frame(frame.with_columns(algorithm=frame["algorithm"].replace(first, HOSTILE))), replicates=100
    )


@pytest.mark.slow
def test_every_result_has_a_table(report):
    assert set(report.analyses) | set(report.skipped) == set(analyses.names())
    for result in report.analyses.values():
        shown, told = result._repr_html_(), tell(result)
        assert told.not_done == ()
        brief = told.brief
        assert brief is None or f"<strong>{html.escape(brief.headline)}</strong>" in shown
        assert brief is None or all(f"<li>{html.escape(sentence)}</li>" in shown for sentence in brief.sentences)
        headings = result.to_frame().columns if brief is None else brief.table.header if brief.table else ()
        headings = [name for name in headings if not re.search(r"1 +(95 %|mean rank) +\d", name)]  # drawn in characters
        assert "├" not in shown
        assert all(f'<th scope="col">{html.escape(name)}</th>' in shown for name in headings)
        assert shown.count("<svg") == bool(result.figures)
        assert "<script" not in shown
        assert "http" not in shown.replace("http://www.w3.org/", ""), "nothing is fetched"


@pytest.mark.slow
def test_a_chart_is_drawn_without_a_network(report):
    shown = report.analyses["compare"].plot()._repr_html_()
    assert shown.startswith("<figure><svg")
    assert "<script" not in shown


@pytest.mark.slow
def test_the_table_of_results_says_its_size(report):
    shown = report.results._repr_html_()
    assert "Results: " in shown
    assert "8 datasets" in shown
    assert "more rows in" in shown


@pytest.mark.slow
def test_pictures_come_with_their_captions(report):
    shown = recassay.figures(report.analyses["rank"])
    assert shown[0].name == "forest"
    page = shown._repr_html_()
    assert "<svg" in page
    assert html.escape(shown[0].caption) in page
    some = replace(report, analyses={name: report.analyses[name] for name in ("rank", "compare")})
    whole = some._repr_html_()
    assert "<script" not in whole
    assert html.escape(report.verdict[0]) in whole
    assert whole.count("<figure>") == 1


@pytest.mark.slow
def test_every_result_says_its_answer_and_names_its_figures(report):
    for name, result in report.analyses.items():
        said, shown = result.verdict(), repr(result)
        assert said == list(tell(result).sentences), name
        assert shown.startswith(said[0] if said else "")
        assert shown.endswith(f"[{type(result).__name__}]")
        assert len(shown) < 1200
        assert result.to_frame().height
    drawn = report.analyses["compare"].figures
    assert "critical_difference" in drawn
    assert report.analyses["compare"].plot().spec == drawn["critical_difference"].spec
    with pytest.raises(recassay.UsageError, match="there is no figure 'x'; it has critical_difference, pairs"):
        report.analyses["compare"].plot("x")


def test_figures_of_a_report_are_found_by_name_and_saved(report, tmp_path):
    some = replace(report, analyses={"compare": report.analyses["compare"]})
    figure = some.figures["critical_difference"]
    assert figure.save(tmp_path / "new" / "cd.pdf").read_bytes().startswith(b"%PDF")
    assert b"<svg" in figure.save(str(tmp_path / "cd.svg")).read_bytes()
    with pytest.raises(recassay.UsageError, match="end it with one of"):
        figure.save(tmp_path / "cd.docx")
    with pytest.raises(recassay.UsageError, match="did you mean 'critical_difference'"):
        some.figures["critical_diference"]
    assert repr(report).startswith(report.verdict[0])


class _Kernel:
    """What a notebook has that a console of Python does not."""

    kernel = object()
    execution_count = 1


def test_a_table_says_above_the_answer_how_it_was_read(monkeypatch, tmp_path):
    shown = []
    ours, displays = ModuleType("IPython"), ModuleType("IPython.display")
    ours.get_ipython = lambda: _Kernel()
    displays.display = lambda bundle, raw: shown.append(bundle)
    path = tmp_path / "ndcg@10.csv"
    path.write_text("model,R&D,d2,Time (s)\nEASE,0.3,0.4,5\nPop,0.1,0.2,6\n")
    recassay.load_results(path)
    assert shown == []
    monkeypatch.setitem(sys.modules, "IPython", ours)
    monkeypatch.setitem(sys.modules, "IPython.display", displays)
    recassay.rank(path)
    (bundle,) = shown
    assert bundle["text/plain"].startswith("read: 2 algorithms (EASE, Pop), 2 datasets (R&D, d2), 1 metric (ndcg@10)")
    assert "columns left out: 'Time (s)'" in bundle["text/plain"]
    assert "R&amp;D" in bundle["text/html"]
    recassay.rank(path)
    assert len(shown) == 1, "the same lines stand once in a run of a cell"
    _Kernel.execution_count = 2
    recassay.rank(path)
    assert len(shown) == 2


def test_the_table_of_results_says_how_it_was_read():
    results = Results.from_frame(synthetic_results(3), notes=("a <note>",))
    assert html.escape(results.told_reading()) in results._repr_html_()
    assert "a &lt;note&gt;" in results._repr_html_()
