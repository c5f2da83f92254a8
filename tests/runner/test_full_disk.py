"""A full disk says nothing of a cell: nothing is recorded, and the same command goes on when there is room."""

from __future__ import annotations

import errno

import pytest

from recassay.core.errors import InputError
from recassay.recommenders import splits
from recassay.recommenders.study import run_study
from recassay.store import Store
from support.run import PLUGIN, announce_metrics, tiny_data, tiny_study

NEEDS_ROOM = """

class NeedsRoom(Fake):
    def fit(self, train, *, rng):
        if Path("full").exists():
            raise OSError(28, "No space left on device")
        return super().fit(train, rng=rng)
"""


@pytest.fixture
def spec(tmp_path, monkeypatch):
    announce_metrics(tmp_path, monkeypatch)
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
