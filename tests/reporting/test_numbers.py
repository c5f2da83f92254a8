"""Numbers and names as tables, files and sentences write them."""

from __future__ import annotations

from types import SimpleNamespace as Made

import numpy as np
import polars as pl
import pytest

from recassay.core.errors import InputError
from recassay.reporting.files import refuse_file, safe_stem, write_files
from recassay.reporting.folder import table_caption
from recassay.reporting.numbers import between, number, p_text, p_value, percent, probability, smallest, starred, writer
from recassay.reporting.section import Figure, Plot, Plots, Section, Table, plot
from recassay.reporting.tables import column_texts, evaluation_latex, html_table, markdown, paper_tables

NAN = float("nan")


def test_numbers_in_cells_and_sentences():
    assert [number(value) for value in (0.125, None, NAN, -1.0)] == ["0.12", "", "", "-1.00"]
    assert (number(1.26, 1), number(None, missing="-")) == ("1.3", "-")
    assert [between(*ends) for ends in ((0.1, 0.2), (None, 1.0), (1.0, None), (NAN, 1.0), (1.0, NAN))] == [
        "0.10 to 0.20", "", "", "", ""
    ]  # fmt: skip
    assert [percent(share) for share in (0.125, None, 1.0)] == ["12 %", "", "100 %"]
    assert percent(0.1234, 1) == "12.3 %"
    p = {0.0009: "< .001", 0.001: ".001", 0.034: ".034", 0.9994: ".999", 0.9995: "> .999", 0.9996: "> .999", None: ""}
    assert {value: p_value(value) for value in p} == p
    assert p_value(NAN) == ""
    assert [p_text(value) for value in (0.0009, 0.001, 0.0344)] == ["p < 0.001", "p = 0.001", "p = 0.034"]
    chances = {0.996: "above 0.99", 0.994: "0.99", 0.004: "below 0.01", 0.006: "0.01", 0.5: "0.50", 1.0: "above 0.99"}
    assert {value: probability(value) for value in chances} == chances
    assert (probability(0.9996, 3), probability(0.0004, 3)) == ("above 0.999", "below 0.001")
    assert starred(Made(p_holm=0.01234, significant=True)) == ".012*"
    assert starred(Made(p_holm=0.5, significant=False)) == ".500 "
    assert starred(Made(p_holm=0.00023, significant=True)) == "< .001*"
    assert (smallest(0.0078125), smallest(2**-19)) == ("0.0078", "1.9e-06")


def test_cells_by_template():
    record = {"a": 0.5, "b": None, "inner": Made(c=2.0, d=NAN), "yes": True, "p": 0.0001, "n": 7}
    written = {
        "{a:.2f}": "0.50", "{a:.0%}": "50 %", "{b}": "", "{a} to {b}": "", "{inner.c:.1f}": "2.0", "{inner.d:.1f}": "",
        "{yes}": "yes", "{p:p}": "< .001", "{n} of 9": "7 of 9", "plain": "plain", "({a:.1f})": "(0.5)",
    }  # fmt: skip
    assert {template: writer(template)(record) for template in written} == written
    assert writer("{yes}")({"yes": False}) == "no"


def test_a_table_of_records():
    table = Table("T", {"name": "{a}", "twice": lambda row: 2 * row["n"]}, [{"a": "x", "n": 1}, {"a": None, "n": 2}],
                  important=["twice"], notes=["N."], most=5)  # fmt: skip
    assert (table.header, table.rows) == (("name", "twice"), (("x", "2"), ("", "4")))
    assert (table.names, table.important, table.notes, table.most) == (1, ("twice",), ("N.",), 5)
    assert Table("T", ["a"], [[None], [3]]).rows == (("",), ("3",))
    with pytest.raises(ValueError, match="the table 'T' has rows that do not fit its 2 columns"):
        Table("T", ["a", "b"], [["x"]])
    wide = Table("T", list("abcd"), [], important=["c", "b"])
    assert wide.left_out_first() == [3, 1, 2], "d first, then b, then c; the first column stays"


def test_a_section_is_checked_when_it_is_stated():
    for wrong, told in (
        ({"of": 3}, "tells no type of result"), ({"part": "cellar"}, "names no part of a report"),
        ({"order": True}, "is not a whole number"), ({"order": 1.5}, "is not a whole number"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=told):
            Section(**{"of": int, "title": "S", "part": "cost", "page": "p", **wrong})


def test_plots_make_figures_where_they_apply():
    plots = Plots([
        Plot("one", "Caption.", lambda result: "chart 1"),
        Plot("two", lambda result: f"Of {result}.", lambda result, words: f"chart {words.algorithm}", "table",
             when=lambda result: result > 3),
    ])  # fmt: skip
    assert plots(3) == [Figure("one", "Caption.", "chart 1", "one")]
    assert plots(4)[1] == Figure("two", "Of 4.", "chart algorithm", "table")
    stated = plot("three", "Of 3.", table="other", when=lambda result: result == 3)(lambda result: "chart 3")
    assert (stated(5), stated.figure(5)) == ("chart 3", Figure("three", "Of 3.", "chart 3", "other"))
    assert [stated.when(result) for result in (3, 4)] == [True, False]
    made = Section(int, "S", "cost", "p", plots)
    assert made.plots is plots
    assert Section(int, "S", "cost", "p").plots == ()


def test_names_from_outside_stay_in_their_folder(tmp_path):
    names = {
        "../../x": "x",
        "a b/c": "a_b_c",
        "...": "unnamed",
        "": "unnamed",
        "nDCG@10": "nDCG_10",
        ".hidden": "hidden",
    }
    assert {name: safe_stem(name) for name in names} == names
    (tmp_path / "file").write_text("")
    refuse_file(tmp_path)
    refuse_file(tmp_path / "new")
    for write in (refuse_file, lambda out: write_files(out, {})):
        with pytest.raises(InputError, match="is a file"):
            write(tmp_path / "file")
    written = write_files(tmp_path / "out", {"b/c.txt": b"x", "a.bin": b"\xff"}, share=True)
    assert [path.relative_to(tmp_path / "out").as_posix() for path in written] == ["b/c.txt", "a.bin"]


def test_captions_of_saved_tables():
    assert table_caption("plan", None) == "Datasets that would be needed to show the difference of each pair."
    assert table_caption("of_my_own", "ndcg@10") == "Of my own (ndcg@10)."


def test_columns_of_papers():
    def texts(*values, name="x"):
        return column_texts(pl.Series(name, values, dtype=pl.Float64))

    assert texts(1.0, 2.0) == ["1", "2"]
    assert texts(1.5, 2.0) == ["1.5", "2.0"]
    assert texts(0.1234567, 12.3) == ["0.12", "12.30"]
    assert texts(0.00012345) == ["0.0001234"]
    assert texts(12345.6, 1.3) == ["12345.6", "1.3"]
    assert texts(0.5, None, NAN, np.inf) == ["0.5", "", "", "∞"]
    assert texts(0.00001, 0.5, name="p_holm") == ["< .001", ".500"]
    assert texts(0.25, name="p_left") == ["0.2500"]
    for name in ("p", "p_value", "p_adjusted", "p_dunn", "p_equal", "p_equal_holm", "held_out_p", "winner_p"):
        assert texts(0.00001, name=name) == ["< .001"]
    assert column_texts(pl.Series("n", [True, None])) == ["yes", ""]


def test_lists_judged_together():
    def users(not_worse):
        return Made(datasets=[Made(algorithms=("a", "b"), not_worse=lambda: not_worse)])

    means = {"a": {"ndcg@10": 0.5, "rmse": 0.9}, "b": {"ndcg@10": 0.4, "rmse": 0.8}, "c": {"ndcg@10": NAN, "rmse": 0.8}}
    directions = {"ndcg@10": True, "rmse": False}
    made = evaluation_latex(means, directions, {"ndcg@10": users(("a",))}, caption="C")
    rows = [line for line in made.splitlines() if "&" in line]
    assert rows == [
        r"algorithm & ndcg@10 $\uparrow$ & rmse $\downarrow$ \\",
        r"a & \textbf{0.5000} & 0.9000 \\",
        r"b & 0.4000$^\dagger$ & \textbf{0.8000} \\",
        r"c & -- & \textbf{0.8000} \\",
    ]
    gap = {"a": {"rmse": NAN}, "b": {"rmse": 0.9}, "c": {"rmse": 0.8}, "d": {"rmse": NAN}}
    lines = evaluation_latex(gap, {"rmse": False}, {}, caption="C").splitlines()
    assert [line for line in lines if line.endswith(r"\\")][1:] == [
        r"a & -- \\", r"b & 0.9000 \\", r"c & \textbf{0.8000} \\", r"d & -- \\"
    ]  # fmt: skip
    assert r"\begin{tabular}{lrr}" in made
    assert r"\label{tab:evaluation}" in made


def test_long_tables_are_data_alone():
    frame = pl.DataFrame({"name": ["a"] * 401, "value": [1.5] * 401})
    assert list(paper_tables("t", frame, "C")) == ["t.csv"]
    assert list(paper_tables("t", frame.head(400), "C")) == ["t.csv", "t.tex", "t.md"]
    page = html_table(frame, "C", rest="There.", most=60)
    assert page.endswith('<p class="note">The first 60 of 401 rows. There.</p>')
    assert "The first" not in html_table(frame.head(60), "C")
    assert '<th scope="row">a</th><td class="n">1.5</td>' in page
    assert markdown(frame.head(1)) == "| name | value |\n| --- | ---: |\n| a | 1.5 |\n"
    counts = pl.DataFrame({"name": ["a"], "n": [12], "done": [True]})
    assert markdown(counts) == "| name | n | done |\n| --- | ---: | --- |\n| a | 12 | yes |\n", "whole numbers, too"
    assert b"{lrl}" in paper_tables("t", counts, "C")["t.tex"]
    assert '<td class="n">12</td><td>yes</td>' in html_table(counts, "C")
