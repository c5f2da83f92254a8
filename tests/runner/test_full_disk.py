"""A full disk says nothing of a cell: nothing is recorded, and the same command goes on when there is room."""

from __future__ import annotations

import errno
import os
import signal

import numpy as np
import pytest

from recassay.core.errors import InputError
from recassay.recommenders import splits
from recassay.recommenders.study import run_study
from recassay.runner import local
from recassay.runner.jobs import NOT_WRITTEN, Collected, Job, JobQueue, status_of
from recassay.runner.local import LocalExecutor, _Running, _Slot
from recassay.store import Store
from recassay.store.files import write_array
from support.run import PLUGIN, tiny_data, tiny_study

NEEDS_ROOM = """

class NeedsRoom(Fake):
    def fit(self, train, *, rng):
        if Path("full").exists():
            raise OSError(28, "No space left on device")
        return super().fit(train, rng=rng)
"""


@pytest.fixture
def spec(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fakes.py").write_text(
        "from pathlib import Path\n" + PLUGIN.replace("from __future__ import annotations", "") + NEEDS_ROOM
    )
    tiny_data(tmp_path)
    return tiny_study(tmp_path, ("Pop", "NeedsRoom"), trials=2)


@pytest.mark.usefixtures("in_process")
def test_a_job_without_room_is_no_failed_cell(spec, tmp_path):
    (tmp_path / "full").touch()
    with pytest.raises(
        InputError, match="the disk is full, and cells are left; free some space and run the same command"
    ):
        run_study(spec, tmp_path / "out", workers=1)
    with Store.open(tmp_path / "out") as store:
        status = store.status()
    assert (status.done, len(status.failed), len(status.to_go)) == (1, 0, 1)
    (tmp_path / "full").unlink()
    assert run_study(spec, tmp_path / "out", workers=1).done == 2


@pytest.mark.usefixtures("in_process")
def test_a_split_without_room_fails_no_cell(spec, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(splits, "write_split", full)
        with pytest.raises(InputError, match="the disk is full"):
            run_study(spec, tmp_path / "out", workers=1)
    record = run_study(spec, tmp_path / "out", workers=1)
    assert (record.done, record.failed) == (2, ())


def test_an_array_that_is_cut_short_is_an_error_of_the_disk(tmp_path):
    resource = pytest.importorskip("resource", reason="limits of POSIX")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    target = tmp_path / "array.npy"
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, hard))
        with pytest.raises(OSError, match="File too large") as raised:
            write_array(target, np.arange(4096))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert raised.value.errno == errno.EFBIG
    assert status_of(raised.value) == NOT_WRITTEN
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "error",
    [
        OSError("20738 requested and 15328 written"),
        OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
        OSError(errno.EIO, os.strerror(errno.EIO)),
        OSError(errno.EROFS, os.strerror(errno.EROFS)),
        RuntimeError("cannot save: No space left on device (os error 28)"),
        RuntimeError("database or disk is full"),
    ],
)
def test_every_write_that_could_not_be_finished_is_a_fault_of_the_machine(error):
    assert status_of(error) == NOT_WRITTEN
    wrapped, outer = RuntimeError("the model cannot be kept"), ValueError("no model")
    wrapped.__cause__, outer.__context__ = error, wrapped
    assert status_of(outer) == NOT_WRITTEN


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOENT, "no file"), RuntimeError("bus error"), ValueError("4 written")]
)
def test_other_errors_are_those_of_a_cell(error):
    assert status_of(error) == "failed"


@pytest.mark.parametrize(("full", "status"), [(True, NOT_WRITTEN), (False, "crashed")])
def test_a_process_that_a_full_disk_killed_is_no_crash(tmp_path, monkeypatch, full, status):
    monkeypatch.setattr(local, "is_full", lambda folder: full)
    job, watch = Job("j", "m:f", dict), Collected()
    slot = _Slot(None, running=_Running(job, 1, 0, 0.0, "token"))
    LocalExecutor(1, tmp_path)._conclude(slot, -signal.SIGBUS, JobQueue(), watch)
    assert watch.outcomes["j"].status == status


def test_a_log_that_cannot_be_written_is_no_crash(tmp_path):
    watch = Collected()
    with LocalExecutor(1, tmp_path / "logs") as executor:
        (tmp_path / "logs" / "j.log").mkdir()
        executor.run([Job("j", "os:getcwd", dict)], watch)
    assert watch.outcomes["j"].status == NOT_WRITTEN
