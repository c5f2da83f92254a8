"""The files of a paper: what stands in its tables, what is marked and why, and that LaTeX sets them."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace as Made

import numpy as np
import polars as pl
import pytest

import recassay
from recassay.api.publish import paper as verb
from recassay.api.publish.paper_content import _best_first, _deviations, paper_content
from recassay.core import ties
from recassay.core.errors import UsageError
from recassay.core.registry import algorithms, analyses, metrics
from recassay.core.tables.facts import AuditFinding, StudyFacts
from recassay.core.tables.results import Results
from recassay.data.published.tables import published_characteristics
from recassay.reporting.numbers import p_value
from recassay.reporting.paper.arrange import Room, fits, main_tables, pieces, placed
from recassay.reporting.paper.captions import main_caption, rank_caption, split_words
from recassay.reporting.paper.content import DatasetFacts, MetricFindings, PaperContent
from recassay.reporting.paper.files import document, main_frame, paper_files, paper_notes
from recassay.reporting.paper.grid import EMPTY, Cell, Grid
from recassay.reporting.paper.latex_table import latex_table
from recassay.reporting.paper.main_table import (
    TableStyle,
    cells_of,
    decimals_of,
    in_percent,
    main_grid,
    rank_grid,
    wins,
)
from recassay.reporting.paper.other_formats import html_grid, markdown_table, typst_table, typst_text
from recassay.reporting.paper.paragraph import latex_paragraph, paragraph
from recassay.reporting.paper.setup import (
    bibliography,
    citations,
    cite,
    cited,
    dataset_caption,
    dataset_grid,
    entries,
    setup_text,
)
from recassay.reporting.tables import markdown_text
from recassay.reporting.telling import figures_by_analysis
from recassay.testing.results import synthetic_results
from support.in_process import without_processes
from support.tables import MIDDLE
from support.tex import needs_tex, set_pages

ODD = {"algorithm": "EASEᴿ_{50%}", "dataset": "a & b #1 ~^\\ β"}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Three algorithms on two datasets with two seeds and a little tuning."""
    out = tmp_path_factory.mktemp("paper")
    spec = recassay.make_study(
        ["synthetic:dense-small", "synthetic:few-items"],
        ["Random", "MostPop", "EASE"],
        metrics=["ndcg@10", "coverage@10"],
        trials=1,
        protocol={"split": "user_time"},
    ).model_copy(update={"seeds": (1, 2)})
    with without_processes():
        recassay.run(spec, out / "study")
    return out / "study"


def rows_of(text: str) -> list[list[str]]:
    """The rows of a LaTeX table between its rules, without the commands of cells."""
    body = text.split(r"\midrule", 1)[1].split(r"\bottomrule", maxsplit=1)[0]
    plain = re.sub(r"\\(underline)\{([^{}]*)\}", r"\2", body.replace(r"\bfseries ", ""))
    plain = re.sub(r"\{\\rlap\{\$\^\{\*\}\$\}\}", "", plain)
    plain = re.sub(r"\{(\\hphantom\{0+\})?([\d.–]*)\}", r"\2", plain)
    return [[part.strip() for part in line.split("&")] for line in plain.strip().split(r"\\") if "&" in line]


@pytest.mark.slow
def test_the_published_table_is_turned_and_has_its_own_numbers(tmp_path, kdd24):
    made = recassay.paper(kdd24, "ndcg@10", out=tmp_path, figures=[], replicates=200)
    text = (tmp_path / "tables/main.tex").read_text()
    assert r"\begin{table*}" in text
    body = rows_of(text)
    assert len(body) == 32
    assert [row[0] for row in body[-2:]] == [r"\midrule" + "\nmean rank", "wins"]
    table = recassay.load_results(kdd24)
    matrix = table.matrix("ndcg@10")
    heads = re.findall(r"\{(\w+)\}", text.split(r"\toprule")[1].split(r"\midrule")[0])
    assert "S[table-format=" in text
    assert heads[0] == "EASE"
    for row in body[:30]:
        dataset = row[0].replace("\\_", "_")
        shown = [float(cell) for cell in row[1:]]
        true = [matrix.values[matrix.algorithms.index(name), matrix.datasets.index(dataset)] for name in heads]
        assert shown == pytest.approx(np.round(true, 4), abs=1e-9)
    ranks = ties.ranks(matrix.values, higher_is_better=True, axis=0).mean(axis=1)
    assert [float(cell) for cell in body[-2][1:]] == pytest.approx(
        np.round([ranks[matrix.algorithms.index(name)] for name in heads], 2), abs=1e-9
    )
    assert sum(int(cell) for cell in body[-1][1:]) == 30
    assert made.metrics == ("ndcg@10",)
    setup = (tmp_path / "setup.tex").read_text()
    assert "KDD 2024" in setup
    assert r"\cite{shevchenko2024variability}" in setup


def test_the_best_is_bold_the_second_underlined_and_equal_numbers_look_equal(tmp_path):
    values = {"A": [0.51, 0.40, 0.3], "B": [0.5, 0.40001, 0.9], "C": [0.1, 0.2, 0.9]}
    frame = pl.DataFrame(
        [
            {"algorithm": name, "dataset": f"d{i}", "metric": "ndcg@10", "value": value}
            for name, row in values.items()
            for i, value in enumerate(row)
        ]
    )
    recassay.paper(frame, out=tmp_path, order="name", decimals=3)
    text = (tmp_path / "tables/main.tex").read_text()
    lines = {line.split(" &")[0]: line for line in text.splitlines() if line[:2] in ("A ", "B ", "C ")}
    assert r"\bfseries 0.510 & \bfseries 0.400 & 0.300" in lines["A"]
    assert r"{\underline{0.500}} & \bfseries 0.400 & \bfseries 0.900" in lines["B"]
    assert r"0.100 & 0.200 & \bfseries 0.900" in lines["C"]
    assert "rlap" not in text
    assert "tests" not in text
    printed = pl.read_csv(tmp_path / "tables/main.csv").filter(pl.col("dataset") == "d1")
    assert printed.get_column("place").to_list() == [1, 1, None]
    assert printed.get_column("value").to_list() == [0.40, 0.40001, 0.2]


def test_a_winner_whose_printed_number_another_has_too_gets_no_star(tmp_path):
    gains = {"A": 0.02, "B": 0.0, "C": -0.1}
    frame = pl.DataFrame(
        [
            {"algorithm": name, "dataset": f"d{i:02}", "metric": "ndcg@10", "value": value + gain}
            for name, gain in gains.items()
            for i, value in enumerate(np.linspace(0.28, 0.31, 12))
        ]
    )
    recassay.paper(frame, out=tmp_path, order="name", decimals=1, mean=True, figures=[], replicates=200)
    lines = (tmp_path / "tables/main.tex").read_text().splitlines()
    mean, mean_rank = (next(line for line in lines if line.startswith(f"{name} &")) for name in ("mean", "mean rank"))
    assert r"\bfseries 0.3 & \bfseries 0.3 & 0.2" in mean
    assert "rlap" in mean_rank


@pytest.mark.slow
def test_marks_are_those_of_the_test_over_users(tmp_path, study):
    recassay.paper(study, ["ndcg@10", "coverage@10"], out=tmp_path, order="name", replicates=200)
    rows = pl.read_csv(tmp_path / "tables/main.csv")
    users = recassay.users(study, "ndcg@10", replicates=200)
    for one in users.datasets:
        first, second = one.algorithms[:2]
        pair = next(p for p in one.pairs if (p.left, p.right) == (first, second))
        marked = rows.filter(
            (pl.col("metric") == "ndcg@10") & (pl.col("dataset") == one.dataset) & pl.col("significant")
        )
        assert marked.get_column("algorithm").to_list() == ([first] if pair.significant else [])
    assert any(p.significant for one in users.datasets for p in one.pairs if (p.left, p.right) == one.algorithms[:2])
    assert not rows.filter(pl.col("metric") == "coverage@10").get_column("significant").any()


@pytest.mark.slow
def test_deviations_captions_and_setup_are_those_of_the_study(tmp_path, study):
    made = recassay.paper(study, "ndcg@10", out=tmp_path, percent=True, figures=None, replicates=200)
    text = (tmp_path / "tables/main.tex").read_text()
    frame = recassay.results(study, ["ndcg@10"]).filter(
        (pl.col("algorithm") == "Random") & (pl.col("dataset") == "few-items")
    )
    spread = 100 * float(frame.get_column("value").std())
    assert rf"$\pm$\,{spread:.2f}}}" in text
    judged = recassay.users(study, "ndcg@10", replicates=200).datasets
    caption = text.split(r"\caption{")[1].split("\n")[0]
    for said in ("nDCG@10 in \\% (higher is better)", "a split in time within each user (80/10/10 \\%)",
                 f"{sum(one.users for one in judged):,} users", "sign-flip test over its users",
                 "standard deviation over 2 seeds", r"\ensuremath{\alpha} = 0.05"):  # fmt: skip
        assert said in caption
    assert "Wilcoxon" not in caption, "two datasets have no test over datasets"
    setup = (tmp_path / "setup.tex").read_text()
    for said in ("in 1 trial, ", "The seeds are 1 and 2", r"EASE~\cite{steck2019embarrassingly}", "validation part"):
        assert said in setup
    assert "RecAssay" in setup
    assert any("fewer than five datasets" in note for note in made.notes)
    assert not (tmp_path / "figures").exists()
    datasets = (tmp_path / "tables/datasets.tex").read_text()
    assert "dense-small" in datasets
    bib = (tmp_path / "references.bib").read_text()
    assert "steck2019embarrassingly" in bib
    assert "he2020lightgcn" not in bib


def test_the_table_is_there_for_typst_markdown_and_html(tmp_path):
    frame = synthetic_results(6).with_columns(pl.col("algorithm").replace("A", ODD["algorithm"]))
    first = frame.get_column("algorithm")[0]
    frame = frame.with_columns(pl.col("algorithm").replace(first, "x_*<b>#[y]"))
    made = recassay.paper(Results.from_frame(frame), "ndcg@10", out=tmp_path, figures=[], replicates=200)
    text = {form: (tmp_path / f"tables/main.{form}").read_text() for form in ("typ", "md", "html")}
    assert r"[x\_\*\<b\>\#\[y\]]" in text["typ"]
    assert "#strong[" in text["typ"]
    assert r"x\_\*&lt;b>#\[y\]" in text["md"]
    assert text["md"].count("**") % 2 == 0
    assert "x_*&lt;b&gt;#[y]" in text["html"]
    assert "<b>0." in text["html"]
    assert len(made.files) == 15


def test_a_control_is_compared_with_every_other(tmp_path):
    results = Results.from_frame(synthetic_results(8))
    name = results.algorithms[1]
    recassay.paper(results, "ndcg@10", out=tmp_path, control=name, figures=[], replicates=100)
    pairs = {
        pair.b if pair.a == name else pair.a: pair.p
        for pair in recassay.compare(results, control=name).judgement.pairs
        if name in (pair.a, pair.b)
    }
    text = (tmp_path / "tables/ranks.md").read_text()
    assert f"sign-flip test against {name}, adjusted for its comparisons with the others" in text
    shown = {
        cells[1]: cells[-2] for line in text.splitlines() if len(cells := [c.strip() for c in line.split("|")]) > 5
    }
    for other, p in pairs.items():
        assert shown[other] == p_value(p).replace("<", "&lt;")
    assert shown[name] == "–"


def test_missing_cells_are_told_or_shown_as_asked(tmp_path):
    frame = synthetic_results(6)
    algorithm, dataset = frame.row(0)[:2]
    holed = frame.filter((pl.col("algorithm") != algorithm) | (pl.col("dataset") != dataset))
    with pytest.raises(recassay.RecAssayError, match="missing"):
        recassay.paper(Results.from_frame(holed), out=tmp_path)
    asked = {"missing": "drop-datasets", "figures": [], "replicates": 200}
    recassay.paper(Results.from_frame(holed), "ndcg@10", out=tmp_path, **asked)
    text = (tmp_path / "tables/main.md").read_text()
    assert "–: no value." in text
    assert next(line for line in text.splitlines() if line.startswith(f"| {algorithm} ")).count("–") == 1


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"figures": ["critical_diference"]}, "did you mean 'critical_difference'"),
        ({"width": "3 parsecs"}, "is not a width of a page"),
        ({"letters": 24.1}, "letters of 24.1 points; give a size from 4 to 24"),
        ({"letters": 3.9}, "letters of 3.9 points"),
        ({"metrics": "ndgc@10"}, "did you mean"),
        ({"metrics": ["ndcg@10", "nDCG@10"]}, "a metric is asked for twice: ndcg@10, ndcg@10; name each once"),
        ({"decimals": 11}, "11 decimals; give a number from 0 to 10"),
        ({"decimals": -1}, "-1 decimals"),
        ({"alpha": 1.0}, "alpha is 1.0; give a number between 0 and 1"),
        ({"control": "Oracl"}, "did you mean 'Oracle'"),
    ],
)
def test_what_is_asked_wrongly_is_said(tmp_path, asked, told):
    with pytest.raises(recassay.UsageError, match=told):
        recassay.paper(Results.from_frame(synthetic_results(5)), **{"out": tmp_path, "replicates": 100, **asked})


@pytest.mark.parametrize(("length", "expected"), [("2.54cm", 1), ("25.4mm", 1), ("72.27pt", 1), ("1016 mm", 40)])
def test_an_inch_is_an_inch_in_every_unit(length, expected):
    assert verb.inches(length, "width") == expected


@pytest.mark.slow
def test_figures_have_the_width_and_the_letters_of_the_text(tmp_path):
    results = Results.from_frame(synthetic_results(8))
    for width, inches in (("8.5cm", 8.5 / 2.54), (7.0, 7.0)):
        recassay.paper(results, out=tmp_path, width=width, figures=["critical_difference"], replicates=100)
        svg = (tmp_path / "figures/critical_difference.svg").read_text()
        points = float(re.search(r'<svg[^>]* width="([\d.]+)pt"', svg)[1])
        assert points == pytest.approx(72 * inches, rel=0.03)
        assert points <= 72 * inches * 1.001
        box = float(re.search(r'viewBox="0 0 ([\d.]+) ', svg)[1])
        assert 11 * points / box == pytest.approx(9, rel=0.01)
        assert "Critical difference" not in svg, "no title is burnt in"
        assert (tmp_path / "figures/critical_difference.pdf").read_bytes().startswith(b"%PDF")


def test_every_algorithm_metric_and_analysis_of_ours_is_known_to_the_bibliography():
    for kind, registry in (("algorithms", algorithms), ("metrics", metrics)):
        assert [name for name, _ in registry if cited(kind, name) is None] == []
    sourced = [name for name, analysis in analyses if analysis.source and cited("analyses", name) is None]
    assert set(sourced) <= {"adaptive", "decodirt", "groups", "user_irt"}
    used = {key for of_kind in citations().values() for keys in of_kind.values() for key in keys}
    assert used == set(entries())
    for entry in entries().values():
        assert entry.count("{") == entry.count("}")
        assert entry.isascii()
        assert re.search(r"year = \{\d{4}\}", entry)
    assert bibliography(r"x~\cite{holm1979simple,demsar2006statistical}").count("@article") == 2


def test_figures_are_asked_for_by_the_names_that_sections_give_them():
    drawn = figures_by_analysis([name for name, _ in analyses])
    assert drawn["rank"] == ["forest", "leaderboard", "rank_intervals"]
    assert drawn["stress"][2:4] == ["stress_datasets", "stress_algorithms"]
    assert [name for name, figures in drawn.items() if not figures] == ["groups", "plan"]
    everything = [figure for figures in drawn.values() for figure in figures]
    assert len(everything) == len(set(everything)) > 50


def test_the_paragraph_states_tests_statistics_and_what_follows(tmp_path):
    results = Results.from_frame(synthetic_results(8))
    compared = recassay.compare(results, "ndcg@10")
    text = paragraph(compared)
    verdict = compared.judgement
    assert "Friedman's test (Friedman 1937; Demšar 2006) rejects that all perform alike" in text
    assert f"chi-squared = {compared.friedman.chi_square:.2f}" in text
    assert "(Westfall and Young 1993; Romano and Wolf 2005)" in text
    assert f"{verdict.leaders[0]} has the best mean rank ({verdict.mean_rank[0]:.2f}, 95 % interval" in text
    for pair in verdict.pairs:
        if pair.a == verdict.leaders[0] and pair.status == "undecided":
            assert f"{pair.b} (p = {pair.p:.3f})" in text.partition("No significant difference was found from ")[2]
    recassay.paper(results, "ndcg@10", out=tmp_path, figures=[], replicates=100)
    latex = (tmp_path / "paragraph.tex").read_text()
    assert r"Friedman's test~\cite{friedman1937use,demsar2006statistical} rejects" in latex
    assert "romano2005exact" in (tmp_path / "references.bib").read_text()
    assert "CITE" not in latex


def test_the_paragraph_of_too_few_datasets_claims_nothing():
    text = paragraph(recassay.compare(Results.from_frame(synthetic_results(4)), "ndcg@10"))
    assert "With 4 datasets no difference could be significant" in text
    assert "significantly better than" not in text


def test_a_dataset_is_cited_only_where_the_catalogue_knows_it(tmp_path):
    frame = synthetic_results(6)
    own = frame.get_column("dataset")[0]
    named = frame.with_columns(pl.col("dataset").replace({own: "ml-100k", frame["dataset"][1]: "mlflow-runs"}))
    recassay.paper(Results.from_frame(named), out=tmp_path, figures=[], replicates=100)
    assert "harper" not in (tmp_path / "references.bib").read_text(), "a table without counts has no dataset table"


@pytest.mark.slow
def test_the_command_writes_the_folder(tmp_path, cli):
    ran = cli("paper", "published:demsar", "--out", tmp_path / "p", "--percent", "--mean", "--figures", "none")
    assert ran.code == 0, ran.err
    assert "wrote 15 files" in ran.err
    assert ran.out.startswith("No clear winner: ")
    made = cli("paper", "published:demsar", "--out", tmp_path / "p", "--json", "--figures", "none").json()
    assert made["command"] == "paper"
    assert made["metrics"] == ["auc"]
    assert len(made["files"]) == 15


@pytest.mark.slow
@needs_tex
def test_latex_sets_a_study_with_odd_names(tmp_path, study):
    recassay.paper(study, ["ndcg@10", "coverage@10"], out=tmp_path / "a", replicates=100, figures=["leaderboard"])
    made = set_pages(tmp_path / "a")
    assert 1 <= made.pages <= 4
    assert "undefined" not in made.log
    assert max(made.overfull, default=0) < 5
    frame = synthetic_results(7)
    for column, name in ODD.items():
        frame = frame.with_columns(pl.col(column).replace(frame[column][0], name))
    recassay.paper(Results.from_frame(frame), out=tmp_path / "b", rotated=True, replicates=100)
    made = set_pages(tmp_path / "b")
    assert max(made.overfull, default=0) < 5
    if made.text is not None:
        assert "_{50%}" in made.text


def test_a_table_in_pieces_keeps_its_label_and_says_that_it_goes_on():
    rows = tuple((f"dataset {i}", (Cell(str(i)), Cell("3"))) for i in range(150))
    grid = Grid(("users", "items"), rows)
    first, second, *_ = placed(
        "datasets", [(grid, "The datasets.")], Room(3.33, 7.0), {"dataset 1": r"~\cite{a}"}
    ).latex
    assert r"\caption{The datasets.}" in first
    assert r"\label{tab:datasets}" in first, "the text refers to it"
    assert r"dataset 1~\cite{a} &" in first
    assert "Continued from the part before (2 of " in second
    assert r"\label{tab:datasets-2}" in second


def findings(values, metric="ndcg@10", **given):
    given = {"higher_is_better": True, **given}
    return MetricFindings(metric, values=np.array(values, dtype=float), **given)


def paper_of(*metrics, algorithms=("a", "b", "c"), datasets=("x", "y"), **given):
    return PaperContent(algorithms, tuple(DatasetFacts(name) for name in datasets), metrics, **given)


VALUES = [[0.5, 0.1], [0.4, 0.3], [0.4, np.nan]]


def test_a_column_of_the_main_table():
    def looks(values, decimals=2, **given):
        cells = cells_of(np.array(values), decimals, **{"higher_is_better": True, **given})
        return [(cell.text, cell.place, cell.deviation) for cell in cells]

    assert looks([0.5, 0.4, np.nan, 0.404]) == [("0.50", 1, ""), ("0.40", 2, ""), ("–", 0, ""), ("0.40", 2, "")]
    assert looks([0.5, 0.5, 0.4]) == [("0.50", 1, ""), ("0.50", 1, ""), ("0.40", 0, "")]
    assert looks([0.5, 0.501]) == [("0.50", 0, ""), ("0.50", 0, "")]
    assert looks([-0.001, -2.0, 3.0], higher_is_better=False) == [("0.00", 2, ""), ("−2.00", 1, ""), ("3.00", 0, "")]
    assert looks([1.0, 2.0], 1, deviations=np.array([0.05, np.nan])) == [("1.0", 2, "0.1"), ("2.0", 1, "")]


@pytest.mark.parametrize(
    ("values", "style", "percent", "decimals"),
    [
        ([0.2, 1.0], TableStyle(), False, 4),
        ([0.2, 1.0], TableStyle(percent=True), True, 2),
        ([-0.2, -1.0], TableStyle(percent=True), True, 2),
        ([0.2, 1.01], TableStyle(percent=True), False, 3),
        ([0.2, -3.0], TableStyle(percent=True), False, 3),
        ([0.2, 9.99], TableStyle(), False, 3),
        ([0.2, 10.0], TableStyle(), False, 2),
        ([0.2, 100.0], TableStyle(), False, 1),
        ([0.2, 1000.0], TableStyle(), False, 0),
        ([0.2, 1000.0], TableStyle(decimals=5), False, 5),
        ([np.nan, np.nan], TableStyle(percent=True), False, 4),
    ],
)
def test_percent_and_decimals_of_a_metric(values, style, percent, decimals):
    metric = findings([values])
    assert (in_percent(metric, style), decimals_of(metric, style)) == (percent, decimals)


def test_the_main_table_in_percent_with_deviations_and_marks():
    ahead = Made(dataset="y", algorithms=("b", "a"), pairs=[Made(left="b", right="a", significant=True)])
    metric = findings(VALUES, deviations=np.full((3, 2), 0.0123), users=Made(datasets=[ahead]), repeats="5 seeds")
    grid = main_grid(paper_of(metric), [metric], TableStyle(percent=True))
    assert (grid.heads, grid.groups) == (("x", "y"), ())
    assert grid.rows == (
        ("a", (Cell("50.00", "1.23", 1), Cell("10.00", "1.23", 2))),
        ("b", (Cell("40.00", "1.23", 2), Cell("30.00", "1.23", 1, marked=True))),
        ("c", (Cell("40.00", "1.23", 2), EMPTY)),
    )
    bare = main_grid(paper_of(metric), [metric], TableStyle(deviations=False))
    assert bare.rows[0][1][0] == Cell("0.5000", "", 1)
    unsure = replace(metric, users=Made(datasets=[Made(dataset="y", algorithms=("b", "a"), pairs=[
        Made(left="b", right="a", significant=False)])]))  # fmt: skip
    unmarked = main_grid(paper_of(unsure), [unsure], TableStyle())
    assert not any(cell.marked for _, cells in unmarked.rows for cell in cells)
    tied = replace(metric, values=np.array([[0.5, 0.3], [0.4, 0.3], [0.4, 0.1]]))
    assert not any(cell.marked for _, cells in main_grid(paper_of(tied), [tied], TableStyle()).rows for cell in cells)
    later = Made(
        dataset="y",
        algorithms=("b", "c", "a"),
        pairs=[Made(left="b", right="a", significant=True), Made(left="b", right="c", significant=False)],
    )
    third = replace(metric, users=Made(datasets=[later]))
    assert not any(cell.marked for _, cells in main_grid(paper_of(third), [third], TableStyle()).rows for cell in cells)
    rows = main_frame(paper_of(metric), TableStyle()).to_dicts()
    assert rows[3] == {"metric": "ndcg@10", "algorithm": "b", "dataset": "y", "value": 0.3, "deviation": 0.0123,
                       "printed": "0.3000", "place": 1, "significant": True}  # fmt: skip
    assert (rows[5]["value"], rows[5]["printed"], rows[5]["place"]) == (None, "–", None)


def test_mean_rank_and_wins_close_the_table():
    rank = Made(algorithms=("b", "a"), mean_ranks=np.array([1.25, 1.75]))
    metric = findings(VALUES, rank=rank)
    grid = main_grid(paper_of(metric), [metric], TableStyle(mean=True))
    assert grid.heads == ("x", "y", "mean", "mean rank", "wins")
    assert grid.groups == (("", 2), ("", 3))
    assert grid.rows[0][1][2:] == (Cell("0.3000", place=2), Cell("1.75", place=2), Cell("1", place=1))
    assert grid.rows[1][1][2:] == (Cell("0.3500", place=1), Cell("1.25", place=1), Cell("1", place=1))
    assert grid.rows[2][1][2:] == (EMPTY, EMPTY, Cell("0"))
    share = main_grid(paper_of(metric), [metric], TableStyle(mean=True, percent=True))
    assert [cells[2].text for _, cells in share.rows] == ["30.00", "35.00", "–"]
    lower = findings(VALUES, "rmse", rank=rank, higher_is_better=False)
    error = main_grid(paper_of(lower), [lower], TableStyle(mean=True))
    assert [cells[2].place for _, cells in error.rows] == [1, 2, 0], "the smaller mean is the better"
    turned = grid.turned()
    assert (turned.heads, turned.closing) == (("a", "b", "c"), 3)
    assert turned.rows[1] == ("y", (Cell("0.1000", place=2), Cell("0.3000", place=1), EMPTY))
    two = main_grid(paper_of(metric, metric), [metric, findings(VALUES, "rmse")], TableStyle())
    assert two.groups == (("nDCG@10", 4), ("RMSE", 2))
    assert wins(findings(VALUES, higher_is_better=False)).tolist() == [1, 1, 1]
    assert wins(findings([[0.5, np.nan], [0.5, np.nan]])).tolist() == [1, 1]


def ranked_metric(control=None, status="better", best="a", second="b"):
    spans = np.array([[1.0, 1.5], [1.5, 2.0]])
    rank = Made(algorithms=("b", "a"), mean_ranks=np.array([1.75, 1.25]), order=lambda: [1, 0], datasets=("x",) * 6,
                probability_best=np.array([0.2, 0.8]), rankings={"mean_rank": Made(score_interval=spans)},
                confidence=0.9)  # fmt: skip
    pair = Made(b=second, p=0.0004, status=status, effect=Made(kind="ratio", interval=(0.9, 1.1)))
    verdict = Made(control=control, algorithms=(best, second), status_of=lambda one, other: status, alpha=0.05,
                   grade="shared_lead", pair=lambda one, other: pair, against=lambda name: [pair], within=0.02,
                   close=lambda pair: False, not_judged=(), test="sign-flips")  # fmt: skip
    named = None if control is None else Made(name=control)
    compare = Made(datasets=("x",) * 6, algorithms=(best, second), judgement=verdict, control=named)
    return findings(VALUES, rank=rank, compare=compare)


def test_the_table_of_mean_ranks_and_its_caption():
    metric = ranked_metric()
    grid = rank_grid(metric, ("a", "b", "c"))
    assert grid.heads == ("mean rank", "interval", "P(first)", "wins", "p")
    assert grid.rows == (
        ("a", tuple(map(Cell, ("1.25", "[1.50, 2.00]", "0.80", "1", "–")))),
        ("b", tuple(map(Cell, ("1.75", "[1.00, 1.50]", "0.20", "1", "< .001")))),
    )
    assert rank_caption(paper_of(metric), metric) == (
        "Mean ranks in nDCG@10 over 6 datasets (1 is best). Interval: 90 %. P(first): probability of the best mean "
        "rank in a new benchmark of this kind and size. p: sign-flip test against a, adjusted for all pairs."
    )
    own = ranked_metric(control="b")
    assert rank_caption(paper_of(own), own).endswith(
        "p: sign-flip test against b, adjusted for its comparisons with the others."
    )
    little = ranked_metric()
    little.compare.judgement.close = lambda pair: True
    assert rank_caption(paper_of(little), little).endswith("all pairs. a is better than b by less than 2 %.")
    unsure = ranked_metric(status="undecided")
    assert rank_caption(paper_of(unsure), unsure).endswith(
        "all pairs. Between a and b nothing is decided: p is below 0.05, but the interval reaches below no effect."
    )
    unsure.compare.judgement.not_judged = ("b",)
    unsure.compare.judgement.against("a")[0].p = 1.0
    assert rank_caption(paper_of(unsure), unsure).endswith(
        "all pairs. Between a and b nothing is decided: b has missing cells that were filled."
    )
    metric.compare.datasets = ("x",) * 4
    assert rank_grid(metric, ("a", "b", "c")) is None
    assert rank_caption(paper_of(metric), metric).endswith("of this kind and size.")
    metric.rank.probability_best = None
    assert rank_caption(paper_of(metric), metric) == "Mean ranks in nDCG@10 over 6 datasets (1 is best)."


@pytest.mark.parametrize(
    ("given", "marked"),
    [({}, True), ({"status": "undecided"}, False), ({"control": "b"}, True), ({"control": "c"}, False)],
)
def test_the_best_mean_rank_is_marked_where_it_is_shown(given, marked):
    metric = ranked_metric(**given)
    grid = main_grid(paper_of(metric), [metric], TableStyle())
    assert [cells[2].marked for _, cells in grid.rows] == [marked, False, False]


def test_splits_in_words():
    ratios = [0.8, 0.1, 0.1]
    known = {
        "global_time": "a split at one point in time for all users (80/10/10 %)", "leave_last_out":
        "a leave-last-out split", "given": "the given split", "kfold": "5-fold cross-validation", "": "",
        "mine": "the split mine (80/10/10 %)", "random": "a random split of all interactions (80/10/10 %)",
    }  # fmt: skip
    assert {name: split_words({"split": name, "ratios": ratios, "folds": 5}) for name in known} == known


def captioned(grid=None, *metrics, style=None, **given):
    metrics = metrics or (findings(VALUES),)
    content = paper_of(*metrics, **given)
    style = style or TableStyle()
    return main_caption(content, metrics, style, grid or main_grid(content, metrics, style))


def test_the_caption_of_the_main_table():
    start = "nDCG@10 (higher is better) of 3 algorithms on 2 datasets."
    bold = "The best value is bold, the second is underlined."
    assert captioned() == f"{start} {bold} –: no value."
    assert captioned(style=TableStyle(percent=True)).startswith("nDCG@10 in % (higher is better) of 3")
    errors = findings([[1.0, 1.0]] * 3, "rmse", higher_is_better=False)
    assert captioned(None, errors) == "RMSE (lower is better) of 3 algorithms on 2 datasets."
    assert captioned(None, findings([[1.0]] * 3), datasets=("x",)).endswith("of 3 algorithms on 1 dataset.")
    two = captioned(None, findings([[1.0, 1.0]] * 3), errors)
    assert two == "nDCG@10 (higher is better) and RMSE (lower is better) of 3 algorithms on 2 datasets."
    spread = findings([[1.0, 1.0]] * 3, deviations=np.ones((3, 2)), repeats="5 seeds")
    assert captioned(None, spread) == f"{start} ± is the standard deviation over 5 seeds."
    ranked = ranked_metric()
    told = captioned(None, ranked, alpha=0.1)
    assert "Wins: on how many datasets the algorithm has the best value, ties included." in told
    how = "for mean columns a sign-flip test of all pairs over datasets; α = 0.1"
    assert f"*: significantly better than the second ({how})." in told
    flat = [[1.0, 1.0]] * 3
    assert captioned(None, findings(flat, users=Made(datasets=[]))) == start, "nothing was tested, nothing is said"

    def unsure(*names):
        pairs = [Made(left="a", right="b", significant=False)]
        tested = [Made(dataset=name, algorithms=("a", "b"), pairs=pairs) for name in names]
        return captioned(None, findings(flat, users=Made(datasets=tested)))

    way = "(on a dataset a sign-flip test over its users, Holm-corrected; α = 0.05)."
    assert unsure("x", "y").endswith(f"On no dataset is the best value significantly better than the second {way}")
    assert unsure("y").endswith(
        f"On none of the 1 tested datasets is the best value significantly better than the second {way}"
    )
    undecided = captioned(None, ranked_metric(status="undecided"))
    assert (
        "The best mean rank is not significantly better than the second (sign-flip test of all pairs over datasets; "
        "α = 0.05)."
    ) in undecided
    own = captioned(None, ranked_metric(status="undecided", control="b"))
    assert "(sign-flip test of b against every other over datasets; α = 0.05)." in own
    assert "second (" not in captioned(None, ranked_metric(status="undecided", control="c")), "the two were not tested"
    few = ranked_metric(status="undecidable")
    few.compare.judgement.grade = "too_little_data"
    assert "second (" not in captioned(None, few), "no outcome could have decided"
    grid = main_grid(paper_of(ranked), [ranked], TableStyle())
    assert "Wins: on" in captioned(grid.turned(), ranked)


def test_the_caption_says_where_values_were_measured():
    flat = findings([[1.0, 1.0]] * 3)
    split = {"split": "given"}

    def said(protocols, judged=(None, None)):
        facts = StudyFacts("s", "", 1, 1, 0, protocols=protocols)
        content = replace(paper_of(flat, facts=facts), datasets=tuple(DatasetFacts(n, judged=j) for n, j in
                                                                      zip("xy", judged, strict=True)))  # fmt: skip
        grid = main_grid(content, [flat], TableStyle())
        return main_caption(content, [flat], TableStyle(), grid).removeprefix(
            "nDCG@10 (higher is better) of 3 algorithms on 2 datasets."
        )

    assert said({}) == ""
    assert said({"x": split, "y": split}) == " Test part of the given split."
    assert said({"x": split, "y": split}, (1000, 234)) == " Test part of the given split, 1,234 users."
    assert said({"x": split, "y": split}, (1000, None)) == " Test part of the given split."
    assert said({"x": split, "y": {"split": "leave_last_out"}}, (2, 3)) == (
        " Test parts of the given split and a leave-last-out split, 5 users."
    )


def judged(**given):
    """A verdict on a, b, c and d; the leader has beaten b, is like c, and is open against d."""
    effect = Made(kind="ratio", estimate=1.0512, interval=(1.01, 1.1))
    statuses = given.pop("statuses", ("better", "equivalent", "undecided"))
    pairs = [Made(a="a", b=name, status=status, p=p, wins=5, losses=2, ties=1, effect=given.get("effect", effect))
             for name, status, p in zip("bcd", statuses, (0.0004, 0.5, 0.02), strict=False)]  # fmt: skip
    names = tuple("abcd"[: len(pairs) + 1])
    usual = {
        "grade": "shared_lead", "headline": "h", "higher_is_better": True, "algorithms": names, "datasets": ("x",) * 8,
        "alpha": 0.05, "metric": "ndcg@10", "control": None, "smallest_p": 0.008, "leaders": ("a",),
        "mean_rank": np.array([1.5, 2.0]), "interval": np.array([[1.2, 1.8]]), "pairs": pairs, "within": 0.02,
        "rival": "d", "pair": lambda one, other: pairs[-1], "better": np.array([True, False]),
        "could_be_best": ("a", "c"), "close": lambda pair: False, "against": lambda name: pairs,
        "not_judged": (), "test": "sign-flips", "peers": (), "missing": Made(policy="error", cells=(), dropped=()),
    }  # fmt: skip
    friedman = Made(p=0.03, chi_square=9.876)
    return Made(judgement=Made(**{**usual, **given}), friedman=given.get("friedman", friedman))


def test_each_sentence_of_the_paragraph():
    tests = (
        "Pairs were compared by a permutation test that flips the signs of whole datasets, adjusted step-down over the "
        "maximum statistic (Westfall and Young 1993; Romano and Wolf 2005) at a family-wise level of 0.05. "
    )
    effect = (
        "Against d, the typical ratio is 1.051 by the Hodges-Lehmann estimator (Hodges and Lehmann 1963), 95 % "
        "interval 1.010 to 1.100 (5 of 8 datasets won). "
    )
    assert paragraph(judged()) == (
        "We compared 4 algorithms on 8 datasets by nDCG@10 (higher is better). Friedman's test (Friedman 1937; Demšar "
        "2006) rejects that all perform alike (chi-squared = 9.88, 3 degrees of freedom, p = 0.030). "
        f"{tests}a has the best mean rank (1.50, 95 % interval 1.20 to 1.80). It is significantly better than b (p < "
        "0.001). It is equivalent to c within 2 %. No significant difference was found from d (p = 0.020, but mean "
        f"ranks and values point in different directions). {effect}In 1 of 3 pairs one algorithm is significantly "
        "better. a and c remain possible winners on datasets like these."
    )
    assert paragraph(judged(grade="not_comparable")).startswith("Not comparable: every value of nDCG@10 is 0")
    assert " does not reject that all perform alike " in paragraph(judged(friedman=Made(p=0.05, chi_square=1.0)))
    assert "(lower is better)." in paragraph(judged(higher_is_better=False))
    least = "With 8 datasets no difference could be significant (smallest possible p = 0.05)."
    few = paragraph(judged(smallest_p=0.05, grade="too_little_data"))
    assert least in few
    assert "ignificant difference was found" not in few
    assert "pairs one algorithm" not in few
    assert least not in paragraph(judged())
    shared = paragraph(judged(leaders=("a", "b"), interval=None))
    assert "a and b share the best mean rank (1.50)." in shared
    winner = paragraph(judged(statuses=("better",) * 3, grade="clear_winner", could_be_best=("a",)))
    assert "It is significantly better than each other algorithm (adjusted p = 0.500 or less)." in winner
    assert winner.endswith("a is therefore the winner on datasets like these.")
    assert "remain possible" not in paragraph(judged(could_be_best=tuple("abcd")))
    three = paragraph(judged(statuses=("better", "better")))
    assert "2 degrees of freedom" in three
    assert "better than each other algorithm (adjusted p = 0.500 or less)." in three
    two = paragraph(judged(statuses=("better",)))
    assert "It is significantly better than b (p < 0.001)." in two, "there is one other"
    assert "Friedman" not in two
    crowded = judged()
    crowded.judgement.pairs = [*crowded.judgement.pairs, Made(b="z", status="better", p=0.01)]
    assert "z" not in paragraph(crowded), "a pair of others"
    nothing = paragraph(judged(statuses=("undecided",) * 3, alpha=0.0001))
    assert "No significant difference was found from b (p < 0.001), c (p = 0.500) and d (p = 0.020)." in nothing
    assert "It is" not in nothing
    two = paragraph(judged(statuses=("better",)))
    assert "Friedman" not in two
    assert "It is significantly better than b (p < 0.001)." in two
    close = paragraph(judged(statuses=("better",), close=lambda pair: True))
    assert "It is significantly better than b (p < 0.001, by less than 2 %)." in close
    close = paragraph(judged(statuses=("better",) * 3, close=lambda pair: pair.b == "c"))
    assert "(adjusted p = 0.500 or less). The difference from c is less than 2 %." in close
    difference = paragraph(judged(effect=Made(kind="difference", estimate=0.0512, interval=None)))
    size = "the typical difference is +0.0512 by the Hodges-Lehmann estimator (Hodges and Lehmann 1963) (5 of 8"
    assert size in difference
    assert r"Friedman's test~\cite{friedman1937use,demsar2006statistical} rejects" in latex_paragraph(judged())


def test_with_a_control_the_paragraph_speaks_of_it():
    whole = paragraph(recassay.compare(MIDDLE, control="MyModel"))
    assert "MyModel, named beforehand, and every other algorithm were compared by a permutation test" in whole
    assert whole.partition("at a family-wise level of 0.05. ")[2] == (
        "MyModel has a mean rank of 3.40 (place 3 of 5, 95 % interval 2.86 to 3.87). It is significantly better than "
        "MostPop (p = 0.002). It is significantly worse than EASE (p = 0.002) and SLIM (p = 0.002). No significant "
        "difference was found from ALS (p = 0.410). Against EASE, the typical ratio is 0.871 by the Hodges-Lehmann "
        "estimator (Hodges and Lehmann 1963), 95 % interval 0.858 to 0.880 (0 of 10 datasets won)."
    )
    leading = paragraph(recassay.compare(MIDDLE, control="EASE"))
    assert "EASE has the best mean rank (1.40, 95 % interval 1.04 to 2.05). It is significantly better than" in leading
    twins = pl.concat([MIDDLE, MIDDLE.filter(algorithm="EASE").with_columns(algorithm=pl.lit("Twin"))])
    shared = paragraph(recassay.compare(twins, control="Twin"))
    assert "Twin shares the best mean rank with EASE (" in shared
    assert "It is equivalent to EASE within 2 %." in shared


PROTOCOL = {"split": "given", "filter": "core", "min_item_interactions": 5, "min_user_interactions": 3,
            "positive_threshold": 4, "final_fit": "train+valid"}  # fmt: skip


def setup_of(metric=None, analyses=(), **given):
    usual = {"protocol": PROTOCOL, "trials": 0, "manifest": {"versions": {}}}
    content = paper_of(metric or findings(VALUES), facts=StudyFacts("s", "", 6, 5, 0, **{**usual, **given}))
    text = setup_text(content, analyses)
    return dict(re.findall(r"\\paragraph\{(\w+)\.\}\n(.*)\n", text + "\n"))


def test_the_protocol_of_a_paper():
    assert setup_of()["Protocol"] == (
        "Ratings of at least 4 count as positive, others are left out. Items with fewer than 5 interactions, then "
        "users with fewer than 3, are removed, repeatedly until all that are left have as many. We use the given "
        "split into training, validation and test parts. The model that is tested is trained on the training and the "
        "validation part together. Items of a user's training data are never recommended to that user."
    )
    other = {"split": "leave_last_out", "filter": "none", "user_share": 0.25, "task": "repeat", "final_fit": "train"}
    assert setup_of(protocol=other)["Protocol"] == (
        r"Every interaction counts as positive. A random sample of 25 \% of the users is kept. We use a leave-last-out "
        "split into training, validation and test parts. Items that a user has had may be recommended again."
    )
    for threshold in (0, 3.5):
        stated = setup_of(protocol={**PROTOCOL, "positive_threshold": threshold})["Protocol"]
        assert stated.startswith(f"Ratings of at least {threshold} count as positive, others are left out.")
    once = setup_of(protocol={**PROTOCOL, "filter": "once"})["Protocol"]
    assert "then users with fewer than 3, are removed, once. We use" in once
    leaks = (AuditFinding("x", "late", "s", True), AuditFinding("y", "weak", "s", False))
    several = setup_of(protocols={"x": PROTOCOL, "y": other, "z": PROTOCOL}, findings=leaks)["Protocol"]
    assert several.startswith("On x and z: Ratings of at least 4 count")
    assert " On y: Every interaction counts as positive." in several
    assert several.endswith("The audit of the splits found possible leakage on x (late).")
    assert "leakage" not in setup_of(findings=leaks[1:])["Protocol"]
    unplanned = setup_of(protocol={}, trials=5, seeds=(1,))
    assert "Protocol" not in unplanned
    assert unplanned["Algorithms"] == "The algorithms are a, b and c."


def test_algorithms_evaluation_and_software_of_a_paper():
    assert setup_of()["Algorithms"] == "The algorithms are a, b and c. All use their default parameters."
    failed = (Made(algorithm="a", dataset="x"),)
    tuned = setup_of(trials=1, tuning_metric="ndcg@10", budget={"seconds_per_cell": 60, "memory_gb": 4}, failed=failed)
    assert re.sub(r"~\\cite\{[^}]*\}", "", tuned["Algorithms"]) == (
        "The algorithms are a, b and c. For each of them and each dataset, parameters are chosen by the "
        "tree-structured Parzen estimator of Optuna in 1 trial, judged by nDCG@10 on the validation part. Each "
        "algorithm may use 60 seconds and 4 GB of memory on each dataset. 1 of 6 runs failed: a on x."
    )
    assert "Each algorithm may use 4 GB of memory on each dataset." in setup_of(budget={"memory_gb": 4})["Algorithms"]
    assert "may use" not in setup_of(budget={"memory_gb": None})["Algorithms"]
    metric = replace(ranked_metric(), users=Made(datasets=[]))
    told = re.sub(r"~\\cite\{[^}]*\}", "", setup_of(metric, ["rank", "profiles", "glicko"])["Evaluation"])
    assert told == (
        "We report nDCG@10. On each dataset, algorithms are compared over users by the sign-flip permutation test of "
        r"their mean difference, with Holm's correction over the pairs ($\alpha = 0.05$). Over datasets, all pairs are "
        r"tested together by flipping the signs of whole datasets and stepping down over the largest statistic "
        r"($\alpha = 0.05$); differences are Hodges and Lehmann's estimates. Intervals of mean ranks are those of "
        "Student's t, with one dataset ranked by lot added. A performance profile shows on which share "
        "of the datasets an algorithm is within a factor of the best. The glicko analysis follows."
    )
    assert re.sub(r"~\\cite\{[^}]*\}", "", setup_of()["Evaluation"]) == "We report nDCG@10."
    metric.rank.probability_best, metric.compare.datasets = None, ("x",) * 4
    assert setup_of(replace(metric, users=None), ["of my own"])["Evaluation"].count(".") == 1
    manifest = {"versions": {"recassay": "1.2", "python": "3.12", "numpy": "2.0", "scipy": "1.0"}}
    software = setup_of(manifest=manifest, seeds=(1, 2), plan="sealed on Monday")["Software"]
    assert software == (
        "The study was run with RecAssay 1.2 on Python 3.12 (numpy 2.0, scipy 1.0). The seeds are 1 and 2. The plan "
        "was sealed on Monday."
    )
    unsealed = setup_of(manifest=manifest, seeds=(7,), plan="open")["Software"]
    assert unsealed.endswith("(numpy 2.0, scipy 1.0). The seed is 7.")


def test_what_is_cited_for_a_name(monkeypatch):
    assert cited("datasets", "ml-100k") == cited("datasets", "ml")
    assert cited("datasets", "nothing of the kind") is None
    assert cited("algorithms", "EASE") == ["steck2019embarrassingly"]
    assert cited("algorithms", "EASE of ours") is None, "only a dataset is known by the start of its name"
    assert cited("metrics", "ndcg")
    entry = bibliography(r"a~\cite{steck2019embarrassingly,friedman1937use} b")
    assert [line for line in entry.splitlines() if line.startswith("@")] == [
        entries()[key].splitlines()[0] for key in ("friedman1937use", "steck2019embarrassingly")
    ]
    named = paper_of(findings(VALUES), algorithms=("mine", "EASE", "c"), references={"mine": "EASE", "EASE": "c"})
    assert r"The algorithms are mine~\cite{steck2019embarrassingly}, EASE and c." in setup_text(named, [])
    starts = {"datasets": {"book": ["short"], "bookcrossing": ["long"], "film": []}}
    monkeypatch.setattr("recassay.reporting.paper.setup.citations", lambda: starts)
    assert cited("datasets", "bookcrossing-2004") == ["long"], "the longest start that is known"
    assert cite("datasets", "books") == r"~\cite{short}"
    assert cite("datasets", "film") == ""


def test_the_data_of_a_paper(monkeypatch):
    def said(datasets, **given):
        content = replace(paper_of(findings([[1.0] * len(datasets)] * 3), **given), datasets=tuple(datasets))
        return setup_text(content, []).split("\n")[1]

    study = StudyFacts("s", "", 1, 1, 0, protocol=PROTOCOL)
    home = DatasetFacts("x", home="https://example.org/a%20{b}")
    assert said([home]) == "We compare 3 algorithms on one dataset."
    assert said([home, home], facts=study) == (
        r"We compare 3 algorithms on 2 datasets. Sources without a publication: x (\url{https://example.org/a%20b}), x "
        r"(\url{https://example.org/a%20b})."
    )
    assert r"x (\url{ab})" in said([DatasetFacts("x", home="a\\{b")], facts=study), "nothing can end the address"
    known = DatasetFacts("ml-100k", catalogued="ml-100k", home="https://example.org")
    assert "Sources" not in said([known, DatasetFacts("x")], facts=study), "a publication is cited instead"
    assert "Sources" not in said([home], facts=replace(study, protocol={}))
    with monkeypatch.context() as patched:
        patched.setattr("recassay.reporting.paper.setup.cited", lambda kind, name: [])
        assert "Sources without a publication: x (" in said([home], facts=study), "it is known that there is none"
    assert said([DatasetFacts("x", users=3)]) == r"We compare 3 algorithms on one dataset (Table~\ref{tab:datasets})."
    ours = said([home], origin=("The table is ours", ""))
    assert ours == "We compare 3 algorithms on one dataset. The table is ours."


def test_the_table_of_datasets():
    assert dataset_grid([DatasetFacts("x")]) is None
    counted = DatasetFacts("x", users=1000, items=200, interactions=5000)
    grid = dataset_grid([counted, DatasetFacts("y")])
    assert grid.heads == ("users", "items", "interactions", "density (%)")
    assert grid.rows == (("x", tuple(map(Cell, ("1,000", "200", "5,000", "2.500")))), ("y", (EMPTY,) * 4))
    assert dataset_caption([counted]) == "The datasets: users, items, interactions, and their share of all pairs."
    assert dataset_grid([replace(counted, interactions=0)]).rows[0][1][3] == Cell("0.000")
    for gap in ({"users": 0}, {"items": None}, {"interactions": None}):
        assert dataset_grid([counted, replace(counted, **gap)]).rows[1][1][3] == EMPTY
    split = replace(counted, tested=50, judged=20)
    grid = dataset_grid([split, counted])
    assert grid.heads == ("users", "items", "training", "density (%)", "test", "test users")
    assert [cells[-2:] for _, cells in grid.rows] == [(Cell("50"), Cell("20")), (EMPTY, EMPTY)]
    assert dataset_caption([split, counted]).startswith("The datasets after the protocol: users, items and")


LOOKS = Grid(
    ("x_1", "y"),
    (("a", (Cell("0.51", "0.02", 1, marked=True), Cell("10.5", place=2))), ("b", (Cell("0.4", "0.1", 2), EMPTY))),
    groups=(("G", 2),), closing=1,
)  # fmt: skip


def test_a_grid_as_latex():
    made = latex_table(LOOKS, "C", "main", upright=False, wide=True, rotated=False, after={"a": r"~\cite{k}"})
    lines = made.split("\n")
    assert lines[1:9] == [
        r"\begin{table*}[t]", r"\centering", r"\caption{C}", r"\label{tab:main}", r"\small",
        r"\setlength{\tabcolsep}{4pt}", r"\sbox0{%",
        r"\begin{tabular}{lS[table-format=1.2,table-space-text-post={{\tiny\,$\pm$\,0.02}}]S[table-format=2.1]}",
    ]  # fmt: skip
    assert lines[9:17] == [
        r"\toprule", r" & \multicolumn{2}{c}{G} \\", r"\cmidrule(lr){2-3}", r" & {x\_1} & {y} \\", r"\midrule",
        r"a~\cite{k} & \bfseries 0.51{{\tiny\,$\pm$\,0.02}\rlap{$^{*}$}} & {\underline{10.5}} \\", r"\midrule",
        r"b & {\underline{0.4}{\tiny\,$\pm$\,0.1}} & {\textendash{}} \\",
    ]  # fmt: skip
    turned = latex_table(replace(LOOKS, groups=()), "C", "m", upright=True, wide=False, rotated=True, after={})
    assert r"\begin{sidewaystable}" + "\n" in turned
    assert r"& {\rotatebox{90}{x\_1}} &" in turned
    assert turned.split("\n")[0].endswith(r" \usepackage{rotating}")
    assert r"\multicolumn" not in turned
    padded = Grid(("x",), (("a", (Cell("10.5", place=1),)), ("b", (Cell("-9.25", place=2),)), ("c", (Cell("7"),))))
    made = latex_table(padded, "C", "m", upright=False, wide=False, rotated=False, after={})
    assert "{lS[table-format=-2.2]}" in made
    assert r"b & {\underline{-9.25}}" in made
    small = Grid(("x",), (("a", (Cell("10.5"),)), ("b", (Cell("9.2", place=2),))))
    made = latex_table(small, "C", "m", upright=False, wide=False, rotated=False, after={})
    assert r"b & {\hphantom{0}\underline{9.2}}" in made
    below = Grid(("x",), (("a", (Cell("−0.50", "0.02", 1),)), ("b", (Cell("−0.75", place=2),)), ("c", (Cell(""),))))
    made = latex_table(below, "C", "m", upright=False, wide=False, rotated=False, after={})
    assert r"{lS[table-format=-1.2,table-space-text-post=" in made, "negative numbers and gaps are aligned, too"
    assert r"a & \bfseries -0.50{{\tiny\,$\pm$\,0.02}} \\" in made
    assert r"b & {\underline{\ensuremath{-}0.75}} \\" in made


def test_a_column_of_words_is_set_to_the_right():
    words = Grid(("x",), (("a", (Cell("1.5"),)), ("b", (Cell("[1, 2]"),))))
    made = latex_table(words, "C", "m", upright=False, wide=False, rotated=False, after={})
    assert r"\begin{tabular}{lr}" in made
    assert r"b & {{[}1, 2{]}} \\" in made


def test_a_grid_in_other_formats():
    typst = typst_table(LOOKS, "C", "tab:main")
    assert r"    [a], [#strong[0\.51]#text(size: 0.75em)[ ± 0\.02]#super[\*]], [#underline[10\.5]]," in typst
    assert "    [], table.cell(colspan: 2, align: center)[G]," in typst
    assert "columns: 3, stroke: none, inset: (x: 4pt, y: 3pt)," in typst
    assert typst.count("table.hline(stroke: 0.5pt),") == 2
    assert "rotate(" not in typst
    wide = Grid(tuple("abcdefgh"), (("a", (Cell("1"),) * 8),))
    assert "rotate(-90deg, reflow: true)[a]" in typst_table(wide, "C", "l")
    assert "rotate(" not in typst_table(wide.part(columns=range(7)), "C", "l"), "seven fit beside each other"
    assert typst_text("1. a_b  #c") == r"1\. a\_b \#c"
    for sign in "\\#$*_`<>@[]~\"'/+=-":
        assert typst_text(f"a{sign}b") == f"a\\{sign}b"
    for sign in "\\`*_[]|~":
        assert markdown_text(f"a{sign}b") == f"a\\{sign}b"
    assert markdown_table(LOOKS, "C_d") == (
        "C\\_d\n\n|  | G x\\_1 | G y |\n| --- | ---: | ---: |\n| a | **0.51** ± 0.02\\* | <u>10.5</u> |\n"
        "| b | <u>0.4</u> ± 0.1 | – |\n"
    )
    page = html_grid(LOOKS, "C")
    assert '<td align="right"><b>0.51</b><small> ± 0.02</small><sup>*</sup></td>' in page
    assert '<tr><td></td><th colspan="2" scope="colgroup">G</th></tr>' in page
    assert "colgroup" not in html_grid(replace(LOOKS, groups=()), "C")


def test_tables_are_cut_where_nothing_fits():
    many = Grid(tuple(f"heading {i}" for i in range(40)), tuple((f"r{j}", (Cell("0.1234"),) * 40) for j in range(90)),
                closing=2)  # fmt: skip
    cut = list(pieces(many, 7.0))
    assert [head for piece, _ in cut[::2] for head in piece.heads] == list(many.heads)
    assert [name for piece, _ in cut[:2] for name, _ in piece.rows] == [name for name, _ in many.rows]
    assert [piece.closing for piece, _ in cut[:2]] == [0, 2]
    assert all(fits(piece, 7.0, upright=upright) for piece, upright in cut)
    assert not fits(many, 7.0, upright=True)
    assert Room(3.33, 7.0).widths() == [(3.33, False), (7.0, True)]
    assert Room(3.33, 7.0, wide=True).widths() == [(7.0, True)]
    assert Room(6.0, 6.0).widths() == [(6.0, False)]
    assert Room(7.0, 6.0).widths() == [(6.0, False)], "no table is wider than the page"
    assert Room(3.33, 7.0, rotated=True).widths() == [(9.0, True)]
    assert placed("t", [(many, "C"), (LOOKS, "D")], Room(3.33, 7.0)).caption == "D"
    turned = placed("t", [(many, "C"), (many.turned(), "D")], Room(3.33, 7.0))
    assert (turned.caption, turned.grid.heads[0]) == ("D", "r0"), "where none fits, the last is cut"
    long = Grid(("x",), tuple((f"r{j:02d}", (Cell("0.1"),)) for j in range(60)))
    assert len(placed("t", [(long, "C")], Room(3.33, 7.0)).latex) == 1
    turned = placed("t", [(long, "C")], Room(3.33, 7.0, rotated=True)).latex
    assert len(turned) == 2, "the page is less wide than high"
    assert "r00 &" in turned[0]
    assert "r59 &" in turned[1]
    assert all(fits(piece, 9.0, 7.0, upright=upright) for piece, upright in pieces(long, 9.0, 7.0))


def test_a_citation_behind_a_name_needs_room():
    def named(length):
        return Grid(("x",), (("a" * length, (Cell("1"),)),))

    length = max(n for n in range(1, 100) if fits(named(n), 3.33, upright=False))
    for after, floating in (({}, "table"), ({"a" * length: r"~\cite{k}"}, "table*"), ({"b": r"~\cite{k}"}, "table")):
        (made,) = placed("t", [(named(length), "C")], Room(3.33, 7.0), after).latex
        assert rf"\begin{{{floating}}}[t]" in made


def test_notes_on_the_files_of_a_paper():
    content = paper_of(findings(VALUES), algorithms=("a", "中", "β"))
    sizes = (("f", 7.0, True), ("g", 6.94, True), ("h", 8.0, False))
    figures = [Made(name=name, letters=letters, wide=wide) for name, letters, wide in sizes]
    assert list(paper_notes(content, figures, 7.0)) == [
        "pdflatex has no letter for 中: it is written as its code, such as [U+4E2D]; rename, or use XeLaTeX with the "
        "Markdown, Typst or HTML table",
        "the figure f does not fit one column: it goes over both",
        "the figure g does not fit the page with letters of 7 pt: they are 6.9 pt",
    ]  # fmt: skip
    two = document("T", ["tables/main"], [], "R", column=3.33, page=7.0)
    assert "10pt,twocolumn" in two
    assert "R\n\\input{tables/main}" in two
    assert "twocolumn" not in document("T", [], [], "R", column=6.0, page=6.0)
    assert "twocolumn" not in document("T", [], [], "R", column=3.4, page=7.0), "the gap needs room, too"
    near = [Made(name="n", letters=6.96, wide=False)]
    assert list(paper_notes(paper_of(findings(VALUES)), near, 7.0)) == [], "a twentieth of a point is not seen"


def long_rows(**columns):
    rows = [(a, d) for a in ("B", "A", "C") for d in ("e", "d")]
    frame = pl.DataFrame(rows, schema=["algorithm", "dataset"], orient="row")
    return frame.with_columns(metric=pl.lit("ndcg@10"), **columns)


def test_deviations_are_over_folds_seeds_or_stated_runs():
    def deviations(frame):
        found, over = _deviations(Made(frame=frame), "ndcg@10", ["A", "B", "C"], ["d", "e"])
        return None if found is None else set(found.ravel().round(6).tolist()), over

    one = long_rows(value=pl.lit(0.25), seed=pl.lit(1), fold=pl.lit(0))
    assert deviations(one) == (None, "")
    # Two seeds, 0.25 and 0.75: the deviation is 0.5 / sqrt(2).
    seeds = pl.concat([one, one.with_columns(value=pl.lit(0.75), seed=pl.lit(2))])
    assert deviations(seeds) == ({0.353553}, "2 seeds")
    # Folds come first, and the seeds of a fold are averaged: 0.5 and 1.5.
    folds = pl.concat([seeds, one.with_columns(value=pl.lit(1.5), fold=pl.lit(1))])
    assert deviations(folds) == ({0.707107}, "2 folds")
    apart = pl.concat([one.filter(algorithm="A"), one.filter(algorithm="B").with_columns(seed=pl.lit(2))])
    assert deviations(apart) == (None, ""), "each cell has one seed"
    stated = one.drop("seed", "fold").with_columns(deviation=pl.lit(0.125), runs=pl.lit(5))
    assert deviations(stated) == ({0.125}, "5 runs")
    assert deviations(stated.drop("runs")) == ({0.125}, "repeated runs, as the results state it")
    several = pl.concat([stated.filter(dataset="d"), stated.filter(dataset="e").with_columns(runs=pl.lit(3))])
    assert deviations(several) == ({0.125}, "repeated runs, as the results state it")


def test_algorithms_stand_by_rank_by_value_or_as_given(monkeypatch, tmp_path):
    values = pl.Series([0.25, 0.5, 0.75, 1.0, 0.5, 0.25])
    table = recassay.load_results(long_rows(value=values))
    order = Made(algorithms=("A", "B", "C"), order=lambda: [2, 0])
    assert _best_first(table, "ndcg@10", order, True) == ["C", "A", "B"]
    single = recassay.load_results(long_rows(value=values).filter(dataset="e"))
    assert _best_first(single, "ndcg@10", None, True) == ["A", "C", "B"]
    assert _best_first(single, "ndcg@10", None, False) == ["B", "C", "A"]
    gap = recassay.load_results(long_rows(value=pl.Series([0.25, 0.5, None, 1.0, 0.5, 0.25])).filter(dataset="e"))
    assert [_best_first(gap, "ndcg@10", None, up)[-1] for up in (True, False)] == ["A", "A"], "no value is the last"
    lower = paper_content(single, {"ndcg@10": {}}, None, order="rank", directions={"ndcg@10": False}, alpha=0.01)
    assert (lower.algorithms, lower.alpha, lower.findings[0].higher_is_better) == (("B", "C", "A"), 0.01, False)
    asked = {"directions": {"ndcg@10": True}, "alpha": 0.05}
    given = paper_content(table, {"ndcg@10": {}}, None, order="given", **asked)
    assert (given.algorithms, [facts.name for facts in given.datasets]) == (("B", "A", "C"), ["e", "d"])
    named = paper_content(table, {"ndcg@10": {}}, None, order="name", **asked)
    assert (named.algorithms, [facts.name for facts in named.datasets]) == (("A", "B", "C"), ["d", "e"])
    assert named.findings[0].values.tolist() == [[1.0, 0.75], [0.5, 0.25], [0.25, 0.5]]
    assert named.origin == ("", "")
    algorithms = [{"name": "A", "reference": "EASE"}, {"name": "B"}]
    facts = Made(manifest={"study": {"algorithms": algorithms}}, splits=pl.DataFrame())
    monkeypatch.setattr("recassay.api.publish.paper_content.study_facts", lambda folder: facts)
    of_study = paper_content(table, {"ndcg@10": {}}, tmp_path, order="name", **asked)
    assert (of_study.facts, of_study.references) == (facts, {"A": "EASE"})
    facts.splits = pl.DataFrame({
        "dataset": ["d", "d", "x"], "users": [3, 9, 9], "items": [4, 9, 9], "training interactions": [5, 9, 9],
        "test interactions": [6, 9, 9], "users judged": [2, 9, 9],
    })  # fmt: skip
    first, second = paper_content(table, {"ndcg@10": {}}, tmp_path, order="name", **asked).datasets
    assert (first.users, first.items, first.interactions, first.tested, first.judged) == (3, 4, 5, 6, 2), (
        "the first fold"
    )
    assert (second.name, second.users) == ("e", None)


def test_a_published_table_says_what_it_is_and_how_large_its_datasets_are():
    table = recassay.load_results("published:kdd24")
    content = paper_content(table, {"ndcg@10": {}}, None, directions={"ndcg@10": True}, alpha=0.05, order="name")
    known = published_characteristics("published:kdd24").to_frame().filter(dataset="movielens_1m")
    (films,) = [facts for facts in content.datasets if facts.name == "movielens_1m"]
    assert (films.users, films.items, films.interactions) == tuple(round(known[name][0]) for name in ("Nu", "Ni", "Nr"))
    assert (films.tested, films.judged) == (None, None)
    assert films.home.startswith("http")
    said, name = content.origin
    assert said.startswith("The numbers are those of V. Shevchenko et al., From Variability")
    assert name == "kdd24"


def test_figures_are_found_by_their_own_name_or_by_that_of_their_analysis(monkeypatch):
    drawn = {"rank": ["forest"], "compare": ["cd", "pairs", "bars"], "plan": ["curve"]}
    ran = []

    def run(table, spec, names):
        ran.extend(names)
        return ({"rank": ["forest"]}, {}) if names == ["rank"] else ({}, dict.fromkeys(names, "too few datasets"))

    monkeypatch.setattr(verb, "analyses", [(name, None) for name in drawn])
    monkeypatch.setattr(verb, "figures_by_analysis", lambda known: drawn)
    monkeypatch.setattr(verb, "run_analyses", run)
    monkeypatch.setattr(verb, "build_sections", lambda results: [
        Made(figures=[Made(name=name) for name in names]) for names in results.values()
    ])  # fmt: skip
    asked = ["pairs", "forest", "pairs", "compare", "curve", "bars"]
    charts, behind, missing = verb._figures("table", "spec", {"compare": ["cd", "pairs"]}, asked)
    assert [chart.name for chart in charts] == ["pairs", "forest", "cd"]
    assert (behind, ran) == (["compare", "rank"], ["rank", "plan"]), "what the tables need is not run again"
    assert missing == {"curve": "too few datasets", "bars": "these results give nothing to draw in it"}
    with pytest.raises(recassay.UsageError, match="there is no figure 'forrest'; did you mean 'forest'"):
        verb._figures("table", "spec", {}, ["forrest"])


@pytest.mark.parametrize(
    ("length", "value"),
    [(3.33, 3.33), ("3.33", 3.33), ("1in", 1.0), (" 5.08 cm", 2.0), ("50.8mm", 2.0), ("72.27pt", 1.0), ("40", 40.0)],
)
def test_a_width_has_units(length, value):
    assert verb.inches(length, "width") == pytest.approx(value)


@pytest.mark.parametrize("length", ["0.99", "40.01", "-2", "3 feet", "wide", "3,3cm"])
def test_what_is_no_width_is_refused(length):
    with pytest.raises(UsageError, match=f"page_width '{length}' is not a width of a page; give it as 3.33in or 8.5cm"):
        verb.inches(length, "page_width")


def test_groups_are_set_apart_and_closing_rows_ruled_off():
    grid = Grid(("a", "b", "c"), (("x", (Cell("1"), Cell("2"), EMPTY)), ("y", (Cell("3"), Cell("4"), EMPTY))),
                groups=(("", 2), ("", 1)))  # fmt: skip
    made = latex_table(grid, "C", "m", upright=False, wide=False, rotated=False, after={})
    assert r"\begin{tabular}{lS[table-format=1.0]S[table-format=1.0]@{\hspace{15pt}}r}" in made
    assert r"\multicolumn" not in made, "no group has a title"
    assert made.count(r"\midrule") == 1
    closed = latex_table(replace(grid, closing=1), "C", "m", upright=False, wide=False, rotated=False, after={})
    assert closed.count(r"\midrule") == 2
    assert closed.index(r"x & 1") < closed.rindex(r"\midrule") < closed.index(r"y & 3")
    whole = latex_table(replace(grid, closing=2), "C", "m", upright=False, wide=False, rotated=False, after={})
    assert whole.count(r"\midrule") == 1


def test_metrics_stand_in_one_table_where_that_fits():
    small, room = findings(VALUES), Room(3.33, 7.0)
    assert [table.name for table in main_tables(paper_of(small), TableStyle(), room)] == ["main"]
    (both,) = main_tables(paper_of(small, replace(small, metric="rmse")), TableStyle(), room)
    assert (both.name, both.grid.heads) == ("main", ("x", "y") * 2)
    names = tuple(f"a dataset of number {i}" for i in range(30))
    wide = replace(small, values=np.ones((3, 30)))
    apart = main_tables(paper_of(wide, replace(wide, metric="rmse"), datasets=names), TableStyle(), room)
    assert [table.name for table in apart] == ["main_ndcg-10", "main_rmse"]
    assert apart[0].grid.heads == ("a", "b", "c"), "turned, as it does not fit otherwise"
    cited_grid = Grid(("x",), (("a" * 40, (Cell("1"),)),))
    enough = next(width / 100 for width in range(100, 700) if fits(cited_grid, width / 100, upright=False))
    assert r"\begin{table}[t]" in placed("t", [(cited_grid, "C")], Room(enough, 7.0)).latex[0]
    assert r"\begin{table*}[t]" in placed("t", [(cited_grid, "C")], Room(enough, 7.0), {"a" * 40: "k"}).latex[0]


def test_the_files_of_a_paper_by_name():
    metric = ranked_metric()
    given = {"title": "T", "style": TableStyle(), "room": Room(3.33, 7.0), "analyses": ()}
    content = replace(
        paper_of(metric), datasets=(DatasetFacts("x", users=3, items=2, interactions=4), DatasetFacts("y"))
    )
    metric.compare.datasets = ("x",) * 4
    made = paper_files(content, [], ["It is so.", "Or so."], **given)
    assert list(made) == [
        "main.tex", "setup.tex", "references.bib", "tables/main.typ", "tables/main.md", "tables/main.html",
        "tables/main.csv", "tables/main.tex", "tables/datasets.tex",
    ]  # fmt: skip
    text = made["main.tex"].decode()
    assert "It is so. Or so.\n\\input{tables/datasets}\n\\input{tables/main}" in text
    bare = paper_files(paper_of(metric), [], ["It is so."], **given)
    assert "tables/datasets.tex" not in bare
    many = replace(
        content, datasets=(content.datasets[0],) * 150, findings=(replace(metric, values=np.ones((3, 150))),)
    )
    pieces_of = paper_files(many, [], [], **given)
    assert {"tables/datasets.tex", "tables/datasets_2.tex"} <= pieces_of.keys()
    assert "tables/datasets_1.tex" not in pieces_of


def test_the_paragraph_is_about_the_first_metric_and_only_the_main_table_is_turned(monkeypatch):
    monkeypatch.setattr("recassay.reporting.paper.files.latex_paragraph", lambda tested: f"of {tested.metric}")
    metric, other = ranked_metric(), ranked_metric()
    metric.compare.metric, other.compare.metric = "ndcg@10", "rmse"
    content = replace(
        paper_of(metric, replace(other, metric="rmse")), datasets=(DatasetFacts("x", users=3, items=2),) * 2
    )
    made = paper_files(content, [], [], title="T", style=TableStyle(), room=Room(3.33, 7.0, rotated=True), analyses=())
    assert made["paragraph.tex"] == b"of ndcg@10"
    turned = {name for name, text in made.items() if b"sidewaystable" in text}
    assert turned == {"tables/main.tex"}
    assert {"tables/ranks_ndcg-10.tex", "tables/ranks_rmse.tex", "tables/datasets.tex"} <= made.keys()


@pytest.mark.parametrize(("datasets", "tested"), [(4, False), (5, True)])
def test_tests_over_datasets_count_from_five_on(datasets, tested):
    compared = Made(datasets=("x",) * datasets)
    assert findings(VALUES, compare=compared).tested is (compared if tested else None)
