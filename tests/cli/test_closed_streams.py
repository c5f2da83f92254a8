"""Standard streams that are closed: nothing that is opened takes their numbers, and every command does its work."""

from __future__ import annotations

import itertools
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from recassay.store import Store
from recassay.store.verification import damaged_cells
from support.fault_files import GOOD, small_files

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc")
CLOSED = [number for size in (1, 2, 3) for number in itertools.combinations((0, 1, 2), size)]
_CLOSE = "import os, sys\nfor number in map(int, sys.argv[1]): os.close(number)\nos.execv(sys.argv[2], sys.argv[2:])"


@pytest.fixture
def folder(tmp_path):
    return small_files(tmp_path)


def started(folder: Path, closed: tuple[int, ...], *command: str) -> subprocess.Popen[bytes]:
    """A Python process whose standard streams `closed` are closed from the start."""
    numbers = "".join(map(str, closed))
    return subprocess.Popen([sys.executable, "-c", _CLOSE, numbers, sys.executable, *command], cwd=folder,
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip


@pytest.mark.parametrize("closed", CLOSED)
def test_closed_streams_are_the_null_device_before_anything_is_opened(folder, closed):
    said = (
        "import os, pathlib\nfrom recassay.core.system.descriptors import hold_descriptors\nhold_descriptors()\n"
        "pathlib.Path('said').write_text(' '.join(os.readlink(f'/proc/self/fd/{n}') for n in range(3)))\n"
        "assert os.open('good.csv', os.O_RDONLY) > 2\n"
        "os.system('echo from a child >&2; echo and more')"
    )
    assert started(folder, closed, "-c", said).wait(60) == 0
    assert (folder / "said").read_text() == "/dev/null /dev/null /dev/null"
    assert (folder / "good.csv").read_text() == GOOD


@pytest.mark.parametrize("closed", CLOSED)
def test_a_study_runs(folder, closed):
    assert started(folder, closed, "-m", "recassay", "run", "study.toml", "--out", "out", "-j", "1").wait(120) == 0
    with Store.open(folder / "out") as store:
        assert store.status().done == 1
        assert damaged_cells(store, store.statuses()) == {}


def test_a_report_is_written(folder):
    report = started(folder, (0, 1, 2), "-m", "recassay", "analyze", "good.csv", "--out", "page.html")
    assert report.wait(240) == 0
    assert "</html>" in (folder / "page.html").read_text()


def test_bad_input_is_still_exit_2(folder):
    assert started(folder, (0, 2), "-m", "recassay", "rank", "nothere.csv").wait(60) == 2


def test_a_study_is_served(folder):
    assert started(folder, (0, 1, 2), "-m", "recassay", "run", "study.toml", "--out", "out", "-j", "1").wait(120) == 0
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = started(folder, (0, 1, 2), "-m", "recassay", "serve", "out", "--port", str(port))
    try:
        assert _page(port, server).startswith(b"<!")
        assert {os.readlink(f"/proc/{server.pid}/fd/{n}") for n in range(3)} == {"/dev/null"}
    finally:
        server.kill()
        server.wait()


def _page(port: int, server: subprocess.Popen[bytes]) -> bytes:
    while server.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=60) as page:
                return page.read()
        except OSError:
            time.sleep(0.2)
    raise AssertionError(f"it ended with {server.returncode}")


def test_a_study_runs_on_a_cluster(folder):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=None, silence_logs=50, host="127.0.0.1"
    ) as cluster:
        command = ["-m", "recassay", "run", "study.toml", "--out", "out", "--cluster", cluster.scheduler_address]
        assert started(folder, (0, 1, 2), *command).wait(240) == 0
    with Store.open(folder / "out") as store:
        assert store.status().done == 1
