"""Whole files and whole rows: every member of a gzip file is read, and a row ends at a line's end alone."""

from __future__ import annotations

import gzip
import io

import polars as pl
import pytest

from recassay.core.errors import InputError
from recassay.core.system.lines import lines_of
from recassay.data.classification.table import read_class_table
from recassay.data.tables.read import read_table
from recassay.data.tables.responses import read_responses

ODD_ENDS = ("\x85", "\u2028", "\u2029", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e")
"""Where `str.splitlines` cuts, and no table does."""


def _members(*texts: str) -> bytes:
    return b"".join(gzip.compress(text.encode(), mtime=0) for text in texts)


def test_a_gzip_of_several_members_is_read_to_its_end(tmp_path, cli):
    rows = [f"{a},{d},ndcg@10,{0.1 * i + 0.01 * j}\n" for j, d in enumerate("PQRS") for i, a in enumerate("ABC")]
    path = tmp_path / "results.csv.gz"
    path.write_bytes(_members("algorithm,dataset,metric,value\n", "".join(rows[:6]), "".join(rows[6:])))
    ran = cli("rank", path, "--json")
    assert ran.code == 0
    assert read_table(path, empty_fix="")[0].height == 12
    answers = tmp_path / "answers.csv.gz"
    answers.write_bytes(_members("who,a,b\nann,1,0\n", "bob,0,1\n"))
    assert read_responses(answers).respondents == ("ann", "bob")
    classes = tmp_path / "classes.csv.gz"
    classes.write_bytes(_members("x,class\n", "1,p\n" * 6, "2,q\n" * 6))
    assert read_class_table(classes).features.height == 12


@pytest.mark.parametrize(
    ("tail", "words"),
    [
        (b"garbage", "member 2"),
        (gzip.compress(b"more", mtime=0)[:-3], "not a whole gzip file"),
        (b"\x1f\x8b", "gzip file"),
    ],
)
def test_what_follows_the_first_member_is_a_member_or_refused(tmp_path, tail, words):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(_members("a,b\n1,2\n") + tail)
    with pytest.raises(InputError, match=words):
        read_table(path, empty_fix="")


def test_zeros_may_pad_a_gzip_file(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(_members("a,b\n1,2\n") + bytes(512))
    assert read_table(path, empty_fix="")[0].rows() == [("1", "2")]


@pytest.mark.parametrize("ending", [".gz", ".GZ"])
def test_a_packed_file_is_what_its_ending_says_in_capitals_too(tmp_path, ending):
    frame = pl.DataFrame({"x": [1.0, 2.0] * 6, "class": ["p", "q"] * 6})
    stream = io.BytesIO()
    frame.write_parquet(stream)
    rows = "".join(f"{x},{kind}\n" for x, kind in frame.rows())
    arff = f"@attribute x numeric\n@attribute class {{p,q}}\n@data\n{rows}".encode()
    for name, content in (("t.Parquet", stream.getvalue()), ("T.ARFF", arff)):
        path = tmp_path / f"{name}{ending}"
        path.write_bytes(gzip.compress(content))
        assert read_class_table(path).features.rows() == frame.select("x").rows()


@pytest.mark.parametrize("mark", ODD_ENDS)
def test_a_row_does_not_end_at_other_characters(tmp_path, mark):
    path = tmp_path / "answers.csv"
    path.write_text("who,a,b\n" + "".join(f"p{n}{mark}x,1,0\n" for n in range(12)), encoding="utf-8", newline="")
    assert read_responses(path).respondents == tuple(f"p{n}{mark}x" for n in range(12))
    assert lines_of(f"a{mark}b\rc\r\nd\n") == [f"a{mark}b", "c", "d"]


@pytest.mark.parametrize("mark", ODD_ENDS)
def test_a_results_table_keeps_its_rows(tmp_path, mark, cli):
    rows = [f"A{i}{mark}x,D{j},ndcg@10,{0.1 * i + 0.01 * j}\n" for j in range(3) for i in range(3)]
    path = tmp_path / "results.csv"
    path.write_text("algorithm,dataset,metric,value\n" + "".join(rows), encoding="utf-8", newline="")
    ran = cli("rank", path, "--json")
    assert ran.code == 0, ran.err
    assert all(len(ranks) == 3 for ranks in ran.json()["ranks"].values())
