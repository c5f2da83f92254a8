"""Tables of papers: decorated cells, metric labels as people write them, and every usual shape of a table."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.readings import expected, small_other_reading, small_reading
from tests.support.small_tables import SMALL_OTHERS, SMALL_TABLES

from recassay import RecAssayError, load_results
from recassay.core import columns as c
from recassay.data.tables.cells import MISSING, has_decimal_comma, numbers, read_cell
from recassay.data.tables.grid import table_of
from recassay.data.tables.labels import Spelled, metrics_in, spelled
from recassay.data.tables.latex import latex_grids
from recassay.data.tables.memory import table_from_memory
from recassay.data.tables.textual import barred_grids
from recassay.data.tables.tidy import filled_down

TABLES = Path(__file__).resolve().parents[1] / "samples" / "tables"

CELLS = {
    "0.161": (0.161, None), "0.161±0.001": (0.161, 0.001), "0.161 ± 0.001": (0.161, 0.001),
    "0.161+-0.001": (0.161, 1e-3),
    "0.161 (0.001)": (0.161, 0.001), "**0.428**": (0.428, None), r"\textbf{0.428}": (0.428, None),
    "__0.4__": (0.4, None),
    "_0.4_": (0.4, None),
    r"\underline{0.428}": (0.428, None), "0.428*": (0.428, None), "0.428†": (0.428, None), "0.428‡**": (0.428, None),
    "61.2%": (0.612, None), r"61.2\%": (0.612, None), "16.1% ± 0.2": (0.161, 0.002), "16.1 ± 0.2%": (0.161, 0.002),
    r"$0.161_{\pm0.001}$": (0.161, 0.001), r"$\mathbf{0.43}\pm\mathbf{0.02}$": (0.43, 0.02),
    r"{\bf 0.43}": (0.43, None),
    r"\textbf{0.314}$^{ab}$\hphantom{$^{c}$}": (0.314, None), "0.314ᵃᵇ": (0.314, None),
    "0.31<sup>*</sup>": (0.31, None),
    r"\textbf{61.2}$^\dagger$": (61.2, None), r"\cellcolor{gray!20}\textbf{0.42}": (0.42, None),
    r"0.39\*": (0.39, None),
    r"\textcolor{red}{0.5}": (0.5, None), "1,234.5": (1234.5, None), "12 345": (12345.0, None), ".161": (0.161, None),
    "1.2e-3": (0.0012, None), r"1.2\times10^{-3}": (0.0012, None), "1.2×10^-3": (0.0012, None), "-0.12": (-0.12, None),
    "0.161 (3)": (0.161, None), "0.161 (+2.3%)": (0.161, None), "0.161 [0.159, 0.163]": (0.161, 0.004 / 2 / 1.959964),
    "0.12 (0.11-0.13)": (0.12, 0.02 / 2 / 1.959964), "−0.3": (-0.3, None),
    "0.161 \\scriptsize{(0.002)}": (0.161, 0.002),
}  # fmt: skip


@pytest.mark.parametrize("text", CELLS)
def test_cells(text):
    value, deviation = CELLS[text]
    found = read_cell(text)
    assert found.value == pytest.approx(value)
    assert found.deviation == (None if deviation is None else pytest.approx(deviation))


BOLD, STARS = "bold and underlined marks", "stars, daggers and superscripts"
KEPT, SHARE, GAINS = "deviations (kept)", "percent signs (divided by 100)", "ranks or gains in brackets"
COMMA, THOUSANDS = "decimal commas", "separators of thousands"
TAKEN = {
    "**0.4**": (0.4, None, BOLD), "0.4*": (0.4, None, STARS), r"0.4$^{\dagger}$": (0.4, None, STARS),
    "< 0.4": (0.4, None, "signs of inequality"), "0.4 (best)": (0.4, None, "words in brackets"),
    "0.4 (3)": (0.4, None, GAINS), "0.4 (+3)": (0.4, None, GAINS), "0.4 (4 %)": (0.4, None, GAINS),
    "0.4 (2.5 %)": (0.4, None, GAINS), "0.4 (−0.5)": (0.4, None, GAINS),
    "0.4 [0.5, 0.3]": (0.4, 0.1 / 1.959964, "intervals"),
    "5 (3)": (5.0, 3.0, KEPT), "0.4 (0.02)": (0.4, 0.02, KEPT), "0.4 [0.3, 0.5]": (0.4, 0.1 / 1.959964, "intervals"),
    "0.4 [0.1; 0,3]": (0.4, None, "intervals"), "0.4 [0,1; 0.3]": (0.4, None, "intervals"),
    "0.4 (0.3 to 0.5)": (0.4, 0.1 / 1.959964, "intervals"),
    "40%": (0.4, None, SHARE), "40% ± 2": (0.4, 0.02, KEPT, SHARE), "40 (2.5) %": (0.4, 0.025, KEPT, SHARE),
    "40 ± 2%": (0.4, 0.02, KEPT, SHARE), "0.4 ± 0.1*": (0.4, 0.1, STARS, KEPT), "1,234": (1234.0, None, THOUSANDS),
    "12 345": (12345.0, None, THOUSANDS), "0.4 n.s.": (0.4, None), '"0.4"': (0.4, None), "2 × 10^-3": (0.002, None),
    "1,234.5": (1234.5, None, THOUSANDS),
}  # fmt: skip
"""The number, its deviation, and what a reader is told was taken off."""
OF_COMMAS = {
    "0,4": (0.4, None, COMMA), "1.234,5": (1234.5, None, COMMA), "0,4 ± 0,1": (0.4, 0.1, KEPT, COMMA),
    "1,234": (1.234, None, COMMA), "1.234": (1234.0, None, THOUSANDS), "-1.234.567": (-1234567.0, None, THOUSANDS),
    "0.234": (0.234, None), "1.2345": (1.2345, None), "40,5%": (0.405, None, SHARE, COMMA), "12.5": (12.5, None),
}  # fmt: skip
OF_PERCENT = {"40": (0.4, None), "40 ± 10": (0.4, 0.1, KEPT), "40%": (0.4, None, SHARE)}


@pytest.mark.parametrize(
    ("text", "options", "expected_cell"),
    [
        *((text, {}, told) for text, told in TAKEN.items()),
        *((text, {"decimal_comma": True}, told) for text, told in OF_COMMAS.items()),
        *((text, {"percent": True}, told) for text, told in OF_PERCENT.items()),
    ],
)
def test_what_is_taken_off_a_cell_is_told(text, options, expected_cell):
    value, deviation, *taken = expected_cell
    cell = read_cell(text, **options)
    assert cell.value == pytest.approx(value)
    assert cell.deviation == (None if deviation is None else pytest.approx(deviation))
    assert (cell.missing, cell.taken) == (False, tuple(taken))


def test_a_cell_of_more_than_400_characters_is_not_looked_at():
    assert read_cell("0.4" + " " * 397).value == 0.4
    assert read_cell("0.4" + " " * 398).value is None


@pytest.mark.parametrize(
    "text", ["-", "--", "—", "–", "N/A", "n.a.", "OOM", "OOT", "oot", "TLE", "", "> 24h", "NaN", "x"]
)
def test_cells_without_a_value(text):
    assert read_cell(text).missing
    assert read_cell(text).value is None


@pytest.mark.parametrize(
    "text", ["high", "0,4", "1.2.3", "12,34", "EASE", "3 of 4", "0.1 0.2", "2024-01-01", "> 24h late"]
)
def test_cells_that_are_no_numbers(text):
    found = read_cell(text)
    assert found.value is None
    assert not found.missing


@pytest.mark.slow
@given(
    st.floats(-1e6, 1e6, allow_nan=False),
    st.sampled_from(["{}", "**{}**", "\\textbf{{{}}}", "{}*", "{}†", "\\underline{{{}}}"]),
)
def test_a_decorated_number_is_the_number(value, pattern):
    assert read_cell(pattern.format(f"{value:.6f}")).value == pytest.approx(value, abs=1e-6)


def test_a_row_of_decimal_commas_is_data_and_no_header():
    table = table_of([["", "films", "books"], ["EASE", "0,31", "0,4"], ["ALS", "0,3", "1,25"]])
    assert table is not None
    assert table.headers[1:] == (("films",), ("books",))


def test_the_decimal_comma_is_settled_for_a_column():
    assert has_decimal_comma(["16,1", "17,25"])
    assert has_decimal_comma(["0,161"])
    assert not has_decimal_comma(["1,234", "2,345"])
    assert not has_decimal_comma(["1,234.5", "12.5"])
    assert not has_decimal_comma(["0,4", "1,234.5"])
    assert has_decimal_comma(["1.234", "0,5"])
    assert not has_decimal_comma(["0.234", "0,5"])
    assert not has_decimal_comma(["0.234", "0,5", "0,7", "16,1"])
    assert numbers(pl.Series(["1.234", "0,5"]), "x").values.to_list() == [1234.0, 0.5]
    assert numbers(pl.Series([1.0, float("nan"), None]), "x").values.to_list() == [1.0, None, None]
    comma = numbers(pl.Series(["16,1 ± 0,2", "1.234,5", "-"]), "x")
    assert comma.values.to_list() == [16.1, 1234.5, None]
    assert comma.deviations.to_list() == [0.2, None, None]
    with pytest.raises(RecAssayError, match="1 values are not numbers, the first '0,4' in data row 2"):
        numbers(pl.Series(["0.3", "0,4"]), "x")
    assert "0" not in MISSING


LABELS = {
    "ndcg_at_10": "ndcg@10", "ndcg_cut_10": "ndcg@10", "NDCGK_10": "ndcg@10", "P_10": "precision@10",
    "R@20 ↑": "recall@20",
    "recall_10": "recall@10", "recip_rank": "mrr", "RecipRank": "mrr", "SEntropy": "entropy", "N@5": "ndcg@5",
    "time_train_s": "seconds_fit", "Train (s)": "seconds_fit", "Time (ms)": "seconds", "energy_consumed": "energy",
    "Recall@5 [%]": "recall@5", "Cov.": "coverage",
    "HR@10 (%)": "hitrate@10", "test/recall@20": "recall@20", "metrics.ndcg_at_10": "ndcg@10", "NDCG@{10}": "ndcg@10",
    "Hit Rate@10": "hitrate@10", "ndcg10": "ndcg@10", "ndcg(10)": "ndcg@10", "mean_ndcg@10": "ndcg@10", "AUC": "auc",
    "map@10[by_k]": "map@10[by_k]", "Logloss": "logloss", "foo@3": "foo@3", "metric_error": "error", "f1": "f1",
}  # fmt: skip


@pytest.mark.parametrize("text", LABELS)
def test_metric_labels(text):
    assert spelled(text).label == LABELS[text]


@pytest.mark.parametrize(
    "text",
    [
        "model",
        "dataset",
        "ml-1m",
        "ml-100k",
        "yelp2018",
        "Year",
        "Params (M)",
        "seed",
        "book 10",
        "r",
        "5@10",
        "#@3",
        "std",
        "±",
        "",
    ],
)
def test_what_is_no_metric(text):
    assert spelled(text) is None


HEADERS = {
    "HR@10 (%)": ("hitrate@10", {"percent": True}), "HR[%]@10": ("hitrate@10", {"percent": True}),
    "Acc. percent": ("accuracy", {"percent": True}), "NDCG@10_std": ("ndcg@10", {"deviation": "deviation"}),
    "± NDCG@10": ("ndcg@10", {"deviation": "deviation"}), "NDCG@10 ±": ("ndcg@10", {"deviation": "deviation"}),
    "seconds_std": ("seconds", {"deviation": "deviation"}), "recall@20 stderr": ("recall@20", {"deviation": "error"}),
    "se ndcg@10": ("ndcg@10", {"deviation": "error"}), "NDCG@10 sem": ("ndcg@10", {"deviation": "error"}),
    "valid_ndcg@10": ("ndcg@10", {"phase": "valid"}), "best valid ndcg@10": ("ndcg@10", {"phase": "valid"}),
    "dev_recall@5": ("recall@5", {"phase": "valid"}), "train/mrr": ("mrr", {"phase": "train"}),
    "eval_ndcg@10": ("ndcg@10", {}), "metrics.test_recall@20": ("recall@20", {}),
    "Time (ms)": ("seconds", {"unit": 0.001}),
    "Training time (min)": ("seconds_fit", {"unit": 60.0}), "Training time (h)": ("seconds_fit", {"unit": 3600.0}),
    "Time (s)": ("seconds", {}), "memory (MB)": ("memory", {}), "foo@3": ("foo@3", {"known": False}),
    "ndcg@99999": ("ndcg@99999", {}), "ndcg@100000": ("ndcg@100000", {"known": False}),
    r"NDCG\_at\_10 $\uparrow$": ("ndcg@10", {}),
}  # fmt: skip


@pytest.mark.parametrize("text", HEADERS)
def test_what_a_header_says_besides(text):
    label, more = HEADERS[text]
    assert spelled(text) == Spelled(label, **{"known": True, **more})


@pytest.fixture
def write(tmp_path):
    def make(text: str, name: str = "films.csv"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return make


def rows(results) -> set[tuple]:
    return set(results.frame.select(c.ALGORITHM, c.DATASET, c.METRIC, c.VALUE).rows())


EXPECTED = {("EASE", "d1", "ndcg@10", 0.3), ("EASE", "d2", "ndcg@10", 0.4), ("Pop", "d1", "ndcg@10", 0.1),
            ("Pop", "d2", "ndcg@10", 0.2)}  # fmt: skip
SHAPES = {
    "metric columns": "model,dataset,NDCG@10\nEASE,d1,0.3\nEASE,d2,0.4\nPop,d1,0.1\nPop,d2,0.2\n",
    "other names": "System,Task,ndcg_at_10\nEASE,d1,0.3\nEASE,d2,0.4\nPop,d1,0.1\nPop,d2,0.2\n",
    "settings beside": "model,dataset,lr,epochs,NDCG@10\nEASE,d1,1,5,0.3\nEASE,d2,1,5,0.4\nPop,d1,1,5,0.1\n"
    "Pop,d2,1,5,0.2\n",
    "dataset over metric": ",d1,d2\n,ndcg@10,ndcg@10\nEASE,0.3,0.4\nPop,0.1,0.2\n",
    "metric over dataset": "Model,NDCG@10,\n,d1,d2\nEASE,0.3,0.4\nPop,0.1,0.2\n",
    "metric and cut-off apart": "Model,d1,d2\n,NDCG,NDCG\n,@10,@10\nEASE,0.3,0.4\nPop,0.1,0.2\n",
    "metrics in a column": "Model,Metric,d1,d2\nEASE,NDCG@10,0.3,0.4\nPop,NDCG@10,0.1,0.2\n",
    "algorithms across": "Dataset,Metric,EASE,Pop\nd1,NDCG@10,0.3,0.1\nd2,NDCG@10,0.4,0.2\n",
    "compound headers": "Model,d1_ndcg@10,d2_ndcg@10\nEASE,0.3,0.4\nPop,0.1,0.2\n",
    "compound, other way": "Model,NDCG@10 (d1),NDCG@10 (d2)\nEASE,0.3,0.4\nPop,0.1,0.2\n",
    "percent": "model,dataset,NDCG@10\nEASE,d1,30%\nEASE,d2,40%\nPop,d1,10%\nPop,d2,20%\n",
    "percent in the header": "model,dataset,NDCG@10 (%)\nEASE,d1,30\nEASE,d2,40\nPop,d1,10.0\nPop,d2,20%\n",
    "validation beside": "model,dataset,val_ndcg@10,test_ndcg@10\nEASE,d1,9,0.3\nEASE,d2,9,0.4\nPop,d1,9,0.1\n"
    "Pop,d2,9,0.2\n",
    "test rows": "model,dataset,split,ndcg@10\nEASE,d1,valid,9\nEASE,d1,test,0.3\nEASE,d2,test,0.4\nPop,d1,test,0.1\n"
    "Pop,d2,test,0.2\n",
    "cut-off in a column": "Model,Dataset,K,NDCG\nEASE,d1,10,0.3\nEASE,d2,10,0.4\nPop,d1,10,0.1\nPop,d2,10,0.2\n",
    "cut-off in a long table": "Model,Dataset,Metric,k,Value\nEASE,d1,NDCG,10,0.3\nEASE,d2,NDCG,10,0.4\n"
    "Pop,d1,NDCG,10,0.1\nPop,d2,NDCG,10,0.2\n",
    "names written once": "Dataset,Model,NDCG@10\nd1,EASE,0.3\n,Pop,0.1\nd2,EASE,0.4\n,Pop,0.2\n",
    "metric in the corner": "NDCG@10,d1,d2\nEASE,0.3,0.4\nPop,0.1,0.2\n",
    "metric column without a name": ",,EASE,MostPop\nd1,NDCG@10,0.3,0.1\nd2,NDCG@10,0.4,0.2\n",
    "a comment above": "# made on 2024-05-01\nmodel,dataset,NDCG@10\n"
    "EASE,d1,0.3\nEASE,d2,0.4\nPop,d1,0.1\nPop,d2,0.2\n",
    "a title above": "Table 2: results\n\nmodel;dataset;NDCG@10\nEASE;d1;0.3\nEASE;d2;0.4\nPop;d1;0.1\nPop;d2;0.2\n",
    "remarks below": "model,dataset,NDCG@10\nEASE,d1,0.3\nEASE,d2,0.4\nPop,d1,0.1\nPop,d2,0.2\n\n* p < 0.05\n"
    "Note: bold is best\n",
    "single spaces": "model dataset NDCG@10\nEASE d1 0.3\nEASE d2 0.4\nPop d1 0.1\nPop d2 0.2\n",
    "HTML": "<table><tr><th rowspan=2>Model</th><th colspan=2>NDCG@10</th></tr><tr><th>d1</th><th>d2</th></tr>"
    "<tr><td>EASE</td><td><b>0.3</b><sup>*</sup></td><td>0.4</td></tr><tr><td>Pop</td><td>0.1<td>0.2</table>",
    "upper case and line ends": "\ufeffMODEL;DATASET;NDCG@10\r\n"
    "EASE;d1;0,3\r\nEASE;d2;0,4\r\nPop;d1;0,1\r\nPop;d2;0,2\r\n",
    "a column of rows": ",model,dataset,NDCG@10\n0,EASE,d1,0.3\n1,EASE,d2,0.4\n2,Pop,d1,0.1\n3,Pop,d2,0.2\n",
    "gains across": "Dataset,Metric,EASE,Pop,Improv.\nd1,NDCG@10,0.3,0.1,200%\nd2,NDCG@10,0.4,0.2,100%\n",
    "p-values beside": "model,dataset,NDCG@10,p-value\nEASE,d1,0.3***,<0.001\nEASE,d2,0.4,0.2\nPop,d1,0.1 n.s.,0.3\n"
    "Pop,d2,0.2,0.4\n",
    "short metrics beside datasets": "Model,d1 N@10,d2 N@10\nEASE,0.3,0.4\nPop,0.1,0.2\n",
    "tuples": "model,\"('d1', 'NDCG@10')\",\"('d2', 'NDCG@10')\"\nEASE,0.3,0.4\nPop,0.1,0.2\n",
    "the index named below": "      NDCG@10\nmodel        \nEASE      0.3\nPop       0.1\n",
    "percent signs on some": "model,dataset,NDCG@10\nEASE,d1,30%\nEASE,d2,40\nPop,d1,10%\nPop,d2,20\n",
    "averages and gains": ",d1,d2,Avg.\n,NDCG@10,NDCG@10,NDCG@10\nEASE,0.3,0.4,0.35\nPop,0.1,0.2,0.15\n"
    "Improv.,200%,100%,-\n",
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_are_read_as_they_are(write, shape):
    path = write(SHAPES[shape], "d1.csv")
    found = {(a.removeprefix("Most"), d, m, round(v, 9)) for a, d, m, v in rows(load_results(path))}
    alone = shape == "the index named below"  # its dataset is the name of the file
    assert found == ({row for row in EXPECTED if row[1] == "d1"} if alone else EXPECTED)


@pytest.mark.parametrize("name", SMALL_TABLES)
def test_small_tables_are_read_or_refused_as_they_were(name):
    """Every row, note, guess and refusal of a small file; `tests/support/readings.py` says how to write them again."""
    assert small_reading(name) == expected()["tables"][name]


@pytest.mark.parametrize("name", SMALL_OTHERS)
def test_answers_items_characteristics_and_choices_are_read_or_refused_as_they_were(name):
    assert small_other_reading(name) == expected()["others"][name]


def test_a_grid_of_more_cells_than_the_limit_is_no_table(monkeypatch):
    rows = [["model", "NDCG@10"], ["EASE", "0.3"]]
    monkeypatch.setattr("recassay.data.tables.grid.MOST_CELLS", 4)
    assert table_of(rows).headers == (("model",), ("NDCG@10",))
    monkeypatch.setattr("recassay.data.tables.grid.MOST_CELLS", 3)
    assert table_of(rows) is None


BODY = [["EASE", "0.3", "0.5"], ["Pop", "0.1", "0.2"]]
GRIDS = {
    "two names of the index under a word": (
        [["measure", "", "d1", "d2"], ["kind", "name", "", ""],
         ["linear", "EASE", "0.3", "0.4"], ["", "ALS", "0.1", "0.2"]],
        (("kind",), ("name",), ("d1",), ("d2",)), (("measure", {"d1", "d2"}),), True,
        [["linear", "linear"], ["EASE", "ALS"], ["0.3", "0.1"], ["0.4", "0.2"]],
    ),
    "one name of the index under an empty corner": (
        [["", "d1", "d2"], ["kind", "", ""], *BODY], (("kind",), ("d1",), ("d2",)), (("", {"d1", "d2"}),), True,
        [["EASE", "Pop"], ["0.3", "0.1"], ["0.5", "0.2"]],
    ),
    "a word for algorithms under another word": (
        [["measure", "d1", "d2"], ["Method", "", ""], *BODY],
        (("Method",), ("d1",), ("d2",)), (("measure", {"d1", "d2"}),), True,
        [["EASE", "Pop"], ["0.3", "0.1"], ["0.5", "0.2"]],
    ),
    "a panel of other rows under a word": (
        [["Model", "d1", "d2"], ["linear", "", ""], BODY[0], ["simple", "", ""], BODY[1]],
        (("Model",), ("d1",), ("d2",)), (("Model", {"d1", "d2"}),), False,
        [["EASE", "Pop"], ["0.3", "0.1"], ["0.5", "0.2"]],
    ),
    "panels of the same rows": (
        [["Model", "NDCG@10", "HR@10"], ["films", "", ""], *BODY,
         ["books", "", ""], ["EASE", "0.4", "0.6"], ["ALS", "-", "9"]],
        (("panel",), ("Model",), ("NDCG@10",), ("HR@10",)), (("Model", {"NDCG@10", "HR@10"}),), False,
        [["films", "films", "books", "books"], ["EASE", "Pop", "EASE", "ALS"], ["0.3", "0.1", "0.4", "-"],
         ["0.5", "0.2", "0.6", "9"]],
    ),
    "numbers beside the last row of headers": (
        [["Model", "d1", ""], ["", "NDCG@10", "HR@10"], *BODY],
        (("Model",), ("d1", "NDCG@10"), ("d1", "HR@10")), (("Model", {"d1"}), ("", {"NDCG@10", "HR@10"})), False,
        [["EASE", "Pop"], ["0.3", "0.1"], ["0.5", "0.2"]],
    ),
    "rows that are counted": (
        [["dataset", "", "d1", "d2"], ["metric", "model", "NDCG@10", "NDCG@10"], ["0", *BODY[0]], ["1", *BODY[1]]],
        (("model",), ("d1", "NDCG@10"), ("d2", "NDCG@10")), (("dataset", {"d1", "d2"}), ("metric", {"NDCG@10"})), True,
        [["EASE", "Pop"], ["0.3", "0.1"], ["0.5", "0.2"]],
    ),
    "a row without names and without a value": (
        [["Model", "Seed", "d1"], ["EASE", "1", "0.3"], ["", "", "OOM"], ["Pop", "1", "0.1"]],
        (("Model",), ("Seed",), ("d1",)), (("Model", {"Seed", "d1"}),), False,
        [["EASE", "", "Pop"], ["1", "", "1"], ["0.3", "OOM", "0.1"]],
    ),
    "algorithms that are numbers": (
        [["dataset", "d1", "d2"], ["model", "", ""], ["7", "0.3", "0.4"], ["8", "0.1", "0.2"]],
        (("model",), ("d1",), ("d2",)), (("dataset", {"d1", "d2"}),), True,
        [["7", "8"], ["0.3", "0.1"], ["0.4", "0.2"]],
    ),
    "two columns of which the first is counted": (
        [["", "NDCG@10"], ["model", ""], ["0", "0.3"], ["1", "0.1"]],
        (("model",), ("NDCG@10",)), (("", {"NDCG@10"}),), True, [["0", "1"], ["0.3", "0.1"]],
    ),
    "an empty column and an empty row": (
        [["Model", "", "d1"], ["", "", ""], ["EASE", "", "0.3"], ["Pop", "", "0.1"]],
        (("Model",), ("d1",)), (("Model", {"d1"}),), False, [["EASE", "Pop"], ["0.3", "0.1"]],
    ),
    "names written once, in the first of two columns alone": (
        [["Dataset", "Model", "d1"], ["films", "EASE", "0.3"], ["", "", "0.2"], ["books", "Pop", "0.1"]],
        (("Dataset",), ("Model",), ("d1",)), (("Dataset", {"Model", "d1"}),), False,
        [["films", "films", "books"], ["EASE", "", "Pop"], ["0.3", "0.2", "0.1"]],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", GRIDS)
def test_headers_index_and_panels_of_a_grid(name):
    grid, headers, levels, index_named, columns = GRIDS[name]
    table = table_of(grid)
    assert table.headers == headers
    assert [(level.word, set(level.names)) for level in table.levels] == list(levels)
    assert (table.index_named, [column.to_list() for column in table.columns]) == (index_named, columns)


def test_a_corner_names_the_rows_or_a_level_of_headers():
    """A corner names the rows where it stands beside other names than those that are asked for."""
    over = table_of([["Model", "d1", ""], ["", "NDCG@10", "HR@10"], *BODY])
    assert (over.corner_is_of_rows(["d1"]), over.corner_is_of_rows(["HR@10"]), over.corner_is_of_rows([])) == (
        False,
        True,
        True,
    )
    both = table_of([["Model", "d1", ""], ["measure", "NDCG@10", "HR@10"], *BODY])
    assert (both.corner_is_of_rows(["d1"]), both.corner_is_of_rows(["d1", "HR@10"])) == (True, False)
    assert table_of([["Model", "d1", "d2"], *BODY]).corner_is_of_rows(["d1"])
    assert not table_of([["Model", "d1", "d2"], *BODY], drawn=True).corner_is_of_rows(["d1"])
    assert table_of([["", "d1", "d2"], *BODY], drawn=True).corner_is_of_rows(["d1"])
    assert table_of([["Model", "d1", "d2"], *BODY], drawn=True).corner_is_of_rows([])
    named = table_of([["dataset", "d1", "d2"], ["model", "", ""], *BODY])
    assert (named.across_word(["d1"]), named.across_word(["x"]), named.corner_is_of_rows(["d1"])) == (
        "dataset",
        "",
        True,
    )
    assert over.across_word(["d1"]) == ""


def test_utf_16_as_spreadsheets_save_it(tmp_path):
    path = tmp_path / "films.txt"
    path.write_bytes(SHAPES["metric columns"].replace(",", "\t").encode("utf-16"))
    assert rows(load_results(path)) == EXPECTED


def test_a_caption_names_the_metric(write):
    text = (
        "\\begin{table}\\caption{NDCG@10 of all models; best in bold.}\\begin{tabular}{lcc} Model & d1 & d2 \\\\ "
        "EASE & \\textbf{0.3} & 0.4 \\\\ Pop & 0.1 & 0.2 \\\\ \\end{tabular}\\end{table}"
    )
    results = load_results(write(text, "films.tex"))
    assert rows(results) == EXPECTED
    assert any("ndcg@10 was taken as the metric, by the caption" in guess for guess in results.guesses)
    with pytest.raises(RecAssayError, match="name no metric"):
        load_results(write(text.replace("NDCG@10 of", "NDCG@10 and HR@10 of"), "two.tex"))


def test_what_was_left_out_or_filled_is_told(write):
    below = load_results(write(SHAPES["remarks below"]))
    assert any("remarks below the table were left out: '* p < 0.05', 'Note: bold is best'" in n for n in below.notes)
    once = load_results(write(SHAPES["names written once"]))
    assert any("gaps in the column of dataset were filled" in note for note in once.notes)


def test_gaps_are_filled_where_every_row_has_another_name():
    whole = {"dataset": pl.Series(["d1", "", None]), "model": pl.Series(["a", "b", "c"])}
    made, filled = filled_down(whole)
    assert (made["dataset"].to_list(), made["model"].to_list(), filled) == (["d1"] * 3, ["a", "b", "c"], ["dataset"])
    nameless = {**whole, "model": pl.Series(["a", "b", ""])}  # nobody knows what the last row is of
    assert filled_down(nameless) == (nameless, [])


def test_rows_of_single_users_are_means_with_deviations(write):
    """The mean of a cell, the deviation over its users and their number; in each of the two usual shapes."""
    scores = {("A", 1): 0.1, ("A", 2): 0.4, ("A", 3): 0.4, ("B", 1): 0.2, ("B", 2): 0.2, ("B", 3): 0.5}
    long = "algorithm,dataset,user,metric,value\n" + "".join(
        f"{a},x,{u},ndcg@10,{v}\n" for (a, u), v in scores.items())  # fmt: skip
    wide = "model,dataset,user_id,NDCG@10\n" + "".join(f"{a},x,{u},{v}\n" for (a, u), v in scores.items())
    for text in (long, wide):
        results = load_results(write(text))
        found = results.frame.sort(c.ALGORITHM)
        assert found.get_column(c.VALUE).to_list() == pytest.approx([0.3, 0.3])
        assert found.get_column(c.DEVIATION).to_list() == pytest.approx([0.03**0.5, 0.03**0.5])
        assert found.get_column(c.RUNS).to_list() == [3, 3]
        assert any("rows are of 3 users" in note for note in results.notes)


def test_what_is_stated_of_a_user_does_not_part_the_users_of_a_cell():
    """Runs and deviations that differ between users do not make further cells."""
    rows = [{"algorithm": "A", "dataset": "d", "metric": "ndcg@10", "user": f"u{i}", "value": value, "runs": 1 + i % 2,
             "std": 0.1 * i} for i, value in enumerate((0.1, 0.2, 0.3, 0.4))]  # fmt: skip
    frame = load_results(pl.DataFrame(rows)).frame
    assert frame.select("value", "runs").rows() == [(pytest.approx(0.25), 4)]


@pytest.mark.parametrize("absent", ["", "OOM"])
def test_a_long_table_may_begin_with_a_cell_without_a_value(write, absent):
    text = f"algorithm,dataset,metric,value\nEASE,d1,ndcg@10,{absent}\nEASE,d2,ndcg@10,0.4\nPop,d1,ndcg@10,0.1\n"
    assert rows(load_results(write(text))) == {
        ("EASE", "d1", "ndcg@10", None), ("EASE", "d2", "ndcg@10", 0.4), ("Pop", "d1", "ndcg@10", 0.1)
    }  # fmt: skip


def test_interactions_are_no_results(write):
    with pytest.raises(RecAssayError, match="holds users and items, not results; recassay data import"):
        load_results(write("user_id,item_id,rating\n1,2,3.5\n1,3,4\n2,2,5\n"))


def test_seeds_folds_and_several_metrics(write):
    text = "model,dataset,seed,NDCG@10,HR@10\nA,x,1,0.1,0.2\nA,x,2,0.3,0.4\nB,x,1,0.1,0.1\nB,x,2,0.2,0.2\n"
    results = load_results(write(text))
    assert results.metrics == ["ndcg@10", "hitrate@10"]
    assert results.frame.filter(algorithm="A", metric="ndcg@10").get_column(c.VALUE).to_list() == [0.1, 0.3]


def test_no_column_names_the_dataset(write):
    path = write("model,NDCG@10\nA,0.1\nB,0.2\n", "gowalla.csv")
    results = load_results(path)
    assert results.datasets == ["gowalla"]
    assert any("'gowalla' was taken" in note for note in results.notes)
    assert load_results(path, dataset="films").datasets == ["films"]
    assert load_results([path, write("model,NDCG@10\nA,0.3\nB,0.4\n", "yelp.csv")]).datasets == ["gowalla", "yelp"]


@pytest.mark.slow
def test_wide_refuses_metrics_with_the_right_advice(write, cli):
    path = write(
        "model,dataset,NDCG@10,HR@10,Recall@20\nA,x,0.1,0.2,0.3\nB,x,0.1,0.2,0.3\nA,y,0.1,0.2,0.3\nB,y,0.1,0.2,0.3\n"
    )
    ran = cli("rank", path, "--wide", "--metric", "ndcg@10")
    assert ran.code == 2
    assert "names algorithms and datasets in columns, so --wide has no effect; leave out --wide" in ran.err
    assert cli("rank", path, "--metric", "ndcg@10", "--json").json()["metric"] == "ndcg@10"


def test_a_table_that_names_no_metric_says_what_to_do(write):
    path = write("Model,ml-1m,yelp\nA,0.1,0.2\nB,0.3,0.4\n")
    with pytest.raises(RecAssayError, match=r"'ml-1m', 'yelp' name no metric; .* `wide=True` and `metric='ndcg@10'`"):
        load_results(path)
    assert load_results(path, wide=True, metric="ndcg@10").datasets == ["ml-1m", "yelp"]
    assert load_results(TABLES / "pandas_styler_bold.tex", wide=True, metric="ndcg@10").datasets == ["toya", "toyb"]


def test_unknown_columns_keep_their_names(write):
    results = load_results(write("model,dataset,NDCG@10,Happiness,Year\nA,x,0.1,7,2001\nB,x,0.2,8,2002\n"))
    assert results.metrics == ["ndcg@10", "happiness"]
    told = " ".join(results.notes)
    assert "own names: 'Happiness'" in told
    assert "columns left out: 'Year'" in told


DEVIATIONS = {
    "beside": "model,dataset,NDCG@10\nA,x,0.1±0.01\nB,x,0.2±0.02\n",
    "in brackets": "model,dataset,NDCG@10\nA,x,0.1 (0.01)\nB,x,0.2 (0.02)\n",
    "a column": "model,dataset,NDCG@10,NDCG@10_std\nA,x,0.1,0.01\nB,x,0.2,0.02\n",
    "half of an interval": "model,dataset,metric,mean,ci_low,ci_high\nA,x,NDCG@10,0.1,0.0804,0.1196\n"
    "B,x,NDCG@10,0.2,0.1608,0.2392\n",
    "a long column": "model,dataset,metric,value,std\nA,x,NDCG@10,0.1,0.01\nB,x,NDCG@10,0.2,0.02\n",
    "a level": "model,NDCG@10,NDCG@10\n,mean,std\nA,0.1,0.01\nB,0.2,0.02\n",
    "percent": "model,dataset,NDCG@10\nA,x,10±1%\nB,x,20±2%\n",
    "a column called std": "model,dataset,NDCG@10,std\nA,x,0.1,0.01\nB,x,0.2,0.02\n",
    "after each metric": "model,dataset,NDCG@10,±\nA,x,0.1,0.01\nB,x,0.2,0.02\n",
}


@pytest.mark.parametrize("kind", DEVIATIONS)
def test_the_number_after_the_sign_is_kept(write, kind):
    frame = load_results(write(DEVIATIONS[kind])).frame.sort(c.ALGORITHM)
    assert frame.get_column(c.VALUE).to_list() == pytest.approx([0.1, 0.2])
    assert frame.get_column(c.DEVIATION).to_list() == pytest.approx([0.01, 0.02], rel=1e-4)


@pytest.mark.parametrize(("column", "words"), [("fold", (1, 2)), ("seed", (1, 2)), ("k", (5, 10))])
def test_rows_of_deviations_stand_below_the_mean_of_the_same_repeat_or_cut_off(write, column, words):
    lines = [f"{model},x,{word},{mean + word / 100:.2f},{word / 1000}".split(",")
             for model, mean in (("A", 0.1), ("B", 0.2)) for word in words]  # fmt: skip
    text = f"model,dataset,{column},statistic,NDCG\n" + "".join(
        f"{model},{dataset},{word},mean,{mean}\n{model},{dataset},{word},std,{spread}\n"
        for model, dataset, word, mean, spread in lines
    )
    frame = load_results(write(text)).frame
    found = sorted(frame.select(c.ALGORITHM, c.VALUE, c.DEVIATION).rows())
    assert found == sorted((model, float(mean), float(spread)) for model, _, _, mean, spread in lines)


def test_deviations_after_each_of_several_metrics(write):
    frame = load_results(write("model,NDCG@10,std,HR@10,std.1\nA,0.1,0.01,0.5,0.05\nB,0.2,0.02,0.6,0.06\n")).frame
    found = dict(zip(frame.select(c.ALGORITHM, c.METRIC).rows(), frame.get_column(c.DEVIATION), strict=True))
    assert found["A", "hitrate@10"] == 0.05
    assert found["B", "ndcg@10"] == 0.02


def test_marks_behind_names(write):
    def algorithms(*names):
        body = " ".join(f"{name} & 0.{i} \\\\" for i, name in enumerate(names, 1))
        text = f"\\begin{{tabular}}{{lr}} Model & NDCG@10 \\\\ {body} \\end{{tabular}}"
        return load_results(write(text, "d1.tex")).frame.get_column(c.ALGORITHM).to_list()

    assert algorithms(r"SASRec$^\dagger$", r"Caser\textsuperscript{1}", "NGCF [12]", r"EASE$^{R}$") == [
        "SASRec", "Caser", "NGCF", "EASE^R"]  # fmt: skip
    assert algorithms("SASRec", "SASRec*") == ["SASRec", "SASRec*"]


def test_a_paper_in_latex():
    results = load_results(TABLES / "paper.tex")
    assert (results.algorithms, results.datasets) == (
        ["BigModel", "ItemKNN", "LightGCN", "MostPop", "Ours"], ["ML-1M", "Yelp"])  # fmt: skip
    found = {(a, d, m): (v, s) for a, d, m, v, s in
             results.frame.select(c.ALGORITHM, c.DATASET, c.METRIC, c.VALUE, c.DEVIATION).rows()}  # fmt: skip
    assert found["Ours", "ML-1M", "ndcg@10"] == (0.241, 0.001)
    assert found["Ours", "Yelp", "ndcg@10"] == (0.066, 0.001)
    assert found["Ours", "ML-1M", "hitrate@10"][0] == pytest.approx(0.612)
    assert found["BigModel", "Yelp", "ndcg@10"] == (None, None)
    said = results.notes[0]
    assert "bold and underlined marks" in said
    assert "cells without a value (OOM 1" in said


def test_other_ways_to_write_a_table():
    multi = [load_results(TABLES / f"pandas_multiindex.{ending}") for ending in ("csv", "tex")]
    assert rows(multi[0]) == rows(multi[1])
    assert ("ItemKNN", "toyb", "recall@10", 0.5344) in rows(multi[0])
    markdown = load_results(TABLES / "readme.md")
    assert ("EASE", "ML-1M", "hitrate@10", 0.612) in rows(markdown)
    assert ("BPR", "ML-1M", "ndcg@10", 0.391) in rows(markdown)
    assert ("EASE", "ml-1m", "seconds", 1234.5) in rows(load_results(TABLES / "european.csv"))
    for name in ("psql.txt", "spaced.txt"):
        assert ("EASE", name[:-4], "ndcg@10", 0.42) in rows(load_results(TABLES / name))
    merged = load_results(TABLES / "merged.xlsx")
    assert ("EASE", "Yelp", "hitrate@10", 0.301) in rows(merged)
    sheets = load_results(TABLES / "sheets.xlsx")
    assert ("EASE", "toya", "hitrate@10", 0.6) in rows(sheets)
    assert ("BPR", "toyb", "hitrate@10", 0.6) in rows(sheets)


def test_panels_of_a_table_are_its_datasets():
    text = (
        "Model & NDCG@10 \\\\ \\multicolumn{2}{c}{d1} \\\\ EASE & 0.3 \\\\ Pop & 0.1 \\\\ "
        "\\multicolumn{2}{c}{d2} \\\\ EASE & 0.4 \\\\ Pop & 0.2 \\\\"
    )
    grid, _ = latex_grids(f"\\begin{{tabular}}{{lr}}{text}\\end{{tabular}}")[0]
    assert grid[1] == ["d1", "d1"]


def test_a_cell_over_rows_above_it_does_not_reach_below():
    text = "d1 & EASE & 0.3 \\\\ \\multirow{-2}{*}{d1} & Pop & 0.1 \\\\ & ALS & 0.2 \\\\"
    grid, _ = latex_grids(f"\\begin{{tabular}}{{llr}}{text}\\end{{tabular}}")[0]
    assert [row[0] for row in grid] == ["d1", "d1", ""]
    grid, _ = latex_grids("\\begin{tabular}{llr}" + text.replace("{-2}", "{2}") + "\\end{tabular}")[0]
    assert [row[0] for row in grid] == ["d1", "d1", "d1"]
    both = "\\multirow{2}{*}{d1} & EASE & 0.3 \\\\ own & Pop & 0.1 \\\\"
    grid, _ = latex_grids(f"\\begin{{tabular}}{{llr}}{both}\\end{{tabular}}")[0]
    assert [row[0] for row in grid] == ["d1", "own"]


def test_a_brace_that_is_written_out_ends_no_argument():
    text = "\\multicolumn{2}{c}{a\\}b} & 1 \\\\ x & \\& & 2 \\\\"
    grid, _ = latex_grids(f"\\begin{{tabular}}{{lrr}}{text}\\end{{tabular}}")[0]
    assert [[cell.strip() for cell in row] for row in grid] == [["a\\}b", "a\\}b", "1"], ["x", "\\&", "2"]]


def test_metrics_that_a_sentence_names():
    assert metrics_in("Hit-Rate@10 and NDCG @ 5, NDCG@5 of ours@3 at k@") == ["hitrate@10", "ndcg@5"]


def test_bars_outside_of_tables_are_prose():
    assert barred_grids("a | b\nc | d\n") == []
    assert barred_grids("| a | b |\n|---|---|\n| 1 | 2 |\n") == [[["a", "b"], ["1", "2"]]]


def test_json_in_the_usual_shapes(tmp_path):
    shapes = {
        "records": [{"model": a, "dataset": d, "ndcg@10": v} for a, d, _, v in EXPECTED],
        "nested records": [{"model": a, "dataset": d, "metrics": {"ndcg@10": v}} for a, d, _, v in EXPECTED],
        "by dataset": {d: {a: {"ndcg@10": v} for a, e, _, v in EXPECTED if e == d} for d in ("d1", "d2")},
        "by algorithm": {a: {d: {"ndcg@10": v} for b, d, _, v in EXPECTED if b == a} for a in ("EASE", "Pop")},
        "split": {"columns": ["model", "dataset", "ndcg@10"], "index": [0, 1, 2, 3],
                  "data": [[a, d, v] for a, d, _, v in EXPECTED]},
        "columns": {"model": [row[0] for row in EXPECTED], "dataset": [row[1] for row in EXPECTED],
                    "ndcg@10": [row[3] for row in EXPECTED]},
    }  # fmt: skip
    for name, document in shapes.items():
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(document))
        assert rows(load_results(path)) == EXPECTED, name
    lines = tmp_path / "lines.jsonl"
    lines.write_text("\n".join(json.dumps(one) for one in shapes["records"]))
    assert rows(load_results(lines)) == EXPECTED
    alone = tmp_path / "films" / "EASE.json"
    alone.parent.mkdir()
    alone.write_text('{"ndcg@10": 0.3, "recall@10": 0.2}')
    assert load_results(alone).algorithms == ["EASE"]


def test_pandas_frames_with_levels():
    columns = pd.MultiIndex.from_product([["d1", "d2"], ["ndcg@10"]])
    frame = pd.DataFrame([[0.3, 0.4], [0.1, 0.2]], index=["EASE", "Pop"], columns=columns)
    assert rows(load_results(frame)) == EXPECTED
    flat = pd.DataFrame({"ndcg@10": [0.3, 0.1]}, index=["EASE", "Pop"])
    assert load_results(flat, dataset="d1").algorithms == ["EASE", "Pop"]


def _index(*names, called=None):
    return pd.Index(names, name=called)


WIDE = [[0.3, 0.4], [0.1, 0.2]]
LEVELS = (["d1", "d2"], ["NDCG@10"])
ALONE = {"NDCG@10": [0.3, 0.1]}
FRAMES = {
    "a named index": (pd.DataFrame(ALONE, index=_index("foo", "bar", called="model")), {"dataset": "d1"}, "d1"),
    "an index of known names": (pd.DataFrame(ALONE, index=_index("EASE", "ItemKNN")), {"dataset": "d1"}, "d1"),
    "an index of two levels": (
        pd.DataFrame(ALONE, index=pd.MultiIndex.from_product([["foo", "bar"], ["d1"]], names=["model", "dataset"])),
        {},
        "d1",
    ),
    "columns called datasets": (
        pd.DataFrame(WIDE, _index("foo", "bar"), _index("d1", "d2", called="dataset")),
        {"metric": "ndcg@10"},
        "both",
    ),
    "rows of columns called models": (
        pd.DataFrame(WIDE, _index("foo", "bar"), _index("d1", "d2", called="dataset")).T.rename_axis(columns="model"),
        {"metric": "ndcg@10"},
        "both",
    ),
    "levels of datasets": (
        pd.DataFrame(WIDE, _index("foo", "bar"), pd.MultiIndex.from_product(LEVELS, names=["dataset", "metric"])),
        {},
        "both",
    ),
    "levels beside a named index": (
        pd.DataFrame(WIDE, _index("foo", "bar", called="model"), pd.MultiIndex.from_product(LEVELS)),
        {},
        "both",
    ),
    "numbered rows": (
        pd.DataFrame({"model": ["foo", "bar"], "dataset": ["d1", "d1"], **ALONE}, index=_index(5, 7)),
        {},
        "d1",
    ),
    "numbered rows that are folds": (
        pd.DataFrame({"model": ["foo", "bar"], "dataset": ["d1", "d1"], **ALONE}, pd.RangeIndex(2, name="fold")),
        {},
        "d1",
    ),
    "rows without names": (pd.DataFrame({"model": ["foo", "bar"], "dataset": ["d1", "d1"], **ALONE}), {}, "d1"),
    "a lazy frame": (pl.LazyFrame({"model": ["foo", "bar"], "dataset": ["d1", "d1"], **ALONE}), {}, "d1"),
    "levels beside names with marks": (
        pd.DataFrame(WIDE, _index("**foo**", "bar$^1$", called="model"), pd.MultiIndex.from_product(LEVELS)),
        {},
        "both",
    ),
    "names with marks": (pl.DataFrame({"model": ["**foo**", "bar$^1$"], "dataset": ["d1", "d1"], **ALONE}), {}, "d1"),
}


@pytest.mark.parametrize("name", FRAMES)
def test_frames_say_by_their_index_and_levels_what_is_what(name):
    frame, options, datasets = FRAMES[name]
    first, second = ("EASE", "ItemKNN") if name == "an index of known names" else ("foo", "bar")
    if name.endswith("names with marks"):
        first, second = "**foo**", "bar$^1$"
    truth = {(first, "d1", "ndcg@10", 0.3), (second, "d1", "ndcg@10", 0.1)}
    if datasets == "both":
        truth |= {(first, "d2", "ndcg@10", 0.4), (second, "d2", "ndcg@10", 0.2)}
    results = load_results(frame, **options)
    assert rows(results) == truth
    known = "its rows were taken as algorithms, since EASE, ItemKNN are known as algorithms"
    assert (results.notes, results.guesses) == ((), (known,) if first == "EASE" else ())


def test_levels_of_an_index_without_names_are_columns_without_names():
    index = pd.MultiIndex.from_product([["EASE", "Pop"], ["d1"]])
    for names, headers in (([None, None], ("", "")), (["model", None], ("model", "")), ([None, "data"], ("", "data"))):
        table = table_from_memory(pd.DataFrame({"NDCG@10": [0.3, 0.1]}, index=index.set_names(names)))
        assert table.headers == ((headers[0],), (headers[1],), ("NDCG@10",))
        assert [column.to_list() for column in table.columns] == [["EASE", "Pop"], ["d1", "d1"], [0.3, 0.1]]


def test_a_frame_of_unknown_names_is_asked_about():
    with pytest.raises(RecAssayError, match=r"the frame: it is not clear whether its rows \(foo, bar\)"):
        load_results(pd.DataFrame(ALONE, index=_index("foo", "bar")))


def test_metrics_of_validation_data_keep_their_names_in_a_long_table():
    metrics = ["test_ndcg@10", "valid_ndcg@10", "std_ndcg@10", "train/mrr"]
    frame = pl.DataFrame({"model": ["EASE"] * 4, "dataset": ["d1"] * 4, "metric": metrics, "value": [1, 2, 3, 4]})
    found = load_results(frame).frame
    assert dict(found.select(c.METRIC, c.VALUE).rows()) == {
        "ndcg@10": 1,
        **dict(zip(metrics[1:], (2, 3, 4), strict=True)),
    }


def test_a_large_plain_table_is_read_at_once():
    n = 200_000
    frame = pl.DataFrame({"model": [f"a{i % 100}" for i in range(n)], "dataset": [f"d{i // 100}" for i in range(n)],
                          "ndcg@10": [0.5] * n})  # fmt: skip
    assert load_results(frame).frame.height == n


def test_deviations_without_values_are_refused(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("model,ndcg@10_std\nEASE,0.1\nALS,0.2\n")
    with pytest.raises(RecAssayError, match="holds deviations and no values"):
        load_results(path)


def test_a_header_of_many_marks_takes_no_time(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(f"model,ndcg@10,avg{'#' * 50_000}x\nEASE,0.1,1\nALS,0.2,2\n")
    begun = time.process_time()
    assert load_results(path).algorithms == ["ALS", "EASE"]
    assert time.process_time() - begun < 10
