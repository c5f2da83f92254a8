"""A study on the workers of a Dask scheduler ends in the same table as on one machine."""

from __future__ import annotations

import os
import signal
import warnings

import pytest

from recassay.core.errors import InputError
from recassay.recommenders.study import run_study
from support.run import numbers, tiny_folder, tiny_study

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def cluster():
    with (
        warnings.catch_warnings(),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50, host="127.0.0.1"
        ) as running,
    ):
        yield running


@pytest.fixture
def folder(tmp_path):
    return tiny_folder(tmp_path)


@pytest.mark.parametrize("parallel", [1, 3])
def test_the_numbers_are_those_of_one_machine_though_a_worker_is_lost(folder, request, parallel):
    spec = tiny_study(folder, ("Slow", "Pop", "Raises"), datasets=("tiny",), trials=8, parallel=parallel)
    run_study(spec, folder / "alone", workers=1)
    running = request.getfixturevalue("cluster")
    events, killed = [], []

    def watch(event):
        events.append(event)
        if event.kind == "trial" and not killed:
            busy = {address for address, worker in running.scheduler.workers.items() if worker.processing}
            victim = next(nanny for nanny in running.workers.values() if nanny.worker_address in busy)
            os.kill(victim.pid, signal.SIGKILL)
            killed.append(victim.pid)

    record = run_study(spec, folder / "spread", cluster=running.scheduler_address, progress=watch)
    assert killed
    assert (record.planned, record.done) == (3, 2)
    assert "the matrix is singular" in record.failed[0].reason
    assert numbers(folder / "spread") == numbers(folder / "alone")
    assert {event.kind for event in events} >= {"plan", "split", "started", "trial", "finished", "end"}


def test_no_scheduler_is_one_line(folder, monkeypatch):
    monkeypatch.setattr("recassay.runner.cluster.CONNECT_SECONDS", 1.0)
    spec = tiny_study(folder, ("Pop",), datasets=("tiny",), trials=0)
    with pytest.raises(InputError, match="no Dask scheduler answers"):
        run_study(spec, folder / "out", cluster="tcp://127.0.0.1:9")
