"""What is written appears whole or not at all, with the user's permissions, and one process holds a lock."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from recassay.core.system import files
from recassay.core.system.files import (
    appearing_folder,
    locked,
    remove_folder,
    remove_unfinished,
    temporary_name,
    write_whole,
)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def synced(monkeypatch) -> list[int]:
    """The inodes that were brought to the disk, in order."""
    seen: list[int] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        seen.append(os.fstat(descriptor).st_ino)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    return seen


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    target = tmp_path / "scores" / "x.parquet"
    write_whole(target, lambda file: file.write(b"whole"))

    def breaks(file):
        file.write(b"ha")
        raise RuntimeError("disk full")

    with pytest.raises(RuntimeError):
        write_whole(target, breaks)
    assert target.read_bytes() == b"whole"
    assert names(target.parent) == ["x.parquet"]
    write_whole(target, b"bytes")
    assert target.read_bytes() == b"bytes"
    temporary_name(target).write_bytes(b"half")
    temporary_name(target).mkdir()
    remove_unfinished(tmp_path, older_than=3600)
    assert len(names(target.parent)) == 3
    remove_unfinished(tmp_path)
    assert names(target.parent) == ["x.parquet"]


def test_a_file_is_on_the_disk_where_that_is_asked(tmp_path, synced):
    write_whole(tmp_path / "kept", b"x")
    assert synced == [(tmp_path / "kept").stat().st_ino, tmp_path.stat().st_ino]
    synced.clear()
    write_whole(tmp_path / "report", b"x", sync=False)
    assert synced == []


@pytest.mark.parametrize("umask", [0o022, 0o027, 0o077])
def test_permissions_follow_the_umask(tmp_path, umask):
    before = os.umask(umask)
    try:
        write_whole(tmp_path / "file", b"x")
        with appearing_folder(tmp_path / "folder"):
            pass
        with locked(tmp_path / "lock", RuntimeError):
            pass
    finally:
        os.umask(before)
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("file", "folder", "lock")]
    assert modes == [0o666 & ~umask, 0o777 & ~umask, 0o666 & ~umask]


def test_a_folder_appears_whole_and_on_the_disk(tmp_path, synced):
    target = tmp_path / "deep" / "made"
    with appearing_folder(target) as folder:
        (folder / "part").mkdir()
        (folder / "part" / "x").write_bytes(b"x")
        assert not target.exists()
    assert (target / "part" / "x").read_bytes() == b"x"
    places = [target / "part", target / "part" / "x", target, target.parent]
    assert synced == [place.stat().st_ino for place in places]
    assert names(target.parent) == ["made"]


def interrupted(target: Path, existing: str) -> None:
    with appearing_folder(target, existing=existing) as folder:
        (folder / "new").write_bytes(b"new")
        raise KeyboardInterrupt


def test_a_block_that_fails_leaves_everything_as_it_was(tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "old").write_bytes(b"old")
    for existing in ("refuse", "keep", "replace"):
        with pytest.raises(KeyboardInterrupt):
            interrupted(tmp_path / "kept", existing)
        assert names(tmp_path) == ["kept"]
        assert names(tmp_path / "kept") == ["old"]


@pytest.mark.parametrize(("existing", "left"), [("keep", ["old"]), ("replace", ["new"])])
def test_a_folder_that_is_there_stays_or_gives_way(tmp_path, existing, left):
    target = tmp_path / "made"
    with appearing_folder(target, existing=existing) as folder:
        (folder / "new").write_bytes(b"new")
        target.mkdir()
        (target / "old").write_bytes(b"old")
    assert names(target) == left
    assert names(tmp_path) == ["made"]


def test_a_folder_that_is_there_is_refused_unless_it_is_empty(tmp_path):
    target = tmp_path / "made"
    target.mkdir()
    with appearing_folder(target) as folder:
        (folder / "new").write_bytes(b"new")
    assert names(target) == ["new"]
    with pytest.raises(FileExistsError), appearing_folder(target) as folder:
        (folder / "other").write_bytes(b"")
    assert names(target) == ["new"]
    assert names(tmp_path) == ["made"]
    (tmp_path / "file").write_bytes(b"")
    with (
        pytest.raises(OSError, match=r"[Nn]ot a directory|exists"),
        appearing_folder(tmp_path / "file", existing="keep"),
    ):
        pass


def test_a_folder_whose_place_cannot_be_taken_comes_back(tmp_path, monkeypatch):
    target = tmp_path / "made"
    target.mkdir()
    (target / "old").write_bytes(b"old")

    def fails(*_):
        raise OSError("the disk is gone")

    monkeypatch.setattr(Path, "rename", fails)
    with pytest.raises(OSError, match="the disk is gone"), appearing_folder(target, existing="replace") as folder:
        (folder / "new").write_bytes(b"new")
    assert names(target) == ["old"]


def test_a_folder_goes_at_once(tmp_path, monkeypatch):
    (tmp_path / "gone" / "deep").mkdir(parents=True)
    monkeypatch.setattr(files.shutil, "rmtree", lambda *_, **__: None)
    remove_folder(tmp_path / "gone")
    assert not (tmp_path / "gone").exists()
    monkeypatch.undo()
    remove_unfinished(tmp_path)
    assert names(tmp_path) == []


HOLDER = """
import sys, time
from pathlib import Path
from recassay.core.system.files import locked
with locked(Path(sys.argv[1]), RuntimeError):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_lock_is_held_by_one_process_keeps_the_content_and_ends_with_it(tmp_path):
    path = tmp_path / "lock"
    path.write_bytes(b"who \xff holds it" + b"." * 500)
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(RuntimeError, match=r"^who � holds it\.+$") as refused, locked(path, RuntimeError):
            pass
        assert len(str(refused.value)) == 200
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
    for _ in range(50):
        try:
            with locked(path, RuntimeError) as file:
                assert file.seek(0) == 0
                assert file.read().startswith(b"who")
                return
        except RuntimeError:
            time.sleep(0.1)
    pytest.fail("the lock of a killed process was not freed")
