"""`review`, `list expected`, and `--table`: what a terminal and a page show of a paper."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from tests.support.papers import latex, make, plant

from recassay.core.tables.labels import facts_of


@pytest.fixture
def paper(tmp_path):
    made = make(np.random.default_rng(4), "datasets across")
    assert plant(made, "nDCG above hit rate", np.random.default_rng(1))
    place = tmp_path / "paper.tex"
    place.write_text(latex(made, r"Ours outperforms <script>alert(1)</script> all baselines by 99.9\%."))
    return place


def test_the_first_screen_says_what_was_read_and_what_is_odd(cli, paper):
    ran = cli("review", paper)
    lines = ran.out.splitlines()
    assert ran.code == 0
    assert re.match(r"\d+ flags? \(.*certain.*\) in 3 tables; 1 claim does not follow\.$", lines[0])
    assert re.match(r"Read: dataset statistics 1, results 1, ablation 1; [\d,]+ results\.", lines[1])
    assert lines[2].startswith("Table 2: ")
    assert lines[-1].startswith("Everything: --all")
    assert cli("review", paper, "--all").out.count("\n") > 20


def test_what_was_not_checked_is_not_called_free_of_flags(cli, tmp_path):
    paper = tmp_path / "paper.tex"
    for text in ("", "no table here"):
        paper.write_text(text)
        ran = cli("review", paper)
        assert (ran.code, ran.out) == (2, "")
        assert "paper.tex: holds no LaTeX table; give the paper's .tex file" in ran.err
    paper.write_text(
        "\\begin{table}\\begin{tabular}{ll} Model & Kind \\\\ EASE & linear \\\\ \\end{tabular}\\end{table}"
    )
    ran = cli("review", paper)
    assert ran.code == 0
    assert ran.out.startswith("Nothing could be checked: no results were read in 1 table.")


def test_the_page_has_flags_at_the_cells_and_runs_nothing(cli, paper, tmp_path):
    page = tmp_path / "review.html"
    ran = cli("review", paper, "--out", page)
    text = page.read_text()
    assert "open it in a browser" in ran.err
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert 'name="viewport"' in text
    for number in re.findall(r'href="#flag-(\d+)"', text):
        assert f'id="flag-{number}"' in text
    assert re.search(r'class="[a-z ]*at[a-z ]*">0\.\d+<a href="#flag-1">', text)
    assert not re.search(r"https?://(?!www\.w3\.org)[^\s\"]*\.(?:js|css|png)", text)


def test_json_has_the_tables_the_flags_and_the_claims(cli, paper):
    answer = json.loads(cli("review", paper, "--json").out)
    assert answer["command"] == "review"
    assert [table["kind"] for table in answer["tables"]] == ["statistics", "results", "ablation"]
    assert answer["found"][0]["code"] == "broken"
    assert answer["found"][0]["cells"]
    assert answer["claims"][0]["standing"] == "does not follow"
    assert sum(answer["flags"].values()) == len(answer["found"])


def test_one_table_of_a_paper_is_ranked_and_imported(cli, paper, tmp_path):
    assert "Ours" in cli("rank", paper, "--table", 2, "-m", "ndcg@10").out
    out = tmp_path / "table.csv"
    assert cli("import", paper, "--table", 2, "--out", out).code == 0
    assert out.read_text().startswith("algorithm,dataset,metric,value")
    ran = cli("import", paper, "--table", 1)
    assert (ran.code, "table 1 holds no results" in ran.err) == (2, True)


def test_what_others_report_is_listed_with_its_source(cli):
    ran = cli("list", "expected", "ml-1m", "--algorithm", "SASRec", "--json")
    rows = json.loads(ran.out)["expected"]
    softmax = next(row for row in rows if row["metric"] == "ndcg@10" and row["protocol"].startswith("full softmax; "))
    assert (softmax["value"], softmax["users"]) == (0.1821, 6040)
    assert all(row["source"] for row in rows)
    assert {row["dataset"] for row in rows} == {"ml-1m"}
    assert "did you mean" in cli("list", "expected", "ml-1mm").err
    everywhere = json.loads(cli("list", "expected", "--algorithm", "EASE", "--json").out)["expected"]
    assert len({row["dataset"] for row in everywhere}) > 30, "whole tables are listed, too"
    assert {facts_of(row["metric"]).kind for row in everywhere} == {"accuracy"}
    assert cli("list", "metrics", "ml-1m").code == 2
