"""How a report is put together, of parts made by hand: pictures that are drawn, folders, sections of the page."""

from __future__ import annotations

import json
import re
import struct
import sys
from concurrent.futures import Future
from dataclasses import replace
from types import SimpleNamespace as Made

import altair as alt
import polars as pl
import pytest

from recassay.core.errors import MissingExtraError, UsageError
from recassay.core.vocabulary import USUAL
from recassay.plots.grammar import Chart, concat, hconcat, layer, specification, vconcat
from recassay.reporting import drawing, figures, folder, telling
from recassay.reporting.figures import FilledSection
from recassay.reporting.page.parts import Body, definitions, documentation
from recassay.reporting.section import Brief, Figure, Section, Table

ROWS = [{"a": 1}]


def small(**more):
    return Chart(ROWS).mark("point").encode(x="a:Q").properties(width=40, height=30, **more)


def done(**files):
    future = Future()
    future.set_result(files)
    return future


def failed(error):
    future = Future()
    future.set_exception(error)
    return future


def filled(title="Joy", part="datasets", *, page="report", analysis="joy", pictures=(), files=None, **given):
    frames = given.pop("frames", {"numbers": pl.DataFrame({"n": [1]})})
    section = Section(dict, title, part, page)
    usual = {"sentences": ["It is so.", "And so."], "tables": [], "not_done": []}
    made = {**usual, **given}
    return FilledSection(section, analysis, Made(frames=lambda: frames, metric="m"), made["sentences"], made["tables"],
                         list(pictures), files or {}, made["not_done"])  # fmt: skip


class Pool:
    """Draws nothing, and remembers what it was asked for."""

    def __init__(self):
        self.asked = []

    def submit(self, spec, formats):
        self.asked.append((spec["title"], tuple(formats)))
        return done(**{form: form.encode() for form in formats})


def test_pictures_begin_to_be_drawn_and_those_without_a_specification_are_told():
    def broken(**options):
        raise RuntimeError("no\n specification")

    drawn = [Figure(name, "C.", small(title=name), "numbers") for name in ("one", "left out", "two")]
    odd = Figure("odd", "C.", Made(to_dict=broken), "numbers")
    pool = Pool()
    (begun,) = figures.begin_drawing(
        [filled(pictures=[drawn[0], odd, *drawn[1:]])], ("svg",), pool, without=["left out"]
    )
    assert [figure.name for figure in begun.figures] == ["one", "two"] == list(begun.files)
    assert pool.asked == [("one", ("svg",)), ("two", ("svg",))]
    assert begun.not_done == ["the picture 'odd' failed with RuntimeError: no specification"]


def test_only_the_last_result_is_drawn_ahead(monkeypatch):
    told = []

    def sections(results, words, *, only):
        told.append(only)
        return [filled(pictures=[Figure(name, "C.", small(title=name), "numbers") for name in ("one", "two")])]

    monkeypatch.setattr(figures, "build_sections", sections)
    pool = Pool()
    figures.draw_ahead({"rank": 1, "joy": 2}, USUAL, ("svg", "pdf"), pool, without=["two"])
    assert (told, pool.asked) == (["joy"], [("one", ("svg", "pdf"))])
    figures.draw_ahead({}, USUAL, ("svg",), pool)
    assert len(pool.asked) == 1, "of nothing, nothing is drawn, and nothing is raised"


def test_a_chart_is_drawn_once_for_the_same_formats(monkeypatch):
    drawn = []
    monkeypatch.setattr(drawing, "draw_spec", lambda spec, formats: drawn.append((spec, formats)) or {})
    with drawing.Drawers(0) as drawers:
        first, again = (drawers.submit({"title": "a"}, ("svg",)) for _ in range(2))
        others = [drawers.submit({"title": "a"}, ("pdf",)), drawers.submit({"title": "b"}, ("svg",))]
        assert first is again
        assert first not in others
    assert drawn == [({"title": "a"}, ("svg",)), ({"title": "a"}, ("pdf",)), ({"title": "b"}, ("svg",))]


@pytest.mark.slow
def test_files_of_a_chart(monkeypatch):
    files = drawing.draw_spec(small().to_dict(), ("svg", "png", "pdf"))
    width, height = (float(side) for side in re.search(rb'<svg[^>]* width="([\d.]+)" height="([\d.]+)"',
                                                        files["svg"]).groups())  # fmt: skip
    pixels = struct.unpack(">II", files["png"][16:24])
    assert pixels == (pytest.approx(2 * width, abs=2), pytest.approx(2 * height, abs=2)), "two pixels per point"
    assert files["pdf"].startswith(b"%PDF-1.5\n"), "what journals and old printers take"
    monkeypatch.setattr(drawing, "lay_out", lambda spec: 1 / 0)
    plain = drawing.draw_spec({"title": "constructor", "n": 1}, ("json",))
    assert json.loads(plain["json"])["title"] == "constructor\u2060", "JSON alone needs no drawing"
    with pytest.raises(ValueError, match="JSON"):
        drawing.draw_spec({"n": float("nan")}, ("json",))


@pytest.mark.slow
def test_a_chart_of_ours_or_of_altair_has_a_specification_and_is_an_altair_chart():
    own = small()
    assert specification(own)["$schema"].endswith("v6.json")
    theirs = alt.Chart(alt.Data(values=ROWS)).mark_point()
    assert specification(theirs)["mark"]["type"] == "point"
    points = Chart(ROWS).mark("point").encode(x="a:Q")
    kinds = [
        (own, alt.Chart), (theirs, alt.Chart), (layer(points, points), alt.LayerChart),
        (hconcat(own, own), alt.HConcatChart), (vconcat(own, own), alt.VConcatChart),
        (concat(own, own), alt.ConcatChart),
    ]  # fmt: skip
    for drawn, kind in kinds:
        figure = Figure("n", "C.", drawn, "t")
        assert type(figure.chart) is kind
        assert figure._repr_html_().startswith("<figure><svg")


def test_pictures_need_no_altair(monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    figure = Figure("n", "C.", small(), "t")
    assert figure._repr_html_().startswith("<figure><svg")
    with pytest.raises(MissingExtraError, match=r"needs altair; install it with: pip install 'recassay\[altair\]'"):
        figure.chart  # noqa: B018


def test_data_given_above_are_those_of_every_panel():
    above, own = {"values": ROWS}, Chart([{"a": 3}]).mark("bar")
    bare = Chart().mark("point")
    assert hconcat(bare, Chart(**{"data": above}).mark("line"), data=above).spec == {
        "data": above, "hconcat": [{"mark": {"type": "point"}}, {"mark": {"type": "line"}}]
    }  # fmt: skip
    mixed = hconcat(bare, own, data=above).spec
    assert mixed["data"] is above
    assert mixed["hconcat"][1]["data"] == {"values": [{"a": 3}]}, "a panel keeps rows of its own"
    assert "data" not in hconcat(bare, bare).spec
    assert "data" not in hconcat(bare, own).spec


def test_a_folder_of_tables_figures_and_one_document(monkeypatch, tmp_path):
    pictures = [Figure(name, "C.", small(title=name), "numbers") for name in ("good", "bad one")]
    section = filled(pictures=pictures, frames={"plan": pl.DataFrame({"n": [1]}), "of mine": pl.DataFrame({"n": [2]})})
    monkeypatch.setattr(folder, "build_sections", lambda results, words: [section])

    class Half(Pool):
        def submit(self, spec, formats):
            drawn = super().submit(spec, formats)
            return failed(ValueError("no")) if spec["title"] == "bad one" else drawn

    pool = Half()
    made = folder.write_folder(
        tmp_path / "one", {"joy": section.result}, {"a": 1}, formats=("pdf", "json"), drawers=pool
    )
    assert [path.relative_to(tmp_path / "one").as_posix() for path in made] == [
        "analysis.json", "tables/plan.csv", "tables/plan.tex", "tables/plan.md", "tables/of_mine.csv",
        "tables/of_mine.tex", "tables/of_mine.md", "figures/good.pdf", "figures/good.vl.json",
    ]  # fmt: skip
    assert json.loads(made[0].read_text()) == {"a": 1}
    assert r"\caption{Of mine (m).}" in (tmp_path / "one/tables/of_mine.tex").read_text()
    placed = folder.write_folder(tmp_path / "four", {}, {"a": "/home/somebody/deep/folder/x.csv"}, drawers=Half())
    assert "/home/somebody" not in placed[0].read_text(), "a folder is sent to others"
    assert pool.asked[0] == ("good", ("pdf", "json"))
    built = []
    monkeypatch.setattr("recassay.reporting.page.build.build_page",
                        lambda *given, **named: built.append((given, named)) or "a page \ud800")  # fmt: skip
    content, pool = Made(words=USUAL), Half()
    made = folder.write_folder(tmp_path / "two", {}, {}, formats=("pdf",), content=content, drawers=pool)
    assert [path.name for path in made] == ["report.html", "analysis.json", "good.pdf"], "the SVG is in the page"
    assert made[0].read_text() == "a page \\ud800"
    assert pool.asked[0] == ("good", ("marked", "pdf"))
    ((given, named),) = built
    assert (given[0], named) == (content, {"beside": ("pdf",)})
    with pytest.raises(ValueError, match="JSON"):
        folder.write_folder(tmp_path / "three", {}, {"a": float("nan")}, drawers=pool)


@pytest.mark.parametrize(("count", "processes"), [(7, 0), (8, None)])
def test_few_pictures_are_drawn_in_this_process(monkeypatch, tmp_path, count, processes):
    started = []

    class Started(Pool):
        def __init__(self, processes):
            started.append(processes)
            super().__init__()

        def __enter__(self):
            return self

        def __exit__(self, *error):
            return None

    pictures = [Figure(f"f{i}", "C.", small(title=f"f{i}"), "numbers") for i in range(count)]
    monkeypatch.setattr(folder, "build_sections", lambda results, words: [filled(pictures=pictures)])
    monkeypatch.setattr(folder, "Drawers", Started)
    folder.write_folder(tmp_path, {}, {}, formats=("svg",))
    assert started == [processes]


SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><path d="M0,0" fill="red"/></svg>'


def body(*sections, datasets=("x", "y"), beside=None, analyses=None, **questions):
    results = Made(algorithms=("a", "b"), datasets=datasets)
    content = Made(results=results, analyses=analyses or {}, questions=questions, words=USUAL, own=())
    return Body(content, sections, beside=beside)


def test_a_section_of_the_page():
    table = Table("T", ["n"], [["1"]])
    made = filled(tables=[table], not_done=["the picture failed"])
    (page,) = body(made, joy=("Is it so?", "Somebody 2031")).sections("datasets")
    assert page.startswith(
        '<details id="section-joy" class="section"><summary><h3>Joy</h3><span class="answer">It is so.'
    )
    for part in ('<p class="question">Is it so?</p>', "<ul><li>And so.</li></ul>", "<summary>Tables</summary>",
                 '<p class="note">Not done: the picture failed.</p>', '<p class="note">Source: Somebody 2031</p>',
                 '<details id="table-numbers">'):  # fmt: skip
        assert part in page
    assert body(made).sections("cost") == []
    (silent,) = body(filled(sentences=[]), joy=("Is it so?", "")).sections("datasets")
    assert '<span class="answer">Is it so?</span>' in silent, "the question stands for the answer"
    for absent in ('class="question"', "<ul>", "<summary>Tables</summary>", "Not done", "Source"):
        assert absent not in silent
    verdict = Made(judgement=None)
    headed = body(filled(sentences=["It is so.", "And so."]), analyses={"rank": verdict})
    headed.headline = "It is so."
    assert '<span class="answer">And so.</span>' in headed.sections("datasets")[0], "the headline stands above already"


def test_further_sections_of_an_analysis_have_ids_of_their_own():
    first, second = filled(), filled("More joy")
    made = body(first, second, filled("Others", analysis="other", page="rank"))
    ids = [re.match('<details id="(.*?)"', page)[1] for page in made.sections("datasets")]
    assert ids == ["section-joy", "section-joy-More_joy", "section-other"]
    assert made.pages() == ["report", "rank"]


def test_pictures_of_the_page_link_to_their_numbers_and_files():
    def drawn(name):
        return Figure(name, f"Of {name}.", small(), "numbers")

    files = {name: done(marked=SVG.encode()) for name in ("one", "two", "forest")} | {
        "bad": failed(ValueError("no ink"))
    }
    pictures = [drawn(name) for name in ("one", "two", "bad", "forest")]
    made = filled(pictures=pictures, files=files)
    (page,) = body(made, beside=("png", "pdf", "json")).sections("datasets")
    one, two = (page[page.index(f'id="figure-{name}"') :] for name in ("one", "two"))
    links = (
        '<a href="#definition-report">Definition</a><a href="figures/one.pdf">PDF</a><a href="figures/one.png">PNG</a>'
    )
    assert f'Of one.<span class="links">{links}</span>' in one
    assert "<summary>Numbers</summary>" in one
    assert '<a href="#table-numbers">Numbers</a>' in two, "the table stands in the page already"
    assert page.count('id="table-numbers"') == 1
    assert "figure-forest" not in page, "the verdict draws it"
    assert "Not done: the picture &#x27;bad&#x27; failed with ValueError: no ink." in page
    assert "<caption>Of one.</caption>" in one
    assert made.not_done == [], "the section itself is not changed"
    (single,) = body(made, datasets=("x",)).sections("datasets")
    assert 'id="figure-forest"' in single, "of one dataset nothing else draws it"
    assert ".pdf" not in single
    nowhere = filled(page="no-such-page", pictures=pictures[:1], files=files)
    assert "Definition" not in body(nowhere).sections("datasets")[0]


@pytest.mark.parametrize("name", ["forest", "critical_difference", "performance_profiles"])
def test_what_the_leaderboard_draws_stands_once(name):
    made = filled(pictures=[Figure(name, "C.", small(), "numbers")], files={name: done(marked=SVG.encode())})
    for datasets, drawn in ((("x", "y"), False), (("x",), True)):
        (page,) = body(made, datasets=datasets).sections("datasets")
        assert (f'id="figure-{name}"' in page) == drawn


def test_long_tables_of_the_page_say_where_the_rest_is():
    def page(rows, beside):
        made = filled(frames={"num bers": pl.DataFrame({"n": range(rows)})})
        return body(made, beside=beside).sections("datasets")[0]

    short = page(60, ())
    assert "<caption>num bers</caption>" in short
    assert "<summary>Table: num bers</summary>" in short
    assert "All are in" not in short
    assert "<summary>Table: num bers (1,061 rows)</summary>" in page(1061, ())
    link = '<a href="tables/num_bers.csv">tables/num_bers.csv</a>'
    assert f"The first 60 of 61 rows. All are in {link}." in page(61, ())
    alone = "All are in tables/num_bers.csv of the folder that recassay analyze --out writes."
    assert f"The first 60 of 61 rows. {alone}" in page(61, None)


def test_results_that_no_section_tells_show_their_tables():
    own = Made(frames=lambda: {"sorrow": pl.DataFrame({"n": [1]})})
    made = body(filled(), analyses={"joy": filled().result, "my_sorrow": own}, my_sorrow=("How much?", ""))
    (page,) = made.without_section()
    assert page.startswith('<section><h3>my sorrow</h3><p>How much?</p><details id="table-sorrow">')
    assert body(filled(), analyses={"joy": own}).without_section() == []


def test_pages_of_the_documentation_inside_the_report(monkeypatch, tmp_path):
    assert documentation("../docs/rank") is None
    assert documentation("Rank") is None
    text = (
        "# Joy & more\n\n![a picture](joy.svg)\n\n## Parts\n\nSee [rank](rank.md#a), [all](joy.md) and [out](x.html).\n"
    )
    (tmp_path / "joy.md").write_text(text + "\n| a |\n| --- |\n| <b> |\n\n#### Deep\n")
    monkeypatch.setattr("recassay.reporting.page.parts.documentation", lambda page: tmp_path / f"{page}.md")
    page = definitions(["joy"])
    assert page.startswith('<details id="definition-joy" class="definition"><summary>Joy &amp; more</summary>')
    assert 'See rank, <a href="#definition-joy">all</a> and out.' in page
    assert "<h4>Parts</h4>" in page
    assert "<h6>Deep</h6>" in page
    assert "<img" not in page
    assert '<div class="scroll"><table>' in page
    assert "&lt;b&gt;" in page


class Told:
    """A result of somebody."""

    def to_frame(self):
        return pl.DataFrame({"mean_rank": [1.23456]})


@pytest.mark.slow
def test_one_result_in_a_notebook(monkeypatch):
    def shown(**given):
        section = Section(Told, "Joy", "datasets", "report", **given)
        monkeypatch.setattr(telling, "sections_of", lambda result: [section])
        monkeypatch.setattr(telling, "with_sections", lambda results: [(section, "result", Told())])
        return telling.result_html(Told())

    picture = Figure("joy", "Of joy.", small(), "numbers")
    page = shown(
        brief=lambda result: Brief("It <is> so.", Table("T", ["a"], [["x"]]), sentences=("First.",), caution="Careful.",
                                   next_step="More."),
        figures=lambda result: [picture],
    )  # fmt: skip
    assert page.startswith("<p><strong>It &lt;is&gt; so.</strong></p><table><caption>T</caption>")
    assert page.endswith("<li>First.</li><li>Caution: Careful.</li><li>Next: More.</li></ul>")
    assert page.index("</table>") < page.index("<svg") < page.index("<li>First.")
    bare = shown(tables=lambda result: 1 / 0)
    assert bare.startswith("<ul><li>Not done: the tables of the section &#x27;Joy&#x27; failed with ZeroDivisionError")
    assert "<caption>A result of somebody.</caption>" in bare
    assert "<td>1.235</td>" in bare
    assert shown(sentences=lambda result: ["Only."]) == "<p><strong>Only.</strong></p>"
    table = telling.main_table(Told())
    assert (table.title, table.header, table.rows, table.most) == (
        "A result of somebody.", ("mean rank",), (("1.235",),), 50
    )  # fmt: skip
    monkeypatch.undo()
    assert telling.result_html(Told()).startswith("<table><caption>A result of somebody.</caption>")
    assert telling.result_headline(Told()) == ""
    assert list(telling.figures_by_analysis(["rank", "no_such_word"])) == ["rank"]


def test_no_sentence_is_told_twice_and_failures_are_told_by_name(monkeypatch):
    same = Section(Told, "Joy", "datasets", "report", sentences=lambda result: ["One.", "Two."])
    other = replace(same, title="More", sentences=lambda result: ["Two.", "Three."])
    wrong = replace(same, title="Wrong", sentences=lambda result: 1 / 0)
    monkeypatch.setattr(telling, "plugin_sections", lambda: ({}, {"gone": "it is gone"}))
    monkeypatch.setattr(telling, "with_sections", lambda results: [(same, "a", 1), (other, "b", 2), (wrong, "c", 3)])
    reasons = {}
    assert telling.verdict({}, reasons) == ["One.", "Two.", "Three."] == telling.verdict({})
    why = "the sentences of the section 'Wrong' failed with ZeroDivisionError: division by zero"
    assert reasons == {"gone": "it is gone", "c": why}


def test_a_section_of_a_plugin_that_would_end_the_process_is_told():
    def ends(result):
        raise SystemExit(3)

    not_done = []
    assert telling.ask(Section(Told, "Joy", "datasets", "report", sentences=ends), "sentences", Told(), not_done) == []
    assert not_done == ["the sentences of the section 'Joy' failed with SystemExit: 3"]
    given = Section(Told, "Joy", "datasets", "report", sentences=lambda result: iter(["One."]))
    assert telling.ask(given, "sentences", Told(), not_done) == ["One."]


def test_sections_of_plugins_are_those_that_load_and_none_of_ours(monkeypatch):
    joy = Section(Told, "Joy", "datasets", "report")
    entries = {"joy": "mine:JOY", "ours": "recassay.reporting.sections.rank:SECTION", "lost": "lost:X", "text": "m:T",
               "old": "recassay.reporting.sections.gone:SECTION", "near": "recassay.reporting.sections_of_mine:X",
               "own": None}  # fmt: skip
    loaded = {"joy": joy, "ours": joy, "text": "no section", "near": joy, "own": joy}
    known = Made(
        loadable=lambda: (dict(loaded), {"lost": "it is lost", "old": "it is old"}),
        names=lambda: list(entries),
        announcement=lambda name: entries[name] and Made(value=entries[name]),
    )
    monkeypatch.setattr(telling.registry, "sections", known)
    usable, problems = telling.plugin_sections()
    assert usable == {"joy": joy, "near": joy, "own": joy}
    assert problems == {"lost": "it is lost", "text": "what it announces is not a Section"}
    every, told = telling.sections()
    assert told == problems
    assert [section.title for section in every].count("Joy") == 3
    assert [section.title for section in telling.sections_of(Told())] == ["Joy"] * 3


def test_sections_are_read_by_part_then_by_order_then_by_title(monkeypatch):
    def section(title, part, order):
        return Section(Told, title, part, "report", order=order)

    made = [section("B", "cost", 5), section("A", "cost", 7), section("Z", "datasets", 9), section("A", "cost", 5)]
    monkeypatch.setattr(telling, "plugin_sections", lambda: (dict(enumerate(made)), {}))
    read = [(one.title, one.order) for one in telling.sections_of(Told())]
    assert read == [("Z", 9), ("A", 5), ("B", 5), ("A", 7)]
    pairs = telling.with_sections({"late": Told(), "soon": Told()})
    assert [(one.title, one.order, name) for one, name, _ in pairs] == [
        (*key, name) for key in read for name in ("late", "soon")
    ]


def test_a_headline_is_a_sentence_and_what_failed_follows_the_sentences(monkeypatch):
    def told(**given):
        made = Section(Told, "Joy", "datasets", "report", **given)
        monkeypatch.setattr(telling, "plugin_sections", lambda: ({"joy": made}, {}))
        return Told()

    table = Table("T", ["a"], [["x"]])
    assert telling.result_headline(told(tables=lambda result: [table])) == "", "the title of a table is not a headline"
    assert telling.result_headline(told(sentences=lambda result: ["One."])) == "One."
    brief = {"brief": lambda result: Brief("First."), "sentences": lambda result: ["One."]}
    assert telling.result_headline(told(**brief)) == "First."
    assert telling.answer({"joy": told(**brief)}).brief == Brief("First.")
    failed = "Not done: the sentences of the section 'Joy' failed with ZeroDivisionError: division by zero."
    assert telling.result_sentences(told(sentences=lambda result: 1 / 0)) == [failed]
    whole = telling.answer({"joy": told(tables=lambda result: [table])})
    assert (whole.tables, whole.sentences, whole.brief) == ((table,), (), Brief("T", table))


def test_the_first_brief_among_sections_counts(monkeypatch):
    silent = Section(Told, "A", "cost", "report", sentences=lambda result: ["One."])
    brief = Section(Told, "B", "cost", "report", brief=lambda result: Brief("Second."))
    monkeypatch.setattr(telling, "plugin_sections", lambda: ({"a": silent, "b": brief}, {}))
    assert telling.answer({"joy": Told()}).brief == Brief("Second.")


def test_a_result_that_nobody_tells_has_no_section_whatever_it_lacks():
    assert list(figures.build_sections({"joy": Told()})) == []
    assert figures.figures({"joy": Told()}) == []


def test_pictures_that_do_not_fit_their_result_are_told_and_left_out(monkeypatch):
    class Whole(Told):
        def frames(self):
            return {"numbers": pl.DataFrame({"n": [1]})}

    drawn = [Figure("joy", "C.", small(), "numbers"), Figure("joy", "C.", small(), "numbers"), "no picture",
             Figure("odd", "C.", small(), "nowhere")]  # fmt: skip
    section = Section(Whole, "Joy", "datasets", "report", lambda result: drawn, lambda result: ["So."])
    monkeypatch.setattr(telling, "plugin_sections", lambda: ({"joy": section}, {}))
    (filled_in,) = figures.build_sections({"joy": Whole()})
    assert (filled_in.figures, filled_in.sentences, filled_in.analysis) == ([drawn[0]], ["So."], "joy")
    assert [reason.partition(" ")[0] for reason in filled_in.not_done] == ["the", "what", "the"]
    assert list(figures.build_sections({"joy": Whole(), "other": Told()}, only="other")) == []


def test_a_picture_is_saved_as_its_ending_says(tmp_path):
    picture = Figure("joy", "Of joy.", small(), "numbers")
    for name in ("a.json", "b.JSON"):
        assert picture.save(str(tmp_path / name)) == tmp_path / name
        assert json.loads((tmp_path / name).read_text())["width"] == 40
    for name in ("c.jpg", "json"):
        with pytest.raises(UsageError, match=rf"^{name} has no known ending; end it with one of \.svg, \.pdf"):
            picture.save(tmp_path / name)
