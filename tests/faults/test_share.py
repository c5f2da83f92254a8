"""What is written for others holds no folder of this user and no name of this machine."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

import recassay
from recassay.core.system import places
from recassay.core.system.places import below, shareable
from support.in_process import without_processes
from support.run import tiny_data

BROKEN = """
import os, socket
class Broken:
    name, space, source = "Broken", {}, "none"

    def fit(self, train, *, rng):
        raise RuntimeError(f"cannot open {os.path.expanduser('~')}/secret/weights.bin on {socket.gethostname()} "
                           f"nor /home/somebody/else/x.txt")

    def memory_bytes(self, n_users, n_items, n_interactions):
        return 0
"""
HOST = "node-17.cluster.example"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home folder of its own, on a machine with a name of its own."""
    own = tmp_path / "home" / "ada"
    own.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(own))
    monkeypatch.setenv("USERPROFILE", str(own))
    monkeypatch.setattr(socket, "gethostname", lambda: HOST)
    monkeypatch.setattr(socket, "getfqdn", lambda: HOST)
    places._patterns.cache_clear()
    yield own
    places._patterns.cache_clear()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_everything_that_is_written_is_searched(home, cli, monkeypatch):
    base = home / "papers" / "mine"
    base.mkdir(parents=True)
    tiny_data(base)
    (base / "broken.py").write_text(BROKEN)
    study = recassay.make_study(
        [str(base / "tiny.csv"), "synthetic:few-items"],
        ["MostPop", "Random", f"{base / 'broken.py'}:Broken"],
        metrics=["ndcg@10"], trials=0, protocol={"split": "random"},
    )  # fmt: skip
    with without_processes():
        recassay.run(study, base / "study", skip_preflight=True)
    monkeypatch.chdir(home.parent.parent)
    out = home.parent.parent / "out"
    table = base / "results.csv"
    assert cli("results", base / "study", "--out", table).code == 0
    assert cli("analyze", base / "study", "--out", out / "a.html", "--missing", "drop-algorithms").code == 0
    assert cli("analyze", table, "--out", out / "b.html", "--missing", "drop-algorithms").code == 0
    assert cli("rank", table, "--out", out / "rank", "--missing", "drop-algorithms").code == 0
    assert cli("paper", base / "study", "--out", out / "paper", "--missing", "drop-algorithms").code in (0, 2)
    kept = [base / "study" / name for name in ("manifest.json", "run.lock", "study.sqlite")]
    secrets = [str(home), str(home.parent), HOST, "somebody/else"]
    for path in [*sorted(p for p in out.rglob("*") if p.is_file()), *kept]:
        content = path.read_bytes()
        for secret in secrets if path not in kept else secrets[:1]:
            assert os.fsencode(secret) not in content, (path, secret)
    assert (base / "study" / "run.lock").read_bytes() == b""
    page = (out / "a.html").read_text()
    assert "weights.bin" in page
    assert "this machine" in page


def test_paths_keep_their_end_and_programs_their_text(home):
    text = f"{home}/a/b.csv and 'C:\\Users\\ada\\x\\y.csv' at https://example.org/home/page, 3/4, /tmp/x/y/z.txt."
    told = shareable(text)
    assert "…/a/b.csv" in told
    assert "…/x/y.csv" in told
    assert "https://example.org/home/page, 3/4" in told
    assert str(home) not in told
    assert "ada" not in told.replace("…", "")
    program = "<script>const place = '/home/x/y';</script>"
    assert shareable(f"{program}/home/x/y") == f"{program}…/x/y"


def test_what_is_kept_is_relative_to_the_study(home):
    study = home / "study"
    assert below(f"see {study}/logs/a.log and {home}/b", study) == f"see logs/a.log and ~{os.sep}b"
    assert below("nothing here", Path("/")) == "nothing here"
