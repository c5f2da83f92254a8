"""Small files that would never end, and names that look alike: refused in one line or read, within the budget."""

from __future__ import annotations

import gzip
import io
import sqlite3
import time
import unicodedata
import zipfile

import polars as pl
import pytest
from tests.support.small_tables import PLAIN_SHEET, SMALL_TABLES, book

from recassay import RecAssayError, load_results
from recassay.data.tables.characteristics import read_properties
from recassay.data.tables.html import html_grids

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def workbook(rows: str, sheets: int = 1, more: str = "") -> bytes:
    stream = io.BytesIO()
    listed = "".join(f'<sheet name="s{i}" sheetId="{i}" r:id="r1"/>' for i in range(1, sheets + 1))
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{listed}</sheets></workbook>',
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            '<Relationships xmlns="x"><Relationship Id="r1" Target="worksheets/sheet1.xml"/></Relationships>',
        )
        archive.writestr(
            "xl/worksheets/sheet1.xml", f'<worksheet xmlns="{_MAIN}"><sheetData>{rows}</sheetData>{more}</worksheet>'
        )
    return stream.getvalue()


def database() -> bytes:
    connection = sqlite3.connect(":memory:")
    connection.executescript(
        "create table studies(study_id, study_name generated always as (hex(zeroblob(200000000))));"
        "create table study_directions(study_id, direction, objective); create table trials(study_id, trial_id, state);"
        "create table trial_values(trial_id, objective, value); insert into studies(study_id) values (1);"
    )
    return connection.serialize()


def _tex(body: str) -> str:
    return f"\\begin{{tabular}}{{lrr}}{body}\\end{{tabular}}"


_MERGED = '<mergeCell ref="A1:CV100"/>'
_CELL = '<c t="inlineStr"><is><t>x</t></is></c>'
HOSTILE = {
    "empty cells.xlsx": lambda: workbook(f"<row>{'<c/>' * 1000}</row>" * 4000),
    "merged cells.xlsx": lambda: workbook(
        f"<row>{_CELL * 3}</row>", more=f"<mergeCells>{_MERGED * 300_000}</mergeCells>"
    ),
    "sheets on one part.xlsx": lambda: workbook(f"<row>{_CELL * 100}</row>" * 500, sheets=20_000),
    "far corner.xlsx": lambda: workbook(f'<row>{_CELL}</row><row><c r="XFD1048576"><v>1</v></c></row>'),
    "open braces.log": lambda: "test result: {" + "{" * 100_000,
    "nested braces.log": lambda: "test result: {" + "{" * 50_000 + "}" * 50_000,
    "arguments.tex": lambda: _tex("{}" * 500_000),
    "blanks.tex": lambda: _tex("a & 1 & 2 \\\\" + " " * 300_000 + "x"),
    "blank lines.tex": lambda: _tex("a & 1 & 2 \\\\" + "\n" * 150_000 + "x"),
    "spans.html": lambda: "<table>" + "<tr><td colspan=1000 rowspan=1000>1</td></tr>" * 1000 + "</table>",
    "odd spans.html": lambda: f"<table><tr><td colspan='²'>1</td><td colspan={'9' * 5000}>1</td></tr></table>",
    "pipes.md": lambda: "|" * 300_000 + "\n" + "|-" * 300_000 + "\n" + "|1" * 300_000,
    "columns.csv": lambda: "model," + ",".join(f"d{i}" for i in range(200_000)) + "\na" + ",1" * 200_000,
    "blank lines.csv": lambda: "model,dataset,value\n" + "\n" * 1_000_000,
    "cut lines.csv": lambda: "model," + ",".join(f"d{i}" for i in range(999)) + "\n" + "a\n" * 5000,
    "generated column.db": database,
    "surrogate.json": lambda: '[{"model": "\\ud800", "dataset": "x", "ndcg@10": 0.1}]',
    "deep.json": lambda: "[" * 100_000,
    "deep braces.json": lambda: '{"a":' * 100_000,
    "one key twice.json": lambda: "{" + "".join(f'"k{i}": 1, ' for i in range(50_000)) + '"k49999": 1}',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_small_file_ends_within_its_budget(name, tmp_path):
    content = HOSTILE[name]()
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    began = time.process_time()
    said = {"format": "recbole"} if name.endswith(".log") else {}
    with pytest.raises(RecAssayError) as error:
        load_results(path, **said)
    assert time.process_time() - began < 3 + 2 * path.stat().st_size / 1e6
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 2000


@pytest.mark.parametrize("kind", ["parquet", "csv", "frame"])
def test_names_are_kept_as_they_are(kind, tmp_path):
    names = ["EASE <a>", "EASE <b>", "ease <a>"]
    frame = pl.DataFrame({"model": names, "dataset": ["x"] * 3, "ndcg@10": [0.1, 0.2, 0.3]})
    source = frame
    if kind != "frame":
        source = tmp_path / f"t.{kind}"
        frame.write_parquet(source) if kind == "parquet" else frame.write_csv(source)
    results = load_results(source)
    assert results.algorithms == sorted(names)
    assert any("'EASE <a>', 'ease <a>' look alike and were kept as 2 algorithms" in note for note in results.notes)


def test_two_encodings_of_one_name_are_told():
    names = [unicodedata.normalize(form, "Modèle") for form in ("NFC", "NFD")]
    frame = pl.DataFrame({"model": names, "dataset": ["x"] * 2, "ndcg@10": [0.1, 0.2]})
    assert any("look alike" in note for note in load_results(frame).notes)


def test_limits_are_those_that_are_named(tmp_path, monkeypatch):
    """At a limit a file is read, one beyond it is refused with its numbers."""
    text = "algorithm,dataset,metric,value\nA,x,ndcg@10,0.1\nB,x,ndcg@10,0.2\n"
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text(text.replace("x", name))

    def refusal(limit, least, source, call=load_results):
        monkeypatch.setattr(limit, least)
        call(source)
        monkeypatch.setattr(limit, least - 1)
        with pytest.raises(RecAssayError) as error:
            call(source)
        monkeypatch.undo()
        return error.value.what

    path = tmp_path / "a.csv"
    read = "recassay.data.tables.read"
    assert refusal("recassay.data.importers.load.MOST_FILES", 2, tmp_path) == "holds more than 1 files"
    assert refusal(f"{read}.MOST_COLUMNS", 4, path) == "has 4 columns, and 3 is the limit"
    assert refusal(f"{read}.MAX_BYTES", path.stat().st_size, path) == f"has {path.stat().st_size} bytes"
    assert refusal("recassay.data.tables.grid.MOST_COLUMNS", 4, path) == "has 4 columns, and 3 is the limit"
    assert refusal("recassay.data.importers.opened.MOST_BYTES", path.stat().st_size, path) == (
        f"has {path.stat().st_size} bytes"
    )
    properties = tmp_path / "p.csv"
    properties.write_text("dataset,users\nx,1\ny,2\nz,3\n")
    assert refusal(f"{read}.MOST_PROPERTIES", 2, properties, read_properties) == "has 2 columns, and 1 is the limit"
    assert refusal(f"{read}.MOST_DATASETS", 3, properties, read_properties) == "has 3 rows, and 2 is the limit"


def test_limits_of_a_workbook_are_those_that_are_named(tmp_path, monkeypatch):
    path = tmp_path / "films.xlsx"
    path.write_bytes(book(PLAIN_SHEET, PLAIN_SHEET))
    with zipfile.ZipFile(path) as archive:
        size = sum(info.file_size for info in archive.infolist())
    limits = "recassay.data.tables.workbook"
    for limit, least, what in (
        ("MOST_SHEETS", 2, "has more than 1 sheets"),
        ("MOST_CELLS", 12, "has more than 11 cells"),
        ("MOST_BYTES", size, "xl/worksheets/s2.xml unpacks to more than the limit for a file of this size"),
    ):
        monkeypatch.setattr(f"{limits}.{limit}", least)
        assert load_results(path).datasets == ["d1", "d2"]
        monkeypatch.setattr(f"{limits}.{limit}", least - 1)
        with pytest.raises(RecAssayError) as error:
            load_results(path)
        assert error.value.what == what
        monkeypatch.undo()


def test_merged_cells_of_a_workbook_count(tmp_path, monkeypatch):
    """Ten cells, two that are merged over two places each, and fifty for every merge."""
    (content,) = SMALL_TABLES["merged cells of a workbook"][0].values()
    (tmp_path / "films.xlsx").write_bytes(content)
    monkeypatch.setattr("recassay.data.tables.workbook.MOST_CELLS", 10 + 2 * 50 + 2 * 2)
    assert load_results(tmp_path / "films.xlsx").datasets == ["d1", "d2"]
    monkeypatch.setattr("recassay.data.tables.workbook.MOST_CELLS", 10 + 2 * 50 + 2 * 2 - 1)
    with pytest.raises(RecAssayError, match="has more than 113 cells; save its results as CSV"):
        load_results(tmp_path / "films.xlsx")


def test_a_gzip_file_unpacks_to_less_than_its_limit(tmp_path, monkeypatch):
    path = tmp_path / "a.csv.gz"
    text = b"algorithm,dataset,metric,value\nA,x,ndcg@10,0.1\nB,x,ndcg@10,0.2\n" + b"\n" * 500
    path.write_bytes(gzip.compress(text))
    monkeypatch.setattr("recassay.data.tables.read.MAX_BYTES", len(text) + 1)
    assert load_results(path).algorithms == ["A", "B"]
    more = gzip.compress(b"C,x,ndcg@10,0.3\n" * 100)
    for limit, further in ((len(text) - 1, b""), (len(text) - 1, more), (len(text), more)):
        monkeypatch.setattr("recassay.data.tables.read.MAX_BYTES", limit)
        path.write_bytes(gzip.compress(text) + further)
        with pytest.raises(RecAssayError, match=f"packed bytes hold more than {limit};"):
            load_results(path)


def test_merged_cells_of_all_tables_of_a_page_count_together():
    table = f"<table>{'<tr><td colspan=1000>x</td></tr>' * 15}</table>"
    assert [len(grid) for grid in html_grids(table)] == [15]
    with pytest.raises(RecAssayError, match="its merged cells spread to more cells than a text of its size may"):
        html_grids(table * 2)
