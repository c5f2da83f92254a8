"""Errors of one line: of ours, and of the operating system."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from recassay.core.errors import LONGEST, InputError, RecAssayError, from_os
from recassay.core.system.files import refuse_no_file, refuse_no_folder, refuse_special


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EACCES, "permission denied"),
        (errno.EROFS, "cannot be written"),
        (errno.ELOOP, "in a circle"),
        (errno.ENAMETOOLONG, "the name is too long"),
        (errno.ENOTDIR, "is a file, not a folder"),
        (errno.EMFILE, "too many files are open"),
        (errno.ENFILE, "too many files are open"),
        (errno.EPERM, "permission denied"),
        (errno.ENOENT, "no such file or folder; check the path"),
        (errno.EISDIR, "is a folder, not a file; name a file"),
        (errno.EEXIST, "is there already; choose"),
        (errno.ENOTEMPTY, "is there already, and not empty"),
        (errno.EIO, "the disk reports an error"),
        (errno.EDQUOT, "your share of the disk is full; free some space"),
        (errno.EADDRINUSE, "the address is in use; choose another port"),
        (errno.ENXIO, "is not a file that can be read or written"),
        (errno.EXDEV, f"the system refuses: {os.strerror(errno.EXDEV)}; check the path and the disk"),
    ],
)
def test_what_the_system_refuses(number, words):
    told = from_os(OSError(number, os.strerror(number), "/some/place"))
    assert words in str(told)
    assert str(told).startswith("/some/place: ")
    assert told.exit_code == 2


def test_polars_tells_the_number_in_its_text():
    assert "the disk is full" in str(from_os(OSError("No space left on device (os error 28)")))
    assert str(from_os(OSError())) == "the system refuses: OSError; check the path and the disk"
    assert str(from_os(OSError("odd (os error 9999)"))).startswith("the system refuses: odd")


@pytest.mark.parametrize(
    ("names", "where"),
    [
        (("a",), "a"),
        (("a", None, "b"), "b"),  # of two names the second is the one that could not be made
        ((b"caf\xc3\xa9",), "café"),
        ((7,), None),  # the number of an open file says nothing to anybody
        ((), None),
    ],
)
def test_which_file_the_system_refused(names, where):
    assert from_os(OSError(errno.EEXIST, "exists", *names)).where == where


def test_a_message_does_not_repeat_a_file():
    assert len(str(InputError("x" * 1_000_000, where="y" * 1_000_000))) < 3 * LONGEST
    assert str(InputError("x" * LONGEST)) == "x" * LONGEST
    cut = str(InputError("x" * LONGEST + "the end"))
    assert (cut[:1140], cut[-50:]) == ("x" * 1140, "x" * 43 + "the end")


@pytest.mark.skipif(os.name != "posix", reason="pipes and links")
def test_special_files_and_places_that_are_no_folder(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="a pipe or a device"):
        refuse_special(tmp_path / "pipe")
    with pytest.raises(InputError, match="in a circle"):
        refuse_special(tmp_path / "loop")
    refuse_special(tmp_path / "file")
    refuse_special(tmp_path / "nothing")
    refuse_special(tmp_path)
    with pytest.raises(InputError, match="is not a path"):
        refuse_special(Path("a\0b"))
    for address in ("https://example.org/a.csv", "s3://bucket/a.csv", "file:///a.csv"):
        with pytest.raises(InputError, match="is an address, not a file; download it first"):
            refuse_special(Path(address))
    file = tmp_path / "file"
    for place, words in (
        ("file", f"{file}: is a file, not a folder; choose"),
        ("file/below", f"{file}/below: {file} is a file, not a folder; choose"),
        ("loop", "in a circle"),
        ("n" * 300, "the name is too long"),
        ("é" * 128, "the name is too long"),  # 256 bytes
        ("pipe/x", f"{tmp_path}/pipe is a file, not a folder"),
        ("\ud800", "is not a path"),
    ):
        with pytest.raises(RecAssayError) as refused:
            refuse_no_folder(tmp_path / place)
        assert words in str(refused.value)
    refuse_no_folder(tmp_path / ("é" * 127 + "n"))
    refuse_no_folder(tmp_path / "new" / "folder")
    assert not (tmp_path / "new").exists()
    with pytest.raises(RecAssayError, match="is a folder, not a file; name a file in it"):
        refuse_no_file(tmp_path)
    with pytest.raises(RecAssayError, match="in a circle"):
        refuse_no_file(tmp_path / "loop")
    with pytest.raises(RecAssayError, match="is a file, not a folder"):
        refuse_no_file(file / "below")
    refuse_no_file(tmp_path / "new" / "file")


def test_a_folder_that_may_not_be_written_is_refused(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(os, "access", lambda place, mode: asked.append((place, mode)))
    with pytest.raises(RecAssayError, match="may not be written; choose another place"):
        refuse_no_folder(tmp_path / "new" / "folder")
    assert asked == [(tmp_path, os.W_OK | os.X_OK)]
