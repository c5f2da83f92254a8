"""Errors of one line: of ours, and of the operating system."""

from __future__ import annotations

import errno
import os

import pytest

from recassay.core.errors import LONGEST, InputError, from_os
from recassay.core.system.files import refuse_no_folder, refuse_special


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
        (errno.EXDEV, "the system refuses"),
    ],
)
def test_what_the_system_refuses(number, words):
    told = from_os(OSError(number, os.strerror(number), "/some/place"))
    assert words in str(told)
    assert str(told).startswith("/some/place: ")
    assert told.exit_code == 2


def test_polars_tells_the_number_in_its_text():
    assert "the disk is full" in str(from_os(OSError("No space left on device (os error 28)")))
    assert str(from_os(OSError())) != ""


def test_a_message_does_not_repeat_a_file():
    assert len(str(InputError("x" * 1_000_000, where="y" * 1_000_000))) < 3 * LONGEST


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
    for place in ("file", "file/below", "loop", "n" * 300, "pipe/x"):
        with pytest.raises(Exception, match=r"is a file|in a circle|too long"):
            refuse_no_folder(tmp_path / place)
    refuse_no_folder(tmp_path / "new" / "folder")
    assert not (tmp_path / "new").exists()
