"""Every kind of source gives the same interactions, with the ids of the source."""

from __future__ import annotations

import csv
import gzip
import hashlib
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
from recassay.data.reading import textfile
from recassay.data.reading.sniffing import has_header, positional_roles

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
    pandas = read_interactions(frame.to_pandas()).interactions
    assert (pandas.users.dtype, pandas.items.dtype) == (pl.UInt16, pl.Int32)
    assert inside.weight is None
    assert inside.time is None


def test_adjacency_lists(tmp_path: Path) -> None:
    path = tmp_path / "train.txt"
    path.write_text("0 10 11 12\n\n1 10 \n5  12 13\n")
    result = read_interactions(path)
    assert result.record.format == "adjacency"
    assert told(result) == [(0, 10), (0, 11), (0, 12), (1, 10), (5, 12), (5, 13)]
    (tmp_path / "bare.txt").write_text("0 1 2\n" + "".join(f"{user}\n" for user in range(1, 8)))
    bare = read_interactions(tmp_path / "bare.txt", ReadSpec(format="adjacency", skip_bad_rows=True)).record
    assert (bare.bad, len(bare.bad_rows)) == (7, 5), "all are counted, and the first are shown"


def test_sparse_matrix() -> None:
    matrix = sparse.coo_array((np.array([2.0, 3.0, 4.0]), ([0, 0, 4], [1, 1, 2])), shape=(6, 3))
    assert told(read_interactions(matrix)) == [(0, 1, 5.0), (4, 2, 4.0)]
    assert matrix.nnz == 3  # the caller's matrix is as it was
    assert read_interactions(matrix).record.columns == {"user": "row", "item": "column", "rating": "entry"}
    assert read_interactions(matrix.astype(bool)).record.columns == {"user": "row", "item": "column"}
    with pytest.raises(InputError, match="a sparse matrix: the matrix has 1 dimension; give users x items"):
        read_interactions(sparse.coo_array(np.array([1.0, 0.0, 2.0])))
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
    with pytest.raises(InputError, match="line 4: rating 'none' is not a number"):
        read_interactions(path)


def test_other_encodings(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for encoding in ("latin-1", "utf-16", "cp1252", "utf-16-le", "utf-32"):
        path.write_bytes("user,item\nJosé,Ünal\n".encode(encoding))
        assert told(read_interactions(path, ReadSpec(encoding=encoding))) == [("José", "Ünal")]
    for wrong in ("klingon", "idna", "utf-7", "rot13", "hex"):
        with pytest.raises(UsageError, match=f"unknown encoding '{wrong}'; use utf-8, latin-1, cp1252 or utf-16"):
            read_interactions(path, ReadSpec(encoding=wrong))


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
    path.write_text("session_id,item\n1,3\n")
    assert told(read_interactions(path)) == [(1, 3)]


def test_two_columns_of_one_name_in_pandas() -> None:
    with pytest.raises(InputError, match="the pandas frame: the header names 'user' more than once; give each"):
        read_interactions(pd.DataFrame([[1, 2, 3]], columns=["user", "item", "user"]))


def test_unknown_columns_are_named_up_to_eight(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b,c,d,e,f,g,h,i,j\n" + "1," * 9 + "2\n")
    with pytest.raises(
        InputError, match="recognised as the user among 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h' and 2 more"
    ):
        read_interactions(tmp_path / "a.csv")


def test_events_keep_their_weights_where_times_are_ignored() -> None:
    frame = pl.DataFrame({"user": [1, 2], "item": [1, 2], "timestamp": [10**9] * 2, "event": ["view", "buy"]})
    rows = read_interactions(frame, ReadSpec(time="ignore", event_weights={"view": 1, "buy": 5})).interactions
    assert (rows.weight.tolist(), rows.time) == ([1, 5], None)


def test_ratings_of_true_and_false_are_1_and_0() -> None:
    frame = pl.DataFrame({"user": [1, 2], "item": [3, 4], "rating": [True, False]})
    assert read_interactions(frame).interactions.weight.tolist() == [1, 0]


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
        with pytest.raises(
            InputError, match="its only row cannot" if len(rows) == 1 else f"none of the {len(rows)} rows"
        ):
            read_interactions(path, spec)
        return
    result = read_interactions(path, spec)
    assert sorted(told(result)) == sorted(set(filled))
    assert (result.record.rows, result.record.bad) == (len(rows), len(rows) - len(filled))


NOTES = {
    "text": (
        "user,item,rating,timestamp,event\nx ,1.0,,5,view\n y,2.0,,7,cart\n",
        {},
        (
            "column 'rating' is empty throughout: there are no ratings",
            "column 'event' holds event types, not used without event_weights",
            "timestamps reach only 7: read as positions in a sequence, not as a common clock",
            "2 user ids begin or end with blanks, which stay: ' y', 'x '",
        ),
    ),
    "blanks": (
        "user,item\n" + "".join(f"u{n} ,i{n}\n" for n in range(5)),
        {},
        ("5 user ids begin or end with blanks, which stay: 'u0 ', 'u1 ', 'u2 ' and 2 more",),
    ),
    "events": (
        "user,item,rating,event\n1,1,3,view\n2,1,4,buy\n2,2,4,view\n",
        {"event_weights": {"view": 1, "buy": 5}},
        ("the event weights took the place of the ratings",),
    ),
    "positions": ("1 2\n1 3\n", {"columns": {"user": 0, "item": 1}, "header": False}, ()),
    "guessed": ("1\t2\t3\t881250949\n2\t2\t4\t881250950\n", {}, (
        "no header: columns taken by position (0 user, 1 item, 2 rating, 3 timestamp)",
    )),
    "dated": ("1,2,2020-01-01\n2,2,2020-01-02\n", {}, (
        "no header: columns taken by position (0 user, 1 item, 2 timestamp)",
    )),
    "rated": ("1,2,20200101\n2,2,5\n", {}, ("no header: columns taken by position (0 user, 1 item, 2 rating)",)),
}  # fmt: skip


@pytest.mark.parametrize("kind", NOTES)
def test_what_was_assumed_is_told(tmp_path: Path, kind: str) -> None:
    text, options, warnings = NOTES[kind]
    path = tmp_path / "rows.csv"
    path.write_text(text)
    assert read_interactions(path, ReadSpec.model_validate(options)).record.warnings == warnings


def test_the_record_of_a_reading_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("who;what;stars;when\na;x;4;1600000000500\na;x;5;1600000001000\nb;;3;1600000002000\nb;y;2\n\n")
    columns = {"user": "who", "item": "what", "rating": 2, "timestamp": "when"}
    result = read_interactions(path, ReadSpec.model_validate({"columns": columns, "skip_bad_rows": True}))
    assert result.record.to_dict() == {
        "source": str(path),
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "format": "csv",
        "columns": {"user": "who", "item": "what", "rating": "stars", "timestamp": "when"},
        "rows": 4,
        "kept": 2,
        "users": 1,
        "items": 1,
        "bad": 2,
        "bad_rows": [
            {"line": 4, "reason": "item id is empty"},
            {"line": 5, "reason": "3 fields instead of 4"},
        ],
        "repeated": 2,
        "repeated_rule": "last",
        "source_time": "milliseconds",
        "time_unit": "milliseconds",
        "event_weights": None,
        "event_counts": None,
        "warnings": [],
    }
    assert result.interactions.weight.tolist() == [4, 5]
    assert result.interactions.time.tolist() == [1600000000500, 1600000001000]


def test_events_weigh_by_their_rarity(tmp_path: Path) -> None:
    frame = pl.DataFrame({"user": [1, 1, 1, 2], "item": [1, 1, 2, 1], "event": ["view", "view", "buy", "view"]})
    result = read_interactions(frame, ReadSpec(event_weights="inverse_frequency"))
    assert result.record.event_counts == {"view": 3, "buy": 1}
    assert result.record.event_weights == {"view": 4 / 3, "buy": 4.0}
    assert (result.record.repeated, result.record.repeated_rule) == (2, "bounded")
    rows = result.interactions
    assert list(zip(rows.user.tolist(), rows.item.tolist(), strict=True)) == [(0, 0), (0, 1), (1, 0)]
    assert rows.weight == pytest.approx([8 / 3, 4, 4 / 3])
    stated = read_interactions(frame, ReadSpec(event_weights={"view": 1, "buy": 9, "cart": 3})).record
    assert (stated.event_weights, stated.event_counts) == ({"view": 1, "buy": 9, "cart": 3}, None)
    with pytest.raises(InputError, match=r"1 of 4 rows are bad \(row 3: event 'buy' has no weight\)"):
        read_interactions(frame, ReadSpec(event_weights={"view": 1}))


def test_an_event_type_of_bad_rows_alone_has_no_weight() -> None:
    frame = pl.DataFrame({"user": [1, None, 2], "item": [1, 1, 2], "event": ["view", "buy", "view"]})
    spec = ReadSpec(event_weights="inverse_frequency", skip_bad_rows=True)
    record = read_interactions(frame, spec).record
    assert (record.event_counts, record.event_weights) == ({"view": 2}, {"view": 1.0})


def test_ids_of_floats_and_of_several_types() -> None:
    whole = read_interactions(pl.DataFrame({"user": [1.0, 2.0**52], "item": ["a", "b"]}))
    assert whole.interactions.users.to_list() == [1, 2**52]
    assert whole.record.warnings == ("the user ids were floats and became integers",)
    for wrong in (1.5, 2.0**53, float("inf")):
        with pytest.raises(InputError, match="the user ids are fractional or huge floats; store ids as"):
            read_interactions(pl.DataFrame({"user": [1.0, wrong], "item": ["a", "b"]}))
    mixed = read_interactions(pd.DataFrame({"user": [1, "b"], "item": ["x", "y"]}))
    assert mixed.interactions.users.to_list() == ["1", "b"]
    lacking = pd.DataFrame({"user": [1, "b", None], "item": ["x", "y", "z"]})
    assert read_interactions(lacking, ReadSpec(skip_bad_rows=True)).interactions.users.to_list() == ["1", "b"]
    with pytest.raises(InputError, match="user ids of several types read the same as text; make the column one type"):
        read_interactions(pd.DataFrame({"user": [1, "1"], "item": ["x", "y"]}))
    rated = pd.DataFrame({"user": [1, 2], "item": [1, 2], "rating": pd.Series([1, 2.5], dtype=object)})
    assert read_interactions(rated).interactions.weight.tolist() == [1, 2.5]
    gaps = pd.DataFrame({"user": pd.Series([1, None, 2], dtype=object), "item": [1, 2, 3]})
    assert read_interactions(gaps, ReadSpec(skip_bad_rows=True)).interactions.users.to_list() == [1, 2]
    nullable = pd.DataFrame(
        {
            "user": pd.array([7, None, 5], dtype="Int64"),
            "item": pd.array(["x", "y", "z"], dtype="string"),
            "rating": pd.array([2, 3, 4], dtype="Float64"),
        }
    )
    kept = read_interactions(nullable, ReadSpec(skip_bad_rows=True))
    assert (told(kept), kept.record.bad) == ([(7, "x", 2.0), (5, "z", 4.0)], 1)
    zones = pd.to_datetime(["2020-01-01T12:00:00+02:00", "2020-01-01T13:00:00+02:00"])
    clocked = read_interactions(pd.DataFrame({"user": [1, 2], "item": [1, 2], "timestamp": zones}))
    assert clocked.interactions.time.tolist() == [1577872800, 1577876400]


def test_a_header_is_known_by_the_whole_rows_below_it(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n1,2\n3\n4,5\nsix,7,8\n")
    spec = ReadSpec(columns={"user": 0, "item": 1}, skip_bad_rows=True)
    result = read_interactions(path, spec)
    assert (result.record.columns, result.record.kept, result.record.bad) == ({"user": "x", "item": "y"}, 2, 2)
    assert result.interactions.users.to_list() == [1, 4]
    path.write_text("x,y\na,2\nb,3\n")  # text above text: no header in the first column, but above the second
    assert read_interactions(path, spec).record.columns == {"user": "x", "item": "y"}
    path.write_text("x,y\na,b\n")
    assert read_interactions(path, spec).record.columns == {"user": "0", "item": "1"}


@pytest.mark.parametrize(
    ("name", "text", "options", "users", "bad"),
    [
        ("a.txt", "1,2,3\n2,4\n", {"format": "adjacency", "delimiter": ","}, [1, 2], 0),
        ("a.txt", "1 2 3\n  \n\n4 5\n", {"format": "adjacency"}, [1, 4], 0),
        ("a.inter", "user_id:token,item_id:token\n1,2\n3,4\n", {}, [1, 3], 0),
        ("a.txt", "1 2\n2 3 5\n3 4\n4 6\n", {"columns": {"user": 0, "item": 1}, "skip_bad_rows": True}, [1, 3, 4], 1),
        ("a.csv", "5,\n6,7\n8,9\n", {"columns": {"user": 0, "item": 1}, "skip_bad_rows": True}, [6, 8], 1),
        ("a.csv", "a b c,1\nd e f,2\n", {"columns": {"user": 0, "item": 1}, "header": False}, ["a b c", "d e f"], 0),
        ("a.csv", '"a,b",1\n', {"columns": {"user": 0, "item": 1}, "header": False}, ["a,b"], 0),
        ("a.csv", '\ufeff"a, b",x\nc,y\n', {"columns": {"user": 0, "item": 1}, "header": False}, ["a, b", "c"], 0),
        ("a.csv", "item,user\na, b\nc, d\n", {"delimiter": ","}, [" b", " d"], 0),
        ("a.csv", "item,user\na, b\nc, d\n", {}, [" b", " d"], 0),
        ("a.csv", "item, user\na, b\nc, d\n", {}, ["b", "d"], 0),
        ("a.csv", "item, user\na, b\nc, d\n", {"delimiter": ","}, [" b", " d"], 0),
        ("a.csv", "user,user_id,item\n1,2,3\n", {"columns": {"rating": "user"}}, [2], 0),
        ("a.csv", 'a,"x,y"\n', {"columns": {"user": 1, "item": 0}, "header": False}, ["x,y"], 0),
        ("a.txt", "1  2 3\n2 4\n", {"format": "adjacency", "delimiter": " "}, [1, 2], 0),
        ("a.inter", 'user_id:token\titem_id:token\n"a\t1\nb\t2\n', {}, ['"a', "b"], 0),
        ("a.csv", "user,item\r\n1,2\r\n\r\n3,4\r\n", {}, [1, 3], 0),
        ("a.csv", 'user,item\na"b,1\nc,2\n', {}, ['a"b', "c"], 0),
        ("a.dat", "a,b,c,d::1\ne,f,g,h::2\n", {}, ["a,b,c,d", "e,f,g,h"], 0),
        ("a.csv", "u;1,a\nv;2,b\n", {"columns": {"user": 0, "item": 1}, "header": False}, ["u;1", "v;2"], 0),
        ("a.csv", "u|1;a\nv|2;b\n", {"columns": {"user": 0, "item": 1}, "header": False}, ["u|1", "v|2"], 0),
        ("a.csv", "user,item\na::x,1\nb,2\nc,3\nd,4\n", {}, ["a::x", "b", "c", "d"], 0),
        ("a.txt", "1 2\n1 3 5\n2 4\n", {"skip_bad_rows": True}, [1, 2], 1),
        ("a.csv", "7,8\n9,1\n1,2,3\n4,5,6\n", {"header": False, "skip_bad_rows": True}, [1, 4], 2),
        ("a.csv", "user,item,time\n1,1,1600000000\n2,2,1600000001\n3,3,x\n4,4,y\n", {"skip_bad_rows": True}, [1, 2], 2),
    ],
)  # fmt: skip
def test_layouts_that_look_like_others(
    tmp_path: Path, name: str, text: str, options: dict, users: list, bad: int
) -> None:
    path = tmp_path / name
    path.write_bytes(text.encode())
    result = read_interactions(path, ReadSpec.model_validate(options))
    assert (result.interactions.users.to_list(), result.record.bad) == (users, bad)


@pytest.mark.parametrize(
    ("name", "text", "options", "kind"),
    [
        ("a.txt", "1 2 3\n4 5\n", {}, "adjacency"),
        ("a.txt", "1 2 3\n4 5", {}, "adjacency"),
        ("a.txt", "1 2 3\n4 5\n", {"delimiter": " "}, "adjacency"),
        ("a.txt", "1 2 3\n4 5\n", {"columns": {"user": 0, "item": 1}}, "csv"),
        ("a.txt", "1 2 3\n4 5\n", {"header": False}, "csv"),
        ("a.txt", "1-2 3 4\n5-6 7\n", {"delimiter": "-"}, "csv"),
        ("a.txt", "1 2\n3\n4 5\n", {}, "csv"),
        ("a.txt", "1 2 3\n4 5 6\n", {}, "csv"),
        ("a.txt", "user item x\n1 2 3\n2 3\n", {}, "csv"),
        ("a.data", "1,2,3\n4,5,6\n", {}, "csv"),
        ("a.tsv", "1\t2\t3\n4\t5\t6\n", {}, "csv"),
        ("a.BASE", "1\t2\t3\n4\t5\t6\n", {}, "movielens"),
        ("a.dat", "1::2::3\n4::5::6\n", {"delimiter": "::"}, "movielens"),
        ("a.dat", "a::b,1\nc::d,2\n", {"delimiter": ",", "header": False}, "csv"),
    ],
)
def test_what_a_file_is_taken_for(tmp_path: Path, name: str, text: str, options: dict, kind: str) -> None:
    (tmp_path / name).write_text(text)
    spec = ReadSpec.model_validate({**options, "skip_bad_rows": True})
    assert read_interactions(tmp_path / name, spec).record.format == kind


def test_a_line_that_the_sample_cuts_says_nothing_of_the_layout(tmp_path: Path) -> None:
    """The first MiB ends within the last field of the eighth line, whose start is not a clock."""
    line = f"{'u' * 131_059},i,1500000000\n"
    assert (1 << 20) % len(line) == len(line) - 8
    (tmp_path / "a.csv").write_text(line.replace("u", "v", 1) + line * 8)
    assert read_interactions(tmp_path / "a.csv").record.columns == {"user": "0", "item": "1", "timestamp": "2"}


def test_events_of_several_types_are_text() -> None:
    frame = pd.DataFrame({"user": [1, 2], "item": [1, 2], "event": [1, "view"]})
    rows = read_interactions(frame, ReadSpec(event_weights={"1": 5, "view": 2})).interactions
    assert rows.weight.tolist() == [5, 2]
    frame["event"] = [1, "1"]
    with pytest.raises(InputError, match="event ids of several types read the same as text; make the column one type"):
        read_interactions(frame, ReadSpec(event_weights={"1": 5}))


def test_a_bad_byte_is_found_on_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(textfile, "CHUNK", 4)
    (tmp_path / "a.csv").write_bytes(b"a,b\n" * 10 + b"\xff")
    with pytest.raises(InputError, match="byte 0xff in line 11 is not utf-8"):
        read_interactions(tmp_path / "a.csv")


@pytest.mark.parametrize(
    ("first", "below", "asked", "header"),
    [
        (["playlist_id", "song"], [["a", "b"]], {}, True),
        (["song", " Track ID "], [["a", "b"]], {}, True),
        (["song", "stars"], [["a", "b"]], {}, False),
        (["song", "stars"], [["a", "b"]], {"user": 0, "item": "stars"}, True),
        (["song", "stars"], [["a", "5"], ["b"], ["c", "x", "7"]], {"user": 0}, True),
        (["song", "stars"], [["a", "5"], ["b", "x"]], {}, False),
        (["song", ""], [["a", "5"]], {}, False),
        (["song", "stars"], [], {}, False),
    ],
)
def test_a_first_row_names_the_columns_where_its_words_do(first, below, asked, header):
    assert has_header([first, *below], asked) is header


@pytest.mark.parametrize(
    ("written", "laid_out"),
    [
        (b'a,1\nb,2\n"\r",4\n', b'a,1\nb,2\n"\r",4\n'),
        (b"a,1\rb,\n\rc,3\r", b"a,1\nb,\n\nc,3\n"),
        (b"a,1\r\nb,2\r\n", b"a,1\r\nb,2\r\n"),
    ],
)
def test_how_lines_end_is_decided_by_the_start_of_a_file(tmp_path, monkeypatch, written, laid_out):
    monkeypatch.setattr(textfile, "CHUNK", 5 if b"\r\n" in written else 4)
    (tmp_path / "a.csv").write_bytes(written)
    assert textfile.prepare_text(tmp_path / "a.csv", "latin-1", tmp_path).read_bytes() == laid_out


@pytest.mark.parametrize(
    ("third", "role"),
    [
        (["100000000", "1500000000"], "timestamp"),
        (["99999999", "1500000000"], "rating"),
        (["3", "1500000000"], "rating"),
        (["1400000000", "1500000000"], "timestamp"),
        (["2020-01-02", "4"], "rating"),
    ],
)
def test_a_third_column_is_a_time_where_every_row_has_a_clock(third, role):
    rows = [["u1", "i1", third[0]], ["u2", "i2", third[1]], ["u3", "i3"]]
    assert positional_roles(rows, 3, "x.csv") == {"user": 0, "item": 1, role: 2}
