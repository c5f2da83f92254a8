"""OpenML by id and suite, against a local server that answers as OpenML does."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import polars as pl
import pytest

from recassay.core.errors import InputError, RecAssayError, UsageError
from recassay.data.classification.openml import (
    OpenmlTable,
    _here,
    describe_openml,
    fetch_openml,
    open_class_table,
    openml_id,
    suite_tables,
)

ROWS = "".join(f"{i},{i % 7},'{'red' if i % 3 else 'dark red'}',{'yes' if i % 2 else 'no'}\n" for i in range(40))
ARFF = f"""% recorded by hand
@RELATION toy
@ATTRIBUTE rowid INTEGER
@ATTRIBUTE length REAL
@ATTRIBUTE colour {{red,'dark red'}}
@ATTRIBUTE Class {{no,yes}}
@DATA
{ROWS}""".encode()


class Answers:
    """What the server says, by path; a test changes it, and reads the requests that came."""

    def __init__(self) -> None:
        self.base = ""
        self.pages: dict[str, bytes] = {}
        self.requests: list[str] = []
        self.add_table(61, "toy")
        self.add_table(62, "other")
        study = {"id": "99", "alias": "toys", "data": {"data_id": ["61", "62"]}, "tasks": {"task_id": ["7", "8"]}}
        self.pages["/api/v1/json/study/99"] = json.dumps({"study": study}).encode()

    def add_table(self, number: int, name: str, **changes: object) -> None:
        description = {
            "id": str(number),
            "name": name,
            "version": "1",
            "description": "**Author**: nobody",
            "format": "ARFF",
            "licence": "Public",
            "url": f"https://www.openml.org/data/v1/download/{number}/{name}.arff",
            "file_id": str(number),
            "default_target_attribute": "Class",
            "row_id_attribute": "rowid",
            "status": "active",
            "md5_checksum": hashlib.md5(ARFF, usedforsecurity=False).hexdigest(),
        } | changes
        content = {"data_set_description": {key: value for key, value in description.items() if value is not None}}
        self.pages[f"/api/v1/json/data/{number}"] = json.dumps(content).encode()
        self.pages[f"/data/v1/download/{number}/{name}.arff"] = ARFF


@pytest.fixture
def openml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Answers]:
    answers = Answers()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            answers.requests.append(self.path)
            page = answers.pages.get(self.path)
            body = page if page is not None else b'{"error":{"code":"111","message":"Unknown dataset"}}'
            self.send_response(200 if page is not None else 412)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    answers.base = f"http://127.0.0.1:{server.server_address[1]}"
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("RECASSAY_OPENML", answers.base + "/")
    monkeypatch.setenv("RECASSAY_HOME", str(tmp_path / "home"))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield answers
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_table_by_id_is_described_fetched_verified_and_cached(openml):
    told = describe_openml(61)
    assert (told.name, told.target, told.drop) == ("toy", "Class", ("rowid",))
    table = open_class_table("openml:61")
    assert table.features.columns == ["length", "colour"]
    assert table.numeric == ("length",)
    assert table.target.unique().sort().to_list() == ["no", "yes"]
    assert openml.requests == ["/api/v1/json/data/61", "/data/v1/download/61/toy.arff"]
    assert open_class_table("openml:61", target="colour").target.unique().sort().to_list() == ["dark red", "red"]
    assert len(openml.requests) == 2
    openml.add_table(16, "sixteen", default_target_attribute="colour")
    assert open_class_table("openml:16", drop=["length"]).features.columns == ["Class"]


def test_a_suite_gives_its_tables(openml):
    assert suite_tables(99) == [61, 62]


def test_a_file_with_another_checksum_is_refused_and_not_kept(openml):
    openml.pages["/data/v1/download/61/toy.arff"] = ARFF + b"1,1,red,no\n"
    told = describe_openml(61)
    with pytest.raises(InputError, match=r"the file has md5 .* and the catalog says"):
        fetch_openml(told)
    openml.pages["/data/v1/download/61/toy.arff"] = ARFF
    assert fetch_openml(told).read_bytes() == ARFF


def test_a_cached_file_that_changed_is_refused(openml):
    path = fetch_openml(describe_openml(61))
    path.write_bytes(b"tampered")
    with pytest.raises(InputError, match="remove the file and fetch it again"):
        open_class_table("openml:61")


def test_an_unknown_table_and_odd_answers(openml):
    with pytest.raises(RecAssayError, match=r"the description of openml:7 was not fetched: .*412"):
        describe_openml(7)
    openml.add_table(8, "eight", format="CSV")
    with pytest.raises(InputError, match="openml:8: is stored as CSV"):
        describe_openml(8)
    openml.add_table(9, "nine", md5_checksum=None)
    with pytest.raises(InputError, match="not understood"):
        describe_openml(9)
    openml.add_table(10, "ten", default_target_attribute="a,b")
    with pytest.raises(InputError, match="several targets"):
        describe_openml(10)
    openml.pages["/api/v1/json/study/5"] = b'{"study": {"id": "5"}}'
    with pytest.raises(InputError, match="a suite without tables"):
        suite_tables(5)
    openml.pages["/api/v1/json/data/11"] = b"<html>"
    with pytest.raises(InputError, match="is not JSON"):
        describe_openml(11)


def test_what_a_description_means(openml):
    """The stand-in serves OpenML's own addresses and no others; lists of columns in each of their forms."""
    own = {"url": "https://api.openml.org/data/12?x=1", "md5_checksum": "AB" * 16, "format": "Sparse_ARFF"}
    openml.add_table(
        12, "twelve", **own, row_id_attribute=None, ignore_attribute="a, b,", default_target_attribute=None
    )
    assert describe_openml(12) == OpenmlTable(12, "twelve", None, ("a", "b"), f"{openml.base}/data/12?x=1", "ab" * 16)
    foreign = {"url": "https://example.org/t.arff", "ignore_attribute": ["c", "d "], "row_id_attribute": {}}
    openml.add_table(13, "thirteen", **foreign)
    told = describe_openml(13)
    assert (told.address, told.drop, told.target) == ("https://example.org/t.arff", ("c", "d"), "Class")
    openml.add_table(14, "fourteen", md5_checksum="abc")
    with pytest.raises(InputError, match="OpenML's answer is not understood: the checksum 'abc'; is RECASSAY"):
        describe_openml(14)
    openml.pages["/api/v1/json/study/6"] = b'{"study": {"data": {"data_id": "62"}}}'
    assert suite_tables(6) == [62]
    host = openml.base.removeprefix("http://").replace(":", "-")
    assert fetch_openml(describe_openml(61)).parent.name == host
    openml.add_table(15, "fifteen", row_id_attribute="colour", ignore_attribute="rowid")
    table = open_class_table("openml:15", target="colour", drop=["Class"])
    assert (table.features.columns, table.target.n_unique()) == (["length"], 2)


def test_addresses_stay_as_they_are_unless_another_server_stands_in(monkeypatch):
    files = ["https://data.openml.org/a.arff?x=1", "https://openml.org/b.arff", "https://example.org/c.arff", "c.arff"]
    monkeypatch.delenv("RECASSAY_OPENML", raising=False)
    assert [_here(file) for file in files] == files
    monkeypatch.setenv("RECASSAY_OPENML", "http://127.0.0.1:8000/")
    assert [_here(file) for file in files] == [
        "http://127.0.0.1:8000/a.arff?x=1",
        "http://127.0.0.1:8000/b.arff",
        *files[2:],
    ]


def test_a_file_is_opened_with_what_is_said_of_it(tmp_path):
    rows = "".join(f"{i},{i % 2},{'ab'[i % 2]},{i}.5\n" for i in range(12))
    (tmp_path / "t.csv").write_text("id,code,kind,value\n" + rows)
    said = {"target": "kind", "categorical": ["code"], "drop": ["id"]}
    table = open_class_table("t.csv", **said, base=tmp_path)
    assert dict(table.features.schema) == {"code": pl.String, "value": pl.Float64}
    assert table.target.to_list() == ["a", "b"] * 6


def test_ids_are_numbers():
    assert openml_id("openml:1049") == 1049
    for wrong in ("openml:pc4", "openml:", "openml-suite:-1", "openml:0", "openml:²"):
        with pytest.raises(UsageError, match="has no id"):
            openml_id(wrong)


@pytest.mark.usefixtures("in_process")
def test_a_study_over_a_suite(openml, tmp_path):
    import recassay

    text = '[study]\ndatasets = ["openml-suite:99", "openml:61"]\nclassifiers = ["rand1", "majority"]\n'
    (tmp_path / "study.toml").write_text(text + '[mlps]\ncount = 0\n[dataset.toy]\ndrop = ["colour"]\n')
    record = recassay.classify(tmp_path / "study.toml", tmp_path / "out", workers=1)
    assert (record.done, record.failed) == (4, ())
    found = recassay.load_instances(tmp_path / "out")
    assert [one.dataset for one in found] == ["toy", "other"]
    assert found[0].metadata["NumberOfFeatures"] == 2
    assert found[1].metadata["NumberOfFeatures"] == 3


@pytest.mark.usefixtures("in_process")
def test_a_table_that_cannot_be_fetched_fails_its_cells_alone(openml, tmp_path):
    import recassay

    del openml.pages["/data/v1/download/62/other.arff"]
    text = '[study]\ndatasets = ["openml:61", "openml:62"]\nclassifiers = ["majority"]\n[mlps]\ncount = 0\n'
    (tmp_path / "study.toml").write_text(text)
    record = recassay.classify(tmp_path / "study.toml", tmp_path / "out", workers=1)
    assert record.done == 1
    assert "dataset other: openml:62 was not fetched" in (record.failed[0].reason or "")
