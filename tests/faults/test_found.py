"""What once broke a door, found by `benchmarks/fuzz.py`: each is one line now, and nothing else."""

from __future__ import annotations

import json
import os
import re
import sys

import pytest

import recassay
from recassay.core.errors import InputError
from recassay.core.system.parquet import panics_as_errors
from support.doors import DOORS, columns, sheets, split_parts, workbook
from support.fuzzing import attempt


def _byte(content: bytes, at: int, value: int) -> bytes:
    changed = bytearray(content)
    changed[at] = value
    return bytes(changed)


def _json(content: bytes, **changes: object) -> bytes:
    return json.dumps({**json.loads(content), **changes}).encode()


def _rank(content: bytes, value: object) -> bytes:
    """The predictions with another rank in their third row."""
    columns = json.loads(content)
    return _json(content, rank={**columns["rank"], "2": value})


FOUND = {
    "a Parquet file whose parts overlap": ("Parquet", "results.parquet", lambda b: _byte(b, -526, 255), "Parquet"),
    "a Parquet file that promises other rows": ("Parquet", "results.parquet", lambda b: _byte(b, -534, 0), "Parquet"),
    "a workbook with a string that is not there": (
        "sheets", "xl/sharedStrings.xml", lambda b: b.replace(b"<si>", b"<so>"), "not a readable .xlsx workbook",
    ),
    "a workbook of an unknown encoding": (
        "sheets", "xl/workbook.xml", lambda b: b.replace(b"UTF-8", b"UTF-1.5"), "not a readable .xlsx workbook",
    ),
    "a cell's settings cut short": ("store", "cells/1/spec", lambda b: b[:-1], "the store is damaged: spec of a row"),
    "a cell's files as a list": ("store", "cells/1/files", lambda b: b"[]", "the store is damaged: files of a row"),
    "a cell's settings without a depth": (
        "store", "cells/1/spec", lambda b: b.replace(b'"depth"', b'"width"'), "of ItemKNN on more is not what was",
    ),
    "a cell's energy without joules": (
        "store", "cells/1/energy", lambda b: _json(b, joules=[]), "the row of ItemKNN on more is not what was written",
    ),
    "metrics that are not names": (
        "store", "plan/1/metrics", lambda b: b'[[], "ndcg@10"]', "the store is damaged: metrics of a row",
    ),
    "half of a character among metrics": (
        "store", "plan/1/metrics", lambda b: b'["ndcg@10", "\\ud800"]', "the store is damaged: metrics of a row",
    ),
    "a split of a name that no folder has": (
        "store", "cells/1/split", lambda b: b"9" * 5000, "the row of ItemKNN on more is not what was written",
    ),
    "metrics that are not list": ("store", "plan/1/metrics", lambda b: b"3", "the store is damaged: metrics of a row"),
    "a manifest with another budget": (
        "study folder", "manifest.json", lambda b: b.replace(b"memory_gb", b"memory_mb"),
        "the manifest is not what was written",
    ),
    "a manifest nested without end": ("study folder", "manifest.json", lambda b: b"[" * 50_000, "missing or damaged"),
    "a journal with another confidence": (
        "study folder", "adaptive.json", lambda b: b.replace(b"0.95", b"0.05"), "the adaptive run is damaged",
    ),
    "a split's files without a part": (
        "split folder", "split.json", lambda b: b.replace(b'"valid"', b'"value"'), "is damaged",
    ),
    "a list among ranks": (
        "lists of other tools", "lists/omnirec_predictions.json", lambda b: _rank(b, []), "the rank column holds []",
    ),
    "records of which objects differ": (
        "lists of other tools", "helm/per_instance_stats.json",
        lambda b: re.sub(rb'"name": \{\s+"name": "num_references",\s+"split": "test"\s+\}', b'"name": []', b, count=1),
        "holds lists or objects in some rows",
    ),
    "records of which one holds a list": (
        "lists of other tools", "ir_measures/toyb/itemknn.jsonl",
        lambda b: b.replace(b'"value": 0.0}', b'"value": [1]}', 1), "holds lists or objects in some rows",
    ),
    "a printed table whose column is a truth value": (
        "results", "good.csv", lambda b: b"{true: [[1]], 'submitted_ids': [{}]}", "no column",
    ),
    "a split's checksum gone": ("split folder", "split.json", lambda b: _json(b, files=3), "is damaged"),
    "a split's rule unknown": ("split folder", "split.json", lambda b: _json(b, repeated={"name": "x"}), "is damaged"),
}  # fmt: skip


@pytest.mark.parametrize("what", FOUND)
def test_what_once_broke_a_door_is_one_line(what, tmp_path, capfd):
    door, name, change, words = FOUND[what]
    before = DOORS[door].seeds()[name]
    after = change(before)
    assert after != before
    said = attempt(DOORS[door], tmp_path, name, after)
    assert words in said
    assert "panicked" not in capfd.readouterr().err


def test_a_workbook_of_a_long_table_is_read(tmp_path):
    (tmp_path / "long.xlsx").write_bytes(workbook(sheets()))
    assert recassay.load_results(tmp_path / "long.xlsx").frame.height == 20


def test_what_others_say_while_a_file_is_read_is_kept(capfd):
    with panics_as_errors():
        print("working", file=sys.stderr, flush=True)
        os.write(2, b"still working\n")
    assert capfd.readouterr().err == "working\nstill working\n"


def test_a_file_is_read_where_standard_error_is_closed(tmp_path):
    (tmp_path / "a.parquet").write_bytes(columns()["results.parquet"])
    kept = os.dup(2)
    os.close(2)
    try:
        assert recassay.load_results(tmp_path / "a.parquet").frame.height == 20
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def test_a_manifest_of_an_older_version_has_no_seal_and_is_read(tmp_path):
    from recassay.store.store import Store

    with Store.open(tmp_path, create=True) as store:
        store.set_plan([], {"study": {"name": "films"}})
        assert store.manifest() == {"study": {"name": "films"}}
        (tmp_path / "manifest.json").write_text('{"study": {"name": "songs"}}')
        assert store.manifest() == {"study": {"name": "songs"}}
        (tmp_path / "manifest.json").write_text('{"study": {"name": "songs"}, "seal": "0"}')
        with pytest.raises(InputError, match="not what was written"):
            store.manifest()


def test_a_written_split_is_still_itself(tmp_path):
    assert attempt(DOORS["split folder"], tmp_path, "split.json", split_parts()["split.json"]) == ""
