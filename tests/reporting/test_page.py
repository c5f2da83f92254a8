"""What the page is made of: escaping, tables for papers, pictures that fit together, warnings."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import recassay
from recassay.core.tables.facts import AuditFinding, StudyFacts
from recassay.core.tables.results import Results
from recassay.reporting.content import ReportContent
from recassay.reporting.markup import Markup, data_block, escaped, tag
from recassay.reporting.page.build import SCRIPTS, template
from recassay.reporting.page.cautions import cautions
from recassay.reporting.page.parts import definitions
from recassay.reporting.page.svg import inline_svg
from recassay.reporting.page.top import top
from recassay.reporting.tables import column_texts, html_table, latex, markdown, paper_tables
from recassay.store.records import CellRecord
from recassay.testing.results import synthetic_results
from support.shared import HOSTILE

pytestmark = pytest.mark.slow

NASTY = 'a_b & 50% $x$ #1 {y} ~ ^ \\ | <b> "q"'


def test_text_is_escaped_and_markup_is_not():
    assert escaped(HOSTILE) == "&lt;script&gt;alert(1)&lt;/script&gt;"
    assert tag("p", HOSTILE, title='"x"') == ('<p title="&quot;x&quot;">&lt;script&gt;alert(1)&lt;/script&gt;</p>')
    assert tag("p", [tag("b", "x"), None, 3], class_="k", data_name=True, hidden=False) == (
        '<p class="k" data-name><b>x</b>3</p>'
    )
    assert tag("input", checked=True) == "<input checked>"
    assert escaped(Markup("<b>")) == "<b>"


def test_data_cannot_leave_its_block():
    block = data_block("d", {"name": "</script><!--" + HOSTILE + "&amp;"})
    inside = block.removeprefix('<script type="application/json" id="d">').removesuffix("</script>")
    assert "<" not in inside
    assert json.loads(inside) == {"name": "</script><!--" + HOSTILE + "&amp;"}
    assert ">null<" in data_block("d", float("nan"))


FRAME = pl.DataFrame({"algorithm": [NASTY, "plain"], "mean_rank": [1.23456, 2.0], "ok": [True, None]})


def test_latex_is_booktabs_and_escaped():
    text = latex(FRAME, "50 % of it", "mean ranks")
    assert r"\toprule" in text
    assert r"\begin{tabular}{lrl}" in text
    assert r"\caption{50 \% of it}" in text
    assert r"\label{tab:mean-ranks}" in text
    assert r"algorithm & mean rank & ok \\" in text
    row = next(line for line in text.splitlines() if line.startswith("a" r"\_b"))
    assert row == (
        r"a\_b \& 50\% \$x\$ \#1 \{y\} \textasciitilde{} \textasciicircum{} \textbackslash{} \textbar{} "
        r"\textless{}b\textgreater{} {\ttfamily\char34}q{\ttfamily\char34} & 1.235 & yes \\"
    )
    assert r"plain & 2.000 &  \\" in text, "the decimals of a column are the same"


def test_columns_of_a_paper_have_fixed_decimals_and_p_values_as_papers_print_them():
    columns = {"p_holm": [0.0001, 0.0344, 1.0], "p_left": [0.5, 0.25, 0.1234567], "rank": [1.0, 2.5, 3.0],
               "big": [12345.678, 1.0, None], "wins": [3, 2, 1]}  # fmt: skip
    printed = {column.name: column_texts(column) for column in pl.DataFrame(columns)}
    assert printed == {
        "p_holm": ["< .001", ".034", "> .999"],
        "p_left": ["0.5000", "0.2500", "0.1235"],
        "rank": ["1.0", "2.5", "3.0"],
        "big": ["12345.7", "1.0", ""],
        "wins": ["3", "2", "1"],
    }


@pytest.mark.slow
def test_saved_tables_have_captions_of_their_own(analyzed):
    pictures = {figure.caption for figure in recassay.figures(recassay.rank(analyzed.table, replicates=100))}
    captions = {
        path.stem: re.search(r"\\caption\{(.*)\}", path.read_text())[1]
        for path in (analyzed.out / "tables").glob("*.tex")
    }
    assert captions["mean_ranks"].startswith("Mean rank of each algorithm over datasets (")
    assert not pictures & set(captions.values())
    assert len(set(captions.values())) == len(captions)


def test_markdown_keeps_its_columns():
    lines = markdown(FRAME).strip().splitlines()
    assert lines[:2] == ["| algorithm | mean rank | ok |", "| --- | ---: | --- |"]
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 4 for line in lines)
    assert "<" not in markdown(FRAME)


def test_long_tables_are_data_and_say_where_the_rest_is():
    long = pl.DataFrame({"n": range(1000)})
    assert set(paper_tables("long", long, "c")) == {"long.csv"}
    assert set(paper_tables("short", FRAME, "c")) == {"short.csv", "short.tex", "short.md"}
    shown = html_table(long, "c", rest="elsewhere", most=10)
    assert shown.count("<tr>") == 11
    assert "The first 10 of 1,000 rows. elsewhere" in shown
    assert '<th scope="col">n</th>' in shown


SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="100" height="50" viewBox="0 0 100 50"><defs><linearGradient '
    'id="g0"/></defs><rect width="5" height="5" fill="url(#g0)"/><g class="mark-line role-mark">'
    '<path aria-label="beta: 0.3333333333; algorithm: A; x: 0.3333333333; gap: null" d="M0.123456,1" '
    'fill="rgb(1, 2, 255)" stroke="red"/>'
    '<path aria-label="beta: 2; algorithm: B|b; x: 2; gap: null" d="M0,1" fill="blue" stroke="red"/></g>'
    '<text font-family="f">0.12  A</text><text>' + "A long name that is cut…" + "</text></svg>"
)


def test_pictures_get_own_ids_compact_values_and_one_description():
    drawn = inline_svg(SVG, "first", 'Says "this" <that>', ["A", "B|b", "A long name that is cut off here"])
    assert 'id="first-g0"' in drawn
    assert 'fill="url(#first-g0)"' in drawn
    assert drawn.count("aria-label") == 1
    assert 'aria-label="Says &quot;this&quot; &lt;that&gt;"' in drawn
    assert 'data-keys="beta|algorithm"' in drawn
    assert 'data-v="0.3333|#0"' in drawn
    assert 'data-v="2|#1"' in drawn
    assert '<g class="mark-line" data-keys="beta|algorithm" stroke="red">' in drawn
    assert 'd="M0.1,1" fill="#0102ff" data-n="0"' in drawn
    assert '<text data-n="0">0.12  A</text>' in drawn
    assert '<text data-n="2">' in drawn


def facts(**more: object) -> StudyFacts:
    known: dict = {"name": "s", "written": "", "planned": 4, "done": 4, "to_go": 0, "seeds": (1,), "trials": 3,
                   "tuning_metric": "ndcg@10", "protocol": {}, "budget": {}}  # fmt: skip
    return StudyFacts(**(known | more))


def content(frame: pl.DataFrame, study: StudyFacts | None = None, **analyses: object) -> ReportContent:
    results = Results.from_frame(frame)
    return ReportContent("ndcg@10", True, results, analyses, {}, [], facts=study)


def test_warnings_name_what_is_wrong():
    study = facts(
        done=2,
        to_go=1,
        untuned=("EASE",),
        failed=(CellRecord("0", "SLIM", "films", 1, None, {}, "timeout", "took too long"),),
        findings=(
            AuditFinding("films", "train_after_test", "7 training events are later", True),
            AuditFinding("books", "train_after_test", "9 training events are later", True),
            AuditFinding("books", "few_test_users", "only 12 users are judged", False),
        ),
    )
    frame = synthetic_results(3)
    found = set(cautions(content(frame, study)))
    titles = [title for title, _ in found]
    assert sorted(titles) == ["Failed cells", "Leakage", "Unfinished", "Untuned", "Weak evidence"]
    told = " ".join(sentence for _, sentence in found)
    assert "train after test on films, books: 7 training events are later (the first of them)." in told
    assert "SLIM on films (timeout)" in told
    assert "EASE ran with default parameters" in told
    assert list(cautions(content(frame, facts()))) == []


def test_tuning_is_told_as_it_was_spent():
    spent = {"EASE": (4, 4), "ALS": (2, 4), "Shy": (0, 0), "MostPop": (0, 0)}
    study = facts(trials=4, tuning_metric="ndcg@10", protocol={"split": "random"}, spent=spent, untuned=("Shy",))
    page = str(top(content(synthetic_results(3), study), []))
    assert (
        "<dd>4 trials for each cell of EASE; 2 to 4 trials for each cell of ALS; none for each cell of Shy, MostPop; "
        "judged by ndcg@10 on the validation part</dd>"
    ) in page
    assert "Shy ran with default parameters: no trial was spent on tuning, while others got up to 4 trials." in page
    assert "trials each" not in page
    assert "<dt>Tuning</dt><dd>none</dd>" in str(
        top(content(synthetic_results(3), facts(trials=4, protocol={"split": "random"}, spent={"Shy": (0, 0)})), [])
    )


def test_warnings_of_gaps_and_low_power():
    frame = synthetic_results(3).with_columns(
        value=pl.when((pl.col("metric") == "recall@10") & (pl.col("dataset") == pl.col("dataset").first()))
        .then(None)
        .otherwise(pl.col("value"))
    )
    results = Results.from_frame(frame)
    titles = [title for title, _ in cautions(content(frame, compare=recassay.compare(results, "ndcg@10")))]
    assert titles == (["Missing cells"] if "recall@10" in results.metrics else []) + ["Few datasets"]


@pytest.mark.parametrize(
    ("power", "warned"),
    [
        ({"detectable_gap": None, "datasets": 5}, "no difference can be significant"),
        ({"detectable_gap": None}, "however large"),
        ({"detectable_gap": 1.5}, "only a lead of 1.50 in mean rank"),
        ({"detectable_gap": 1.49}, None),
        ({"detectable_gap": None, "datasets": 4}, "4 datasets prove nothing"),
    ],
)
def test_low_power_is_a_warning_from_half_of_the_range_on(power, warned):
    frame = synthetic_results(5)
    compared = recassay.compare(Results.from_frame(frame), "ndcg@10")
    stated = replace(compared.power, algorithms=4, **({"datasets": 12} | power))
    found = list(cautions(content(frame, compare=replace(compared, power=stated))))
    titles = ["Few datasets" if stated.datasets < 5 else "Low power"] if warned else []
    assert [title for title, _ in found] == titles
    assert all(warned in sentence for _, sentence in found)


def test_definitions_stay_on_the_page():
    text = definitions(["rank", "no-such-page", "../secret"])
    assert text.count("<details") == 1
    assert 'id="definition-rank"' in text
    assert "<img" not in text
    assert re.findall(r'href="(?!#definition-)', text) == []


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4 for v in channels]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("selector", [":root{", ":root[data-theme=dark]{"])
def test_text_contrasts_as_wcag_aa_asks(selector):
    rule = template("page.css").split(selector, 1)[1].split("}", 1)[0]
    colour = dict(re.findall(r"--([a-z-]+):(#[0-9a-f]{6})", rule))
    for text in ("ink", "soft", "link"):
        for ground in ("ground", "raised"):
            assert contrast(colour[text], colour[ground]) >= 4.5, (text, ground)
    assert contrast(colour["warn"], colour["warn-ground"]) >= 4.5


def test_charts_write_no_faint_text():
    from recassay.plots.theme import FAINT, INK

    assert contrast(FAINT, "#ffffff") >= 4.5
    assert contrast(INK, "#ffffff") >= 7


def test_the_script_makes_no_markup_out_of_text():
    script = "".join(template(name) for name in SCRIPTS)
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "fetch("):
        assert way not in script


def test_analyze_writes_the_page_and_everything_it_links_to(analyzed):
    out = analyzed.out
    page = (out / "report.html").read_text()
    links = re.findall(r'href="([^"#][^"]*)"', page)
    assert len(links) > 20
    assert [link for link in links if not (out / link).is_file()] == []
    assert HOSTILE not in page
    assert escaped(HOSTILE) in page
    assert page.count("<script") == 2
    assert 'src="' not in page


def test_pdfs_embed_their_fonts(analyzed):
    drawn = sorted((analyzed.out / "figures").glob("*.pdf"))
    assert len(drawn) >= 8
    for file in drawn:
        data = file.read_bytes()
        fonts = data.count(b"/FontDescriptor")
        assert fonts > 0
        assert data.count(b"/FontFile") > 0, file.name


def test_tables_come_in_three_forms(analyzed):
    out = analyzed.out
    names = {path.stem for path in (out / "tables").glob("*.tex")}
    assert {"leaderboard", "pairs", "mean_ranks"} <= names
    assert names == {path.stem for path in (out / "tables").glob("*.md")}
    assert names <= {path.stem for path in (out / "tables").glob("*.csv")}
    assert r"\toprule" in (out / "tables" / "leaderboard.tex").read_text()


def test_pictures_hold_hostile_names_as_text(analyzed):
    drawn = sorted((analyzed.out / "figures").glob("*.svg"))
    assert len(drawn) >= 8
    pictures = [path.read_text() for path in drawn]
    assert all("<script" not in picture for picture in pictures)
    assert sum("&lt;script" in picture for picture in pictures) >= 8


@pytest.mark.slow
def test_report_command_writes_one_file(cli, tmp_path, page_report):
    out = page_report.out
    assert page_report.answer["report"] == str(out)
    assert [path.name for path in out.parent.iterdir()] == ["page.html"]
    assert "results.csv" in out.read_text()
    (tmp_path / "file").write_text("")
    refused = cli("analyze", page_report.table, "--out", tmp_path / "file" / "page.html")
    assert refused.code == 2
    assert refused.err.startswith("recassay: ")
