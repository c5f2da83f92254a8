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
from support.run import announce_metrics, numbers, tiny_data, tiny_study, write_plugin

pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(sys.platform != "linux", reason="kills by signal"),
]


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
            begun.append(subprocess.Popen(command, stdout=log, stderr=log, cwd=tmp_path))
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
def folder(tmp_path, monkeypatch):
    announce_metrics(tmp_path, monkeypatch)
    write_plugin(tmp_path)
    tiny_data(tmp_path)
    return tmp_path


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
