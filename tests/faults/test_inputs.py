"""Every command meets bad input with one line and its exit code: the table `inputs.tsv`, all in this process."""

from __future__ import annotations

import csv
import re
import shlex
import signal
import sys
from pathlib import Path

import pytest

from support.doors import study_folder
from support.fault_files import write_files
from support.other_faults import write_others

LIMIT = 60
"""Seconds after which an input counts as one that hangs; most take a tenth of one."""

with (Path(__file__).parent / "inputs.tsv").open(encoding="utf-8", newline="") as _stream:
    TABLE = [(row["command"], int(row["code"]), row["words"]) for row in csv.DictReader(
        _stream, delimiter="\t", quoting=csv.QUOTE_NONE
    )]  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("faults")
    write_files(folder)
    write_others(folder, study_folder())
    return folder


@pytest.fixture(autouse=True)
def _no_hang():
    """A hang is a failure of its own input."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def ring(*_):
        raise TimeoutError(f"no answer in {LIMIT} seconds")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(LIMIT)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes, links and devices of POSIX")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("command", "code", "words"), TABLE, ids=[row[0][:90] for row in TABLE])
def test_a_bad_input_is_one_line(command, code, words, files, tmp_path, cli, monkeypatch):
    monkeypatch.chdir(files)
    monkeypatch.setenv("RECASSAY_HOME", str(tmp_path / "home"))
    arguments = [
        one.replace("{out}", str(tmp_path / "out")).replace("{long}", "n" * 300) for one in shlex.split(command)
    ]
    before = sorted(path.name for path in files.iterdir() if path.name != "__pycache__")
    ran = cli(*arguments)
    assert ran.code == code, ran.err
    lines = ran.err.splitlines()
    assert "Traceback" not in ran.err
    assert "fault of RecAssay" not in ran.err
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", ran.out + ran.err), "raw control characters"
    assert max(map(len, lines), default=0) < 4000, "more than a line of a file"
    if code == 2:
        assert words in ran.err
        told = [line for line in lines if not line.startswith(("note: ", "read: ", "read "))]
        assert len(told) == 1
        assert told[0].startswith("recassay: ")
    after = sorted(path.name for path in files.iterdir() if path.name != "__pycache__")
    assert after == before, "something was left behind"


def test_the_table_is_large_and_of_all_commands():
    commands = {row[0].split()[0] for row in TABLE}
    assert len(TABLE) >= 1050
    assert commands >= {
        "advise", "analyze", "compare", "comper", "data", "demo", "evaluate",
        "import", "irt", "list", "model", "paper", "plan", "rank", "ratings", "reproduce",
        "results", "run", "select", "serve", "split", "status", "strata", "stress", "users",
    }  # fmt: skip
