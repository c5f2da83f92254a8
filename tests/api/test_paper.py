"""The files of a paper: what stands in its tables, what is marked and why, and that LaTeX sets them."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest

import recassay
from recassay.core import ties
from recassay.core.registry import algorithms, analyses, metrics
from recassay.core.tables.results import Results
from recassay.reporting.numbers import p_value
from recassay.reporting.paper.arrange import Room, placed
from recassay.reporting.paper.fit import CHOICES, SIZES, Cell, Grid, text_width, width_of
from recassay.reporting.paper.paragraph import paragraph
from recassay.reporting.paper.setup import bibliography, citations, cited, entries
from recassay.reporting.telling import figures_by_analysis
from recassay.testing.results import synthetic_results
from support.in_process import without_processes
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
    for said in ("in 1 trials", "The seeds are 1 and 2", r"EASE~\cite{steck2019embarrassingly}", "validation part"):
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
    made = recassay.paper(Results.from_frame(frame), out=tmp_path, figures=[], replicates=200)
    text = {form: (tmp_path / f"tables/main.{form}").read_text() for form in ("typ", "md", "html")}
    assert r"[x\_\*\<b\>\#\[y\]]" in text["typ"]
    assert "#strong[" in text["typ"]
    assert r"x\_\*&lt;b>#\[y\]" in text["md"]
    assert text["md"].count("**") % 2 == 0
    assert "x_*&lt;b&gt;#[y]" in text["html"]
    assert "<b>0." in text["html"]
    assert len(made.files) == 13


def test_a_control_is_compared_with_every_other(tmp_path):
    results = Results.from_frame(synthetic_results(8))
    name = results.algorithms[1]
    recassay.paper(results, out=tmp_path, control=name, figures=[], replicates=100)
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
    recassay.paper(Results.from_frame(holed), out=tmp_path, missing="drop-datasets", figures=[], replicates=200)
    text = (tmp_path / "tables/main.md").read_text()
    assert "–: no value." in text
    assert next(line for line in text.splitlines() if line.startswith(f"| {algorithm} ")).count("–") == 1


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"figures": ["critical_diference"]}, "did you mean 'critical_difference'"),
        ({"width": "3 parsecs"}, "is no width of a page"),
        ({"letters": 99.0}, "from 4 to 24"),
        ({"metrics": "ndgc@10"}, "did you mean"),
        ({"decimals": 40}, "from 0 to 10"),
    ],
)
def test_what_is_asked_wrongly_is_said(tmp_path, asked, told):
    with pytest.raises(recassay.UsageError, match=told):
        recassay.paper(Results.from_frame(synthetic_results(5)), **{"out": tmp_path, "replicates": 100, **asked})


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
    assert set(sourced) <= {"adaptive", "decodirt", "user_irt"}
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
    assert [name for name, figures in drawn.items() if not figures] == ["plan"]
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
    assert f"{verdict.leaders[0]} has the best mean rank ({verdict.mean_rank[0]:.2f}, 95 % bootstrap interval" in text
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
    assert "wrote 13 files" in ran.err
    assert ran.out.startswith("No clear winner: ")
    made = cli("paper", "published:demsar", "--out", tmp_path / "p", "--json", "--figures", "none").json()
    assert made["command"] == "paper"
    assert made["metrics"] == ["auc"]
    assert len(made["files"]) == 13


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


def test_wide_letters_take_more_room_than_others():
    assert text_width("i") < text_width("a") < text_width("A") < text_width("m") == text_width("漢")
    assert text_width("e\u0301") == text_width("e")


def test_a_heading_over_columns_has_room():
    title = "a heading that is wider than the two columns below it"
    grid = Grid(("a", "b"), (("x", (Cell("1"), Cell("2"))),), groups=((title, 2),))
    assert width_of(grid, CHOICES[0]) > text_width(title) * SIZES[CHOICES[0].size]


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
