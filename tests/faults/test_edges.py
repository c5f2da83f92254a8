"""Small things at the edges that a third audit found: each test failed on the state before."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import zipfile

import pytest

import recassay
from recassay.core.errors import InputError
from recassay.data.download.unpack import unpack
from support.classify import write_study, write_tables
from support.fault_files import EVENTS, GOOD, STUDY


@pytest.mark.slow
def test_values_next_to_zero_leave_no_warnings_of_numpy_on_the_screen(tmp_path):
    """1 / 1e-320 is infinite."""
    place = tmp_path / "results.csv"
    rows = [f"{a},d{d},ndcg@10,{1e-320 * n * (d + 1):g}" for n, a in enumerate("ABC", 1) for d in range(5)]
    place.write_text("algorithm,dataset,metric,value\n" + "\n".join(rows))
    command = [sys.executable, "-m", "recassay", "rank", str(place), "-m", "ndcg@10"]
    ran = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONWARNINGS": ""})
    assert (ran.returncode, "Warning" in ran.stderr) == (0, False), ran.stderr


def test_a_cluster_that_does_not_answer_leaves_no_folder(tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("recassay.runner.cluster.CONNECT_SECONDS", 0.2)
    (tmp_path / "events.csv").write_text(EVENTS)
    (tmp_path / "study.toml").write_text(STUDY)
    with pytest.raises(InputError, match="no Dask scheduler answers"):
        recassay.run(tmp_path / "study.toml", tmp_path / "out", cluster="tcp://127.0.0.1:9")
    assert not (tmp_path / "out").exists()


def test_the_table_of_a_paper_loads_nothing_from_elsewhere(tmp_path):
    place = tmp_path / "results.csv"
    place.write_text(GOOD.replace("EASE", "<img src=//x.org/a>"))
    recassay.paper(place, out=tmp_path / "paper")
    pages = [page.read_text() for page in (tmp_path / "paper").rglob("*.html")]
    policy = '<meta http-equiv="Content-Security-Policy" content="default-src &#x27;none&#x27;'
    assert pages
    assert all(policy in page and "<img" not in page for page in pages)


def test_the_catalogue_says_which_downloads_the_first_fetch_pins(cli):
    rows = {row["name"]: row.get("checksum") for row in recassay.list_data(everything=True)}
    assert set(rows.values()) == {"publisher", "first fetch", None}
    pinned, held = (sum(value in kinds for value in rows.values()) for kinds in
                    (("first fetch",), ("first fetch", "publisher")))  # fmt: skip
    said = " ".join(cli("data", "list", "--all").out.split())
    assert f"{pinned} of {held} downloads have no checksum of their publisher: the first fetch is trusted" in said


@pytest.mark.slow
def test_a_study_of_classifiers_with_a_failed_one_ends_with_1(tmp_path, cli):
    write_tables(tmp_path, "one")
    write_study(tmp_path, datasets='"one.csv"', classifiers='"./mine.py:Raises", "./mine.py:Nearest"')
    ran = cli("run", tmp_path / "study.toml", "--out", tmp_path / "out", "-j", 1)
    assert ran.code == 1
    assert "1 respondents have" not in ran.out + ran.err


def test_a_zip_that_lost_its_beginning_is_damaged(tmp_path):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("a.csv", "1" * 500)
    (tmp_path / "cut.zip").write_bytes(b"PK\x03\x04" + content.getvalue()[200:])
    with pytest.raises(InputError, match="the archive is damaged"):
        unpack(tmp_path / "cut.zip", tmp_path / "out")
