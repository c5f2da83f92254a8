"""Tables to classify: what is read as what, and the properties that OpenML gives of a table."""

from __future__ import annotations

import gzip
import json

import numpy as np
import polars as pl
import pytest

from recassay.core.errors import InputError
from recassay.data.classification.arff import read_arff
from recassay.data.classification.table import properties, read_class_table
from support.classify import tiny_table
from support.places import DATA

ARFF = """% a comment
@relation toy
@attribute 'the size' NUMERIC
@attribute colour {red, 'dark \\'blue', green}
@attribute note string
@attribute class {yes,no}
@data
1.5,red,"a, b",yes
?,'dark \\'blue',?,no
% another
3,green,plain,yes
"""


def test_the_same_table_in_every_format(tmp_path):
    frame = tiny_table(40)
    frame.write_csv(tmp_path / "t.csv")
    frame.write_csv(tmp_path / "t.tsv", separator="\t")
    frame.write_parquet(tmp_path / "t.parquet")
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress((tmp_path / "t.csv").read_bytes()))
    tables = [read_class_table(tmp_path / name) for name in ("t.csv", "t.tsv", "t.parquet", "t.csv.gz")]
    for table in tables:
        assert table.features.equals(tables[0].features)
        assert table.target.to_list() == frame.get_column("class").to_list()
        assert table.numeric == ("first", "second")
    assert tables[0].features.get_column("colour").null_count() == frame.get_column("colour").null_count() > 0


def test_kinds_target_and_columns_can_be_named(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,code,kind,value\n" + "".join(f"{i},{i % 2},{'ab'[i % 2]},{i}.5\n" for i in range(12)))
    table = read_class_table(path, target="kind", categorical=["code"], drop=["id"])
    assert table.features.schema == {"code": pl.String, "value": pl.Float64}
    assert table.target.unique().sort().to_list() == ["a", "b"]


def test_declared_kinds_of_parquet(tmp_path):
    frame = pl.DataFrame(
        {
            "flag": [True, False] * 6,
            "day": pl.Series(range(12)).cast(pl.Date),
            "bad": [1.0, float("inf")] + [2.0] * 10,
            "class": pl.Series([0.0, 1.0] * 6),
        }
    )
    frame.write_parquet(tmp_path / "t.pq")
    table = read_class_table(tmp_path / "t.pq")
    assert table.numeric == ("day", "bad")
    assert table.features.get_column("bad").null_count() == 1
    assert table.target.to_list()[:2] == ["0", "1"]
    named = read_class_table(tmp_path / "t.pq", categorical=["day", "bad"])
    assert (named.numeric, named.features.get_column("day")[1]) == ((), "1970-01-02")


def test_arff():
    frame = read_arff(ARFF, "toy")
    assert frame.schema == {"the size": pl.Float64, "colour": pl.String, "note": pl.String, "class": pl.String}
    assert frame.rows() == [
        (1.5, "red", "a, b", "yes"),
        (None, "dark 'blue", None, "no"),
        (3.0, "green", "plain", "yes"),
    ]


def test_a_class_that_is_no_number_among_numbers_is_missing(tmp_path):
    whole = [0.0, 1.0] * 6
    for kinds, message in (
        ([*whole[:4], float("nan"), *whole[5:]], "'class' is missing in 1 row, the first of them data row 5"),
        ([None, *whole[1:11], None], "'class' is missing in 2 rows, the first of them data row 1"),
        ([number + 0.5 * (n % 3) for n, number in enumerate(range(12))], "more like a quantity or a name than a class"),
    ):
        pl.DataFrame({"x": range(12), "class": pl.Series(kinds, dtype=pl.Float64)}).write_parquet(tmp_path / "t.pq")
        with pytest.raises(InputError, match=message):
            read_class_table(tmp_path / "t.pq")


def test_a_declared_range_leaves_a_column_numeric():
    text = "@attribute a Integer [1,10]\n@attribute b date 'yyyy'\n@data\n3,1999\n"
    assert read_arff(text, "t").rows() == [(3.0, "1999")]


def test_a_mark_of_missing_values_in_quotes_is_a_value():
    frame = read_arff("@attribute x {'?',a}\n@attribute y string\n@data\n'?',''\n?,\na,\"?\"\n", "x.arff")
    assert frame.rows() == [("?", ""), (None, None), ("a", "?")]


def test_sparse_arff_fills_with_zero_and_the_first_value():
    text = "@attribute a real\n@attribute b {no,yes}\n@attribute c real\n@data\n{0 2.5, 1 yes}\n{ }\n{2 -1}\n"
    assert read_arff(text, "t").rows() == [(2.5, "yes", 0.0), (0.0, "no", 0.0), (0.0, "no", -1.0)]
    quoted = "@attribute a REAL\n@attribute b {no,'of course'}\n@data\n{0 ?, 1 'of course'}\n,\n"
    assert read_arff(quoted, "t").rows() == [(None, "of course"), (None, None)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@attribute a real\n@data\n1,2\n", "line 3: has 2 values where 1 attributes"),
        ("@attribute a real\n@data\nblue\n", "column 'a' holds 'blue' in data row 1"),
        ("@attribute a real\n@data\n1\nblue\nred\n", "column 'a' holds 'blue' in data row 2"),
        ("@attribute a {x}\n@data\nx\ny\nz\n", "column 'a' holds 'y' in data row 2, which is not declared"),
        ("@attribute a real\n@attribute a real\n@data\n1,2\n", "declared twice"),
        ("".join(f"@attribute {name} real\n" for name in "baab") + "@data\n1\n", "attribute 'a' is declared twice"),
        ("@attribute a\n@data\n1\n", "line 1: is not an attribute"),
        ("@attribute a real\n@data\n", "holds no rows"),
        ("@attribute a real\n@data\n{4 1}\n", "names column 4 of 1"),
        ("@attribute a real\n@data\n{1 1}\n", "names column 1 of 1"),
        ("@attribute a {x, y}\n@data\nx\nz\n", "column 'a' holds 'z' in data row 2, which is not declared; add it"),
        ("@attribute a real\n@data\n{0 1\n", "line 3: is not a sparse row; write"),
        ("@attribute a real\n@data\n{0 1, x}\n", "line 3: is not a sparse row; write"),
        ("@attribute a string\n@data\n'x\n", "line 3: a quotation mark is not closed"),
        ("@attribute a {x, y\n@data\nx\n", "line 1: the list of values has no end; close it with }"),
        ("@attribute a relational\n@data\nx\n", "line 1: the type 'relational' is not known; use numeric, string"),
    ],
)
def test_broken_arff(text, message):
    with pytest.raises(InputError, match=message):
        read_arff(text, "t.arff")


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("a,class\n" + "1,x\n2,y\n" * 6, {"target": "klass"}, "target column 'klass' is not in the table.*'class'"),
        ("a,class\n" + "1,x\n2,y\n" * 6, {"drop": ["b"]}, "the column 'b' is not"),
        ("a,class\n" + "1,x\n2,\n" * 6, {}, "missing in 6 rows, the first of them data row 2"),
        ("a,class\n" + "1,x\n" * 12, {}, "a single class"),
        (
            "a,b\n" + "".join(f"1,{i}.5\n" for i in range(12)),
            {},
            r"12 values in 12 rows \(0\.5, 1\.5, 2\.5, \.\.\.\), more",
        ),
        ("a,class\n" + "1,x\n2,y\n3,y\n" * 3, {}, "has 9 rows; give at least 10"),
        (
            "a,b\n" + "".join(f"1,{i % 6}\n" for i in range(10)),
            {},
            "6 values in 10 rows .* more like a quantity",
        ),
        ("class\n" + "x\ny\n" * 6, {}, "no features beside a target"),
        ("a,class\n" + "1,x\n2,y\n" * 6, {"drop": ["class"], "target": "class"}, "no features beside a target"),
        ("a,b,class\n" + "1,2,x\n2,3,y\n" * 6, {"drop": ["class"], "target": "class"}, "no features beside a target"),
    ],
)
def test_refused_tables(tmp_path, text, options, message):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_class_table(path, **options)


def test_a_table_by_hand(tmp_path):
    """Ten rows with five classes are enough; words for missing values in any case, infinities, whole floats."""
    path = tmp_path / "t.csv"
    rows = [
        f"{n},{word},{n % 5}.0" for n, word in enumerate(["NA", "?", "n/a", "Null", "NaN", "1", "2", "inf", "4", "5"])
    ]
    path.write_text("a,b,class\n" + "\n".join(rows) + "\n")
    table = read_class_table(path)
    assert table.target.to_list() == ["0.0", "1.0", "2.0", "3.0", "4.0"] * 2
    assert table.features["b"].to_list() == [None] * 5 + [1.0, 2.0, None, 4.0, 5.0]
    assert table.numeric == ("a", "b")
    assert read_class_table(path, categorical=["b"]).features["b"].to_list() == [None] * 5 + ["1", "2", "inf", "4", "5"]
    pl.read_csv(path).write_parquet(tmp_path / "t.parquet")
    assert read_class_table(tmp_path / "t.parquet").target.to_list() == ["0", "1", "2", "3", "4"] * 2
    known = properties(table)
    assert (known["NumberOfFeatures"], known["NumberOfClasses"], known["Dimensionality"]) == (3, 5, 0.3)
    assert known["PercentageOfInstancesWithMissingValues"] == 60
    assert (known["MajorityClassPercentage"], known["MinorityClassPercentage"]) == (20, 20)
    assert known["ClassEntropy"] == pytest.approx(np.log2(5))


def test_broken_gzip(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(b"plain text")
    with pytest.raises(InputError, match="not a readable gzip"):
        read_class_table(path)
    path.write_bytes(gzip.compress(b"a,class\n" + b"1,x\n" * 1000)[:-20])
    with pytest.raises(InputError, match="not a whole gzip"):
        read_class_table(path)


def test_properties_by_hand(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,class\n" + "1,?,x\n" * 3 + "2,u,x\n" * 6 + ",v,y\n" * 3)
    found = properties(read_class_table(path))
    assert found == pytest.approx(
        {
            "NumberOfClasses": 2,
            "NumberOfInstances": 12,
            "NumberOfFeatures": 3,
            "ClassEntropy": -(0.75 * np.log2(0.75) + 0.25 * np.log2(0.25)),
            "Dimensionality": 3 / 12,
            "PercentageOfInstancesWithMissingValues": 50.0,
            "MajorityClassPercentage": 75.0,
            "MinorityClassPercentage": 25.0,
        }
    )


@pytest.mark.parametrize("name", ["pc4", "eucalyptus", "credit-g", "breast-w", "car"])
def test_properties_of_openml_tables(name):
    folder = DATA / "classification"
    if not folder.is_dir():
        pytest.skip("the tables are not here (set RECASSAY_DATA)")
    known = json.loads((folder / "manifest.json").read_text())[name]
    table = read_class_table(folder / f"{name}.csv.gz")
    found = properties(table)
    assert found["NumberOfInstances"] == known["rows"]
    assert found["NumberOfClasses"] == known["classes"]
    assert found["NumberOfFeatures"] == known["features"] + 1
    assert table.features.width - len(table.numeric) == known["categorical"]
    assert table.features.null_count().sum_horizontal().item() == known["missing"]
