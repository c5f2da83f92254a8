"""Broken input: each kind ends in one clear line, and nothing is left behind in the cache."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recassay.core.errors import InputError, UsageError
from recassay.core.specs.specs import ReadSpec
from recassay.data.library import datasets_folder, import_dataset, list_datasets
from recassay.data.readers import read_interactions
from recassay.data.reading import layout, textfile
from recassay.data.reading.records import brief

HEADER = "user,item,rating,timestamp\n"
GOOD = "1,2,3.5,881250949\n"
PARQUET = b"PAR1"


def small_parquet(folder: Path) -> bytes:
    path = folder / "whole.parquet"
    pl.DataFrame({"user": [1, 2], "item": [3, 4]}).write_parquet(path)
    content = path.read_bytes()
    path.unlink()
    return content


BROKEN: dict[str, tuple[str, bytes, ReadSpec, str]] = {
    "empty file": ("a.csv", b"", ReadSpec(), "the file is empty"),
    "blank lines alone": ("a.csv", b"\n\n \n", ReadSpec(), "the file is empty"),
    "header only": ("a.csv", HEADER.encode(), ReadSpec(), "a header and no row"),
    "one column": ("a.csv", b"user\n1\n2\n", ReadSpec(), "only one column"),
    "nan rating": (
        "a.csv",
        (HEADER + GOOD + "1,3,nan,881250949\n").encode(),
        ReadSpec(),
        "line 3: rating 'nan' is not finite",
    ),
    "infinite rating": (
        "a.csv",
        (HEADER + GOOD + "1,3,-inf,5\n").encode(),
        ReadSpec(),
        "line 3: rating '-inf' is not finite",
    ),
    "empty rating": (
        "a.csv",
        (HEADER + GOOD + "1,3,,881250949\n").encode(),
        ReadSpec(),
        "line 3: rating is empty",
    ),
    "text rating": (
        "a.csv",
        (HEADER + GOOD + "1,3,good,881250949\n").encode(),
        ReadSpec(),
        "line 3: rating 'good' is not a number",
    ),
    "negative time": (
        "a.csv",
        (HEADER + GOOD + "1,3,4,-5\n").encode(),
        ReadSpec(),
        "line 3: timestamp '-5' lies before 1970",
    ),
    "absurd time": (
        "a.csv",
        (HEADER + GOOD * 2 + "1,3,4,99999999999\n").encode(),
        ReadSpec(),
        "line 4: timestamp '99999999999' lies after",
    ),
    "absurd times": (
        "a.csv",
        (HEADER + "1,3,4,50000000000\n").encode(),
        ReadSpec(),
        "timestamps around 50000000000 are neither",
    ),
    "floats beyond 2^53": (
        "a.csv",
        (HEADER + GOOD * 2 + "1,3,4,1500000000123456789.0\n").encode(),
        ReadSpec(),
        "line 4: timestamp '1500000000123456789.0' is a float beyond 2\\^53",
    ),
    "mixed dates": (
        "a.csv",
        b"user,item,date\n1,2,2020-01-01\n1,3,2020-01-02T10:00:00\n",
        ReadSpec(),
        "line 3: timestamp '2020-01-02T10:00:00' is not a date written like 2024-01-31",
    ),
    "impossible date": (
        "a.csv",
        b"user,item,date\n1,2,2020-01-01\n1,3,2020-13-45\n",
        ReadSpec(),
        "line 3: .* is not a date",
    ),
    "dates of another order": (
        "a.csv",
        b"user,item,date\n1,2,31/01/2020\n",
        ReadSpec(),
        "neither numbers nor ISO dates",
    ),
    "wrong encoding": (
        "a.csv",
        "user,item\nJosé,2\n".encode("latin-1"),
        ReadSpec(),
        "byte 0xe9 in line 2 is not utf-8; .*latin-1",
    ),
    "cut off within a letter": (
        "a.csv",
        "user,item\n1,2\n2,é".encode()[:-1],
        ReadSpec(),
        "byte 0xc3 in line 3 is not utf-8",
    ),
    "utf-16": ("a.csv", "user,item\n1,2\n".encode("utf-16"), ReadSpec(), "UTF-16 text"),
    "repeated header names": ("a.csv", b"user,item,user\n1,2,3\n", ReadSpec(), "names 'user' more than once"),
    "ragged rows": (
        "a.csv",
        b"user,item,rating\n1,2,3\n1,2\n1,2,3,4\n",
        ReadSpec(),
        "2 of 3 rows are bad .line 3: 2 fields instead of 3; line 4: 4 fields instead of 3",
    ),
    "first row ragged": (
        "a.csv",
        b"user,item,rating\n1,2\n1,2,3\n",
        ReadSpec(),
        "line 2: 2 fields instead of 3",
    ),
    "binary junk": ("a.csv", np.random.default_rng(0).bytes(5000), ReadSpec(), "the file is binary"),
    "a zip named csv": ("a.csv", b"PK\x03\x04junk", ReadSpec(), "is a zip archive"),
    "a Parquet named csv": ("a.csv", PARQUET + b"\x15\x04", ReadSpec(), "is a Parquet file, not text"),
    "NUL bytes": ("a.csv", b"user,item\n1,2\n3,\x004\n", ReadSpec(), "line 3 holds a NUL byte"),
    "unclosed quotation": (
        "a.csv",
        b'user,item\n1,2\n"3,4\n5,6\n',
        ReadSpec(),
        "a.csv: a quotation mark opened in line 3 is never closed",
    ),
    "unclosed quotation in a file that is copied first": (
        "a.csv",
        b'user::item\n1::2\n"3::4\n5::6\n',
        ReadSpec(),
        "a.csv: a quotation mark opened in line 3 is never closed",
    ),
    "unknown ending": (
        "a.xyz",
        b"user,item\n1,2\n",
        ReadSpec(),
        "files ending in '.xyz' are not known; .*format='csv'",
    ),
    "no ending": ("ratings", b"user,item\n1,2\n", ReadSpec(), "no ending that tells its format"),
    "absent column": (
        "a.csv",
        HEADER.encode() + GOOD.encode(),
        ReadSpec(columns={"user": "usr"}),
        "no column 'usr' .*did you mean 'user'",
    ),
    "absent position": (
        "a.csv",
        HEADER.encode() + GOOD.encode(),
        ReadSpec(columns={"user": 9}),
        "column 9 for the user does not exist",
    ),
    "no known names": (
        "a.csv",
        b"a,b,c\n1,2,3\n",
        ReadSpec(),
        "no column is recognised as the user among 'a', 'b', 'c'",
    ),
    "a user without items": ("a.txt", b"0 1 2 3\n7\n2 5\n", ReadSpec(), "line 2: user '7' has no items"),
    "no items at all": ("a.txt", b"0\n1\n", ReadSpec(format="adjacency"), "no line lists an item"),
    "inter without types": (
        "a.inter",
        b"user_id\titem_id\n1\t2\n",
        ReadSpec(),
        "no type for 'user_id', 'item_id'",
    ),
    "gzip cut short": (
        "a.csv.gz",
        gzip.compress((HEADER + GOOD * 500).encode())[:-12],
        ReadSpec(),
        "gzip file ends early",
    ),
    "gzip in name only": ("a.csv.gz", b"user,item\n1,2\n", ReadSpec(), "the name says gzip"),
    "gzip damaged": ("a.csv.gz", b"\x1f\x8b\x08\x00" + b"\xff" * 50, ReadSpec(), "gzip file is damaged"),
    "ids all empty": (
        "a.csv",
        b"user,item\n,\n , \n",
        ReadSpec(skip_bad_rows=True),
        "none of the 2 rows .*user id is empty",
    ),
    "no events": (
        "a.csv",
        b"user,item\n1,2\n",
        ReadSpec(event_weights="inverse_frequency"),
        "no event column",
    ),
    "unknown event": (
        "a.csv",
        b"user,item,event\n1,2,view\n",
        ReadSpec(event_weights={"buy": 2}),
        "event 'view' has no weight",
    ),
    "numbers as dates": (
        "a.csv",
        HEADER.encode() + GOOD.encode(),
        ReadSpec(time="iso"),
        "neither numbers nor ISO dates",
    ),
    "fractions as positions": (
        "a.csv",
        b"user,item,time\n1,2,0.5\n1,3,1\n",
        ReadSpec(time="position"),
        "'0.5' is not a whole number",
    ),
}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    monkeypatch.setenv("RECASSAY_HOME", str(home))
    return home


def assert_refused(source: object, spec: ReadSpec, told: str) -> None:
    """Reading and importing raise the same single line; the cache stays empty."""
    with pytest.raises(InputError, match=told) as caught:
        read_interactions(source, spec)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2
    with pytest.raises(InputError, match=told):
        import_dataset(source, "broken", spec)
    assert list_datasets() == []
    assert not datasets_folder().exists()


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_files_are_refused(tmp_path: Path, kind: str) -> None:
    name, content, spec, told = BROKEN[kind]
    path = tmp_path / name
    path.write_bytes(content)
    assert_refused(path, spec, told)


def test_truncated_parquet(tmp_path: Path) -> None:
    whole = small_parquet(tmp_path)
    path = tmp_path / "a.parquet"
    for content in (whole[:-20], whole[: len(whole) // 2], b"PAR1", whole[:4] + b"\xff" * 40 + whole[44:]):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"Parquet file is damaged|parquet data cannot be read"):
            read_interactions(path)
    assert not datasets_folder().exists()


def test_missing_file_and_folder(tmp_path: Path) -> None:
    assert_refused(tmp_path / "none.csv", ReadSpec(), "no such file")
    assert_refused(tmp_path, ReadSpec(), "this is a folder")


def test_a_gzip_that_expands_too_far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recassay.data.packed.MOST_COST", 1 << 20)
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress((HEADER + GOOD * 500_000).encode()))
    assert_refused(path, ReadSpec(), "reading them would take about .*if you trust it, save it as plain text")


def test_mixed_ids_are_text_and_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("user,item\n1,a\nbob,7\n")
    inside = read_interactions(path).interactions
    assert inside.users.to_list() == ["1", "bob"]
    assert inside.items.to_list() == ["7", "a"]


def test_skipped_rows_are_counted_and_shown(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    bad = "9,9,x,881250949\n8,8\n,3,4,881250949\n7,7,1,-3\n6,6,nan,1\n5,,1,881250949\n"
    path.write_text(HEADER + GOOD + bad + "1,4,2,881250950\n")
    result = read_interactions(path, ReadSpec(skip_bad_rows=True))
    assert (result.record.rows, result.record.bad, result.record.kept) == (8, 6, 2)
    assert [row.line for row in result.record.bad_rows] == [3, 4, 5, 6, 7]
    assert result.interactions.users.to_list() == [1]
    assert result.interactions.items.to_list() == [2, 4]
    assert result.interactions.item.tolist() == [0, 1]
    with pytest.raises(InputError, match=r"6 of 8 rows are bad .*and 1 more.*skip_bad_rows"):
        read_interactions(path)


def test_of_several_faults_of_a_row_that_of_its_ids_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("stars,user,item\nx,,5\ny,3,\nz,4,6\n1,2,3\n")
    result = read_interactions(path, ReadSpec(columns={"rating": "stars"}, skip_bad_rows=True))
    assert [row.reason for row in result.record.bad_rows] == [
        "user id is empty", "item id is empty", "rating 'z' is not a number",
    ]  # fmt: skip


def test_bad_rows_of_a_frame_are_counted_from_one() -> None:
    frame = pl.DataFrame({"user": [1, None, 3], "item": [1, 2, 3], "rating": [1.0, 2.0, float("nan")]})
    with pytest.raises(InputError, match=r"2 of 3 rows are bad \(row 2: user id is empty; row 3: rating nan"):
        read_interactions(frame)
    kept = read_interactions(frame, ReadSpec(skip_bad_rows=True)).interactions
    assert kept.users.to_list() == [1]


def test_line_numbers_far_into_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(textfile, "CHUNK", 1 << 12)
    path = tmp_path / "a.csv"
    rows = [f"{row},{row % 7},1,{881250949 + row}\n" for row in range(5000)]
    rows[3000] = '"a\nb",2,1,881250949\n'
    rows[4000] = "4000,3,1\n"
    rows[4500] = "4500,3,bad,881250949\n"
    path.write_text(HEADER + "".join(rows))
    with pytest.raises(InputError, match=r"line 4003: 3 fields instead of 4; line 4503: rating 'bad'"):
        read_interactions(path)
    kept = read_interactions(path, ReadSpec(skip_bad_rows=True))
    assert (kept.record.rows, kept.record.kept) == (5000, 4998)


def test_a_quotation_mark_that_takes_the_rest_of_a_long_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(textfile, "CHUNK", 64)
    monkeypatch.setattr(layout, "LONGEST_LINE", 200)
    path = tmp_path / "a.csv"
    path.write_text(HEADER + GOOD * 10 + '"1' + GOOD * 30 + '"1,2,3,881250949\n')
    with pytest.raises(InputError, match="a quotation mark opened in line 12 is never closed; close or remove it"):
        read_interactions(path)
    path.write_text(HEADER + GOOD * 5 + '"1' + GOOD * 30)
    for chunk in (64, 4096):  # the mark is followed by other pieces, or by the rest of its own
        monkeypatch.setattr(textfile, "CHUNK", chunk)
        with pytest.raises(InputError, match="a quotation mark opened in line 7 is never closed"):
            read_interactions(path)
    monkeypatch.setattr(textfile, "CHUNK", 64)
    monkeypatch.setattr(textfile, "LONGEST_LINE", 20)
    path.write_text(HEADER + "1" * 100 + ",2,3,881250949\n")
    with pytest.raises(InputError, match="a line is longer than 128 MB; check that it is a table"):
        read_interactions(path)


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"user": [1.5, 2.0], "item": [1, 2]}, "user ids are fractional"),
        ({"user": [[1], [2]], "item": [1, 2]}, "user ids are of type List"),
        ({"user": [1, 2], "item": [1, 2], "rating": [[1], [2]]}, "ratings are of type List"),
        ({"user": [1, 2], "item": [1, 2], "time": [True, False]}, "timestamps are of type Boolean"),
        ({"user": [], "item": []}, "columns and no row"),
    ],
)
def test_frames_of_the_wrong_type(columns: dict[str, list[object]], told: str) -> None:
    assert_refused(pl.DataFrame(columns), ReadSpec(), told)


@pytest.mark.slow
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_bytes_are_read_or_refused_in_one_line(tmp_path: Path, data: st.DataObject) -> None:
    pieces = [
        b"user",
        b"item",
        b"1",
        b"2",
        b"x",
        b",",
        b"\t",
        b" ",
        b"::",
        b"\n",
        b"\r\n",
        b'"',
        b"\xff",
        b"\0",
        b"nan",
    ]
    text = data.draw(st.lists(st.sampled_from([*pieces, b"881250949", b"2020-01-01", b":token"]), max_size=40))
    name = data.draw(st.sampled_from(["a.csv", "a.dat", "a.txt", "a.inter", "a.parquet", "a.csv.gz"]))
    path = tmp_path / name
    path.write_bytes(b"".join(text))
    skip = data.draw(st.booleans())
    refusal = ""
    try:
        result = read_interactions(path, ReadSpec(skip_bad_rows=skip))
    except InputError as error:
        refusal = str(error)
    if refusal:
        assert "\n" not in refusal
        assert len(refusal) < 1500
    else:
        assert 0 < len(result.interactions) <= result.record.rows
        assert result.record.bad == 0 or skip
        assert set(result.interactions.user.tolist()) == set(range(result.interactions.n_users))


def test_values_of_sixty_letters_are_shown_whole() -> None:
    assert brief("x" * 58) == "'" + "x" * 58 + "'"
    assert brief("x" * 59) == "'" + "x" * 49 + "...'"


def test_a_huge_cell_is_cut_in_the_message(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("user,item,rating\n1,2," + "x" * 100_000 + "\n1,3,4\n")
    with pytest.raises(InputError, match=r"line 2: rating 'x+\.\.\.' is not a number") as caught:
        read_interactions(path)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("text", "options", "told"),
    [
        ("1,2\n", {"columns": {"user": 0, "item": 2}}, "column 2 for the item does not exist; there are 2; count"),
        ("1,2\n", {"columns": {"user": 0, "item": -1}}, "column -1 for the item does not exist"),
        ("1,2,3\n", {"columns": {"rating": 1}}, "no column is recognised as the item among '0', '1', '2'"),
        ("user,item\n1,2,3\n", {}, "its only row cannot be used (line 2: 3 fields instead of 2); check the format"),
        ("user,item\n", {}, "there is a header and no row"),
        ("user,item\n1,2\n", {"columns": {"user": "usr"}}, "no column 'usr' for the user; did you mean 'user'?"),
        ("user,item,uid\n1,2,3\n", {}, "'user', 'uid' could each be the user; choose one: columns={'user': 'user'}"),
        ("user,item\n1,2\n", {"delimiter": ""}, "'' is not a delimiter; give one character, or '::'"),
        ("user,item\n1,2\n", {"delimiter": ",\n"}, "is not a delimiter"),
        ("user,item\n1,2\n", {"event_weights": {"a": 1}}, "event weights are asked for and no event column is found"),
        ("user_id:token\titem_id\n1\t2\n", {"format": "inter"}, "the .inter header gives no type for 'item_id'"),
        ("user_id:token\titem_id:text\n1\t2\n", {"format": "inter"}, "gives no type for 'item_id:text'"),
        ("user,item,timestamp\n1,2,9e15\n2,2,9e15\n", {}, "around 9000000000000000 are neither s, ms, us nor ns"),
        ("user,item,timestamp\n1,2,1e16\n2,2,1600000000\n3,2,1600000000\n", {}, "is a float beyond 2^53, which"),
        ("user,item,timestamp\n1,2,1.5\n2,2,2\n", {"time": "position"}, "timestamp '1.5' is not a whole number"),
        ("user,item,timestamp\n1,2,soon\n2,2,late\n", {}, "timestamps like 'soon' are neither numbers nor ISO dates"),
        ("user,item\na,2\n  ,2\n", {}, "1 of 2 rows are bad (line 3: user id is empty); mend them"),
        ("user,item,rating\n1,2,1e39\n2,2,3\n", {}, "line 2: rating '1e39' is beyond the range of float32"),
        ("user,item,rating\n1,2,-1e39\n2,2,3\n", {}, "line 2: rating '-1e39' is beyond the range of float32"),
        ("user,item,rating\n1,2,inf\n2,2,3\n", {}, "line 2: rating 'inf' is not finite"),
        ("user,item,rating\n1,2,x\n2,2,y\n", {}, "none of the 2 rows can be used (line 2: rating 'x' is not a number"),
    ],
)  # fmt: skip
def test_each_refusal_says_what_and_where(tmp_path: Path, text: str, options: dict[str, object], told: str) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(text)
    with pytest.raises((InputError, UsageError)) as refused:
        read_interactions(path, ReadSpec.model_validate(options))
    assert told in str(refused.value)
    assert refused.type is UsageError or str(refused.value).startswith(f"{path}: ")


def test_a_column_without_any_id() -> None:
    frame = pl.DataFrame({"user": [None, None], "item": [1, 2]}, schema={"user": pl.Int64, "item": pl.Int64})
    with pytest.raises(
        InputError, match=r"none of the 2 rows can be used \(row 1: user id is empty; row 2: user id is"
    ):
        read_interactions(frame)


def test_dates_are_asked_for_and_are_numbers() -> None:
    frame = pl.DataFrame({"user": [1], "item": [1], "timestamp": [1600000000]})
    with pytest.raises(InputError, match="the timestamps are numbers, not dates; say time='auto' or the unit"):
        read_interactions(frame, ReadSpec(time="iso"))
    with pytest.raises(UsageError, match="interactions cannot be read from a dict; give a path, a polars or pandas"):
        read_interactions({"user": [1]})
