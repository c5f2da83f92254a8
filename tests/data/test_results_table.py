"""Results in: every shape that is read, and one clear line for every defect."""

from __future__ import annotations

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest

import recassay
from recassay import RecAssayError, load_results
from recassay.api.tables import default_metric
from recassay.core.tables.responses import MISSING
from recassay.data.tables.characteristics import read_characteristics, read_properties
from recassay.data.tables.read import read_table
from recassay.data.tables.responses import read_items, read_responses
from recassay.reporting.words.missing import missing_cells

LONG = """algorithm,dataset,metric,value
EASE,d1,ndcg@10,0.3
EASE,d2,ndcg@10,0.4
Pop,d1,ndcg@10,0.1
Pop,d2,ndcg@10,0.2
"""


@pytest.fixture
def write(tmp_path):
    def make(text: str | bytes, name: str = "results.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return make


def values(results, metric: str = "ndcg@10") -> list[list[float]]:
    return results.matrix(metric).values.tolist()


EXPECTED = [[0.3, 0.4], [0.1, 0.2]]


def test_long_csv(write):
    results = load_results(write(LONG))
    assert values(results) == EXPECTED
    assert results.matrix("ndcg@10").algorithms == ("EASE", "Pop")
    assert len(results.sources[0].sha256) == 64


@pytest.mark.parametrize("separator", ["\t", ";", "|"])
def test_other_delimiters(write, separator):
    assert values(load_results(write(LONG.replace(",", separator), "r.tsv"))) == EXPECTED


def test_byte_order_mark_crlf_and_quotes(write):
    text = "\ufeff" + LONG.replace("\n", "\r\n").replace("Pop,", '"Pop",')
    assert values(load_results(write(text))) == EXPECTED


def test_parquet_and_frames(write, tmp_path):
    frame = pl.read_csv(write(LONG))
    frame.write_parquet(tmp_path / "r.parquet")
    for source in (tmp_path / "r.parquet", frame, frame.lazy(), pd.read_csv(write(LONG))):
        assert values(load_results(source)) == EXPECTED


def test_several_files(write):
    one = write("\n".join(LONG.splitlines()[:3]), "a.csv")
    two = write("\n".join([LONG.splitlines()[0], *LONG.splitlines()[3:]]), "b.csv")
    results = load_results([one, two])
    assert values(results) == EXPECTED
    assert len(results.sources) == 2


def test_wide_and_transposed(write):
    wide = write("model,d1,d2\nEASE,0.3,0.4\nPop,0.1,0.2\n")
    assert values(load_results(wide, wide=True, metric="NDCG@10")) == EXPECTED
    tall = write("dataset,EASE,Pop\nd1,0.3,0.1\nd2,0.4,0.2\n")
    assert values(load_results(tall, transpose=True, metric="ndcg@10")) == EXPECTED


def test_wide_pandas_with_an_index():
    frame = pd.DataFrame({"d1": [0.3, 0.1], "d2": [0.4, 0.2]}, index=pd.Index(["EASE", "Pop"], name="model"))
    assert values(load_results(frame, wide=True, metric="ndcg@10")) == EXPECTED


def test_other_column_names(write):
    text = LONG.replace("algorithm,dataset,metric,value", "Model,Data set,measure,Score")
    assert values(load_results(write(text))) == EXPECTED
    text = LONG.replace("algorithm,dataset,metric,value", "system,dataset,metric,x")
    assert values(load_results(write(text), columns={"algorithm": "system", "value": "x"})) == EXPECTED


def test_a_table_of_one_unnamed_metric(write):
    text = "algorithm,dataset,value\nA,d1,1\nA,d2,2\nB,d1,3\nB,d2,4\n"
    assert values(load_results(write(text), metric="recall@5"), "recall@5") == [[1, 2], [3, 4]]


def test_metric_aliases_are_one_metric(write):
    text = LONG.replace("EASE,d1,ndcg@10", "EASE,d1,NDCG @10").replace("Pop,d2,ndcg@10", "Pop,d2,nDCG@10")
    assert load_results(write(text)).metrics == ["ndcg@10"]
    hits = load_results(write(LONG.replace("ndcg@10", "HR@10")))
    assert hits.metrics == ["hitrate@10"]
    assert values(hits, "hit@10") == values(hits, "Hit Rate@10") == values(hits, "hitrate") == EXPECTED


def test_seeds_and_folds_are_averaged_and_kept():
    rows = [(a, d, "mrr", v + s, s) for a, v in (("A", 1.0), ("B", 2.0)) for d in ("x", "y") for s in (0.0, 1.0, 2.0)]
    frame = pl.DataFrame(rows, schema=["algorithm", "dataset", "metric", "value", "seed"], orient="row")
    matrix = load_results(frame).matrix("mrr")
    assert matrix.values.tolist() == [[2, 2], [3, 3]]
    assert matrix.replicates.shape == (2, 2, 3)
    assert not matrix.paired
    folds = load_results(frame.rename({"seed": "fold"})).matrix("mrr")
    assert folds.paired
    assert folds.values.tolist() == [[2, 2], [3, 3]]
    lacking = frame.rename({"seed": "fold"})[:-1]  # B has no last fold on y
    assert not load_results(lacking).matrix("mrr").paired


def test_seeds_within_folds_are_averaged_first():
    rows = [("AB"[a], d, "mrr", 10.0 * f + s + a, f, s) for a in (0, 1) for d in "xy" for f in (0, 1) for s in (0, 2)]
    schema = ["algorithm", "dataset", "metric", "value", "fold", "seed"]
    matrix = load_results(pl.DataFrame(rows, schema=schema, orient="row")).matrix("mrr")
    assert matrix.replicates[0, 0].tolist() == [1.0, 11.0]
    assert matrix.paired


HOLE = LONG + "Pop,d3,ndcg@10,0.5\nEASE,d3,ndcg@10,\nPop,d4,ndcg@10,0.1\nEASE,d4,ndcg@10,NaN\n"


def test_missing_policies(write):
    results = load_results(write(HOLE))
    with pytest.raises(
        RecAssayError, match=r"2 cells of ndcg@10 are missing: EASE on d3, EASE on d4; choose `missing='drop-datasets'`"
    ):
        results.matrix("ndcg@10")
    dropped = results.matrix("ndcg@10", missing="drop-datasets")
    assert dropped.datasets == ("d1", "d2")
    assert dropped.missing.dropped == ("d3", "d4")
    assert "2 cells were missing; dropped 2 datasets: d3, d4" in missing_cells(dropped.missing)
    filled = results.matrix("ndcg@10", missing="worst")
    assert filled.values[0].tolist() == [0.3, 0.4, 0.5, 0.1]
    with pytest.raises(RecAssayError, match="only one algorithm has values for ndcg@10"):
        results.matrix("ndcg@10", missing="drop-algorithms")
    with pytest.raises(RecAssayError, match="not a policy; use one of error, drop-datasets"):
        results.matrix("ndcg@10", missing="guess")


def test_worst_is_the_largest_where_lower_is_better(write):
    filled = load_results(write(HOLE.replace("ndcg@10", "rmse"))).matrix("rmse", missing="worst")
    assert filled.values[0, 2:].tolist() == [0.5, 0.1]
    text = LONG.replace("ndcg@10", "rmse") + "Third,d1,rmse,0.05\n"
    assert load_results(write(text)).matrix("rmse", missing="worst").values[2].tolist() == [0.05, 0.4]


def test_an_algorithm_without_the_metric_is_missing_not_forgotten(write):
    text = LONG + "Slow,d1,recall@10,0.3\n"
    with pytest.raises(RecAssayError, match="Slow on d1, Slow on d2"):
        load_results(write(text)).matrix("ndcg@10")


def test_a_failed_seed_is_a_missing_cell():
    rows = [(a, d, "mrr", 1.0, s) for a in "AB" for d in "xy" for s in (0, 1)]
    frame = pl.DataFrame(rows, schema=["algorithm", "dataset", "metric", "value", "seed"], orient="row")
    frame = frame.with_columns(
        pl.when(pl.int_range(pl.len()) == 1).then(None).otherwise(pl.col("value")).alias("value")
    )
    with pytest.raises(RecAssayError, match="1 cell of mrr is missing: A on x"):
        load_results(frame).matrix("mrr")


SPREAD = """algorithm,dataset,metric,value,deviation,runs,higher_is_better
A,x,joy,1,4,16,True
A,y,joy,2,3,,true
B,x,joy,3,-1,4,TRUE
B,y,joy,4,0.5,0,
"""


def test_stated_deviations_become_standard_errors(write):
    """Over the root of the runs; whole where their number is not known; none where the deviation makes no sense."""
    results = load_results(write(SPREAD))
    matrix = results.matrix("joy")
    assert matrix.standard_errors.tolist() == [[1.0, 3.0], [0.0, 0.5]]
    assert (matrix.replicates, matrix.paired, matrix.repeated) == (None, False, True)
    assert matrix.higher_is_better
    assert not results.matrix("joy", higher_is_better=False).higher_is_better
    less = results.frame.with_columns(higher_is_better=pl.lit(False))
    assert not load_results(less).matrix("joy").higher_is_better
    with pytest.raises(RecAssayError, match="'joy' are better"):
        load_results(write(SPREAD.replace("true", "false"))).matrix("joy")
    hole = load_results(write(SPREAD.replace("B,x,joy,3", "B,x,joy,")))
    dropped = hole.matrix("joy", missing="drop-datasets", least_datasets=1)
    assert (dropped.datasets, dropped.standard_errors.tolist()) == (("y",), [[3.0], [0.5]])
    assert missing_cells(dropped.missing) == "1 cell was missing; dropped 1 dataset: x."
    repeated = load_results(write(SPREAD.replace("runs", "seed") + "A,x,joy,5,9,17,True\n")).matrix("joy")
    assert repeated.standard_errors[0].tolist() == [0.0, 3.0]
    assert repeated.replicates[0, 0].tolist() == [1.0, 5.0]
    bare = load_results(write(LONG)).matrix("ndcg@10")
    assert (bare.standard_errors, bare.replicates, bare.repeated) == (None, None, False)


def test_the_worst_value_fills_repeats_too():
    rows = [(a, d, "mrr", v + s, s) for a, d, v in (("A", "x", 1.0), ("A", "y", 5.0), ("B", "x", 2.0)) for s in (0, 1)]
    frame = pl.DataFrame(rows, schema=["algorithm", "dataset", "metric", "value", "seed"], orient="row")
    matrix = load_results(frame).matrix("mrr", missing="worst")
    assert matrix.values.tolist() == [[1.5, 5.5], [2.5, 5.5]]
    assert matrix.replicates[:, 0].tolist() == [[1, 2], [2, 3]]
    assert np.isnan(matrix.replicates[1, 1]).tolist() == [False, True]
    assert matrix.replicates[1, 1, 0] == 5.5
    assert missing_cells(matrix.missing) == "1 cell was missing; each took the worst value seen on its dataset."


DEFECTS = {
    "empty file": ("", "the file is empty"),
    "blank file": ("\n \n", "the file is empty"),
    "header alone": ("algorithm,dataset,metric,value\n", "the table is empty"),
    "no such column": (LONG.replace("value", "zzz"), "no column 'value' among .*columns={'value'"),
    "text value": (LONG.replace("0.4", "high"), "1 values are not numbers, the first 'high' in data row 2"),
    "decimal comma": (LONG.replace(",", ";").replace("0.4", "0,4"), "'0,4' in data row 2"),
    "infinity": (LONG.replace("0.4", "inf"), r"infinite, the first in data row 2 \(EASE on d2, ndcg@10\)"),
    "huge": (LONG.replace("0.4", "2e100"), r"1 values are beyond 1e\+100, the first in data row 2; give the metric in"),
    "huge and infinite": (
        LONG.replace("0.4", "inf").replace("0.3", "2e100"),
        "1 values are infinite, the first in data",
    ),
    "duplicate": (LONG + "EASE,d1,ndcg@10,0.9\n", "2 rows repeat a cell, the first in data row 1 .*'seed' or 'fold'"),
    "duplicate by alias": (LONG + "EASE,d1,NDCG@10,0.9\n", "2 rows repeat a cell"),
    "nameless": (LONG.replace("Pop,d2", ",d2"), "column 'algorithm' is empty in data row 4"),
    "ragged": (LONG + "EASE,d9,ndcg@10,0.1,7,8\n", "line 6 has 6 fields, and the header has 4"),
    "header twice": (LONG.replace("dataset", "algorithm"), "column 'algorithm' appears twice"),
    "latin-1": (LONG.encode() + "Caf\xe9,d1,x,1".encode("latin-1"), "is not UTF-8 text"),
    "binary": (b"\x00\xff\xfe\x01" * 20, "is not UTF-8 text"),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_defects_have_their_own_line(write, cli, defect):
    text, message = DEFECTS[defect]
    path = write(text)
    with pytest.raises(RecAssayError, match=message):
        load_results(path)
    ran = cli("rank", path, "--json")
    assert ran.code == 2
    assert ran.out == ""
    assert len(ran.err.strip().splitlines()) == 1


def test_other_refusals(write, tmp_path):
    with pytest.raises(RecAssayError, match="no such file"):
        load_results(tmp_path / "absent.csv")
    with pytest.raises(RecAssayError, match="there is no study in this folder"):
        load_results(tmp_path)
    with pytest.raises(RecAssayError, match="not a readable Parquet"):
        load_results(write(b"PAR1 nonsense", "x.parquet"))
    with pytest.raises(RecAssayError, match="`wide` has no effect"):
        load_results(write(LONG), wide=True)
    with pytest.raises(RecAssayError, match="does not say which metric"):
        load_results(write("model,d1,d2\nA,1,2\nB,2,3\n"), wide=True)
    with pytest.raises(RecAssayError, match="no column 'nope'"):
        load_results(write(LONG), columns={"value": "nope"})
    with pytest.raises(RecAssayError, match="cannot read results from int"):
        load_results(3)


def test_one_dataset_one_algorithm_misspelt_metric(write):
    one = load_results(write(LONG.replace(",d2,", ",d1b,"))).frame
    with pytest.raises(RecAssayError, match=r"only one dataset has values .* at least two datasets"):
        recassay.rank(one.filter(pl.col("dataset") == "d1"), "ndcg@10")
    with pytest.raises(RecAssayError, match="only one algorithm has values"):
        recassay.rank(one.filter(pl.col("algorithm") == "Pop"), "ndcg@10")
    with pytest.raises(RecAssayError, match=r"no metric 'ndgc@10' in these results; did you mean 'ndcg@10'\?"):
        recassay.rank(one, "ndgc@10")


def test_unknown_direction_must_be_said(write):
    path = write(LONG.replace("ndcg@10", "happiness"))
    with pytest.raises(
        RecAssayError, match=r"'happiness' are better; say `higher_is_better=True` or `higher_is_better=False`"
    ):
        recassay.rank(path)
    up = recassay.rank(path, higher_is_better=True, replicates=100)
    down = recassay.rank(path, higher_is_better=False, replicates=100)
    assert up.rankings["mean"].ranks.tolist() == [1, 2]
    assert down.rankings["mean"].ranks.tolist() == [2, 1]


def test_inputs_are_not_changed(write):
    frame = pl.read_csv(write(LONG))
    copy = frame.clone()
    recassay.rank(frame, "ndcg@10", replicates=100)
    assert frame.equals(copy)
    assert np.isfinite(copy["value"].to_numpy()).all()


@pytest.mark.parametrize("made", ["pyarrow", "narwhals", "lazy narwhals", "lazy"])
def test_frames_of_other_libraries(made):
    frame = pl.DataFrame({"model": ["A", "B"] * 2, "dataset": ["x", "x", "y", "y"], "ndcg@10": [0.1, 0.2, 0.3, 0.4]})
    other = {
        "pyarrow": frame.to_arrow,
        "narwhals": lambda: nw.from_native(frame),
        "lazy": frame.lazy,
        "lazy narwhals": lambda: nw.from_native(frame.lazy()),
    }[made]()
    assert load_results(other).frame.equals(load_results(frame).frame)


def test_an_object_that_is_no_frame():
    with pytest.raises(RecAssayError, match="cannot read results from complex"):
        load_results(1j)


def test_the_reading_is_told_and_carried_by_json(write, cli):
    path = write("method,ml-1m,yelp,food,netflix\nA,0.1,0.2,0.3,0.4\nB,0.2,0.3,0.4,0.5\n", "wide.csv")
    ran = cli("rank", path, "--metric", "ndcg@10", "--json")
    assert ran.err.splitlines()[0] == (
        "read: 2 algorithms (A, B), 4 datasets (food, ml-1m, netflix and 1 more), 1 metric (ndcg@10)"
    )
    assert ran.json()["reading"]["datasets"] == {"count": 4, "examples": ["food", "ml-1m", "netflix"]}


@pytest.mark.parametrize(
    ("header", "name", "metric"),
    [
        ("model,dataset,NDCG@20,Recall@20", "t.csv", "ndcg@20"),
        ("model,dataset,Accuracy,F1", "t.csv", "accuracy"),
        ("model,dataset,HR@5,HR@10", "hr@10.csv", "hitrate@10"),
    ],
)
def test_the_default_metric(write, header, name, metric):
    rows = "".join(f"{a},{d},0.{i}{a},0.2\n" for i, d in enumerate("xyz") for a in (1, 2))
    assert default_metric(load_results(write(f"{header}\n{rows}", name))) == metric


def test_no_default_among_several_metrics(write):
    rows = "".join(f"{a},{d},0.1,0.2\n" for d in "xyz" for a in (1, 2))
    with pytest.raises(RecAssayError, match="choose one: `metric='hitrate@5'`, `metric='hitrate@10'`"):
        default_metric(load_results(write(f"model,dataset,HR@5,HR@10\n{rows}")))


def test_missing_cells_name_what_keeps_them(write):
    path = write("model,d1,d2,d3\nA,0.1,,0.3\nB,0.2,0.3,0.4\n")
    with pytest.raises(RecAssayError, match=r"Skillings-Mack's test, which drops nothing\); model keeps all cells"):
        recassay.rank(path, "ndcg@10")


def test_wide_frames_in_python():
    frame = pd.DataFrame({"d1": [0.1, 0.2], "d2": [0.2, 0.3]}, index=["A", "B"])
    with pytest.raises(RecAssayError, match="it is not clear whether its rows"):
        recassay.rank(frame, "ndcg@10", replicates=100)
    assert recassay.rank(frame, "ndcg@10", wide=True, replicates=100).algorithms == ("A", "B")
    assert recassay.rank(frame, "ndcg@10", transpose=True, replicates=100).algorithms == ("d1", "d2")


def test_averages_that_were_left_out_are_named_in_the_order_of_the_table(tmp_path):
    averages = ["Overall", "Average", "Mean", "Avg. score", "Macro average"]
    rows = [f"{name},{dataset},ndcg@10,0.{i}\n" for i, name in enumerate("ABC", 1) for dataset in ("x", "y", *averages)]
    (tmp_path / "t.csv").write_text("algorithm,dataset,metric,value\n" + "".join(rows))
    notes = load_results(tmp_path / "t.csv").notes
    assert "rows of 'Overall', 'Average', 'Mean', 'Avg. score', 'Macro average' were left out: no dataset" in notes


def test_names_of_a_parquet_file_are_no_markdown(tmp_path):
    frame = pl.DataFrame({"model": ["**A**", "B$^1$"], "dataset": ["x", "x"], "ndcg@10": [0.1, 0.2]})
    frame.write_parquet(tmp_path / "t.parquet")
    assert load_results(tmp_path / "t.parquet").algorithms == ["**A**", "B$^1$"]


def test_columns_of_bytes_and_of_lists_are_refused(tmp_path):
    frame = pl.DataFrame({"model": ["A", "B"], "ndcg@10": [0.1, 0.2], "raw": [b"x", b"y"]})
    frame.write_parquet(tmp_path / "t.parquet")
    with pytest.raises(RecAssayError, match=r"t.parquet: column 'raw' holds binary, not text or numbers; leave it out"):
        load_results(tmp_path / "t.parquet")
    with pytest.raises(RecAssayError, match=r"column 'raw' holds binary, not text or numbers; leave it out, or write"):
        read_table(tmp_path / "t.parquet", empty_fix="")
    frame.with_columns(raw=pl.Series([[1], [2]])).write_parquet(tmp_path / "t.pq")
    with pytest.raises(RecAssayError, match=r"column 'raw' holds list\(int64\), not text or numbers"):
        read_table(tmp_path / "t.pq", empty_fix="")


def test_a_parquet_file_of_answers(tmp_path):
    frame = pl.DataFrame({"respondent": ["A", "B"], "i1": [1, 0], "i2": [1, None], "i3": [0, 0]})
    frame.write_parquet(tmp_path / "digits.parquet")
    results = load_results(tmp_path / "digits.parquet")
    assert results.frame.select("algorithm", "dataset", "metric", "value", "runs").rows() == [
        ("A", "digits", "accuracy", 2 / 3, 3),
        ("B", "digits", "accuracy", 0.0, 2),
    ]


def test_characteristics_that_are_read_already():
    table = read_characteristics(pl.DataFrame({"dataset": ["x", "y"], "users": [1, None]}))
    assert read_characteristics(table) is table
    assert read_properties(table) == {"x": {"users": 1.0}, "y": {}}
    empty = pl.DataFrame({"dataset": ["x", "y"], "users": ["1", "2"], "more": ["", "nan"], "note": ["a", ""]})
    assert read_characteristics(empty).names == ("users", "more")


@pytest.mark.parametrize("name", ["dataset", "Data", "dataset_name", "Dataset name"])
def test_the_datasets_of_characteristics_may_stand_behind_numbers(name):
    assert read_properties(pl.DataFrame({"users": [7, 8], name: ["x", "y"]})) == {"x": {"users": 7}, "y": {"users": 8}}


def test_items_and_answers_that_are_read_already():
    items = read_items(pl.DataFrame({"item": ["i1", "i2"], "b": [0.5, -1.0]}))
    assert read_items(items) is items
    answers = read_responses(pl.DataFrame({"who": ["A", "B"], "i1": [1, 0]}))
    assert read_responses(answers) is answers
    with pytest.raises(RecAssayError, match="the columns 'b', 'difficulty' could each be the difficulty; keep one"):
        read_items(pl.DataFrame({"item": ["i1"], "b": [0.5], "difficulty": [0.5]}))


def test_answers_that_are_numbers_already():
    frame = pl.DataFrame(
        {"who": ["A", "B", "C"], "i1": [1, 0, None], "i2": [0.0, float("nan"), 1.0], "i3": [True, False, None]}
    )
    assert read_responses(frame).codes.tolist() == [[1, 0, 1], [0, MISSING, 0], [MISSING, 1, MISSING]]
    with pytest.raises(
        RecAssayError, match=r"the frame: item 'i1' holds 2 in data row 2; give 1 for right, 0 for wrong"
    ):
        read_responses(pl.DataFrame({"who": ["A", "B"], "i1": [1, 2]}))


def test_a_file_may_be_as_large_as_the_limit(write, monkeypatch):
    path = write("a,b\n1,2\n")
    monkeypatch.setattr("recassay.data.tables.read.MAX_BYTES", 8)
    assert read_table(path, empty_fix="")[0].rows() == [("1", "2")]
    monkeypatch.setattr("recassay.data.tables.read.MAX_BYTES", 7)
    with pytest.raises(RecAssayError, match="has 8 bytes; give a table below 4 GiB"):
        read_table(path, empty_fix="")


def test_an_index_with_a_name_is_a_column():
    who = pd.Index(["A", "B"], name="who")
    answers = read_responses(pd.DataFrame({"i1": [1, 0], "i2": [0, 0]}, index=who))
    assert (answers.respondents, answers.items) == (("A", "B"), ("i1", "i2"))
    runs = pd.DataFrame(
        {"model": ["A", "A"], "dataset": ["x", "x"], "ndcg@10": [0.1, 0.3]}, index=pd.RangeIndex(2, name="seed")
    )
    frame = load_results(runs).frame
    assert frame.select("algorithm", "seed", "value").rows() == [("A", "0", 0.1), ("A", "1", 0.3)]


def test_an_empty_column_of_a_frame_holds_no_numbers():
    frame = pl.DataFrame({"model": ["A", "B"], "dataset": ["x", "x"], "ndcg@10": [0.1, 0.2], "hr@10": [None, None]})
    results = load_results(frame)
    assert (results.metrics, results.notes) == (["ndcg@10"], ("columns left out: 'hr@10'",))


def test_percent_in_the_header_of_numbers():
    results = load_results(pl.DataFrame({"model": ["A", "B"], "dataset": ["x", "x"], "NDCG@10 (%)": [10.0, 20.0]}))
    assert results.frame.get_column("value").to_list() == [0.1, 0.2]


def test_lines_inside_quotes_cost_no_cells(write, monkeypatch):
    """Blank lines would each be a row of cells; those of a quoted text are not."""
    monkeypatch.setattr("recassay.data.tables.read.SPARE_CELLS", 8)
    quoted = write('a,b,c\n1,"' + "\n" * 30 + '",3\n')
    assert read_table(quoted, empty_fix="")[0].rows() == [("1", "\n" * 30, "3")]
    with pytest.raises(
        RecAssayError, match="has 33 lines for 3 columns, and most of them are blank or cut short; remove"
    ):
        read_table(write("a,b,c\n1,2,3\n" + "\n" * 31), empty_fix="")


def test_a_column_with_names_of_both_kinds_is_not_guessed():
    """EASE is an algorithm and ml-1m a dataset: a column that has both is neither."""
    named = pl.DataFrame(
        {"x": ["EASE", "ml-1m"] * 2, "y": ["ml-100k"] * 2 + ["gowalla"] * 2, "metric": "ndcg@10", "value": [0.1] * 4}
    )
    with pytest.raises(RecAssayError, match="no column 'algorithm' among 'x'"):
        load_results(named)
    assert load_results(named.with_columns(x=pl.Series(["EASE", "mine"] * 2))).algorithms == ["EASE", "mine"]
