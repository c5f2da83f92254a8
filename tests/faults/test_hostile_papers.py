"""Papers that were made to break `review`: each case ended with a traceback, with gigabytes or with minutes before."""

from __future__ import annotations

import time
import tracemalloc

import pytest

import recassay
from recassay.core.errors import InputError
from recassay.core.tables import printed

TABLE = (
    r"\begin{table}\caption{NDCG@10}\begin{tabular}{lcc} Model & Beauty & Toys \\ EASE & 0.1 & 0.2 \\ "
    r"Ours & 0.3 & 0.4 \\ \end{tabular}\end{table}"
)


def paper(folder, text):
    place = folder / "paper.tex"
    place.write_text(rf"\documentclass{{article}}\begin{{document}} {text} \end{{document}}")
    return place


def table(height, width):
    rows = "".join(
        f"A{a} " + "".join(f"& 0.{(a * d) % 1000:03d} " for d in range(width)) + r"\\" for a in range(height)
    )
    head = "Model " + "".join(f"& D{d} " for d in range(width))
    return rf"\begin{{table}}\caption{{NDCG@10}}\begin{{tabular}}{{l}}{head} \\ {rows} \end{{tabular}}\end{{table}}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (table(150, 150), "more than 20,000 cells"),
        (TABLE * 201, "more than 200 tables"),
        (TABLE + r"\input{/etc/passwd}", "lies outside its folder"),
        (TABLE + r"\input{paper}", "reads itself"),
    ],
)
def test_a_hostile_paper_is_one_line_and_costs_little(tmp_path, text, words):
    begin = time.process_time()
    with pytest.raises(InputError, match=words):
        recassay.review(paper(tmp_path, text))
    assert time.process_time() - begin < 10


def test_an_argument_that_a_macro_repeats_is_refused_before_it_is_written_out(tmp_path):
    bomb = r"\newcommand{\b}[1]{" + "#1" * 5000 + "}" + TABLE + r"\b{" + "x" * 20_000 + "}"
    tracemalloc.start()
    with pytest.raises(InputError, match="more than 16 MiB"):
        recassay.review(paper(tmp_path, bomb))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6


@pytest.mark.parametrize(("rows", "columns"), [(400, 2), (2, 400)])
def test_a_table_of_hundreds_of_names_gets_no_verdict(tmp_path, rows, columns):
    (verdict,) = recassay.review(paper(tmp_path, table(rows, columns))).verdicts
    assert (verdict.verdict, verdict.reason) == (None, "it has more than 300 algorithms or datasets")


@pytest.mark.parametrize(
    "text",
    [
        r"\input{" + "a" * 5000 + "}",
        r"\input{" + "a/" * 5000 + "b}",
        r"\input{circle}",
        "A Wilcoxon signed-rank test with p < 0.05 over " + "9" * 400 + " runs is significant.",
        "Ours outperforms all baselines on \u00b2 of \u00b3 datasets.",
    ],
)
def test_odd_names_and_numbers_in_a_paper_are_read(tmp_path, text):
    (tmp_path / "circle.tex").symlink_to(tmp_path / "circle.tex")
    assert len(recassay.review(paper(tmp_path, TABLE + text)).tables) == 1


def test_a_span_of_thousands_of_digits_is_a_span(tmp_path):
    text = TABLE.replace("EASE", r"\multirow{" + "9" * 5000 + "}{*}{EASE}")
    assert recassay.review(paper(tmp_path, text)).tables[0].algorithms == ["EASE", "Ours"]


def test_a_mark_on_the_only_one_that_competes_is_not_judged(tmp_path):
    """A teacher without marks is aside; on the third dataset one other is left, underlined."""
    rows = (
        r"Teacher & 0.9 & 0.9 & 0.9 \\ EASE & \textbf{0.5} & \textbf{0.6} & - \\ "
        r"SLIM & \underline{0.2} & \underline{0.3} & \underline{0.1} \\ BPR & 0.1 & 0.1 & - \\ "
    )
    head = r"\begin{table}\caption{NDCG@10}\begin{tabular}{lccc} Model & Beauty & Toys & Sports \\ "
    assert len(recassay.review(paper(tmp_path, head + rows + r"\end{tabular}\end{table}")).tables) == 1


def test_what_a_table_prints_for_one_is_found_once(tmp_path, monkeypatch):
    asked = []
    known = printed.is_share
    monkeypatch.setattr(printed, "is_share", lambda metric: asked.append(metric) or known(metric))
    recassay.review(paper(tmp_path, table(12, 12)))
    assert 0 < len(asked) < 10 * 12 * 12
