"""Output that nobody reads, that cannot be written or that is closed, and Ctrl-C: quiet, safe, and told in one line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from recassay.store import Store
from support.fault_files import GOOD, STUDY, small_files
from support.run import children_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/dev/full, /proc and signals")


@pytest.fixture
def folder(tmp_path):
    return small_files(tmp_path)


def recassay(folder: Path, *arguments: str, **options):
    command = [sys.executable, "-m", "recassay", *arguments]
    return subprocess.Popen(command, cwd=folder, text=True, **options)


def test_a_reader_that_goes_away_is_no_error(folder):
    running = recassay(folder, "list", "metrics", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    running.stdout.close()
    assert running.stderr.read() == ""
    running.stderr.close()
    assert running.wait(60) == 0


def test_output_to_a_full_disk_is_called_so(folder):
    with Path("/dev/full").open("w") as full:
        running = recassay(folder, "list", "metrics", stdout=full, stderr=subprocess.PIPE)
        said = running.communicate(timeout=60)[1]
    assert running.returncode == 2
    assert said.startswith(
        "recassay: standard output: the answer cannot be written (the disk is full); send it elsewhere"
    )
    assert said.count("\n") == 1


def test_a_study_whose_answer_cannot_be_written_is_whole(folder):
    (folder / "study.toml").write_text(
        '[study]\nname = "full"\ndatasets = ["synthetic:few-items"]\nalgorithms = ["MostPop"]\n'
    )
    with Path("/dev/full").open("w") as full:
        running = recassay(folder, "run", "study.toml", stdout=full, stderr=subprocess.PIPE)
        said = running.communicate(timeout=120)[1]
    assert running.returncode == 2
    assert "files and studies are whole" in said.splitlines()[-1]
    told = recassay(folder, "status", "full", stdout=subprocess.PIPE, stderr=subprocess.PIPE).communicate(timeout=60)[0]
    assert told.startswith("1 of 1 cells done, 0 failed")


@pytest.mark.parametrize("redirected", ["2>/dev/full", "2>&-", "2>&- >&-", "2> >(head -c 1 >/dev/null)"])
def test_losing_stderr_does_not_end_a_study(folder, redirected):
    command = f"{sys.executable} -m recassay run study.toml --out out -j 1 {redirected}"
    subprocess.run(["bash", "-c", command], cwd=folder, stdout=subprocess.DEVNULL, timeout=120, check=True)
    with Store.open(folder / "out") as store:
        assert store.status().done == 1


SLEEPER = """
import time
from recassay.algorithms.baselines import MostPop

class Sleeps(MostPop):
    def fit(self, train, *, rng):
        time.sleep(600)
"""


def test_ctrl_c_is_heard_at_once_and_says_what_is_safe(folder):
    (folder / "sleeps.py").write_text(SLEEPER)
    (folder / "study.toml").write_text(STUDY.replace('["MostPop"]', '["MostPop", "./sleeps.py:Sleeps"]'))
    running = recassay(
        folder, "run", "study.toml", "--out", "out", "-j", "2", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    line = ""
    while "MostPop on events: " not in line:
        line = running.stderr.readline()
        assert line, "it ended"
    time.sleep(0.5)
    running.send_signal(signal.SIGINT)
    said = running.communicate(timeout=20)[1]
    assert running.returncode == 130
    assert "interrupted" in said
    assert "the same command goes on" in said
    assert "Traceback" not in said
    assert children_of(running.pid) == []
    with Store.open(folder / "out") as store:
        assert store.status().done == 1


def test_paths_that_are_not_utf_8(folder):
    odd = os.fsencode(folder) + b"/caf\xe9.csv"
    Path(os.fsdecode(odd)).write_text(GOOD)
    out = os.fsencode(folder) + b"/r\xe9sum\xe9"
    for arguments in ([b"rank", odd], [b"rank", odd, b"--json"], [b"import", odd, b"--out", out + b".csv"]):
        ran = subprocess.run([sys.executable, "-m", "recassay", *arguments], capture_output=True, timeout=120)  # type: ignore[list-item]
        assert ran.returncode == 0, ran.stderr
    missing = subprocess.run([sys.executable, "-m", "recassay", b"rank", out], capture_output=True, timeout=60)  # type: ignore[list-item]
    assert missing.returncode == 2
    assert b"no such file" in missing.stderr


def test_what_is_written_respects_the_umask(folder):
    us = f"{sys.executable} -m recassay"
    command = f"umask 027; {us} import good.csv --out table.csv && {us} split events.csv --split random --out parts"
    subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, timeout=120, check=True)
    assert (folder / "table.csv").stat().st_mode & 0o777 == 0o640
    assert (folder / "parts").stat().st_mode & 0o777 == 0o750
    assert all(path.stat().st_mode & 0o777 == 0o640 for path in (folder / "parts").iterdir())
