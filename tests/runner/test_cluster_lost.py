"""A cluster that falls away ends the run and no cell; the same command goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from recassay.core.errors import RecAssayError
from recassay.recommenders.study import run_study
from recassay.store import Store
from support.run import PLUGIN, children_of, numbers, tiny_folder, tiny_study

pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(sys.platform != "linux", reason="kills by signal"),
]


POISON = """

class Poison(Fake):
    def fit(self, train, *, rng):
        with open(f"/proc/{os.getppid()}/stat") as file:
            os.kill(int(file.read().rpartition(")")[2].split()[1]), signal.SIGKILL)
        time.sleep(60)
"""

DRIVER = """
import sys
from pathlib import Path
from recassay.recommenders.study import run_study
from support.run import tiny_study

folder = Path(sys.argv[1])
run_study(tiny_study(folder, ("Hangs",), trials=0), folder / "out", cluster=sys.argv[2])
"""


@pytest.fixture
def start(tmp_path):
    """`start("scheduler")`, `start("worker")`: processes of a cluster in `tmp_path`, ended with the test."""
    begun = []
    file = tmp_path / "scheduler.json"
    options = {
        "scheduler": ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)],
        "worker": ["--scheduler-file", str(file), "--nthreads", "1", "--no-nanny", "--no-dashboard"],
    }

    def begin(role):
        command = [sys.executable, "-m", "dask", role, *options[role]]
        with (tmp_path / f"{role}.log").open("ab") as log:
            environment = os.environ | {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1"}
            begun.append(subprocess.Popen(command, stdout=log, stderr=log, cwd=tmp_path, env=environment))
        for _ in range(600):
            if role == "worker" or file.is_file():
                break
            time.sleep(0.05)
        return begun[-1]

    def address():
        import json

        return json.loads(file.read_text())["address"]

    begin.address = address
    yield begin
    for process in begun:
        process.kill()
        process.wait()


@pytest.fixture
def folder(tmp_path):
    return tiny_folder(tmp_path, PLUGIN + POISON)


def test_a_scheduler_that_is_killed_costs_no_cell(folder, start):
    spec = tiny_study(folder, ("Slow", "Pop"), datasets=("tiny",), trials=12)
    scheduler = start("scheduler")
    start("worker")

    def kill(event):
        if event.kind == "trial" and scheduler.poll() is None:
            os.kill(scheduler.pid, signal.SIGKILL)
            scheduler.wait()

    with pytest.raises(RecAssayError, match=r"scheduler is gone.*run the same command again") as raised:
        run_study(spec, folder / "out", cluster=start.address(), progress=kill)
    assert raised.value.exit_code == 1
    with Store.open(folder / "out") as store:
        assert not [cell for cell in store.cells() if cell.status != "done"]
        kept = store.status().trials
    assert kept >= 1
    run_study(spec, folder / "out", workers=1)
    run_study(spec, folder / "alone", workers=1)
    assert numbers(folder / "out") == numbers(folder / "alone")


def test_a_scheduler_without_workers_is_said_and_given_up(folder, start, monkeypatch):
    monkeypatch.setattr("recassay.runner.cluster.NO_WORKER_SECONDS", 1.0)
    start("scheduler")
    told = []
    spec = tiny_study(folder, ("Pop",), datasets=("tiny",), trials=0)
    with pytest.raises(RecAssayError, match="no worker for 1 seconds"):
        run_study(spec, folder / "out", cluster=start.address(), progress=told.append)
    assert [event.reason for event in told if event.kind == "waiting"]
    with Store.open(folder / "out") as store:
        assert store.cells() == ()


def test_a_cell_that_kills_its_workers_is_given_up(folder, start):
    start("scheduler")
    workers = [start("worker") for _ in range(3)]
    spec = tiny_study(folder, ("Poison", "Pop"), datasets=("tiny",), trials=0)
    record = run_study(spec, folder / "out", cluster=start.address())
    assert record.done == 1
    assert [(cell.algorithm, cell.status) for cell in record.failed] == [("Poison", "crashed")]
    assert "the cluster gave it up" in record.failed[0].reason
    assert sum(worker.poll() is not None for worker in workers) == 2


def test_after_a_driver_that_was_killed_nothing_runs_on(folder, start):
    start("scheduler")
    worker = start("worker")
    path = os.pathsep.join([*sys.path, os.environ.get("PYTHONPATH", "")])
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(folder), start.address()], env=os.environ | {"PYTHONPATH": path}
    )
    try:
        assert _wait(lambda: (folder / "out" / "running.json").is_file() and len(children_of(worker.pid)) == 2)
        driver.kill()
        driver.wait()
        assert _wait(lambda: not children_of(worker.pid))
        assert worker.poll() is None
    finally:
        driver.kill()
        driver.wait()


def _wait(happened, seconds=60.0):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if happened():
            return True
        time.sleep(0.1)
    return False
