"""What is written appears whole or not at all, with the user's permissions, and one process holds a lock."""

from __future__ import annotations

import errno
import io
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from recassay.core.errors import UsageError
from recassay.core.system import files
from recassay.core.system.files import (
    appearing_folder,
    locked,
    refuse_no_file,
    remove_folder,
    remove_unfinished,
    temporary_name,
    write_all,
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
    old = temporary_name(target)
    old.write_bytes(b"half")
    os.utime(old, (time.time() - 4000,) * 2)
    remove_unfinished(tmp_path, older_than=3600)
    assert not old.exists()
    assert len(names(target.parent)) == 3
    remove_unfinished(tmp_path)
    assert names(target.parent) == ["x.parquet"]


def test_a_name_of_any_length_that_the_system_takes_is_written(tmp_path):
    longest = ["n" * 255, "中" * 85]  # 255 bytes each
    for name in longest:
        write_whole(tmp_path / name, b"x")
    assert names(tmp_path) == longest


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


def interrupted(target: Path, replace: bool) -> None:
    with appearing_folder(target, replace=replace) as folder:
        (folder / "new").write_bytes(b"new")
        raise KeyboardInterrupt


def test_a_block_that_fails_leaves_everything_as_it_was(tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "old").write_bytes(b"old")
    for replace in (False, True):
        with pytest.raises(KeyboardInterrupt):
            interrupted(tmp_path / "kept", replace)
        assert names(tmp_path) == ["kept"]
        assert names(tmp_path / "kept") == ["old"]


def test_a_folder_that_appears_meanwhile_gives_way(tmp_path):
    target = tmp_path / "made"
    with appearing_folder(target, replace=True) as folder:
        (folder / "new").write_bytes(b"new")
        target.mkdir()
        (target / "old").write_bytes(b"old")
    assert names(target) == ["new"]
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
        appearing_folder(tmp_path / "file"),
    ):
        pass


def test_a_folder_whose_place_cannot_be_taken_comes_back(tmp_path, monkeypatch):
    target = tmp_path / "made"
    target.mkdir()
    (target / "old").write_bytes(b"old")

    def fails(*_):
        raise OSError("the disk is gone")

    monkeypatch.setattr(Path, "rename", fails)
    with pytest.raises(OSError, match="the disk is gone"), appearing_folder(target, replace=True) as folder:
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


SPECIAL = "is a device, a pipe or a socket, not a file"


@pytest.fixture(params=["pipe", "device", "link to a device"])
def special(request, tmp_path):
    """Something that is not a regular file, and the kind that it must still be afterwards."""
    place = tmp_path / "special"
    if request.param == "pipe":
        os.mkfifo(place)
    elif request.param == "device":
        try:
            os.mknod(place, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        except OSError:
            pytest.skip("devices cannot be made here")
    else:
        place.symlink_to("/dev/zero")
    return place


@pytest.mark.skipif(sys.platform == "win32", reason="devices of POSIX")
def test_what_is_no_file_is_never_replaced(special, tmp_path):
    kind = special.stat().st_mode, special.lstat().st_mode
    for attempt in (
        lambda: write_whole(special, b"text"),
        lambda: write_all(tmp_path, {"other.txt": b"text", "special": b"text"}),
        lambda: refuse_no_file(special),
    ):
        with pytest.raises(UsageError, match=SPECIAL):
            attempt()
    assert (special.stat().st_mode, special.lstat().st_mode) == kind
    assert os.listdir(tmp_path) == ["special"]


@pytest.mark.skipif(sys.platform == "win32", reason="devices of POSIX")
def test_standard_output_and_nowhere_are_streams(capfdbinary):
    before = os.stat("/dev/null")
    for place in ("-", "/dev/stdout", "/dev/null"):
        refuse_no_file(Path(place))
        write_whole(Path(place), b"text\n")
        assert write_all(Path(place).parent, {Path(place).name: b"more\n"}) == [Path(place)]
    assert capfdbinary.readouterr().out == b"text\nmore\n" * 2
    assert (os.stat("/dev/null").st_mode, os.stat("/dev/null").st_rdev) == (before.st_mode, before.st_rdev)


def test_what_is_written_to_a_stream_is_there_at_once_so_that_a_full_one_is_refused_here(monkeypatch):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BufferedWriter(raw)))
    write_whole(Path("-"), b"text\n")
    assert raw.getvalue() == b"text\n"


def test_a_link_stays_a_link_and_its_file_is_written(tmp_path):
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / "link").symlink_to("file")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"new"


@pytest.mark.parametrize("there", [True, False])
def test_all_files_are_written_or_none(tmp_path, monkeypatch, there):
    folder = tmp_path / "some" / "out"
    if there:
        folder.mkdir(parents=True)
        (folder / "a.txt").write_bytes(b"old")
        (folder / "mine.txt").write_bytes(b"mine")
    before = sorted(tmp_path.rglob("*"))

    def full(target, content, **more):
        if content == b"third":
            raise OSError(errno.ENOSPC, "the disk is full", str(target))
        return write_whole(target, content, **more)

    monkeypatch.setattr("recassay.core.system.files.write_whole", full)
    with pytest.raises(OSError, match="disk is full"):
        write_all(folder, {"a.txt": b"first", "deep/b.txt": b"second", "c.txt": b"third"})
    assert sorted(tmp_path.rglob("*")) == before
    assert not there or (folder / "a.txt").read_bytes() == b"old"
    written = write_all(folder, {"a.txt": b"first", "deep/b.txt": b"second"})
    assert [path.read_bytes() for path in written] == [b"first", b"second"]
    assert {path.name for path in folder.iterdir()} == {"a.txt", "deep", *(["mine.txt"] if there else [])}
