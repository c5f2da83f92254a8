"""What the page is made of: escaping, tables for papers, pictures that fit together, warnings."""

from __future__ import annotations

import base64
import copy
import hashlib
import html
import json
import re
from dataclasses import replace
from datetime import UTC, date, datetime
from types import SimpleNamespace as Made
from typing import get_args

import numpy as np
import polars as pl
import pytest

import recassay
from recassay.analysis.users.result import DatasetUsers, UsersResult
from recassay.api.publish.content import with_verdicts
from recassay.core.analysis import AnalysisSpec
from recassay.core.errors import InputError
from recassay.core.specs.specs import SplitName
from recassay.core.tables.facts import AuditFinding, StudyFacts
from recassay.core.tables.matrix import MissingCells
from recassay.core.tables.results import Results
from recassay.core.vocabulary import USUAL
from recassay.plots.theme import COLOURS
from recassay.reporting.content import ReportContent, grouped
from recassay.reporting.drawing import IS, NEXT
from recassay.reporting.figures import FilledSection
from recassay.reporting.files import write_files
from recassay.reporting.headline import drawn_axis, drawn_interval, even, judgement, verdict_brief, verdict_table
from recassay.reporting.markup import Markup, data_block, escaped, tag
from recassay.reporting.page import forest
from recassay.reporting.page.board import board_data, one_dataset
from recassay.reporting.page.build import SCRIPTS, _meta, appendix, build_page, failures
from recassay.reporting.page.cautions import cautions
from recassay.reporting.page.document import template
from recassay.reporting.page.intervals import RankAxis
from recassay.reporting.page.parts import definitions
from recassay.reporting.page.svg import inline_svg
from recassay.reporting.page.top import SPLITS as top_words
from recassay.reporting.page.top import _budget, _protocol, _split, top
from recassay.reporting.paper.captions import SPLITS as paper_words
from recassay.reporting.section import Section, Table
from recassay.reporting.tables import column_texts, html_section_table, html_table, latex, markdown, paper_tables, shown
from recassay.reporting.words.missing import missing_cells
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
    assert [tag(name) for name in ("br", "col", "hr", "img", "meta", "p")] == [
        "<br>", "<col>", "<hr>", "<img>", "<meta>", "<p></p>"
    ]  # fmt: skip
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
    assert re.search(r'<th scope="col"[^>]*>n</th>', shown)


def data_of(readable: str) -> str:
    """The data of a mark as drawings hand them to the page."""
    return readable.replace("; ", NEXT).replace(": ", IS)


SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="100" height="50" viewBox="0 0 100 50"><defs><linearGradient '
    'id="g0"/></defs><rect width="5" height="5" fill="url(#g0)"/><g class="mark-line role-mark">'
    f'<path aria-label="{data_of("beta: 0.3333; algorithm: A; gap: ")}" d="M0.123456,1" '
    'fill="rgb(1, 2, 255)" stroke="red"/>'
    f'<path aria-label="{data_of("beta: 2; algorithm: B|b; gap: ")}" d="M0,1" fill="blue" stroke="red"/></g>'
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
    some = facts(trials=4, protocol={"split": "random"}, spent={"ALS": (0, 4), "Shy": (0, 0)})
    assert "<dd>0 to 4 trials for each cell of ALS; none for each" in str(top(content(synthetic_results(3), some), []))
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


@pytest.mark.parametrize(("datasets", "warned"), [(4, "4 datasets prove nothing"), (5, None), (12, None)])
def test_few_datasets_are_a_warning_and_low_power_is_none(datasets, warned):
    frame = synthetic_results(5)
    compared = recassay.compare(Results.from_frame(frame), "ndcg@10")
    stated = replace(compared.power, algorithms=4, datasets=datasets)
    found = list(cautions(content(frame, compare=replace(compared, power=stated))))
    assert [title for title, _ in found] == (["Few datasets"] if warned else [])
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


def test_every_warning_in_its_order_and_words():
    cell = CellRecord("0", "SLIM", "films", 1, None, {}, "timeout", "took too long")
    study = facts(
        to_go=1,
        planned=6,
        untuned=("EASE", "ALS"),
        spent={"EASE": (0, 0), "BPR": (0, 1)},
        failed=(cell,) * 7,
        findings=(AuditFinding("films", "train_after_test", "7 training events are later", True),),
        deviations=("EASE was added after the seal.",),
    )
    assert list(cautions(content(synthetic_results(3), study))) == [
        ("Leakage", "train after test on films: 7 training events are later."),
        ("Failed cells", f"7 of 6 cells failed: {', '.join(['SLIM on films (timeout)'] * 5)} and 2 more. Reasons stand "
                         "under Cost."),
        ("Unfinished", "1 of 6 cells have not run yet; the numbers will change."),
        ("Not as planned", "EASE was added after the seal."),
        ("Untuned", "EASE, ALS ran with default parameters: no trial was spent on tuning, while others got up to 1 "
                    "trial."),
    ]  # fmt: skip
    (untuned,) = cautions(content(synthetic_results(3), facts(untuned=("EASE",), spent={"EASE": (0, 0)})))
    assert untuned[1] == "EASE ran with default parameters: no trial was spent on tuning."
    ((_, many),) = cautions(content(synthetic_results(3), facts(untuned=tuple("abcdefghij"))))
    assert many.startswith("a, b, c, d, e, f, g, h and 2 more ran with default parameters")


def test_gaps_of_the_metric_and_of_others_are_told():
    frame = pl.DataFrame(
        [("a", "x", "ndcg@10", 1.0), ("b", "x", "ndcg@10", 2.0), ("a", "x", "recall@10", 1.0),
         ("a", "x", "map@10", 1.0), ("b", "x", "map@10", 1.0)],
        schema=["algorithm", "dataset", "metric", "value"], orient="row",
    )  # fmt: skip
    assert list(cautions(content(frame))) == [
        ("Missing cells", "Of other metrics some cells have no value: recall@10 (1).")
    ]


@pytest.mark.parametrize(
    ("protocol", "words", "split"),
    [
        (
            {"split": "global_time", "ratios": [0.8, 0.1, 0.1], "final_fit": "train+valid", "filter": "core",
             "min_item_interactions": 5, "min_user_interactions": 3, "positive_threshold": 4.0},
            "ratings of at least 4 are positive; items with at least 5 and users with at least 3 interactions, until "
            "all have them",
            "global_time (by one point in time for all users), 80 / 10 / 10 % train, validation, test; final fit on "
            "train+valid",
        ),
        (
            {"split": "kfold", "final_fit": "train", "filter": "once", "min_item_interactions": 2,
             "min_user_interactions": 2, "user_share": 0.25, "allow_leakage": ["train_after_test"]},
            "every interaction is positive; 25 % of the users, drawn at random; items with at least 2 and users with "
            "at least 2 interactions, filtered once",
            "kfold (cross-validation over users' interactions); final fit on train; leakage allowed by name: "
            "train_after_test",
        ),
        (
            {"split": "mine", "ratios": [0.5, 0.25, 0.25], "final_fit": "train", "filter": "none", "task": "repeat"},
            "every interaction is positive; no filter",
            "mine (a rule of its own), 50 / 25 / 25 % train, validation, test; repeat consumption: seen items are "
            "judged and allowed in lists; final fit on train",
        ),
        ({"split": "leave_last_out", "filter": "none", "final_fit": "train"}, "every interaction is positive; no "
          "filter",
         "leave_last_out (the last item of each user); final fit on train"),
        ({"split": "given", "filter": "none", "final_fit": "train"}, "every interaction is positive; no filter",
         "given (given files); final fit on train"),
    ],
)  # fmt: skip
def test_the_protocol_in_words(protocol, words, split):
    assert (_protocol(protocol), _split(protocol)) == (words, split)


def glance(study=None, **more):
    """The rows of what was compared."""
    page = str(top(replace(content(synthetic_results(2), study), **more), []))
    return dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page)), page


def test_a_study_at_a_glance():
    protocol = {"split": "random", "ratios": [0.6, 0.2, 0.2], "final_fit": "train", "filter": "none"}
    study = facts(
        planned=9, done=6, to_go=2, seeds=(1, 2), protocol=protocol, energy="3 kJ", plan="sealed on Monday",
        failed=(CellRecord("0", "SLIM", "films", 1, None, {}, "failed", "x"),), budget={"memory_gb": 4},
    )  # fmt: skip
    rows, _ = glance(study)
    assert rows["Cells"] == "6 of 9 done, 1 failed, 2 to go; 2 seeds"
    assert rows["Protocol"] == "every interaction is positive; no filter"
    assert rows["Split"].startswith("random (at random over all interactions), 60 / 20 / 20 %")
    assert (rows["Tuning"], rows["Budget"]) == ("none", "no limit of time a cell, 4 GB")
    assert (rows["Energy"], rows["Plan"]) == ("3 kJ", "sealed on Monday")
    assert _budget({"seconds_per_cell": 60.0}) == "60 s a cell, nine tenths of the machine’s memory"
    assert glance(facts(budget={"seconds_per_cell": 5}))[0]["Budget"].startswith("5 s a cell")
    assert glance(facts(protocol=protocol))[0]["Budget"].startswith("no limit of time a cell")
    rows, page = glance(facts(seeds=(7,), plan="sealed"))
    assert "Before you believe it" not in page
    assert "Before you believe it" in glance(facts(to_go=1))[1]
    assert rows["Cells"] == "4 of 4 done, 0 failed; seed 7"
    assert not {"Protocol", "Split", "Tuning", "Budget", "Plan", "Not done", "Convention"} & rows.keys()
    other = {**protocol, "split": "given"}
    rows, _ = glance(facts(protocol=protocol, protocols={"x": protocol, "y": other, "z": protocol}))
    assert rows["Protocol"].count("<li>") == 2
    assert "<strong>x, z</strong>: every interaction is positive; no filter; random (" in rows["Protocol"]
    assert "Split" not in rows


def test_what_was_compared():
    results = Results.from_frame(synthetic_results(2))
    rows, page = glance()
    assert rows["Algorithms"] == f"{len(results.algorithms)}: {', '.join(results.algorithms)}"
    assert rows["Datasets"] == f"2: {', '.join(results.datasets)}"
    assert rows["Metric"] == f"ndcg@10 (higher is better), of {len(results.metrics)}: {', '.join(results.metrics)}"
    assert f"{len(results.algorithms)} algorithms on 2 datasets by nDCG@10: protocol, sources</span>" in page
    rows, page = glance(
        higher_is_better=False, skipped={"pareto": "one metric", "cost": "one metric", "users": "no users"},
        formulas={"ndcg@10": {"formula": "a / b", "convention": "log 2"}},
    )  # fmt: skip
    assert "ndcg@10 (lower is better), of" in rows["Metric"]
    assert rows["Convention"] == "a / b; log 2"
    assert rows["Not done"] == (
        "<ul><li><strong>pareto, cost</strong>: one metric</li><li><strong>users</strong>: no users</li></ul>"
    )
    assert "protocol, sources, and what was not done (3)</span>" in page


def test_without_a_verdict_the_first_sentences_of_each_part_stand_on_top():
    def section(part, *sentences):
        return Made(section=Made(part=part), sentences=list(sentences))

    bare = content(synthetic_results(2))
    page = str(top(bare, [section("cost"), section("leaderboard", "A.", "B.", "C."), section("leaderboard", "D."),
                          section("datasets", "E.", "F.")]))  # fmt: skip
    assert '<h2 id="verdict-title" class="headline">A.</h2><ul><li>B.</li><li>E.</li></ul>' in page
    silent = str(top(bare, []))
    assert "No analysis had anything to say about this table; see what was not done below.</h2></section>" in silent


def judged(count=3, **given):
    """A verdict on so many algorithms; the first two could be best."""
    names = tuple(f"a{i}" for i in range(count))
    ranks = np.linspace(1.5, count - 0.5, count)
    usual = {
        "metric": "ndcg@10", "higher_is_better": True, "algorithms": names, "datasets": ("x",) * 6, "alpha": 0.1,
        "grade": "shared_lead", "could_be_best": names[:2], "mean": np.linspace(0.31, 0.11, count),
        "mean_rank": ranks, "interval": np.stack([ranks - 0.5, ranks + 0.5], axis=1),
        "leads_again": np.linspace(0.6, 0.0, count), "groups": ("a", "ab", *("b",) * (count - 2)), "control": None,
        "headline": "No clear winner.", "sentences": ("First of 5 %.", "Second."), "caution": None, "next_step": None,
        "why": ("Why.",), "how_sure": (), "what_would_change": ("More.",), "not_judged": (), "peers": (),
        "first_lines": ("First of 5 %.",), "pair_lines": ("Second.",),
    }  # fmt: skip
    return Made(**{**usual, **given})


def as_stated(monkeypatch):
    """The sentences of a verdict are those that a stand-in states."""
    for kind in ("headline", "sentences", "first_lines", "pair_lines", "caution", "next_step", "why", "how_sure",
                 "what_would_change"):  # fmt: skip
        monkeypatch.setattr(
            f"recassay.reporting.words.verdict.{kind}", lambda verdict, words, kind=kind: getattr(verdict, kind)
        )


def test_the_verdict_as_a_table(monkeypatch):
    as_stated(monkeypatch)
    table = verdict_table(judged())
    assert table.title == "nDCG@10 (higher is better), 6 datasets"
    assert table.header == ("algorithm", "nDCG@10", "mean rank", "1      90 %      3", "groups", "could be best",
                            "leads again")  # fmt: skip
    assert table.rows == (
        ("a0", "0.310", "1.5", "├───●───┤         ", "a", "yes", "0.60"),
        ("a1", "0.210", "2.0", "    ├───●────┤    ", "ab", "yes", "0.30"),
        ("a2", "0.110", "2.5", "        ├────●───┤", "b", "no", "0.00"),
    )
    bare = verdict_table(judged(interval=None, leads_again=None, higher_is_better=False))
    assert bare.title == "nDCG@10 (lower is better), 6 datasets"
    assert bare.header == ("algorithm", "nDCG@10", "mean rank", "groups", "could be best")
    brief = verdict_brief(judged(caution="Careful.", next_step="More."))
    assert (brief.headline, brief.caution, brief.next_step) == ("No clear winner.", "Careful.", "More.")
    assert (brief.marked, brief.sentences) == ({"a0", "a1"}, ("First of 5 %.", "Second."))
    assert verdict_brief(judged(grade="not_comparable")).table is None
    assert drawn_interval(1, 1, 1, 1) == "●" + " " * 17
    assert drawn_axis(12, "95 %") == "1     95 %      12"


def test_numbers_below_each_other_have_the_same_decimals():
    assert even([0.12345, 0.5, float("nan")]) == ["0.123", "0.500", ""]
    assert even([123.4, 5.0]) == ["123", "5"]
    assert even([12.34, 5.0]) == ["12.3", "5.0"]
    assert even([1000.0, -20000.4]) == ["1000", "-20000"]
    assert even([0.0, 0.0]) == ["0", "0"]
    assert even([float("inf"), 0.5]) == ["", "0.500"]
    assert even([1e-9]) == ["0.00000000"]
    cells = {None: "", True: "yes", False: "no", 3.0: "3", 0.123456: "0.1235", float("inf"): "∞", float("-inf"): "-∞",
             1234567.0: "1234567", 2e9: "2e+09", -2e9: "-2e+09", -999_999.0: "-999999",
             12345.6: "12346", "x": "x", 7: "7"}  # fmt: skip
    assert {value: shown(value) for value in cells} == cells
    assert shown(float("nan")) == ""


def test_the_forest_shows_the_first_those_that_could_be_best_and_the_control():
    def names(verdict):
        page = str(forest.forest(verdict))
        first, _, folded = page.partition("<details>")
        return [re.findall('data-name="(.*?)"', part) for part in (first, folded)], page

    everyone = [f"a{i}" for i in range(20)]
    assert names(judged(12))[0] == [everyone[:12], []]
    shown_and_folded, page = names(judged(20))
    assert shown_and_folded == [everyone[:12], everyone[12:]]
    assert "<summary>8 more algorithms</summary>" in page
    assert " could be best (2 of 20) " in page
    assert " shown to be behind; lines are 90 % intervals. Algorithms with a common letter" in page
    assert '<tr class="possible" data-name="a1">' in page
    assert '<tr class="behind" data-name="a2">' in page
    assert names(judged(20, could_be_best=(*everyone[:15], "a15")))[0][0] == everyone[:16]
    assert names(judged(20, could_be_best=(*everyone[:15], "a16")))[0][0] == everyone[:12]
    assert names(judged(20, control="a12"))[0][0] == everyone[:13]
    assert names(judged(20, control="a18"))[0] == [[*everyone[:12], "a18"], [*everyone[12:18], "a19"]]
    tinted = names(judged(20, control="a18"))[1]
    assert '<tr class="behind control" data-name="a18">' in tinted
    assert "Tinted: a18.</p>" in tinted
    assert "Tinted" not in page


def test_without_intervals_the_legend_of_the_forest_speaks_of_no_dots():
    everyone = tuple(f"a{i}" for i in range(12))
    some, none = (str(forest.forest(judged(12, interval=None, **more))) for more in ({}, {"could_be_best": everyone}))
    assert "Too few datasets for intervals; 10 of 12 (not bold) are shown to be behind. Algorithms" in some
    assert "Too few datasets for intervals; no algorithm is shown to be behind. Algorithms" in none
    assert "●" not in some + none


def test_the_cells_of_the_forest():
    page = str(forest.forest(judged(leads_again=None, groups=("abcdefg", "abcdef", "g"))))
    assert '<td class="groups" title="abcdefg">abcde…</td>' in page
    assert '<td class="groups">abcdef</td>' in page
    assert "Leads again" not in page
    assert '<th scope="col" class="again">Leads again</th>' in str(forest.forest(judged()))
    assert 'aria-label="mean rank 1.5, interval 1.0 to 2.0"' in page
    assert '<line x1="2.00%" x2="50.00%" y1="50%" y2="50%" class="span"></line><circle cx="26.00%"' in page
    ticks = {1: [1], 2: [1, 2], 3: [1, 2, 3], 4: [1, 2, 3, 4], 5: [1, 3, 5], 6: [1, 3, 6], 7: [1, 3, 5, 7],
             9: [1, 4, 9], 12: [1, 5, 9, 12], 30: [1, 11, 21, 30]}  # fmt: skip
    assert {count: [int(text) for _, text in RankAxis(count).ticks()] for count in ticks} == ticks


def test_the_card_of_a_verdict(monkeypatch):
    as_stated(monkeypatch)
    card = str(forest.verdict_card(judged(caution="Careful.", next_step="More.")))
    assert '<section id="verdict" class="shared-lead"' in card
    assert '<p class="lead">First of 5\u00a0%.</p>' in card
    assert '<p class="caution"><strong>Caution. </strong>Careful.</p>' in card
    assert '<p class="next"><strong>Next. </strong>More.</p>' in card
    assert "<summary>Why</summary><ul><li>Second.</li><li>Why.</li></ul>" in card
    assert "<summary>What would change it</summary>" in card
    assert "How sure" not in card
    assert '<p class="grades"><span class="grade">' in card
    assert '<h2 id="verdict-title" class="headline">No clear winner.</h2>' in card
    assert (
        '<figure class="forest-plot"><table class="forest"><thead><tr><th scope="col" class="name">Algorithm</th>'
        in card
    )
    bare = judged(why=(), what_would_change=(), grade="not_comparable", next_step="More.")
    plain = str(forest.verdict_card(bare, own=("Mine is first.",)))
    assert 'class="headline">Mine is first.</h2>' in plain
    for absent in ('class="grade"', 'class="lead"', "Caution", "Next.", "<details>", "<table", 'class="folds"'):
        assert absent not in plain


def test_the_day_and_the_name_of_a_report(monkeypatch):
    bare = content(synthetic_results(2))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert bare.day == date(1970, 1, 2)
    assert replace(bare, facts=facts(written="2026-05-04T10:00")).day == date(2026, 5, 4)
    assert replace(bare, facts=facts(written="lately")).day == date(1970, 1, 2)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "soon")
    assert bare.day == datetime.now(UTC).date()
    assert (bare.title, replace(bare, facts=facts()).title) == ("Results", "Study “s”")
    sources = [Made(file=f"C:\\of\\mine\\{name}.csv", sha256="0123456789abcdef") for name in "aabcd"]
    named = replace(bare, results=Made(sources=[*sources, Made(file="/home/x/folder/", sha256="f" * 64)]))
    assert named.title == "a.csv, b.csv, c.csv and 2 more"
    assert named.sources[0] == ("a.csv", "0123456789ab")
    assert named.sources[-1] == ("folder", "f" * 12)
    assert grouped({"a": 1, "b": 2, "c": 1}) == {1: ["a", "c"], 2: ["b"]}


def test_the_line_below_the_heading(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    one = synthetic_results(1)
    count = one.get_column("algorithm").n_unique()
    lower = replace(content(one), higher_is_better=False)
    assert _meta(lower) == ["nDCG@10, lower is better", f"{count} algorithms", "1 dataset", "2 January 1970"]
    assert _meta(content(synthetic_results(2)))[::2] == ["nDCG@10, higher is better", "2 datasets"]


def test_why_cells_failed():
    assert failures(None, USUAL) is None
    assert "No cell failed: all 4 that ran are done." in failures(facts(), USUAL)
    cells = [CellRecord(str(i), "SLIM", f"d{i}", 1, None, {}, "failed", "no luck") for i in range(2)]
    other = CellRecord("3", "EASE", "d0", 1, None, {}, "timeout", None)
    page = failures(facts(failed=(*cells, other)), USUAL)
    assert "<caption>Why 3 cells failed, each cause once</caption>" in page
    assert re.findall("<t[hd][^>]*>([^<]*)</t[hd]>", page)[5:] == [
        "failed", "SLIM", "d0, d1", "2", "no luck", "timeout", "EASE", "d0", "1", "no reason was kept"
    ]  # fmt: skip
    assert "Why 1 cell failed" in failures(facts(failed=(other,)), USUAL)


def test_the_data_of_the_leaderboard():
    frame = pl.DataFrame(
        [(a, d, m, v) for a, d, v in (("b", "x", 0.2), ("a", "x", 0.1), ("a", "y", 0.3))
         for m in ("ndcg@10", "oddity", "rmse")],
        schema=["algorithm", "dataset", "metric", "value"], orient="row",
    )  # fmt: skip
    made = board_data(replace(content(frame), alpha=0.1, missing="worst"))
    assert {m["label"]: m["up"] for m in made["metrics"]} == {"ndcg@10": True, "rmse": False}
    assert made["metrics"][0]["values"] == [[0.1, 0.3], [0.2, None]]
    assert ([a["name"] for a in made["algorithms"]], made["datasets"]) == (["a", "b"], ["x", "y"])
    assert (made["metric"], made["alpha"], made["missing"], made["computed"]) == ("ndcg@10", 0.1, "worst", None)
    assert "words" not in made
    asked = board_data(replace(content(frame), alpha=0.1, metric="oddity", higher_is_better=False))
    assert {m["label"]: m["up"] for m in asked["metrics"]} == {"ndcg@10": True, "oddity": False, "rmse": False}
    assert asked["missing"] == "drop-datasets"
    results = Results.from_frame(synthetic_results(6))
    ranked, compared = recassay.rank(results, "ndcg@10", replicates=100), recassay.compare(results, "ndcg@10")
    computed = board_data(replace(content(synthetic_results(6), rank=ranked, compare=compared), alpha=0.05))["computed"]
    assert computed["algorithms"] == list(ranked.algorithms)
    assert computed["friedman"] == compared.friedman.p
    assert computed["again"] == ranked.probability_best.tolist()
    assert computed["rules"]["mean_rank"] == {
        "interval": ranked.rankings["mean_rank"].score_interval.tolist(),
        "ranks": ranked.rankings["mean_rank"].rank_interval.tolist(),
        "share": ranked.rankings["mean_rank"].resampling_share.tolist(),
    }
    few = Results.from_frame(synthetic_results(4))
    given = {"rank": recassay.rank(few, "ndcg@10", replicates=100), "compare": recassay.compare(few, "ndcg@10")}
    computed = board_data(replace(content(synthetic_results(4), **given), alpha=0.05))["computed"]
    assert (computed["friedman"], computed["again"], computed["rules"]) == (None, None, {})
    enough = replace(compared, datasets=compared.datasets[:5])
    made = board_data(replace(content(synthetic_results(6), rank=ranked, compare=enough), alpha=0.05))
    assert made["computed"]["friedman"] == compared.friedman.p


def test_the_leaderboard_has_the_verdict_of_each_metric():
    results = Results.from_frame(synthetic_results(8))
    compared = recassay.compare(results, "ndcg@10")
    about = content(synthetic_results(8), compare=compared)
    spec = AnalysisSpec("ndcg@10", seed=3)
    judged = with_verdicts(about, spec)
    others = [label for label in results.metrics if label != "ndcg@10"]
    assert list(judged.verdicts) == others != []
    shown = {metric["label"]: metric["verdict"] for metric in board_data(judged)["metrics"]}
    for label, verdict in {**judged.verdicts, "ndcg@10": compared.judgement}.items():
        told = shown[label]
        assert (tuple(told["algorithms"]), tuple(told["groups"])) == (verdict.algorithms, verdict.groups)
        assert told["could"] == [name in verdict.could_be_best for name in verdict.algorithms]
        assert told["p"] == [None, *(verdict.pair(verdict.algorithms[0], one).p for one in verdict.algorithms[1:])]
        assert [verdict.algorithms[first : last + 1] for first, last in told["bars"]] == list(verdict.runs)
    assert compared.judgement.runs == compared.groups["sign_flips"]
    few = board_data(content(synthetic_results(4), compare=recassay.compare(synthetic_results(4), "ndcg@10")))
    (own,) = (metric["verdict"] for metric in few["metrics"] if "verdict" in metric)
    assert (own["enough"], own["bars"]) == (False, [])
    names = [f"a{i}" for i in range(61)]
    wide = pl.DataFrame([(a, d, m, i + len(d)) for i, a in enumerate(names) for d in "xy" for m in ("ndcg@10", "rmse")],
                        schema=["algorithm", "dataset", "metric", "value"], orient="row")  # fmt: skip
    assert with_verdicts(content(wide), spec).verdicts == {}, "of so many only the metric that was analysed is judged"
    alone = pl.DataFrame([("a", "x", "ndcg@10", 0.1), ("b", "x", "ndcg@10", 0.2), ("a", "x", "rmse", 0.3)],
                         schema=["algorithm", "dataset", "metric", "value"], orient="row")  # fmt: skip
    assert with_verdicts(content(alone), spec).verdicts == {}, "too few values"


def test_the_leaderboard_speaks_the_words_of_the_table_and_has_the_colours_of_the_charts():
    bare = replace(content(synthetic_results(2)), alpha=0.05)
    spoken = replace(bare, results=replace(bare.results, words=("model", "task")))
    assert board_data(spoken)["words"] == {"algorithm": "model", "dataset": "task"}
    names = bare.results.algorithms
    assert [row["colour"] for row in board_data(bare)["algorithms"]] == list(COLOURS[: len(names)])
    assert "verdict" not in board_data(bare)["metrics"][0]


def test_the_leaderboard_of_one_dataset():
    one = synthetic_results(1, seeds=1)
    assert one_dataset(content(one)) is None
    once = recassay.analyze(Results.from_frame(one), "ndcg@10", replicates=100).analyses["per_dataset"]
    page = str(one_dataset(content(one, per_dataset=once)))
    dataset = one.get_column("dataset")[0]
    assert f"ndcg@10 on {dataset}, the only dataset; no interval: each was measured once" in page
    values = [float(value) for value in re.findall('<td class="n">([0-9.]+)</td>', page)]
    assert len(values) > 1
    assert values == sorted(values, reverse=True)
    lower = str(one_dataset(replace(content(one, per_dataset=once), higher_is_better=False)))
    assert [float(value) for value in re.findall('<td class="n">([0-9.]+)</td>', lower)] == sorted(values)
    repeated = str(one_dataset(content(one, per_dataset=replace(once, source="repeats", confidence=0.9))))
    assert "the only dataset; 90 % intervals over repeated runs" in repeated
    told = DatasetUsers("films", 1234, 0, ("EASE", "ALS"), (0.3, 0.2), (0.29, 0.19), (0.31, 0.21), ())
    users = UsersResult("ndcg@10", True, ("EASE", "ALS"), (told,), (), 0.05, 0.95, 100, {})
    shown = str(one_dataset(content(one, users=users)))
    assert f"Every metric on {dataset}, the only dataset" in shown
    assert shown.index("EASE") < shown.index("ALS"), "in the order of the users' means"


def test_a_page_about_one_algorithm_shows_no_grade():
    results = Results.from_frame(synthetic_results(5))
    about = content(synthetic_results(5), compare=recassay.compare(results, "ndcg@10"))
    assert 'class="grade"' in top(about, [])
    assert 'class="grade"' not in top(replace(about, own=("It is first.",)), [])


def test_a_page_without_results_has_no_leaderboard():
    bare = replace(content(synthetic_results(2)), alpha=0.05)
    assert 'id="leaderboard"' in build_page(bare, [])
    empty = Made(
        frame=Made(height=0), algorithms=(), datasets=(), metrics=(), sources=(), words=("algorithm", "dataset")
    )
    page = build_page(replace(bare, results=empty, facts=facts(done=0, to_go=4)), [])
    assert 'id="leaderboard"' not in page
    assert '<a href="#leaderboard">' not in page
    assert "No cell failed: all 0 that ran are done." in page


def test_the_page_speaks_the_words_of_the_table_and_cites_what_was_done():
    bare = replace(content(synthetic_results(2)), alpha=0.05)
    spoken = build_page(replace(bare, results=replace(bare.results, words=("model", "task"))), [])
    assert "<span>2 tasks</span>" in spoken
    assert "<span>2 datasets</span>" in build_page(bare, [])
    questions = {"rank": ("Who?", "Zed 2001"), "odd": ("Why?", ""), "cost": ("How much?", "Abe 1999"),
                 "pairs": ("Which?", "Abe 2010"), "more": ("Which?", "Zed 2001")}  # fmt: skip
    done = dict.fromkeys(("rank", "odd", "pairs", "more"))
    page = str(appendix(replace(bare, analyses=done, questions=questions), []))
    assert page.endswith("too:</p><ul><li>Abe 2010</li><li>Zed 2001</li></ul></details>")
    assert "Definitions" not in page


def test_the_page_lets_its_own_script_run_and_nothing_else():
    page = build_page(replace(content(synthetic_results(2)), alpha=0.05), [])
    script = re.search("<script>(.*?)</script>", page, re.S)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = html.unescape(re.search('http-equiv="Content-Security-Policy" content="(.*?)"', page)[1])
    assert dict(rule.split(" ", 1) for rule in policy.split("; ")) == {
        "default-src": "'none'", "script-src": f"'sha256-{digest}'", "style-src": "'unsafe-inline'",
        "img-src": "data:", "base-uri": "'none'",
    }  # fmt: skip
    assert [script.index(template(name)) for name in SCRIPTS] == sorted(
        script.index(template(name)) for name in SCRIPTS
    )
    assert "$$" not in page


def test_the_parts_of_the_page_are_named_and_linked():
    def section(part, title):
        result = Made(frames=lambda: {})
        return FilledSection(Section(dict, title, part, "no-page"), title.lower(), result, ["So."], [], [], {}, [])

    bare = replace(content(synthetic_results(2), facts(), odd=Made(frames=lambda: {})), alpha=0.05)
    page = build_page(bare, [section("beyond accuracy", "Joy"), section("traits", "Sorrow")])
    links = re.findall(r'<a href="#([^"]*)">([^<]*)</a>', page[page.index("<nav") : page.index("</nav>")])
    assert links == [
        ("leaderboard", "Leaderboard"), ("traits", "Latent traits"), ("beyond-accuracy", "Beyond accuracy"),
        ("cost", "Cost"), ("further", "Further analyses"), ("appendix", "Appendix"),
    ]  # fmt: skip
    assert re.findall('<section id="([^"]*)" class="part" aria-labelledby="([^"]*)">', page) == [
        (name, f"{name}-title") for name, _ in links
    ]


def test_the_appendix_has_formulas_and_what_is_known_of_the_study():
    formulas = {"ndcg@10": {"formula": "a / b", "convention": "log 2", "source": "Abe 1999", "other": 3}}
    frames = {"splits": pl.DataFrame({"dataset": ["x"]}), "spaces": pl.DataFrame({"algorithm": []}),
              "parameters": pl.DataFrame({"algorithm": [f"a{i}" for i in range(1001)]})}  # fmt: skip
    study = facts(manifest={"study": {"name": "ü"}}, **frames)
    page = str(appendix(replace(content(synthetic_results(2), study), formulas=formulas), ["rank"]))
    assert re.findall("<h3>(.*?)</h3>", page)[:3] == ["Definitions", "Metrics", "The study"]
    cells = '<th scope="row">ndcg@10</th><td>a / b</td><td>log 2</td><td>Abe 1999</td>'
    assert cells in page
    assert "<summary>Splits</summary>" in page
    assert "<summary>Search spaces</summary>" not in page, "nothing could be varied"
    assert "The first 1000 of 1,001 rows." in page
    assert "&quot;name&quot;: &quot;ü&quot;" in page


def inlined(inside: str, names=("A", "B")) -> str:
    """What becomes of the inside of a picture."""
    drawn = inline_svg(f'<svg xmlns="http://www.w3.org/2000/svg" width="9">{inside}</svg>', "p", "D", list(names))
    return str(drawn).partition(">")[2].removesuffix("</svg>")


@pytest.mark.parametrize(
    ("inside", "kept"),
    [
        ('<rect fill="white" width="9"/><rect fill="red" width="9"/>', '<rect fill="red" width="9"/>'),
        ('<path fill="white" d="M0,0"/>', '<path fill="var(--ground)" d="M0,0"/>'),
        ('<g><rect fill="white" width="9"/></g>', '<g><rect fill="var(--ground)" width="9"/></g>'),
        ('<text fill="white">x</text>', '<text fill="white">x</text>'),
        ('<path stroke="white" d="M0,0"/>', '<path stroke="var(--ground)" d="M0,0"/>'),
        ('<g display="none"/><g><path display="none" fill="red"/></g>', "<g/>"),
        ('<path class="background" d="M0,0"/>', ""),
        ('<path class="background" d="M0,0" stroke="red"/>', '<path d="M0,0" stroke="red"/>'),
        ('<path class="other" d="M0,0"/>', '<path d="M0,0"/>'),
        ('<g class="background"/>', "<g/>"),
        ('<image width="9" height="8"/><path width="9" height="8"/>', '<image width="9" height="8"/><path/>'),
        ('<rect role="x" opacity="0.5"/>', '<rect opacity="0.5"/>'),
        ('<path opacity="1" stroke-dasharray="1,0" text-anchor="start"/>', "<path/>"),
        ('<path opacity="0.5" text-anchor="end" font-family="f"/>', '<path opacity="0.5" text-anchor="end"/>'),
        ('<path class="mark-line x role-axis"/><path class="x"/>', '<path class="mark-line role-axis"/><path/>'),
        ('<a href="#c1"/><path href="http://x"/>', '<a href="#p-c1"/><path href="http://x"/>'),
        ('<path clip-path="url(#c1)" id="c1"/>', '<path clip-path="url(#p-c1)" id="p-c1"/>'),
        ('<path transform="translate(1.25,-0.4)" k="1.2345"/>', '<path transform="translate(1.2,-0.4)" k="1.2345"/>'),
        ('<path fill="#1b1f24" stroke="#687079"/>', '<path fill="currentColor" stroke="var(--soft)"/>'),
        ('<path fill="rgb(27, 31, 36)" stroke="#e4e7eb"/>', '<path fill="currentColor" stroke="var(--line)"/>'),
        ('<path fill="#687079" stroke="#1b1f24"/>', '<path fill="var(--soft)" stroke="currentColor"/>'),
        ('<path fill="#eef0f2" stroke="#eef0f2"/>', '<path fill="#eef0f2" stroke="var(--line)"/>'),
        ('<path stroke="#ddd"/><path stroke="#ffffff"/>', '<path stroke="var(--line)"/><path stroke="var(--ground)"/>'),
        ('<g class="role-axis-label role-axis-title role-legend-label"/>',
         '<g class="role-axis-label role-axis-title role-legend-label"/>'),
        ('<g aria-roledescription="x" aria-hidden="true" pointer-events="none" version="1" stroke-miterlimit="10"/>',
         "<g/>"),
        ('<line x="1.26" y="1.26" x1="1.26" x2="1.26" y1="1.26" y2="1.26" font-size="1.26" d="M1.26,2.00"/>',
         '<line x="1.3" y="1.3" x1="1.3" x2="1.3" y1="1.3" y2="1.3" font-size="1.3" d="M1.3,2"/>'),
        ('<rect fill="red" width="1.26" height="1.26"/>', '<rect fill="red" width="1.3" height="1.3"/>'),
    ],
)  # fmt: skip
def test_what_a_picture_keeps_on_the_page(inside, kept):
    assert inlined(inside) == kept


@pytest.mark.parametrize(
    ("inside", "kept"),
    [
        ('<g><path fill="red"/><path fill="red"/></g>', '<g fill="red"><path/><path/></g>'),
        ('<g><path fill="red"/></g>', '<g><path fill="red"/></g>'),
        ('<g><path fill="red"/><path/></g>', '<g><path fill="red"/><path/></g>'),
        ('<g><path fill="red"/><path fill="blue"/></g>', '<g><path fill="red"/><path fill="blue"/></g>'),
        ('<g fill="none"><path fill="red"/><path fill="red"/></g>',
         '<g fill="none"><path fill="red"/><path fill="red"/></g>'),
        ('<g><g fill="red"/><path fill="red"/></g>', '<g><g fill="red"/><path fill="red"/></g>'),
        ('<g><path d="M0,0"/><path d="M0,0"/></g>', '<g><path d="M0,0"/><path d="M0,0"/></g>'),
        *((f'<g><path {name}="9"/><path {name}="9"/></g>', f'<g {name}="9"><path/><path/></g>')
          for name in ("stroke", "stroke-width", "stroke-dasharray", "font-size", "font-weight", "text-anchor")),
        ('<g><path opacity="0.5"/><path opacity="0.5"/></g>', '<g><path opacity="0.5"/><path opacity="0.5"/></g>'),
    ],
)  # fmt: skip
def test_what_all_marks_of_a_group_share_is_said_once(inside, kept):
    assert inlined(inside) == kept


def test_marks_carry_their_values_and_the_number_of_their_name():
    def marked(inside, **more):
        return inlined(data_of(inside), **more)

    def one(data, **more):
        return marked(f'<g><path aria-label="{data}"/></g>', **more)

    assert one("algorithm: B; mean rank: 1.235") == (
        '<g data-keys="algorithm|mean rank"><path data-n="1" data-v="#1|1.235"/></g>'
    )
    assert one("row: B; column: A; share: 33%") == (
        '<g data-keys="row|column|share"><path data-n="0" data-v="#1|#0|33%"/></g>'
    ), "of two names the first known one counts"
    assert one("x: 1; gap: ; empty: ") == '<g data-keys="x"><path data-v="1"/></g>'
    assert one("note: a|b #1; other: 2") == '<g data-keys="note|other"><path data-v="a¦b ＃1|2"/></g>'
    assert inlined(f'<g><path aria-label="algorithm{IS}A; x: 1"/></g>', names=("A; x: 1",)) == (
        '<g data-keys="algorithm"><path data-n="0" data-v="#0"/></g>'
    ), "a name may hold what readers see between values"
    assert one("a title without values") == "<g><path/></g>"
    several = (
        '<g><path aria-label="x: 1; y: "/><path aria-label="x: 2; y: 3"/></g>'
        '<g><text aria-label="x: 1; y: ">t</text><text aria-label="x: 2; y: 3">t</text></g>'
    )
    assert marked(several) == (
        '<g data-keys="x|y"><path data-v="1|"/><path data-v="2|3"/></g>'
        '<g data-keys="x|y"><text pointer-events="none">t</text><text pointer-events="none">t</text></g>'
    ), "texts on marks that say the same do not stand in their way"
    assert marked('<g><text aria-label="x: 7">t</text><text aria-label="x: 8">t</text></g>') == (
        '<g data-keys="x"><text data-v="7">t</text><text data-v="8">t</text></g>'
    )


def test_labels_belong_to_the_name_that_they_show():
    names = ("A long name of one", "A", "Alongn…")
    texts = ("A", " A ", "A  0.12", "A long n…", "A long…", "Alongn…", "B", "", "0.12")
    shown = inlined("".join(f"<text>{text}</text>" for text in texts), names=names)
    assert re.findall('<text(?: data-n="(.)")?(?:/>|>)', shown) == ["1", "1", "1", "0", "", "2", "", "", ""]
    marked = inlined(data_of('<g><text aria-label="algorithm: A">B</text></g>'), names=("A", "B"))
    assert 'data-n="0"' in marked, "what a mark belongs to is not changed by its text"


def test_the_size_of_a_picture():
    drawn = inline_svg('<svg xmlns="http://www.w3.org/2000/svg" width="720" height="9"><g/></svg>', "p", "D", [])
    assert 'class="chart" role="img" aria-label="D" style="max-width:720px;min-width:min(720px,36rem)"' in drawn
    assert "height=" not in drawn
    assert inline_svg("<svg>\x08</svg>", "p", "D", []).startswith('<svg class="chart"'), "control characters go"


def test_the_verdict_of_the_ranking_comes_first():
    results = Results.from_frame(synthetic_results(5))
    compared, ranked = recassay.compare(results, "ndcg@10"), recassay.rank(results, "ndcg@10", replicates=100)
    given = {"other": Made(judgement="no verdict"), "rank": ranked, "compare": compared}
    assert judgement(given) is ranked.judgement
    assert judgement({"other": Made(judgement="no verdict"), "compare": compared}) is compared.judgement
    assert judgement({"other": Made(), "third": Made(judgement=ranked.judgement)}) is ranked.judgement
    assert judgement({"other": Made(judgement="no verdict")}) is None
    third, second, first = (Made(judgement=copy.copy(ranked.judgement)) for _ in range(3))
    every = {"third": third, "compare": second, "rank": first}
    for name in ("rank", "compare", "third"):
        assert judgement(every) is every.pop(name).judgement, "the ranking, then the comparison"
    card = str(top(content(synthetic_results(5), **given), []))
    assert card.startswith('<section id="verdict" class="')
    assert 'class="forest-plot"' in card


def test_every_split_has_its_words():
    assert set(top_words) == set(paper_words) == set(get_args(SplitName))
    assert all("a rule of its own" not in _split({"split": name, "ratios": ()}) for name in get_args(SplitName))


def test_long_lists_are_cut():
    finding = [AuditFinding(f"d{i}", "few_users", "few", False) for i in range(9)]
    ((_, told),) = cautions(content(synthetic_results(3), facts(findings=tuple(finding))))
    assert told == "few users on d0, d1, d2, d3, d4, d5 and 3 more: few (the first of them)."
    folds = (AuditFinding("d0", "few_users", "in one fold", False), AuditFinding("d0", "few_users", "in two", False))
    ((_, told),) = cautions(content(synthetic_results(3), facts(findings=folds)))
    assert told == "few users on d0: in one fold."
    names = [f"n{i:02d}" for i in range(45)]
    frame = pl.DataFrame([(a, d, "ndcg@10", 0.5) for a in names for d in names],
                         schema=["algorithm", "dataset", "metric", "value"], orient="row")  # fmt: skip
    page = str(top(content(frame), []))
    for row in ("Algorithms", "Datasets"):
        assert f"<dt>{row}</dt><dd>45: {', '.join(names[:40])} and 5 more</dd>" in page
    sources = [Made(file=f"f{i}.csv", sha256="0" * 64) for i in range(7)]
    bare = content(synthetic_results(2))
    known = ("algorithms", "datasets", "metrics", "table", "words")
    some = Made(**{name: getattr(bare.results, name) for name in known}, sources=sources)
    page = str(top(replace(bare, results=some), []))
    assert "f4.csv (SHA-256 000000000000…)</dd>" in page
    assert "f5.csv" not in page
    lost = tuple(CellRecord(str(i), f"a{i:02d}", "d", 1, None, {}, "failed", "no luck") for i in range(25))
    assert "a19 and 5 more</td>" in failures(facts(failed=lost), USUAL)
    wide = tuple(replace(cell, algorithm="a", dataset=f"d{i:02d}") for i, cell in enumerate(lost))
    assert "d19 and 5 more</td>" in failures(facts(failed=wide), USUAL)
    spent = {f"a{i:02d}": (3, 3) for i in range(25)}
    told = glance(facts(protocol={"split": "given"}, spent=spent))[0]["Tuning"]
    assert told.startswith("3 trials for each cell of a00, a01")
    assert "a18, a19 and 5 more; judged by" in told
    labels = [f"m{i:02d}" for i in range(25)]
    gaps = pl.DataFrame([("a", "x", m, 1.0) for m in labels] + [("b", "x", "ndcg@10", 1.0), ("a", "x", "ndcg@10", 1.0)],
                        schema=["algorithm", "dataset", "metric", "value"], orient="row")  # fmt: skip
    ((_, missing),) = cautions(content(gaps))
    assert missing.endswith(": m00 (1), m01 (1), m02 (1), m03 (1), m04 (1), m05 (1) and 19 more.")
    rows = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", str(top(content(gaps), []))))
    assert rows["Metric"].endswith(" and 6 more")
    ways = {f"d{i:02d}": {"split": "given" if i else "random", "filter": "none"} for i in range(45)}
    several = glance(facts(protocol=ways["d01"], protocols=ways))[0]["Protocol"]
    assert "d39, d40 and 4 more</strong>: every interaction is positive" in several


def test_gaps_of_the_analysed_metric_are_told_by_its_analysis():
    frame = pl.DataFrame(
        [("a", "x", "ndcg@10", 1.0), ("b", "x", "ndcg@10", 2.0), ("a", "y", "ndcg@10", 1.0)],
        schema=["algorithm", "dataset", "metric", "value"], orient="row",
    )  # fmt: skip
    missing = MissingCells("worst", (("b", "y"),))
    told = list(cautions(content(frame, odd=Made(missing="none"), rank=Made(missing=missing))))
    assert told == [("Missing cells", f"Of ndcg@10, {missing_cells(missing)}")]
    assert list(cautions(content(frame))) == [], "nothing else is said of the metric itself"


def test_cells_and_columns_of_tables_on_the_page():
    made = html_section_table(Table("T", ["name", "word", "n"], [["a", "b", "1"]], names=2, notes=["N."]))
    assert '<th scope="row">a</th><td>b</td><td class="n">1</td>' in made
    assert made.endswith('<p class="note">N.</p>')
    assert made.startswith('<div class="scroll" tabindex="0" role="region" aria-label="T"><table><caption>T</caption>')
    frame = pl.DataFrame({"name": ["a"], "word": ["b"], "n": [1e6]})
    assert '<th scope="row">a</th><td>b</td><td class="n">1000000</td>' in html_table(frame, "T")
    assert [shown(value) for value in (999_999.0, 1e9, 999_999_999.4)] == ["999999", "1e+09", "999999999"]
    assert column_texts(pl.Series("x", [1.5e-9])) == ["0.00000000"], "no more than eight decimals"
    assert column_texts(pl.Series("x", [None, None], dtype=pl.Float64)) == ["", ""]
    assert markdown(pl.DataFrame({"a": ["x & <y>\nz"]})).endswith("| x &amp; &lt;y> z |\n")
    assert tag("p", title=None, data_a=0) == '<p data-a="0"></p>'
    assert escaped("'\"") == "&#x27;&quot;"


def test_texts_are_shared_without_the_places_of_this_machine(tmp_path):
    text = b"see /home/somebody/deep/folder/file.csv"
    (shared, raw), (kept,) = (
        [path.read_bytes() for path in write_files(tmp_path / name, files, share=name == "shared")]
        for name, files in (("shared", {"a.md": text, "a.png": text}), ("kept", {"a.md": text}))
    )
    assert b"/home/somebody" not in shared
    endings = (".html", ".json", ".csv", ".tex", ".svg", ".bib", ".txt", ".vl.json")
    written = write_files(tmp_path / "texts", {f"a{ending}": text for ending in endings}, share=True)
    assert [path.name for path in written if b"/home/somebody" in path.read_bytes()] == []
    assert raw == kept == text
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError) as refused:
        write_files(tmp_path / "file", {})
    assert str(refused.value) == f"{tmp_path / 'file'}: is a file; name a folder with `out`"
