"""Sources of papers: what is read of each table, and hostile sources refused in one line."""

from __future__ import annotations

import io
import os
import tarfile
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from tests.support.papers import LAYOUTS, latex, make

from recassay import RecAssayError, load_results
from recassay.data.papers.cells import read_cell
from recassay.data.papers.read import read_paper

TABLE = r"""\begin{table}\caption{Overall.}\begin{tabular}{lcc}\toprule & \multicolumn{2}{c}{Beauty} \\
Method & NDCG@10 & HR@10 \\ \midrule EASE & 0.10 & 0.20 \\ BPR & 0.09 & 0.18 \\ \bottomrule\end{tabular}\end{table}"""
REFERENCE = Path(os.environ.get("RECASSAY_REFERENCE", Path(__file__).parents[3] / "shared" / "reference")) / "tex"
KINDS = {
    "a-critical-study": "statistics other statistics other other other",
    "alphafuse": "statistics results results ablation ablation timings",
    "collaborative": "statistics results",
    "collm": "statistics results ablation ablation timings results results",
    "lost-in": "other other results results other results results ablation timings statistics results ablation",
    "recommender-systems": "results ablation other parameters ablation results results statistics results",
    "simaug": "results results results statistics statistics",
    "slmrec": "results results ablation timings parameters timings timings ablation",
    "text-is-all": "statistics results results ablation",
    "towards-universal": "statistics results other",
    "unbiased": "results statistics results results",
}
"""By the begin of a file's name, the kinds of its tables as a person lists them."""
OTHERWISE = 2
"""Two tables of variants (tuning strategies, kinds of distillation) are read as results; nothing in them says so."""


def read(tmp_path, text: str, name: str = "paper.tex"):
    place = tmp_path / name
    place.write_text(text)
    return read_paper(place)


@pytest.mark.parametrize(
    ("raw", "value", "half", "marks"),
    [
        (r"\textbf{0.1235}*", 0.1235, 0.00005, {"bold", "star"}),
        (r"{\ul 0.0862}", 0.0862, 0.00005, {"underline"}),
        (r"\cellcolor{blue!10}\textbf{+24.05\%}", 24.05, 0.005, {"bold", "colour blue!10"}),
        (r"0.0441 $\pm$ 0.00069", 0.0441, 0.00005, set()),
        (r"$62,202$", 62202, 0.5, set()),
        (r"(-7.88\%)", -7.88, 0.005, set()),
        (r"9.1e-6", 9.1e-6, 5e-8, set()),
        (r"$0.31^{\dagger}$", 0.31, 0.005, {"dagger"}),
        ("-", None, 0, set()),
        ("1e999", None, 0, set()),
        ("9" * 400, None, 0, set()),
        (r"-8.0\%, +2.3\%", None, 0, set()),
    ],
)
def test_a_cell_keeps_its_digits_and_marks(raw, value, half, marks):
    cell = read_cell(raw)
    assert cell.value == value
    assert cell.half == pytest.approx(half)
    assert cell.marks == marks


@pytest.mark.parametrize("rule", [r"\midrule", r"\hline", r"\hdashline", r"\Xhline{1pt}"])
def test_a_name_beside_some_row_is_that_of_all_rows_between_two_rules(tmp_path, rule):
    block = rf"{rule} & A & 0.1 & 0.2 \\ %s & B & 0.2 & 0.3 \\"
    rows = "".join(block % name for name in ("Films", "Books"))
    (table,) = read(
        tmp_path, rf"\begin{{tabular}}{{llcc}} Data & Method & HR@10 & NDCG@10 \\ {rows} \end{{tabular}}"
    ).tables
    named = dict.fromkeys((entry.dataset, entry.algorithm) for entry in table.entries)
    assert list(named) == [("Films", "A"), ("Films", "B"), ("Books", "A"), ("Books", "B")]


def test_names_keep_what_belongs_to_them():
    assert read_cell(r"S$^3$-Rec~\cite{zhou}").text == "S3-Rec"
    assert read_cell(r"\our").text == "our"
    assert read_cell(r"$\OursDS{4}{8}$").text == "OursDS 4 8"
    assert read_cell(r"E4SRec$_{8}$").text == "E4SRec_8"


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_is_read_as_it_was_made(tmp_path, layout):
    made = make(np.random.default_rng(3), layout)
    paper = read(tmp_path, latex(made))
    assert [table.kind for table in paper.tables] == ["statistics", "results", "ablation"]
    assert dict(paper.tables[0].users) == made.users
    short = {"HR": "hitrate", "NDCG": "ndcg"}
    truth = {(a, d, f"{short[m.split('@')[0]]}@{m.split('@')[1]}"): text for (a, d, m), text in made.printed.items()}
    results = paper.tables[1]
    assert {(e.algorithm, e.dataset, e.metric): e.cell.text for e in results.entries} == truth
    assert sum(each.what == "gain" for each in results.derived) == len(made.gains)
    assert results.own == "Ours"


def test_shapes_of_real_tables(tmp_path):
    """Groups are not names, a header one column to the left, names on two lines, headers that change in the middle."""
    groups = read(tmp_path, r"""\begin{tabular}{llccc} & & \multicolumn{2}{c}{ID-Only Methods} & Text \\
        Dataset & Metric & GRU4Rec & SASRec & ZESRec \\ \midrule Yelp & NDCG@10 & 0.1 & 0.2 & 0.3 \\
        & MRR & 0.2 & 0.3 & 0.4 \\ \end{tabular}""").tables[0]  # fmt: skip
    assert groups.algorithms == ["GRU4Rec", "SASRec", "ZESRec"]
    assert {entry.dataset for entry in groups.entries} == {"Yelp"}
    assert any("groups of methods" in note for note in groups.notes)
    shifted = read(tmp_path, r"""\begin{tabular}{lll} Recall@5 & NDCG@5 & \\ \midrule No user & 0.1 & 0.2 \\
        With user & 0.3 & 0.4 \\ \end{tabular}""").tables[0]  # fmt: skip
    assert [(e.metric, e.cell.value) for e in shifted.entries] == [
        ("recall@5", 0.1),
        ("ndcg@5", 0.2),
        ("recall@5", 0.3),
        ("ndcg@5", 0.4),
    ]
    assert any("one column left" in note for note in shifted.notes)
    panels = read(tmp_path, r"""\begin{tabular}{lcc} & Recall@20 & Recall@20 \\ & Appliances & Baby \\ \midrule
        Vanilla & 0.1 & 0.2 \\ Ours & 0.2 & 0.3 \\ Improve (\%) & +100\% & +50\% \\ \hline & Movies & Office \\ \hline
        Vanilla & 0.3 & 0.4 \\ Ours & 0.4 & 0.5 \\ \end{tabular}""").tables[0]  # fmt: skip
    assert {(e.dataset, e.algorithm): e.cell.value for e in panels.entries}["Office", "Ours"] == 0.5
    assert [each.name for each in panels.derived] == ["Improve (%)"] * 2
    two_lines = read(tmp_path, r"""\begin{table}\caption{HR@10 by domain}\begin{tabular}{lcc} & SASRec & Ours \\ \hline
        Books $\rightarrow$ & \multirow{2}{*}{0.1} & \multirow{2}{*}{0.2} \\ Music & & \\
        \end{tabular}\end{table}""").tables[0]  # fmt: skip
    assert [(e.dataset, e.algorithm) for e in two_lines.entries] == [
        ("Books → Music", "SASRec"),
        ("Books → Music", "Ours"),
    ]


def test_what_is_not_understood_is_said_to_be_so(tmp_path):
    table = read(
        tmp_path, r"\begin{tabular}{lcc} Thing & This & That \\ \midrule A & 0.1 & 0.2 \\ \end{tabular}"
    ).tables[0]
    assert (table.kind, table.entries) == ("other", ())
    assert "metric" in table.reason


def test_files_macros_comments_and_archives_are_put_together(tmp_path):
    (tmp_path / "sections").mkdir()
    (tmp_path / "sections" / "results.tex").write_text(TABLE.replace("EASE", r"\best{\ours}") + "% 50\\% hidden\n")
    (tmp_path / "main.tex").write_text(
        r"\documentclass{article}\newcommand{\ours}{NovaRec\xspace}\newcommand{\best}[1]{\textbf{#1}}\begin{document}"
        r"% \input{nowhere}" "\n" r"\input{sections/results} \include{absent}\iffalse" + TABLE + r"\fi\end{document}"
    )  # fmt: skip
    paper = read_paper(tmp_path)
    assert [table.algorithms for table in paper.tables] == [["NovaRec", "BPR"]]
    assert paper.notes == ("files that were not there: absent",)
    packed = tmp_path / "2507.00001.tar.gz"
    with tarfile.open(packed, "w:gz") as archive:
        archive.add(tmp_path / "main.tex", "main.tex")
        archive.add(tmp_path / "sections" / "results.tex", "sections/results.tex")
    assert [table.algorithms for table in read_paper(packed).tables] == [["NovaRec", "BPR"]]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (r"\newcommand{\a}{\b}\newcommand{\b}{\a}\a", "expands without end"),
        (r"\def\a{\a\a}\a", "expands without end"),
        ("".join(rf"\newcommand{{\x{a}}}{{\x{b}\x{b}}}" for a, b in pairwise("abcdefghijklmnopqrs"))
         + r"\newcommand{\xs}{z}\xa", "200,000 times"),
        (r"\input{../../../etc/passwd}", "outside its folder"),
        (r"\input{/etc/passwd}", "outside its folder"),
        (r"\input{paper}", "reads itself"),
        (r"\begin{tabular}{l}" + r"\multicolumn{900}{c}{x} & " * 900 + r"\end{tabular}", "merged cells"),
        ("x" * 17_000_000, "is the limit"),
    ],
)  # fmt: skip
def test_a_hostile_source_is_refused_in_one_line(tmp_path, text, why):
    with pytest.raises(RecAssayError, match=why) as caught:
        read(tmp_path, text)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


def test_a_hostile_archive_is_refused(tmp_path):
    for name, size, why in (("../x.tex", 3, "leaves the folder"), ("x.tex", 20_000_000, "more than")):
        packed = tmp_path / "paper.tar.gz"
        with tarfile.open(packed, "w:gz", compresslevel=1) as archive:
            member = tarfile.TarInfo(name)
            member.size = size
            archive.addfile(member, io.BytesIO(b"a" * size))
        with pytest.raises(RecAssayError, match=why):
            read_paper(packed)
    (tmp_path / "paper.pdf").write_bytes(b"%PDF-1.7")
    with pytest.raises(RecAssayError, match="is a PDF"):
        read_paper(tmp_path / "paper.pdf")


def test_one_table_of_a_paper_as_results(tmp_path):
    place = tmp_path / "paper.tex"
    place.write_text(latex(make(np.random.default_rng(5), "percent")))
    results = load_results(place, table=2)
    assert results.metrics == ["hitrate@5", "ndcg@5", "hitrate@10", "ndcg@10"]
    assert results.frame["value"].max() < 1  # percentages became shares
    with pytest.raises(RecAssayError, match="there is no table 9 among 3; tables with results: 2, 3"):
        load_results(place, table=9)
    with pytest.raises(RecAssayError, match="table 1 holds no results"):
        load_results(place, table=1)


@pytest.mark.slow
@pytest.mark.skipif(not REFERENCE.is_dir(), reason="the tables of published papers are not here")
def test_tables_of_eleven_papers_have_the_kinds_that_a_person_gives_them():
    wrong, read, results = [], 0, Counter()
    for start, kinds in KINDS.items():
        paper = read_paper(next(REFERENCE.glob(f"{start}*.tex")))
        assert len(paper.tables) == len(kinds.split()), start
        for table, kind in zip(paper.tables, kinds.split(), strict=True):
            read += 1
            wrong += [(start, table.number, table.kind, kind)] if table.kind != kind else []
            results[bool(table.entries)] += kind in ("results", "ablation")
            assert table.kind != "results" or table.entries
    assert read == 66
    assert len(wrong) <= OTHERWISE, wrong
    assert results[True] >= 0.8 * results.total()
