"""Every kind of source gives the same interactions, with the ids of the source."""

from __future__ import annotations

import csv
import gzip
import uuid
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from recassay.core.errors import InputError, UsageError
from recassay.core.specs.specs import ReadSpec
from recassay.data.readers import ReadResult, read_interactions

ROWS = [
    (196, 242, 3.0, 881250949),
    (186, 302, 3.5, 891717742),
    (22, 377, 1.0, 878887116),
    (196, 302, 2.0, 881250950),
]


def told(result: ReadResult) -> list[tuple[object, ...]]:
    """The interactions row by row, in the ids of the source."""
    inside = result.interactions
    columns = [inside.users.gather(inside.user).to_list(), inside.items.gather(inside.item).to_list()]
    columns += [column.tolist() for column in (inside.weight, inside.time) if column is not None]
    return list(zip(*columns, strict=True))


def lines(separator: str, header: str | None = None) -> str:
    body = "\n".join(
        separator.join(f"{value:g}" if isinstance(value, float) else str(value) for value in row) for row in ROWS
    )
    return (header + "\n" if header else "") + body + "\n"


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("comma.csv", lines(",", "userId,movieId,rating,timestamp"), "csv"),
        ("blank_after_comma.csv", lines(", ", "user, item, rating, timestamp"), "csv"),
        ("upper.csv", lines(",", "USER_ID,Item-Id,Stars,UnixReviewTime"), "csv"),
        ("tab.tsv", lines("\t", "uid\tasin\tscore\tts"), "csv"),
        ("semicolon.csv", lines(";", "user;item;rating;time"), "csv"),
        ("pipe.txt", lines("|", "user|item|rating|time"), "csv"),
        ("blanks.txt", lines("  "), "csv"),
        ("headless.csv", lines(","), "csv"),
        ("crlf.csv", lines(",", "user,item,rating,timestamp").replace("\n", "\r\n"), "csv"),
        ("returns.csv", lines(",", "user,item,rating,timestamp").replace("\n", "\r"), "csv"),
        ("mark.csv", "\ufeff" + lines(",", "user,item,rating,timestamp"), "csv"),
        ("blank_lines.csv", "\n" + lines(",", "user,item,rating,timestamp\n") + "\n\n", "csv"),
        ("unended.csv", lines(",", "user,item,rating,timestamp").rstrip(), "csv"),
        ("ratings.dat", lines("::"), "movielens"),
        ("u.data", lines("\t"), "movielens"),
        (
            "ml.inter",
            lines("\t", "user_id:token\titem_id:token\trating:float\ttimestamp:float"),
            "inter",
        ),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_text_formats_agree(tmp_path: Path, name: str, content: str, kind: str, packed: bool) -> None:
    path = tmp_path / (name + ".gz" if packed else name)
    raw = content.encode()
    path.write_bytes(gzip.compress(raw) if packed else raw)
    result = read_interactions(path)
    assert told(result) == ROWS
    assert result.record.format == kind
    assert result.interactions.users.to_list() == [22, 186, 196]
    assert result.interactions.users.dtype == pl.Int64
    assert (result.record.rows, result.record.kept, result.record.bad) == (4, 4, 0)
    assert result.record.time_unit == "seconds"
    assert result.record.sha256 is not None


def test_typed_sources_agree(tmp_path: Path) -> None:
    frame = pl.DataFrame(ROWS, schema=["user", "item", "rating", "timestamp"], orient="row")
    path = tmp_path / "ratings.parquet"
    frame.write_parquet(path)
    for source in (path, str(path), frame, frame.lazy(), frame.to_pandas()):
        assert told(read_interactions(source)) == ROWS


def test_a_narrow_integer_column_keeps_its_type(tmp_path: Path) -> None:
    frame = pl.DataFrame({"user": [3, 1], "item": [7, 9]}, schema={"user": pl.UInt16, "item": pl.Int32})
    inside = read_interactions(frame).interactions
    assert (inside.users.dtype, inside.items.dtype) == (pl.UInt16, pl.Int32)
    assert inside.users.to_list() == [1, 3]
    assert inside.weight is None
    assert inside.time is None


def test_adjacency_lists(tmp_path: Path) -> None:
    path = tmp_path / "train.txt"
    path.write_text("0 10 11 12\n\n1 10 \n5  12 13\n")
    result = read_interactions(path)
    assert result.record.format == "adjacency"
    assert told(result) == [(0, 10), (0, 11), (0, 12), (1, 10), (5, 12), (5, 13)]


def test_sparse_matrix() -> None:
    matrix = sparse.coo_array((np.array([2.0, 3.0, 4.0]), ([0, 0, 4], [1, 1, 2])), shape=(6, 3))
    assert told(read_interactions(matrix)) == [(0, 1, 5.0), (4, 2, 4.0)]
    assert read_interactions(sparse.csr_array(np.eye(3, dtype=bool))).interactions.weight is None


def test_pandas_ids_of_every_kind() -> None:
    ids = [uuid.UUID(int=5), uuid.UUID(int=3)]
    frame = pd.DataFrame({"user": ids, "item": [1, "b"], "when": pd.to_datetime(["2020-01-02", "2020-01-01"])})
    inside = read_interactions(frame, ReadSpec(columns={"timestamp": "when"})).interactions
    assert inside.users.to_list() == [str(ids[1]), str(ids[0])]
    assert inside.items.to_list() == ["1", "b"]
    assert inside.time is not None
    assert inside.time.tolist() == [1577923200, 1577836800]
    with pytest.raises(InputError, match="several types read the same"):
        read_interactions(pd.DataFrame({"user": [1, "1"], "item": [1, 2]}))


@pytest.mark.parametrize("odd", ["007", "+1", "-0", "1.0", "99999999999999999999", " 5", "x"])
def test_one_odd_id_keeps_the_column_text(tmp_path: Path, odd: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"user,item\n12,1\n{odd},2\n3,2\n")
    inside = read_interactions(path).interactions
    assert inside.users.dtype == pl.String
    assert inside.users.to_list() == sorted(["12", odd, "3"])
    assert inside.items.to_list() == [1, 2]


def test_quoted_fields_with_delimiters_and_line_breaks(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('user,item,rating\n"a, b","x\ny",5\n"say ""hi""",z,4\n')
    result = read_interactions(path)
    assert told(result) == [("a, b", "x\ny", 5.0), ('say "hi"', "z", 4.0)]
    path.write_text('user,item,rating\n"a, b","x\ny",5\nc,z,none\n')
    with pytest.raises(InputError, match="line 4: rating 'none' is no number"):
        read_interactions(path)


def test_other_encodings(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for encoding in ("latin-1", "utf-16", "cp1252"):
        path.write_bytes("user,item\nJosé,Ünal\n".encode(encoding))
        assert told(read_interactions(path, ReadSpec(encoding=encoding))) == [("José", "Ünal")]
    with pytest.raises(UsageError, match="unknown encoding"):
        read_interactions(path, ReadSpec(encoding="klingon"))


def test_columns_by_name_and_position(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,b,c,d,e,f\n1,2,3,4,5,6\n")
    spec = ReadSpec(columns={"user": "c", "item": "f", "rating": 0})
    assert told(read_interactions(path, spec)) == [(3, 6, 1.0)]
    path.write_text("1,2,3,4,5,6\n")
    assert told(read_interactions(path, ReadSpec(columns={"user": 2, "item": 5}))) == [(3, 6)]
    with pytest.raises(InputError, match="6 columns and no header"):
        read_interactions(path)
    with pytest.raises(UsageError, match="cannot be both the user and the item; give each its own column"):
        read_interactions(path, ReadSpec(columns={"user": 2, "item": 2}))
    with pytest.raises(UsageError, match=r"unknown role 'usr'.*did you mean 'user'"):
        read_interactions(path, ReadSpec(columns={"usr": 2}))


def test_ambiguous_columns_name_the_choices(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("user,user_id,item\n1,2,3\n")
    with pytest.raises(InputError, match="'user', 'user_id' could each be the user"):
        read_interactions(path)
    assert told(read_interactions(path, ReadSpec(columns={"user": "user_id"}))) == [(2, 3)]
    path.write_text("session_id,user_id,item\n1,2,3\n")
    assert told(read_interactions(path)) == [(2, 3)]


def test_columns_empty_throughout_are_absent() -> None:
    frame = pl.DataFrame(
        {"user": [1, 2], "item": [3, 4], "rating": [None, None], "timestamp": [None, None]},
        schema_overrides={"rating": pl.Float32, "timestamp": pl.Int64},
    )
    result = read_interactions(frame)
    assert result.interactions.weight is None
    assert result.interactions.time is None
    assert len(result.record.warnings) == 2


def test_scratch_files_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    path = tmp_path / "a.dat.gz"
    path.write_bytes(gzip.compress(b"1::2::3::978300760\n"))
    assert told(read_interactions(path)) == [(1, 2, 3.0, 978300760)]
    assert list(scratch.iterdir()) == []


@pytest.mark.slow
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_row_order_never_changes_the_id_tables(tmp_path: Path, data: st.DataObject) -> None:
    ids = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1).filter(str.strip)
    rows = data.draw(st.lists(st.tuples(ids, st.integers(-5, 10**12)), min_size=1, max_size=20, unique=True))
    shuffled = data.draw(st.permutations(rows))
    tables = []
    for order in (rows, shuffled):
        path = tmp_path / "a.csv"
        pl.DataFrame(order, schema=["user", "item"], orient="row").write_csv(path, quote_style="always")
        result = read_interactions(path, ReadSpec(delimiter=",", header=True))
        seen = {(str(user), item) for user, item in told(result)}
        assert seen == set(rows)
        tables.append((result.interactions.users.to_list(), result.interactions.items.to_list()))
    assert tables[0] == tables[1]
    assert tables[0][1] == sorted({item for _, item in rows})


@pytest.mark.slow
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(st.text('ab, ;"\n\t', min_size=1), st.text('x,"\n', min_size=1)), min_size=1))
def test_whatever_the_csv_module_writes_is_read(tmp_path: Path, rows: list[tuple[str, str]]) -> None:
    filled = [row for row in rows if row[0].strip() and row[1].strip()]
    path = tmp_path / "a.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([("user", "item"), *rows])
    spec = ReadSpec(delimiter=",", header=True, skip_bad_rows=True)
    if not filled:
        with pytest.raises(InputError, match="none of the"):
            read_interactions(path, spec)
        return
    result = read_interactions(path, spec)
    assert sorted(told(result)) == sorted(set(filled))
    assert (result.record.rows, result.record.bad) == (len(rows), len(rows) - len(filled))
